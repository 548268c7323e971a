# SPDX-License-Identifier: Apache-2.0
"""kvpool-events-zmq: the events of a pool in the forms that prefix-aware routers read over ZMQ; docs/engines/routers.md."""

import argparse
import importlib
import os
import re
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kvpool import KvpoolError
from kvpool.events import Directory, Event, Key, Subscription

EVENTS_OF_BATCH_MAX = 64
KEYS_OF_BLOCKS = (
    r"^.*@group:(?P<group>[0-9]+)@(?:.*@)?(?P<hash>[0-9a-f]{16,128})$",
    r"(?:^|[@/])(?P<hash>[0-9a-f]{16,128})(?:/(?P<group>[0-9]+))?$",
)
"""Connectors of vLLM and vllm-ascend and kvpool's plugin for vLLM have the hash of a block at the end, in hexadecimal digits."""

TLS_DIR, IDENTITY_DIR = "KVPOOL_TLS_DIR", "KVPOOL_IDENTITY_DIR"

_GROUP_MAX = (
    1 << 32
) - 1  # any client may put a key with more, which is no group of an engine, and which no message can have

MEMORY, SSD = "memory", "ssd"
MOONCAKE_MEDIUMS = {MEMORY: "cpu", SSD: "disk"}
VLLM_MEDIUMS = {MEMORY: "CPU", SSD: "STORAGE"}


@dataclass(frozen=True, slots=True)
class Change:
    """A key can be read from this tier from now on, or cannot any more."""

    stored: bool
    key: str
    tier: str
    group: str = ""


class Announced:
    """What routers were told, and what they must be told next: of each key the fastest tier it can be read from."""

    def __init__(self) -> None:
        self._directory = Directory()
        self._told: dict[Key, tuple[str, str]] = {}

    def apply(self, event: Event) -> list[Change]:
        self._directory.apply(event)
        if not self._directory.exact:
            return []
        if event.kind in ("snapshot-end", "node", "purged"):
            return [change for key in {**self._told, **self._directory.objects} for change in self._of(key)]
        return list(self._of(event.key))

    def all(self) -> list[Change]:
        return [Change(True, str(key), tier, group) for key, (tier, group) in self._told.items()]

    def _of(self, key: Key) -> Iterator[Change]:
        if isinstance(key, bytes):
            return  # no engine writes such a key
        tiers = {copy.tier for copy in self._directory.holders(key)}
        held = self._directory.objects.get(key)
        now = (MEMORY if MEMORY in tiers else SSD, held.group) if tiers and held is not None else None
        before = self._told.get(key)
        if now == before:
            return
        if before is not None:
            yield Change(False, key, *self._told.pop(key))
        if now is not None:
            self._told[key] = now
            yield Change(True, key, *now)


class MooncakeForm:
    """Objects by key, as the reference's master publishes them; Dynamo's shared-cache index reads these."""

    def __init__(self, backend: str, tenant: Callable[[], str]) -> None:
        self._backend = backend
        self._tenant = tenant  # known once a master was asked
        self._number = 0

    def events(self, changes: Iterable[Change]) -> Iterator[dict[str, Any]]:
        for change in changes:
            self._number += 1
            yield {
                "event_id": self._number,
                "timestamp": int(time.time() * 1000),
                "event_type": "stored" if change.stored else "removed",
                "type": "BlockStored" if change.stored else "BlockRemoved",
                "tenant_id": self._tenant(),
                "backend_id": self._backend,
                "group_id": change.group,
                "medium": MOONCAKE_MEDIUMS[change.tier],
                "object_key": change.key,
                "seq_hashes": [],
                "block_hashes": [],
                **dict.fromkeys(("model_name", "block_size", "token_ids", "parent_hash", "lora_name", "dp_rank")),
            }

    def batch(self, events: list[dict[str, Any]]) -> list[Any]:
        return [int(time.time() * 1000), events, 0]


class VllmForm:
    """Blocks by hash, as vLLM publishes them, without what keys do not say: the tokens of a block and the block before it."""

    def __init__(
        self, block_size: int, objects_of_block: int = 1, keys_of_blocks: Sequence[str] = KEYS_OF_BLOCKS
    ) -> None:
        self._block_size = block_size
        self._objects_of_block = objects_of_block
        self._patterns = [re.compile(pattern) for pattern in keys_of_blocks]
        self._tiers: dict[tuple[int, int], dict[str, str]] = {}
        self._told: dict[tuple[int, int], str] = {}

    def events(self, changes: Iterable[Change]) -> Iterator[dict[str, Any]]:
        for change in changes:
            block = self._block_of(change.key)
            if block is not None:
                yield from self._event_of(change, *block)

    def _block_of(self, key: str) -> tuple[int, int] | None:
        """Hash and group by the first pattern that fits; None for the key of no block."""
        found = next(filter(None, (pattern.search(key) for pattern in self._patterns)), None)
        if found is None or not found["hash"]:
            return None
        try:
            block, group = int(found["hash"][-16:], 16), int(found.groupdict().get("group") or 0)
        except ValueError:
            return None
        return (block, group) if group <= _GROUP_MAX else None

    def _event_of(self, change: Change, block: int, group: int) -> Iterator[dict[str, Any]]:
        tiers = self._tiers.setdefault((block, group), {})
        repeated = change.stored and tiers.get(change.key) == change.tier
        if change.stored:
            tiers[change.key] = change.tier
        else:
            tiers.pop(change.key, None)
        whole = len(tiers) >= self._objects_of_block
        now = (SSD if SSD in tiers.values() else MEMORY) if whole else None
        before = self._told.pop((block, group), None)
        if not tiers:
            del self._tiers[block, group]
        if before is not None and before != now:
            yield {"type": "BlockRemoved", "block_hashes": [block], "medium": VLLM_MEDIUMS[before], "group_idx": group}
        if now is None:
            return
        self._told[block, group] = now
        if repeated or before != now:
            yield {
                "type": "BlockStored",
                "block_hashes": [block],
                "parent_block_hash": None,
                "token_ids": [],
                "block_size": self._block_size,
                "lora_id": None,
                "lora_name": None,
                "medium": VLLM_MEDIUMS[now],
                "group_idx": group,
            }

    def batch(self, events: list[dict[str, Any]]) -> list[Any]:
        return [time.time(), events, 0]


