# SPDX-License-Identifier: Apache-2.0
"""By which names peers are reached: addresses, or entries of a metadata server."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
import urllib.parse
import weakref
from collections.abc import Callable
from typing import Protocol

from mooncake.transfers.metadata_server import MetadataServer, MetadataServerError

_logger = logging.getLogger("mooncake.engine")

# How long a location is used without asking again: a peer may start again elsewhere at any time.
_KNOWN_SECONDS = 5.0
# How often an engine looks whether its own entry is still there: a server that starts again has none.
_REPUBLISH_SECONDS = 5.0
# How long a server that did not answer is not asked for peers that are known: each question may take its whole timeout.
_AWAY_SECONDS = 5.0


class NameTaken(Exception):
    """Another engine of this name answers at the place that the metadata server has for it."""


class PeerNames(Protocol):
    """From a target of a transfer to its "HOST:PORT"."""

    def address_of(self, target: str) -> str:
        """Raises MetadataServerError."""

    def moved(self, target: str) -> str | None:
        """A transfer with the target failed: where it is now, None where it was."""


class Addresses:
    """P2PHANDSHAKE: the targets are addresses."""

    def address_of(self, target: str) -> str:
        return target

    def moved(self, target: str) -> str | None:
        return None


class Directory:
    """Targets are names that engines were initialized with; a metadata server has the place of each, as the reference
    writes it. A target of the form HOST:PORT which the server does not have is an address."""

    def __init__(self, server: MetadataServer, prefix: str) -> None:
        self._server, self._prefix = server, prefix
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, float]] = {}  # with the time at which it was learned
        self._away_until = 0.0  # the server

    def address_of(self, target: str) -> str:
        now = time.monotonic()
        with self._lock:
            known = self._known.get(target)
            if known is not None and (now - known[1] < _KNOWN_SECONDS or now < self._away_until):
                return known[0]
            if known is not None:
                self._known[target] = known[0], now  # one call asks, others use what is known meanwhile
        try:
            found = self.look_up(target)
        except MetadataServerError:
            if known is None:
                raise
            return known[0]  # without the server peers that are known go on
        if found is None and known is not None:
            return known[0]
        return self._learned(target, found)

    def moved(self, target: str) -> str | None:
        with self._lock:
            before = self._known.get(target)
            if before is not None and time.monotonic() < self._away_until:
                return None
        try:
            found = self.look_up(target)
        except MetadataServerError:
            return None  # it stays known: that the transfer failed does not say that the peer is elsewhere
        if found is None and before is not None:
            return None  # nor does a server that started again, and has no entries yet
        try:
            now = self._learned(target, found)
        except MetadataServerError:
            with self._lock:
                self._known.pop(target, None)
            return None
        return now if before is None or now != before[0] else None

    def look_up(self, name: str) -> str | None:
        """What the server has now. Raises MetadataServerError."""
        try:
            value = self._server.get(self.key_of(name))
        except MetadataServerError:
            with self._lock:
                self._away_until = time.monotonic() + _AWAY_SECONDS
            raise
        with self._lock:
            self._away_until = 0.0
        return None if value is None else _read_place(name, value)

    def key_of(self, name: str) -> str:
        return f"{self._prefix}rpc_meta/{name}"

    def _learned(self, target: str, found: str | None) -> str:
        if found is None:
            if not target.rpartition(":")[2].isdigit():
                raise MetadataServerError(
                    f"metadata server {self._server.url} has no engine {target!r}; a target is the local_hostname that "
                    "the peer was initialized with, or its HOST:PORT"
                )
            found = target
        with self._lock:
            self._known[target] = found, time.monotonic()
        return found


class Publication:
    """The entry of one engine, kept at the server until the engine ends."""

    def __init__(self, server: MetadataServer, directory: Directory, name: str, port: int) -> None:
        self._server, self._directory, self._name = server, directory, name
        host = reachable_host(name, server.url)
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._value = json.dumps({"ip_or_host_name": host, "rpc_port": port}).encode()
        self._pid = os.getpid()
        self._ended = threading.Event()

    def publish(self, answers: Callable[[str], bool]) -> None:
        """Takes the name, also from an engine that did not withdraw it: `answers` says whether one is at an address.

        Raises MetadataServerError, and NameTaken when the one that has it is there."""
        key = self._directory.key_of(self._name)
        if self._server.put(key, self._value):
            return
        place = self._directory.look_up(self._name)
        if place is not None and place != self._address and answers(place):
            raise NameTaken(
                f"an engine of the name {self._name!r} is at {place}: give each engine a local_hostname of its own"
            )
        self._server.delete(key)
        if not self._server.put(key, self._value):
            raise MetadataServerError(f"metadata server {self._server.url} does not take {key}")

    def keep(self, engine: object) -> None:
        """From now on the entry is there for as long as `engine` is."""
        weakref.finalize(engine, self.withdraw)
        threading.Thread(target=self._keep, name="kvpool-metadata", daemon=True).start()

    def withdraw(self) -> None:
        """Removes the entry, unless another engine has the name by now."""
        if self._ended.is_set() or os.getpid() != self._pid:
            return
        self._ended.set()
        try:
            if self._server.get(self._directory.key_of(self._name)) == self._value:
                self._server.delete(self._directory.key_of(self._name))
        except MetadataServerError as error:
            _logger.warning("%s; its entry of %s stays", error, self._name)

    def _keep(self) -> None:
        while not self._ended.wait(_REPUBLISH_SECONDS):
            try:
                if self._server.get(self._directory.key_of(self._name)) is None and not self._ended.is_set():
                    self._server.put(self._directory.key_of(self._name), self._value)
            except MetadataServerError:
                continue  # it may be starting again


def reachable_host(name: str, server_url: str) -> str:
    """The host of "host" or "host:port"; of a name that is no host, the address by which this machine reaches the server."""
    host = name if name.count(":") > 1 and not name.startswith("[") else name.rpartition(":")[0] or name
    host = host.strip("[]")
    try:
        socket.getaddrinfo(host, None)
        return host
    except OSError:
        pass
    url = urllib.parse.urlsplit(server_url)
    try:
        family, kind, _, _, address = socket.getaddrinfo(url.hostname, url.port or 80, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as route:
            route.connect(address)  # nothing is sent
            return str(route.getsockname()[0])
    except OSError as error:
        raise MetadataServerError(f"metadata server {server_url} cannot be reached: {error}") from None


def _read_place(name: str, value: bytes) -> str:
    try:
        place = json.loads(value)
        host, port = str(place["ip_or_host_name"]), int(place["rpc_port"])
    except (ValueError, KeyError, TypeError):
        raise MetadataServerError(f"the metadata server has no place of an engine at {name!r}") from None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
