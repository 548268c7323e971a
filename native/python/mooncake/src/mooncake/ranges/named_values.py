# SPDX-License-Identifier: Apache-2.0
"""Get sessions of a client that reads parts: what a session has of a value is its name."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from kvpool import Client
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.ranges.lines import Lines, move
from mooncake.ranges.rows import Row

SESSIONS_MAX = 1 << 20  # of a store, a few hundred bytes each


@dataclass(frozen=True, slots=True)
class _Named:
    """Which value of its key it is, and its length."""

    epoch: int
    counter: int
    length: int


class NamedValues:
    """Parts are read when they are asked for, and only from the value that was there at the start: each read prolongs its
    lease, and when the key has another value by then, or none, a read is LEASE_EXPIRED."""

    def __init__(self, client: Client, reuse: bool) -> None:
        self._client = client
        self._reuse = reuse
        self._lock = threading.Lock()
        self._named: dict[str, _Named] = {}

    def start(self, keys: Sequence[str]) -> list[int]:
        """The length, a negative Status or a Refusal for each."""
        if not keys:
            return []
        objects = array("Q", bytes(16 * len(keys)))
        nothing: list[list[int]] = [[]] * len(keys)
        lengths = self._client.get_into_parts(keys, nothing, nothing, nothing, objects=objects, reuse=self._reuse)
        with self._lock:
            return [
                self._start(key, length, objects[2 * number], objects[2 * number + 1])
                for number, (key, length) in enumerate(zip(keys, lengths, strict=True))
            ]

    def _start(self, key: str, length: int, epoch: int, counter: int) -> int:
        if length < 0:
            return length
        if len(self._named) >= SESSIONS_MAX and key not in self._named:
            return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"there are {SESSIONS_MAX} sessions: end some first")
        self._named[key] = _Named(epoch, counter, length)
        return length

    def read(self, keys: Sequence[str], rows: Sequence[Row]) -> list[int]:
        """Bytes read, a negative Status or a Refusal for each."""
        with self._lock:
            named = [self._named.get(key) for key in keys]
        refusals = [_refusal(value, row) for value, row in zip(named, rows, strict=True)]
        return move(keys, rows, named, refusals, self._read)

    def _read(self, lines: Lines) -> Sequence[int]:
        return self._client.get_into_parts(
            lines.keys,
            lines.addresses,
            lines.sizes,
            lines.offsets,
            objects=lines.objects,
            reuse=True,  # of the descriptors of this very value
        )

    def end(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._named.pop(key, None)


def _refusal(value: _Named | None, row: Row) -> Refusal | None:
    why = "no session was started for it, or it ended" if value is None else row.problem(value.length)
    return None if why is None else Refusal(ErrorCode.INVALID_PARAMS, why)
