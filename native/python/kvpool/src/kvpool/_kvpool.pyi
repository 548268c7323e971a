# SPDX-License-Identifier: Apache-2.0
# The extension. Not an API: kvpool.Client and kvpool.StorageNode are.
from collections.abc import Sequence

from typing_extensions import Buffer

KV_BATCH_FORCE: int
KV_BATCH_UPSERT: int
KV_BATCH_REUSE: int
KV_KEY_BYTES_MAX: int
KV_PIN_HARD: int
KV_PIN_SOFT: int
KV_PROTOCOL_TCP: int
KV_PROTOCOL_SHM: int
KV_SOFT_PIN_MS_MAX: int
library_path: str

# flags, replicas, preferred node, pins, soft_pin_ms, groups
Options = tuple[int, int, str | None, int, int, Sequence[str | None] | None] | None

class Failure(Exception):
    args: tuple[int, str]

class Client:
    def __new__(
        cls, masters: str, name: str | None, protocols: int, connect_ms: int, transfer_ms: int, ready_ms: int, /
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
    def exists(self, keys: Sequence[str | bytes], memory: None, options: None, timeout_ms: int, /) -> list[int]: ...
    def remove(self, keys: Sequence[str | bytes], memory: None, options: Options, timeout_ms: int, /) -> list[int]: ...
    def remove_all(self, force: bool, timeout_ms: int, /) -> int: ...
    def register(self, address: int, length: int, /) -> int: ...
    def unregister(self, address: int, /) -> int: ...
    def explain(self) -> str: ...
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
        /,
    ) -> Node: ...
    def close(self) -> None: ...
    def stats(self) -> dict[str, int]: ...

def versions() -> dict[str, tuple[int, int]]: ...
def status_name(status: int, /) -> str: ...
def status_text(status: int, /) -> str: ...
def log_level(level: int, /) -> None: ...