class Publisher:
    """Sends changes in one form: topic, number of the batch, batch."""

    def __init__(
        self,
        form: MooncakeForm | VllmForm,
        topic: str,
        pack: Callable[[Any], bytes],
        send: Callable[[list[bytes]], object],
        first: int,
    ) -> None:
        self._form, self._topic, self._pack, self._send = form, topic.encode(), pack, send
        self._sequence = first
        self._announced = Announced()
        self._lock = threading.Lock()

    def apply(self, event: Event) -> None:
        with self._lock:
            self._publish(self._announced.apply(event))

    def repeat(self) -> None:
        """Tells all there is once more, for routers that came late or missed something."""
        with self._lock:
            self._publish(self._announced.all())

    def _publish(self, changes: list[Change]) -> None:
        events = list(self._form.events(changes))
        for at in range(0, len(events), EVENTS_OF_BATCH_MAX):
            batch = self._form.batch(events[at : at + EVENTS_OF_BATCH_MAX])
            self._send([self._topic, struct.pack(">Q", self._sequence), self._pack(batch)])
            self._sequence += 1


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groupindex
    except re.error as e:
        raise argparse.ArgumentTypeError(f"{text!r} is no pattern: {e}") from None
    if "hash" not in groups:
        raise argparse.ArgumentTypeError(f"{text!r} has no group (?P<hash>...)")
    return text


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds from 0 on")
    return seconds


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kvpool-events-zmq",
        description=__doc__,
        epilog=f"A pool that requires TLS, as those of the operator do by default, is asked by HTTPS (port 9443 of masters) with"
        f" a certificate: --tls-dir, or environment variable {TLS_DIR}, or {IDENTITY_DIR}, a directory with token, ca.crt and"
        " admins (the volume that `kubectl kvpool client-config` prints), with which the process gets its certificate from a"
        " master and renews it. A tenant's certificate shows the tenant's own objects, an admin's those of any.",
    )
    parser.add_argument(
        "--admin",
        default="",
        help=f"admin endpoints of all masters, HOST:PORT,HOST:PORT; default: what {IDENTITY_DIR} has as admins",
    )
    parser.add_argument(
        "--tls-dir",
        default=os.environ.get(TLS_DIR) or None,
        help=f"directory with tls.crt, tls.key and ca.crt, an absolute path; default: {TLS_DIR}",
    )
    parser.add_argument(
        "--tenant", default="", help="whose objects are published; default: the certificate's tenant, else `default`"
    )
    parser.add_argument("--bind", default="tcp://*:5557", help="where routers connect")
    parser.add_argument("--form", choices=("mooncake", "vllm"), default="mooncake")
    parser.add_argument("--topic", default="", help='of each message; llm-d wants "kv@pool:NAME@MODEL"')
    parser.add_argument("--backend-id", default="kvpool", help="backend_id of Mooncake's form")
    parser.add_argument("--block-size", type=int, default=16, help="tokens of a block, as the engine has it")
    parser.add_argument("--objects-of-block", type=int, default=1, help="objects of one block: one a rank, say")
    parser.add_argument(
        "--key-of-block",
        type=_pattern,
        action="append",
        help="pattern of keys with a group `hash` of hexadecimal digits and maybe one `group`, a number; more than one may be"
        " given, and the first that fits counts",
    )
    parser.add_argument("--repeat", type=_seconds, default=300, help="seconds after which all is told again; 0 never")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = _arguments(arguments)
    try:
        events = Subscription(options.admin, tls_dir=options.tls_dir, tenant=options.tenant)
    except ValueError as e:
        raise SystemExit(f"kvpool-events-zmq: {e}") from None
    try:
        zmq, msgpack = importlib.import_module("zmq"), importlib.import_module("msgpack")
    except ImportError as e:
        raise SystemExit(f"{e}: pip install msgpack pyzmq") from None
    publisher_socket = zmq.Context.instance().socket(zmq.PUB)
    publisher_socket.set_hwm(65_536)
    publisher_socket.bind(options.bind)
    form: MooncakeForm | VllmForm
    if options.form == "mooncake":
        form = MooncakeForm(options.backend_id, lambda: events.tenant)
    else:
        form = VllmForm(options.block_size, options.objects_of_block, options.key_of_block or KEYS_OF_BLOCKS)
    publisher = Publisher(
        form, options.topic, msgpack.packb, publisher_socket.send_multipart, int(options.form == "mooncake")
    )
    ended = threading.Event()

    def end(*_: object) -> None:
        ended.set()
        events.close()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)

    def repeat() -> None:
        while not ended.wait(options.repeat or None):
            publisher.repeat()

    repeating = threading.Thread(target=repeat)
    repeating.start()
    try:
        for event in events:
            publisher.apply(event)
    except (KvpoolError, ValueError) as e:
        raise SystemExit(f"kvpool-events-zmq: {e}") from None
    finally:
        ended.set()
        repeating.join()
        publisher_socket.close(linger=0)


if __name__ == "__main__":
    main()
