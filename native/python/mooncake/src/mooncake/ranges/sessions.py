# SPDX-License-Identifier: Apache-2.0
"""Values that are read or written in parts, over many calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from kvpool import Client, Keep, Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.memory.pages import zeroed_pages
from mooncake.memory.registered_copies import Copy, RegisteredCopies
from mooncake.ranges.coverage import Coverage

SESSION_BYTES_MAX = 4 << 30  # of the values of all sessions of a store, as they are held in its memory

Key = str


class Refused(Exception):
    """What one key of a call is answered instead."""

    def __init__(self, code: ErrorCode, why: str) -> None:
        super().__init__(why)
        self.refusal = Refusal(code, why)


@dataclass(frozen=True, slots=True)
class Row:
    """What a call asks of one value: pieces of the application's memory, and where in the value each belongs."""

    addresses: Sequence[int]
    sizes: Sequence[int]
    offsets: Sequence[int]

    def copies(self, base: int, length: int) -> list[Copy]:
        if not len(self.addresses) == len(self.sizes) == len(self.offsets):
            raise Refused(
                ErrorCode.INVALID_PARAMS,
                f"{len(self.addresses)} addresses, {len(self.sizes)} sizes and {len(self.offsets)} offsets",
            )
        copies = []
        for address, size, offset in zip(self.addresses, self.sizes, self.offsets, strict=True):
            if min(address, size, offset) < 0 or offset + size > length:
                raise Refused(
                    ErrorCode.INVALID_PARAMS, f"{size} bytes at {offset} are not inside a value of {length} bytes"
                )
            copies.append((address, base + offset, size))
        return copies

    @property
    def bytes(self) -> int:
        return sum(self.sizes)


class Room:
    """The bound on what sessions hold."""

    def __init__(self, bytes_max: int) -> None:
        self._max = bytes_max
        self._lock = threading.Lock()
        self._taken = 0

    def take(self, size: int) -> Refusal | None:
        """None when there was room."""
        with self._lock:
            if self._taken + size > self._max:
                why = f"sessions hold {self._taken} of {self._max} bytes, and {size} more are too many: end some first"
                return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, why)
            self._taken += size
            return None

    def give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size


class GetSessions:
    """Values that were read whole, from which parts are copied."""

    def __init__(self, client: Client, copies: RegisteredCopies, room: Room) -> None:
        self._client = client
        self._copies = copies
        self._room = room
        self._lock = threading.Lock()
        self._values: dict[Key, bytes] = {}

    def start(self, keys: Sequence[Key]) -> list[int]:
        """0, a negative Status or a Refusal for each."""
        answers: dict[Key, int] = {}
        lengths: dict[Key, int] = {}
        for key, length in zip(keys, self._client.size_batch(keys), strict=True):
            if key not in answers:
                answers[key] = (self._room.take(length) or 0) if length >= 0 else length
                if answers[key] == 0:
                    lengths[key] = length
        values: dict[Key, bytes] = {}
        try:
            for key, value in zip(lengths, self._client.get_batch(list(lengths)), strict=True):
                if not isinstance(value, bytes):
                    answers[key] = value
                elif len(value) != lengths[key]:
                    answers[key] = Refusal(ErrorCode.LEASE_EXPIRED, "a value of another length took its place")
                else:
                    values[key] = value
        finally:
            self._room.give_back(sum(length for key, length in lengths.items() if key not in values))
        with self._lock:
            before = [self._values[key] for key in values if key in self._values]
            self._values.update(values)
        self._room.give_back(sum(map(len, before)))
        return [answers[key] for key in keys]

    def read(self, key: Key, row: Row) -> int:
        """Bytes copied. Raises Refused."""
        with self._lock:
            value = self._values.get(key)
        if value is None:
            raise Refused(ErrorCode.INVALID_PARAMS, "no session was started for it, or it ended")
        address = ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0
        if not self._copies.to_application(row.copies(address, len(value))):
            raise Refused(ErrorCode.INVALID_PARAMS, "a piece is outside registered memory")
        return row.bytes

    def end(self, keys: Sequence[Key]) -> None:
        for key in keys:
            with self._lock:
                value = self._values.pop(key, None)
            if value is not None:
                self._room.give_back(len(value))


