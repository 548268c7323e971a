# SPDX-License-Identifier: Apache-2.0
# The extension. Not an API: kvpool.Client and kvpool.StorageNode are.
from collections.abc import Sequence
from typing import overload

from typing_extensions import Buffer

KV_BATCH_FORCE: int
KV_BATCH_UPSERT: int
KV_BATCH_REUSE: int
KV_BATCH_GROUPS: int
KV_KEY_BYTES_MAX: int
KV_PARTS_MAX: int
KV_PIN_HARD: int
KV_PIN_KEEP_SOFT: int
KV_PIN_SOFT: int
KV_PROTOCOL_TCP: int
KV_PROTOCOL_SHM: int
KV_PROTOCOL_UCX: int
KV_PROTOCOL_ASCEND: int
KV_RETAIN_MS_MAX: int
KV_SOFT_PIN_MS_MAX: int
KV_ENGINE_PORT_MIN: int
KV_ENGINE_PORT_MAX: int
KV_NOTIFY_BYTES_MAX: int
KV_TRANSFER_WRITE: int
KV_TRANSFER_READ: int
KV_TRANSFER_PROBE: int
KV_TRANSFER_CONNECT: int
library_path: str

# flags, replicas, preferred nodes with commas between them, pins, soft_pin_ms, groups
Options = tuple[int, int, str | None, int, int, Sequence[str | None] | None] | None

# the same, and retain_ms
HintOptions = tuple[int, int, None, int, int, None, int]

class Failure(Exception):
    args: tuple[int, str]

class Client:
    @overload
    def __new__(cls, socket_path: str, name: str | None, staging_bytes: int, ready_ms: int, /) -> Client: ...
    @overload
    def __new__(
        cls,
        masters: str,
        name: str | None,
        protocols: int,
        connect_ms: int,
        transfer_ms: int,
        ready_ms: int,
        busy_wait: bool,
        idle_ms: int,
        tls_dir: str | None,
        payloads: int,
        /,
    ) -> Client: ...
    def close(self) -> None: ...
    def get(self, keys: Sequence[str | bytes], timeout_ms: int, /) -> list[bytes | int]: ...
    def put(
        self, keys: Sequence[str | bytes], values: Sequence[Buffer], options: Options, timeout_ms: int, /
    ) -> list[int]: ...
    def put_from(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[int], Sequence[int]],
        options: Options,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def get_into_buffers(
        self, keys: Sequence[str | bytes], buffers: Sequence[Buffer], options: None, timeout_ms: int, /
    ) -> list[int]: ...
    def get_into(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[int], Sequence[int]],
        options: Options | None,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def put_from_pieces(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
        options: Options,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def get_into_pieces(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
        options: Options | None,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def get_into_parts(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]], Sequence[Sequence[int]], Buffer | None],
        options: Options | None,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def put_start(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[int], Buffer],
        options: Options,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def put_parts(
        self,
        keys: Sequence[str | bytes],
        memory: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]], Sequence[Sequence[int]], Buffer],
        options: None,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def put_end(self, keys: Sequence[str | bytes], objects: Buffer, options: None, timeout_ms: int, /) -> list[int]: ...
    def put_revoke(
        self, keys: Sequence[str | bytes], objects: Buffer, options: None, timeout_ms: int, /
    ) -> list[int]: ...
    def exists(self, keys: Sequence[str | bytes], memory: None, options: None, timeout_ms: int, /) -> list[int]: ...
    def locate(
        self, keys: Sequence[str | bytes], timeout_ms: int, /
    ) -> list[list[tuple[str, str, int, int, int]] | int]: ...
    def remove(self, keys: Sequence[str | bytes], memory: None, options: Options, timeout_ms: int, /) -> list[int]: ...
    def retain(
        self, keys: Sequence[str | bytes], memory: None, options: HintOptions, timeout_ms: int, /
    ) -> list[int]: ...
    def release(
        self, keys: Sequence[str | bytes], memory: None, options: HintOptions, timeout_ms: int, /
    ) -> list[int]: ...
    def prefetch(
        self, keys: Sequence[str | bytes], memory: None, options: HintOptions, timeout_ms: int, /
    ) -> list[int]: ...
    def remove_all(self, pattern: str, force: bool, timeout_ms: int, /) -> int: ...
    def copy(self, key: str | bytes, source: str | None, targets: Sequence[str], timeout_ms: int, /) -> int: ...
    def task(self, number: int, timeout_ms: int, /) -> tuple[int, int, int, int, int] | int: ...
    def register(self, address: int, length: int, /) -> int: ...
    def unregister(self, address: int, /) -> int: ...
    def use_engine_memory(self, engine: Engine, /) -> int: ...
    def copy_memory(self, copies: Sequence[tuple[int, int, int]], /) -> int: ...
    def explain(self) -> str: ...
    def durations(self) -> dict[str, tuple[int, ...]]: ...
    def stats(self) -> dict[str, int]: ...

class Node:
    def __new__(
        cls,
        masters: str,
        advertise_host: str,
        listen_host: str | None,
        node_id: str | None,
        pool_id: str | None,
        segment_bytes: int,
        listen_port: int,
        protocols: int,
        connect_ms: int,
        transfer_ms: int,
        idle_ms: int,
        memory_path: str | None,
        memory_offset: int,
        tls_dir: str | None,
        trusted_fabric: bool,
        /,
    ) -> Node: ...
    def close(self) -> None: ...
    def stats(self) -> dict[str, int]: ...

class Engine:
    def __new__(
        cls,
        name: str | None,
        metadata: str | None,
        protocols: str | None,
        listen_host: str | None,
        port_min: int,
        port_max: int,
        connect_ms: int,
        transfer_ms: int,
        idle_ms: int,
        ascend_host: str | None,
        tls_dir: str | None,
        payloads: int,
        trusted_fabric: int,
        sockets_only: int,
        /,
    ) -> Engine: ...
    def close(self) -> None: ...
    def register(self, addresses: Sequence[int], lengths: Sequence[int], location: str | None, /) -> int: ...
    def unregister(self, addresses: Sequence[int], lengths: Sequence[int], location: None, /) -> int: ...
    def transfer(
        self,
        op: int,
        peers: str | Sequence[str],
        locals: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        notify: tuple[str, bytes] | None,
        timeout_ms: int,
        /,
    ) -> list[int]: ...
    def submit(
        self,
        op: int,
        peers: str | Sequence[str],
        locals: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        notify: tuple[str, bytes] | None,
        timeout_ms: int,
        /,
    ) -> int: ...
    def poll(self, batch: int, timeout_ms: int, /) -> list[int] | None: ...
    def describe(self, peer: str, timeout_ms: int, /) -> list[tuple[int, int]] | int: ...
    def next_notify(self) -> tuple[str, bytes] | None: ...
    def transports(self) -> str: ...
    def explain(self) -> str: ...
    def stats(self) -> dict[str, int]: ...

def versions() -> dict[str, tuple[int, int]]: ...
def sbom() -> str: ...
def status_name(status: int, /) -> str: ...
def status_text(status: int, /) -> str: ...
def enrol_request(token: str, /) -> tuple[str, str]: ...
def log_level(level: int, /) -> None: ...
