# SPDX-License-Identifier: Apache-2.0
"""Get sessions of a client that reads parts: what a session has of a value is its name."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from kvpool import PARTS_MAX, Client
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.ranges.rows import Row

SESSIONS_MAX = 1 << 20  # of a store, a few hundred bytes each
_LINES_MAX = 4096


@dataclass(frozen=True, slots=True)
class _Named:
    """Which value of its key it is, and its length."""

    epoch: int
    counter: int
    length: int


@dataclass(frozen=True, slots=True)
class _Line:
    """Pieces of one row, as many as one line of a batch takes."""

    number: int  # of its row
    pieces: slice


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
        answers: list[int] = []
        lines: list[_Line] = []
        for number, (value, row) in enumerate(zip(named, rows, strict=True)):
            refusal = _refusal(value, row)
            answers.append(refusal if refusal is not None else row.bytes)
            if refusal is None and row.bytes > 0:
                lines += [_Line(number, slice(at, at + PARTS_MAX)) for at in range(0, len(row.sizes), PARTS_MAX)]
        for at in range(0, len(lines), _LINES_MAX):
            self._run(lines[at : at + _LINES_MAX], keys, rows, named, answers)
        return answers

    def _run(
        self,
        lines: Sequence[_Line],
        keys: Sequence[str],
        rows: Sequence[Row],
        named: Sequence[_Named | None],
        answers: list[int],
    ) -> None:
        objects = array("Q")
        for line in lines:
            value = named[line.number]
            assert value is not None
            objects.extend((value.epoch, value.counter))
        results = self._client.get_into_parts(
            [keys[line.number] for line in lines],
            [rows[line.number].addresses[line.pieces] for line in lines],
            [rows[line.number].sizes[line.pieces] for line in lines],
            [rows[line.number].offsets[line.pieces] for line in lines],
            objects=objects,
            reuse=True,  # of the descriptors of this very value
        )
        for line, result in zip(lines, results, strict=True):
            if result < 0 <= answers[line.number]:
                answers[line.number] = result

    def end(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._named.pop(key, None)


def _refusal(value: _Named | None, row: Row) -> Refusal | None:
    why = "no session was started for it, or it ended" if value is None else row.problem(value.length)
    return None if why is None else Refusal(ErrorCode.INVALID_PARAMS, why)
