# SPDX-License-Identifier: Apache-2.0
"""Put sessions through an agent, to which values go whole."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kvpool import Client, Keep, KvpoolError, Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.memory.pages import zeroed_pages
from mooncake.memory.registered_copies import RegisteredCopies
from mooncake.ranges.coverage import Coverage
from mooncake.ranges.rows import Row
from mooncake.ranges.session_memory import SessionMemory


class Refused(Exception):
    """What one key of a call is answered instead."""

    def __init__(self, code: ErrorCode, why: str) -> None:
        super().__init__(why)
        self.refusal = Refusal(code, why)


@dataclass(frozen=True, slots=True)
class How:
    """How a value will be stored: what kvpool.Client.put_batch() is told, but for the group."""

    replicas: int
    keep: Keep
    preferred_node: tuple[str, ...] | None


@dataclass(eq=False)
class _Draft:
    """A value that is being put together. `lock` is held while it is written to or changes its state."""

    size: int
    how: How
    group: str | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: bool = False  # or about to be: it is being stored

    def __post_init__(self) -> None:
        self.memory = zeroed_pages(self.size)
        self.written = Coverage(self.size)


class PutSessions:
    """Values that are put together here and stored as one when they are whole: readers never see a part of one."""

    def __init__(self, client: Client, copies: RegisteredCopies, memory: SessionMemory, largest: int) -> None:
        self._client = client
        self._copies = copies
        self._memory = memory
        self._largest = largest  # value that can be stored
        self._lock = threading.Lock()
        self._drafts: dict[str, _Draft] = {}

    def start(self, keys: Sequence[str], sizes: Sequence[int], how: How, groups: Sequence[str] | None) -> list[int]:
        """0, a negative Status or a Refusal for each."""
        of_groups: Sequence[str | None] = groups or [None] * len(keys)
        lines = zip(keys, sizes, of_groups, self._client.size_batch(keys), strict=True)
        return [self._start(key, size, how, group, there) for key, size, group, there in lines]

    def _start(self, key: str, size: int, how: How, group: str | None, there: int) -> int:
        if there >= 0:
            return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "it has a value")
        if there == Status.BUSY:
            return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "another client is putting it")
        if there not in (Status.NOT_FOUND, Status.UNAVAILABLE):
            return there
        if size <= 0:
            return Refusal(ErrorCode.INVALID_PARAMS, f"a value of {size} bytes")
        if size > self._largest:
            why = f"a value of {size} bytes does not fit into the {self._largest} bytes of local_buffer_size; set up with more"
            return Refusal(ErrorCode.INVALID_PARAMS, why)
        with self._lock:
            if key in self._drafts:
                return Refusal(ErrorCode.INVALID_PARAMS, "it has a session already")
            refusal = self._memory.take(size)
            if refusal is not None:
                return refusal
            try:
                self._drafts[key] = _Draft(size, how, group)
            except OSError as problem:
                self._memory.give_back(size)
                return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"no memory for {size} bytes: {problem}")
        return 0

    def write(self, keys: Sequence[str], rows: Sequence[Row]) -> list[int]:
        """Bytes copied, or a Refusal or a negative Status, for each."""
        return [_answer(self._write, key, row) for key, row in zip(keys, rows, strict=True)]

    def _write(self, key: str, row: Row) -> int:
        """Raises Refused."""
        if not row.sizes:
            raise Refused(ErrorCode.INVALID_REPLICA, "no pieces were given")
        draft = self._draft(key)
        with draft.lock:
            _check_open(draft)
            problem = row.problem(draft.size)
            if problem is not None:
                raise Refused(ErrorCode.INVALID_PARAMS, problem)
            if not self._copies.from_application(row.copies(ctypes.addressof(draft.memory))):
                raise Refused(ErrorCode.INVALID_PARAMS, "a piece is outside registered memory")
            for offset, size in zip(row.offsets, row.sizes, strict=True):
                draft.written.add(offset, offset + size)
        return row.bytes

    def end(self, keys: Sequence[str]) -> list[int]:
        """For each 0 when it is stored, and its session is over; or a Status or Refusal, and the session goes on."""
        answers: list[int] = []
        complete: dict[int, _Draft] = {}
        for number, key in enumerate(keys):
            try:
                complete[number] = self._complete(key)
                answers.append(0)
            except Refused as refused:
                answers.append(refused.refusal)
        by_how: dict[How, list[int]] = {}
        for number, draft in complete.items():
            by_how.setdefault(draft.how, []).append(number)
        try:
            for how, numbers in by_how.items():
                for number, status in zip(numbers, self._store(how, keys, numbers, complete), strict=True):
                    answers[number] = status
                    if status == Status.OK:
                        self._drop(keys[number], complete.pop(number))
        finally:
            for draft in complete.values():
                draft.over = False
        return answers

    def revoke(self, keys: Sequence[str]) -> list[int]:
        """0, or a Refusal, for each."""
        return [_answer(self._revoke, key) for key in keys]

    def _revoke(self, key: str) -> int:
        """Raises Refused."""
        draft = self._draft(key)
        with draft.lock:
            _check_open(draft)
            draft.over = True
        self._drop(key, draft)
        return 0

    def _complete(self, key: str) -> _Draft:
        """The draft, closed to further writes. Raises Refused."""
        draft = self._draft(key)
        with draft.lock:
            _check_open(draft)
            gap = draft.written.first_gap()
            if gap is not None:
                why = f"bytes {gap[0]} to {gap[1]} of {draft.size} were never written"
                raise Refused(ErrorCode.INVALID_PARAMS, why)
            draft.over = True
        return draft

    def _store(self, how: How, keys: Sequence[str], numbers: list[int], drafts: dict[int, _Draft]) -> list[Status]:
        groups = [drafts[number].group for number in numbers]
        return self._client.put_batch(
            [keys[number] for number in numbers],
            [drafts[number].memory for number in numbers],
            replicas=how.replicas,
            keep=how.keep,
            preferred_node=how.preferred_node,
            groups=groups if any(groups) else None,
        )

    def _draft(self, key: str) -> _Draft:
        with self._lock:
            draft = self._drafts.get(key)
        if draft is None:
            raise Refused(ErrorCode.INVALID_PARAMS, "no session was started for it, or it ended")
        return draft

    def _drop(self, key: str, draft: _Draft) -> None:
        with self._lock:
            del self._drafts[key]
        self._memory.give_back(draft.size)


def _answer(call: Callable[..., int], *arguments: Any) -> int:
    try:
        return call(*arguments)
    except Refused as refused:
        return refused.refusal
    except KvpoolError as error:
        return error.status


def _check_open(draft: _Draft) -> None:
    if draft.over:
        raise Refused(ErrorCode.INVALID_PARAMS, "its session is just ending")
