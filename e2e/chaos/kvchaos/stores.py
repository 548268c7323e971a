# SPDX-License-Identifier: Apache-2.0
"""The two Python APIs of a pool, with answers in the words of a history: (outcome, identity read, size) for each key.

An outcome is history.OK, history.MISSING, or the name of what else was answered.
"""

import ctypes
import inspect
from collections.abc import Callable, Sequence

from kvchaos.history import MISSING, OK
from kvchaos.values import identity
from kvpool import Client, KvpoolError, Status
from mooncake.store import ErrorCode, MooncakeDistributedStore

Answer = tuple[str, str | None, int]

APIS = ("shm", "tcp-reuse", "mooncake", "shm-reuse", "tcp")
"""In the order in which clients get them."""

_KEYS_MAX = 5
_VALUE_BYTES_MAX = 1 << 20
"""What one call of a client with reuse reads at most."""

CALL_SECONDS = 8.0
"""What a call may take: it is also how long a grant of a put lives, so a client that is stopped for longer outlives it."""


class KvpoolStore:
    """`kvpool.Client`."""

    has_upsert = "upsert" in inspect.signature(Client.put_batch).parameters

    def __init__(self, masters: str, name: str, protocols: Sequence[str], reuse: bool = False) -> None:
        """`reuse`: gets rely on what earlier ones were told, while the lease on that holds."""
        self.reuse = reuse
        self._client = Client(masters, name=name, protocols=protocols, timeout=CALL_SECONDS, ready_timeout=60)
        if reuse:
            self._memory = ctypes.create_string_buffer(_KEYS_MAX * _VALUE_BYTES_MAX)
            self._client.register(ctypes.addressof(self._memory), len(self._memory))

    def retries(self) -> int:
        return self._client.stats()["retries"]

    def put(self, keys: Sequence[str], values: Sequence[bytes], replicas: int, upsert: bool) -> list[Answer]:
        more = {"upsert": True} if upsert else {}
        return self._each(keys, lambda: self._client.put_batch(keys, values, replicas=replicas, **more))

    def get(self, keys: Sequence[str]) -> list[Answer]:
        if self.reuse:
            return _raised_for_each(keys, lambda: self._get_again(keys))
        return _raised_for_each(
            keys,
            lambda: [
                (OK, identity(key, found), len(found)) if isinstance(found, bytes) else _answer(found)
                for key, found in zip(keys, self._client.get_batch(keys), strict=True)
            ],
        )

    def _get_again(self, keys: Sequence[str]) -> list[Answer]:
        offsets = [i * _VALUE_BYTES_MAX for i in range(len(keys))]
        addresses = [ctypes.addressof(self._memory) + offset for offset in offsets]
        lengths = self._client.get_into_memory(keys, addresses, [_VALUE_BYTES_MAX] * len(keys), reuse=True)
        return [
            (OK, identity(key, self._memory[offset : offset + length]), length) if length >= 0 else _answer(length)
            for key, offset, length in zip(keys, offsets, lengths, strict=True)
        ]

    def exists(self, keys: Sequence[str]) -> list[Answer]:
        return self._each(keys, lambda: self._client.size_batch(keys))

    def remove(self, keys: Sequence[str], force: bool) -> list[Answer]:
        return self._each(keys, lambda: self._client.remove_batch(keys, force=force))

    def remove_all(self, force: bool) -> list[Answer]:
        return _raised_for_each([""], lambda: [(OK, None, self._client.remove_all(force=force))])

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _each(keys: Sequence[str], call: Callable[[], Sequence[int]]) -> list[Answer]:
        return _raised_for_each(keys, lambda: [_answer(status) for status in call()])


class MooncakeStore:
    """`mooncake.store`. It does not tell an empty value from none, so an empty answer says nothing."""

    has_upsert = hasattr(MooncakeDistributedStore, "upsert")
    reuse = False

    def __init__(self, masters: str) -> None:
        self._store = MooncakeDistributedStore()
        if (code := self._store.setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", masters)) != 0:
            raise RuntimeError(f"mooncake.store: setup answered {code}")

    def retries(self) -> int:
        """Not told: each call counts as one that was tried again."""
        return -1

    def put(self, keys: Sequence[str], values: Sequence[bytes], replicas: int, upsert: bool) -> list[Answer]:
        method = self._store.upsert if upsert else self._store.put
        return [_code(method(key, value)) for key, value in zip(keys, values, strict=True)]

    def get(self, keys: Sequence[str]) -> list[Answer]:
        values = self._store.get_batch(keys)
        return [
            (OK, identity(key, found), len(found)) if found else ("empty", None, -1)
            for key, found in zip(keys, values, strict=True)
        ]

    def exists(self, keys: Sequence[str]) -> list[Answer]:
        words = {1: (OK, None, -1), 0: (MISSING, None, -1)}
        return [words[it] if it in words else _code(it) for it in self._store.batch_is_exist(keys)]

    def remove(self, keys: Sequence[str], force: bool) -> list[Answer]:
        return [_code(code) for code in self._store.batch_remove(keys, force)]

    def remove_all(self, force: bool) -> list[Answer]:
        count = self._store.remove_all(force)
        return [(OK, None, count) if count >= 0 else _code(count)]

    def close(self) -> None:
        self._store.close()


def _answer(status: int) -> Answer:
    if status >= 0:
        return (OK, None, int(status) if not isinstance(status, Status) else -1)
    return (MISSING if status == Status.NOT_FOUND else Status(status).name.lower(), None, -1)


def _code(code: int) -> Answer:
    if code == 0:
        return (OK, None, -1)
    return (MISSING if code == ErrorCode.OBJECT_NOT_FOUND else ErrorCode(code).name.lower(), None, -1)


def _raised_for_each(keys: Sequence[str], call: Callable[[], list[Answer]]) -> list[Answer]:
    try:
        return call()
    except KvpoolError as error:
        return [(error.status.name.lower(), None, -1)] * len(keys)
