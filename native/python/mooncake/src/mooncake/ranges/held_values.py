# SPDX-License-Identifier: Apache-2.0
"""Get sessions through an agent, from which values come whole."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence

from kvpool import Client, KvpoolError
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.memory.registered_copies import RegisteredCopies
from mooncake.ranges.rows import Row
from mooncake.ranges.session_memory import SessionMemory


class HeldValues:
    """Values that were read when their sessions began, from which parts are copied."""

    def __init__(self, client: Client, copies: RegisteredCopies, memory: SessionMemory) -> None:
        self._client = client
        self._copies = copies
        self._memory = memory
        self._lock = threading.Lock()
        self._values: dict[str, bytes] = {}

    def start(self, keys: Sequence[str]) -> list[int]:
        """The length, a negative Status or a Refusal for each."""
        answers: dict[str, int] = {}
        lengths: dict[str, int] = {}
        for key, length in zip(keys, self._client.size_batch(keys), strict=True):
            if key not in answers:
                answers[key] = (self._memory.take(length) or length) if length >= 0 else length
                if answers[key] >= 0:
                    lengths[key] = length
        values: dict[str, bytes] = {}
        try:
            for key, value in zip(lengths, self._client.get_batch(list(lengths)), strict=True):
                if not isinstance(value, bytes):
                    answers[key] = value
                elif len(value) != lengths[key]:
                    answers[key] = Refusal(ErrorCode.LEASE_EXPIRED, "a value of another length took its place")
                else:
                    values[key] = value
        finally:
            self._memory.give_back(sum(length for key, length in lengths.items() if key not in values))
        with self._lock:
            before = [self._values[key] for key in values if key in self._values]
            self._values.update(values)
        self._memory.give_back(sum(map(len, before)))
        return [answers[key] for key in keys]

    def read(self, keys: Sequence[str], rows: Sequence[Row]) -> list[int]:
        """Bytes copied, or a Refusal or a negative Status, for each."""
        return [self._read(key, row) for key, row in zip(keys, rows, strict=True)]

    def _read(self, key: str, row: Row) -> int:
        with self._lock:
            value = self._values.get(key)
        if value is None:
            return Refusal(ErrorCode.INVALID_PARAMS, "no session was started for it, or it ended")
        problem = row.problem(len(value))
        if problem is not None:
            return Refusal(ErrorCode.INVALID_PARAMS, problem)
        address = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0
        try:
            if not self._copies.to_application(row.copies(address)):
                return Refusal(ErrorCode.INVALID_PARAMS, "a piece is outside registered memory")
        except KvpoolError as error:
            return error.status
        return row.bytes

    def end(self, keys: Sequence[str]) -> None:
        for key in keys:
            with self._lock:
                value = self._values.pop(key, None)
            if value is not None:
                self._memory.give_back(len(value))
