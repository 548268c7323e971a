# SPDX-License-Identifier: Apache-2.0
"""What the pool holds and how that changes, from the leader's admin endpoint; docs/reference/events.md has the lines.

from kvpool.events import Directory, Subscription

directory = Directory()
with Subscription("10.0.0.7:9443,10.0.0.8:9443", tls_dir="/etc/kvpool/tls") as events:
    for event in events:
        directory.apply(event)
        if directory.exact:
            print(len(directory.objects), "objects")
"""

import contextlib
import http.client
import json
import logging
import random
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kvpool.admin_access import AdminAccess, Certificate, why_not
from kvpool.identity_directory import VARIABLE
from kvpool.master_connection import NotAnswered
from kvpool.own_name import DEFAULT_TENANT
from kvpool.status import Status, error_of

_LOG = logging.getLogger("kvpool")

LINE_BYTES_MAX = 1 << 20
"""A longer line is none of a master's."""

_SILENT_SECONDS = 5.0  # a master has something to say each second
_RETRY_SECONDS = 0.2
_SECONDS_BEFORE_LOG = 10.0  # a change of leaders takes less
_REFUSAL_BYTES_MAX = 1000

Key = str | bytes
"""Text, or bytes where the key is not UTF-8."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Where one copy of an object lies: on a node, in its `memory` or on its `ssd`."""

    node: str
    tier: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line. `kind` says which of the other fields mean anything."""

    kind: str
    position: str = ""
    key: Key = ""
    id: str = ""
    bytes: int = 0
    group: str = ""
    copies: tuple[Copy, ...] = ()
    cause: str = ""
    below: str = ""
    node: str = ""
    usable: bool = False
    nodes: tuple[str, ...] = ()
    reason: str = ""
    tenant: str = ""
    """Of the object, where it is not `default`, among events of all tenants; empty among those of one."""


class Subscription:
    """Events for as long as it is iterated: follows the leader, reconnects, and goes on where it was or with a snapshot.

    Signs of life are not among them. `position` is what to give as `after` to go on later; it is empty while a snapshot
    is incomplete.

    Args:
        admin: HOST:PORT of the admin endpoints of all masters, comma-separated; of a name, all addresses are tried. Default: what
            the directory KVPOOL_IDENTITY_DIR has as admins.
        after: a position.
        timeout: for how many seconds there may be no leader before iterating raises TimeoutError, with what each master said.
            Default: no end; what masters say is logged, by logger "kvpool", after ten seconds.
        tls_dir: as of kvpool.Client, a directory with tls.crt, tls.key and ca.crt, read for each connection: masters are asked by
            HTTPS. Default: with environment variable KVPOOL_IDENTITY_DIR, the certificate that a master gives for the token
            there; else none, and HTTP, which a pool that requires TLS refuses.
        tenant: whose objects alone are told of. Default: those of the certificate's tenant, and where it is an admin's, or there
            is none, those of all tenants. A position is of the events of one tenant, or of all.

    Iterating raises ValueError for a position or tenant that is none, and KvpoolError when files of the
    certificate cannot be used, or when masters refuse for a reason that does not pass: no right, another's tenant, another pool,
    no TLS at that port.
    """

    def __init__(
        self,
        admin: str = "",
        after: str = "",
        timeout: float | None = None,
        *,
        tls_dir: str | None = None,
        tenant: str = "",
    ) -> None:
        self.position = after
        self._tenant = tenant
        self._tenant_of_certificate = DEFAULT_TENANT
        self._access = AdminAccess(admin, tls_dir)
        self._timeout = timeout
        self._closed = threading.Event()
        self._socket: socket.socket | None = None

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def tenant(self) -> str:
        """Whose objects have no `tenant` in events: the one that was asked for, or the certificate's once a master was asked, or
        else `default`."""
        return self._tenant or self._tenant_of_certificate

    def close(self) -> None:
        """Ends the iteration, from any thread."""
        self._closed.set()
        connected = self._socket
        if connected is not None:
            with contextlib.suppress(OSError):  # it may have ended by itself
                # Not that of SSLSocket, after which the thread that reads would take what is encrypted for what is said.
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def __iter__(self) -> Iterator[Event]:
        heard = time.monotonic()
        logged = ""
        while not self._closed.is_set():
            refusals: dict[str, NotAnswered] = {}
            heard_before = heard
            for event in self._round(refusals):
                heard = time.monotonic()
                if event.kind == "snapshot-begin":
                    self.position = ""
                elif event.kind == "snapshot-end" or (self.position and event.position):
                    self.position = event.position
                if event.kind not in ("heartbeat", "resumed", "bye"):
                    yield event
            said = "; ".join(f"{who}{refusals[who]}" for who in sorted(refusals))
            if heard == heard_before:
                _raise_what_does_not_pass(list(refusals.values()), said)
            silent = time.monotonic() - heard
            if self._timeout is not None and silent > self._timeout:
                raise TimeoutError(f"no master has led for {self._timeout} s: {said}")
            if silent > _SECONDS_BEFORE_LOG and said != logged:
                logged = said
                _LOG.warning("no master has led for %d s: %s", silent, said)
            self._closed.wait(_RETRY_SECONDS)

    def _round(self, refusals: dict[str, NotAnswered]) -> Iterator[Event]:
        """What each master says, of which one leads, or why it says nothing. Raises KvpoolError for files that cannot be used."""
        try:
            certificate = self._access.certificate()
        except NotAnswered as refusal:
            refusals[""] = refusal
            return
        if certificate is not None:
            self._tenant_of_certificate = certificate.tenant
        for host, port in self._addresses(refusals):
            try:
                yield from self._events_of(host, port, certificate)
            except NotAnswered as refusal:
                refusals[f"{host}:{port}: "] = refusal

    def _addresses(self, refusals: dict[str, NotAnswered]) -> list[tuple[str, int]]:
        addresses: dict[tuple[str, int], None] = {}
        for host, port in self._access.masters():
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError) as error:  # its name may come back
                refusals[f"{host}:{port}: "] = NotAnswered(str(error), Status.CONNECT_FAILED, passes=True)
                continue
            addresses.update({(info[4][0], port): None for info in found})  # type: ignore[misc]
        shuffled = list(addresses)
        random.shuffle(shuffled)
        return shuffled

    def _events_of(self, host: str, port: int, certificate: Certificate | None) -> Iterator[Event]:
        """What one master says until it does not answer. Raises NotAnswered when it says nothing, as it does not lead."""
        connection = self._access.connection(host, port, certificate)
        begun = False
        try:
            connection.connect()
            self._socket = connection.sock
            connection.sock.settimeout(_SILENT_SECONDS)
            asked = {"after": self.position, "tenant": self._tenant}
            query = urllib.parse.urlencode({name: value for name, value in asked.items() if value})
            connection.request("GET", "/api/v1/events" + ("?" + query if query else ""))
            with connection.getresponse() as answer:
                if answer.status != http.client.OK:
                    raise _refusal(answer, certificate)
                begun = True
                while not self._closed.is_set():
                    line = answer.readline(LINE_BYTES_MAX)
                    if not line.endswith(b"\n"):
                        return
                    yield _event(json.loads(line))
        except (OSError, http.client.HTTPException) as error:
            if not begun:
                raise why_not(error, certificate) from None
            return  # another master leads, or soon will
        finally:
            self._socket = None
            connection.close()


def _refusal(answer: http.client.HTTPResponse, certificate: Certificate | None) -> NotAnswered:
    """Raises ValueError for a position that is none: that does not depend on the master."""
    text = answer.read(_REFUSAL_BYTES_MAX).decode(errors="replace").strip()
    if answer.status == http.client.BAD_REQUEST:
        raise ValueError(text)
    said = f"answered {answer.status}: {text}"
    if answer.status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
        remedy = f"; name that port, and set {VARIABLE} or tls_dir" if certificate is None else ""
        return NotAnswered(said + remedy, Status.NOT_PERMITTED, passes=False)
    if answer.status == http.client.NOT_FOUND:
        return NotAnswered(f"{said}; is it the admin endpoint of a master?", Status.PROTOCOL, passes=False)
    return NotAnswered(said, Status.NOT_LEADER, passes=True)


def _raise_what_does_not_pass(refusals: list[NotAnswered], said: str) -> None:
    """Unless a master would answer if it led: then others may be of an older version, or on their way out."""
    if any(refusal.status is Status.NOT_LEADER for refusal in refusals):
        return
    for refusal in refusals:
        if not refusal.passes:
            raise error_of(refusal.status, said)


def _event(line: dict[str, Any]) -> Event:
    return Event(
        kind=line["event"],
        position=line.get("at", ""),
        key=bytes.fromhex(line["keyHex"]) if "keyHex" in line else line.get("key", ""),
        id=line.get("id", ""),
        bytes=line.get("bytes", 0),
        group=line.get("group", ""),
        copies=tuple(Copy(it["node"], it["tier"]) for it in line.get("copies", ()))
        or ((Copy(line["node"], line["tier"]),) if "tier" in line else ()),
        cause=line.get("cause", ""),
        below=line.get("below", ""),
        node=line.get("node", ""),
        usable=line.get("usable", False),
        nodes=tuple(line.get("nodes", ())),
        reason=line.get("reason", ""),
        tenant=line.get("tenant", ""),
    )


@dataclass(slots=True)
class Held:
    """An object of a Directory."""

    id: str
    bytes: int
    group: str
    copies: set[Copy]


@dataclass(slots=True)
class _Contents:
    objects: dict[Key, Held] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)


class Directory:
    """What the pool holds, by its events. During a snapshot it stays as it was before, and then is the new one at once.

    It is of one tenant, since keys of two may be the same: by events of all tenants, of `default`. For another one use a
    Subscription with its certificate, or with `tenant`.
    """

    def __init__(self) -> None:
        self._contents = _Contents()
        self._coming: _Contents | None = None
        self._begun = False

    @property
    def exact(self) -> bool:
        """Whether it is what the leader had at the last event."""
        return self._begun and self._coming is None

    @property
    def objects(self) -> dict[Key, Held]:
        """By key, also those that no usable node holds."""
        return self._contents.objects

    @property
    def nodes(self) -> set[str]:
        """Those that readers are sent to."""
        return self._contents.nodes

    def holders(self, key: Key) -> set[Copy]:
        """The copies of a key that can be read."""
        held = self._contents.objects.get(key)
        return set() if held is None else {copy for copy in held.copies if copy.node in self._contents.nodes}

    def apply(self, event: Event) -> None:
        """Follows an event of a Subscription; each, in order."""
        if event.tenant:
            return
        if event.kind == "snapshot-begin":
            self._coming = _Contents(nodes=set(event.nodes))
        elif event.kind == "snapshot-end":
            if self._coming is not None:
                self._contents, self._coming, self._begun = self._coming, None, True
        else:
            _change(self._contents if self._coming is None else self._coming, event)


def _change(contents: _Contents, event: Event) -> None:
    objects = contents.objects
    held = objects.get(event.key)
    same = held is not None and held.id == event.id
    match event.kind:
        case "object" | "stored":
            objects[event.key] = Held(event.id, event.bytes, event.group, set(event.copies))
        case "copied" if held is not None and same:
            held.copies.update(event.copies)
        case "dropped" if held is not None and same:
            held.copies.difference_update(event.copies)
        case "removed" if same:
            del objects[event.key]
        case "purged":
            below = _age(event.below)
            for key in [key for key, held in objects.items() if _age(held.id) < below]:
                del objects[key]
        case "node":
            (contents.nodes.add if event.usable else contents.nodes.discard)(event.node)


def _age(object_id: str) -> tuple[int, int]:
    epoch, _, counter = object_id.partition(".")
    return int(epoch), int(counter)