@dataclass(frozen=True, slots=True)
class How:
    """How a value will be stored: what kvpool.Client.put_batch() is told, but for the group."""

    replicas: int
    keep: Keep
    preferred_node: str | None


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

    def __init__(self, client: Client, copies: RegisteredCopies, room: Room) -> None:
        self._client = client
        self._copies = copies
        self._room = room
        self._lock = threading.Lock()
        self._drafts: dict[Key, _Draft] = {}

    def start(self, keys: Sequence[Key], sizes: Sequence[int], how: How, groups: Sequence[str] | None) -> list[int]:
        """0, a negative Status or a Refusal for each."""
        of_groups: Sequence[str | None] = groups or [None] * len(keys)
        lines = zip(keys, sizes, of_groups, self._client.size_batch(keys), strict=True)
        return [self._start(key, size, how, group, there) for key, size, group, there in lines]

    def _start(self, key: Key, size: int, how: How, group: str | None, there: int) -> int:
        if there >= 0:
            return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "it has a value")
        if there == Status.BUSY:
            return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "another client is putting it")
        if there not in (Status.NOT_FOUND, Status.UNAVAILABLE):
            return there
        if size <= 0:
            return Refusal(ErrorCode.INVALID_PARAMS, f"a value of {size} bytes")
        with self._lock:
            if key in self._drafts:
                return Refusal(ErrorCode.INVALID_PARAMS, "it has a session already")
            refusal = self._room.take(size)
            if refusal is not None:
                return refusal
            try:
                self._drafts[key] = _Draft(size, how, group)
            except OSError as problem:
                self._room.give_back(size)
                return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"no memory for {size} bytes: {problem}")
        return 0

    def write(self, key: Key, row: Row) -> int:
        """Bytes copied. Raises Refused."""
        if not row.sizes:
            raise Refused(ErrorCode.INVALID_REPLICA, "no pieces were given")
        draft = self._draft(key)
        with draft.lock:
            _check_open(draft)
            if not self._copies.from_application(row.copies(ctypes.addressof(draft.memory), draft.size)):
                raise Refused(ErrorCode.INVALID_PARAMS, "a piece is outside registered memory")
            for offset, size in zip(row.offsets, row.sizes, strict=True):
                draft.written.add(offset, offset + size)
        return row.bytes

    def end(self, keys: Sequence[Key]) -> list[int]:
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

    def revoke(self, key: Key) -> int:
        """0. Raises Refused."""
        draft = self._draft(key)
        with draft.lock:
            _check_open(draft)
            draft.over = True
        self._drop(key, draft)
        return 0

    def _complete(self, key: Key) -> _Draft:
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

    def _store(self, how: How, keys: Sequence[Key], numbers: list[int], drafts: dict[int, _Draft]) -> list[Status]:
        groups = [drafts[number].group for number in numbers]
        return self._client.put_batch(
            [keys[number] for number in numbers],
            [drafts[number].memory for number in numbers],
            replicas=how.replicas,
            keep=how.keep,
            preferred_node=how.preferred_node,
            groups=groups if any(groups) else None,
        )

    def _draft(self, key: Key) -> _Draft:
        with self._lock:
            draft = self._drafts.get(key)
        if draft is None:
            raise Refused(ErrorCode.INVALID_PARAMS, "no session was started for it, or it ended")
        return draft

    def _drop(self, key: Key, draft: _Draft) -> None:
        with self._lock:
            del self._drafts[key]
        self._room.give_back(draft.size)


def _check_open(draft: _Draft) -> None:
    if draft.over:
        raise Refused(ErrorCode.INVALID_PARAMS, "its session is just ending")
