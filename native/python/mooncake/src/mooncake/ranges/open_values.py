# SPDX-License-Identifier: Apache-2.0
"""Put sessions of a client that writes parts: what a session has of a value is its name, and which bytes were written."""

from __future__ import annotations

import contextlib
import threading
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from kvpool import Client, KvpoolError, Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.ranges.coverage import Coverage
from mooncake.ranges.lines import Lines, move, names
from mooncake.ranges.named_values import SESSIONS_MAX
from mooncake.ranges.put_sessions import How
from mooncake.ranges.rows import Row

_LENGTH_MAX = (1 << 63) - 1
SESSION_SECONDS = 30.0  # after which storage nodes have taken the room back
_GIVE_BACK_SECONDS = 1.0  # what waits for it is another call
# What a write that did not reach the nodes is answered: it may be repeated.
_UNCHANGED = (Status.TIMEOUT, Status.QUEUE_FULL, Status.NOT_REGISTERED, Status.INVALID_ARGUMENT)


@dataclass(eq=False, slots=True)
class _Open:
    """A value that has room on storage nodes. `epoch` 0: it has none yet."""

    size: int
    epoch: int = 0
    counter: int = 0
    until: float = float("inf")
    ending: bool = False
    failed: bool = False  # its end, or a write, did in a way that leaves open whether it is over; both may be repeated
    over: bool = False  # a write found no room for it any more
    written: Coverage = field(init=False)

    def __post_init__(self) -> None:
        self.written = Coverage(self.size)

    def gives_way(self) -> bool:
        """To a new start of its key."""
        return not self.ending and (self.failed or self.over or time.monotonic() > self.until)


class OpenValues:
    """Parts are written to the room of their value when they come. Readers see it when all are there and it was ended."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()  # of all below
        self._open: dict[str, _Open] = {}

    def start(self, keys: Sequence[str], sizes: Sequence[int], how: How, groups: Sequence[str] | None) -> list[int]:
        """0, a negative Status or a Refusal for each."""
        answers: list[int] = [0] * len(keys)
        wanted: dict[str, int] = {}
        replaced: dict[str, _Open] = {}
        for number, (key, size) in enumerate(zip(keys, sizes, strict=True)):
            refusal = self._take(key, size, replaced)
            if refusal is None:
                wanted[key] = number
            else:
                answers[number] = refusal
        objects = array("Q", bytes(16 * len(wanted)))
        statuses: Sequence[Status] = ()
        try:
            self._give_back(replaced)
            if not wanted:
                return answers
            statuses = self._client.put_start(
                list(wanted),
                [sizes[number] for number in wanted.values()],
                objects,
                replicas=how.replicas,
                keep=how.keep,
                preferred_node=how.preferred_node,
                groups=[groups[number] for number in wanted.values()] if groups else None,
            )
        finally:
            with self._lock:
                for key in list(wanted)[len(statuses) :]:
                    del self._open[key]
        with self._lock:
            for line, ((key, number), status) in enumerate(zip(wanted.items(), statuses, strict=True)):
                answers[number] = _start_answer(status)
                if status == Status.OK:
                    value = self._open[key]
                    value.epoch, value.counter = objects[2 * line : 2 * line + 2]
                    value.until = time.monotonic() + SESSION_SECONDS
                else:
                    del self._open[key]
        return answers

    def _take(self, key: str, size: int, replaced: dict[str, _Open]) -> Refusal | None:
        if size <= 0:
            return Refusal(ErrorCode.INVALID_PARAMS, f"a value of {size} bytes")
        if size > _LENGTH_MAX:
            return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"a value of {size} bytes")
        with self._lock:
            there = self._open.get(key)
            if there is not None and not there.gives_way():
                return Refusal(ErrorCode.INVALID_PARAMS, "it has a session already")
            if len(self._open) >= SESSIONS_MAX:
                # Callers that end once and go on, or do not end what they began, leave these behind.
                left = {other: value for other, value in self._open.items() if value.gives_way()}
                replaced.update((other, value) for other, value in left.items() if value.over or value.failed)
                self._open = {other: value for other, value in self._open.items() if other not in left}
            if len(self._open) >= SESSIONS_MAX:
                return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"there are {SESSIONS_MAX} sessions: end some first")
            if there is not None:
                replaced[key] = there
            self._open[key] = _Open(size)
            return None

    def _give_back(self, values: dict[str, _Open]) -> None:
        """The leader takes no other put of a key before, though no node has room for this one any more. Where it cannot be
        told, it finds out itself, later."""
        if values:
            with contextlib.suppress(KvpoolError):
                self._client.put_revoke(list(values), names(list(values.values())), timeout=_GIVE_BACK_SECONDS)

    def write(self, keys: Sequence[str], rows: Sequence[Row]) -> list[int]:
        """Bytes written, a negative Status or a Refusal for each."""
        with self._lock:
            values = [self._started(key) for key in keys]
        refusals = [_refusal(value, row) for value, row in zip(values, rows, strict=True)]
        answers = move(keys, rows, values, refusals, self._write)
        with self._lock:
            for value, row, answer in zip(values, rows, answers, strict=True):
                if value is None or isinstance(answer, Refusal):
                    continue
                if answer < 0:
                    value.over |= answer not in _UNCHANGED
                    # The queue of this process, where nothing has changed, or that of its node, which has ended it then.
                    value.failed |= answer == Status.QUEUE_FULL
                    continue
                for offset, size in zip(row.offsets, row.sizes, strict=True):
                    value.written.add(offset, offset + size)
        return answers

    def _write(self, lines: Lines) -> Sequence[int]:
        return self._client.put_parts(lines.keys, lines.addresses, lines.sizes, lines.offsets, lines.objects)

    def end(self, keys: Sequence[str]) -> list[int]:
        """For each 0 when it is readable, or a Status or Refusal. The session is over with 0 and LEASE_EXPIRED; after any other
        answer it may be ended again, revoked or replaced by a new start."""
        answers: list[int] = [0] * len(keys)
        ending: dict[int, _Open] = {}
        dropped: dict[str, _Open] = {}
        with self._lock:
            for number, key in enumerate(keys):
                value = self._started(key)
                gap = None if value is None else value.written.first_gap()
                if value is None:
                    answers[number] = _NO_SESSION
                elif gap is not None and value.over:
                    answers[number] = _OVER
                    dropped[key] = self._open.pop(key)
                elif gap is not None:
                    why = f"bytes {gap[0]} to {gap[1]} of {value.size} were never written"
                    answers[number] = Refusal(ErrorCode.INVALID_PARAMS, why)
                else:
                    ending[number] = value
                    value.ending, value.failed = True, False
        if ending:
            statuses: Sequence[int] = ()
            try:
                statuses = self._end([keys[number] for number in ending], list(ending.values()))
            finally:
                self._ended([(keys[number], value) for number, value in ending.items()], statuses)
            for number, status in zip(ending, statuses, strict=True):
                answers[number] = status
        self._give_back(dropped)
        return answers

    def _end(self, keys: list[str], values: list[_Open]) -> list[int]:
        """0 or a negative Status for each."""
        statuses: list[int] = list(self._client.put_end(keys, names(values)))
        # The library knows a value no longer whose end it began: an answer may have been lost, or the leader that gave it,
        # after the value was stored. So the pool is asked whether the key has this very value.
        unknown = [number for number, status in enumerate(statuses) if status == Status.LEASE_EXPIRED]
        if unknown:
            nothing: list[list[int]] = [[]] * len(unknown)
            objects = names([values[number] for number in unknown])
            found = self._client.get_into_parts(
                [keys[number] for number in unknown], nothing, nothing, nothing, objects=objects
            )
            for number, status in zip(unknown, found, strict=True):
                is_not_there = status in (Status.NOT_FOUND, Status.LEASE_EXPIRED)
                statuses[number] = 0 if status >= 0 else Status.LEASE_EXPIRED if is_not_there else status
        return statuses

    def _ended(self, ending: list[tuple[str, _Open]], statuses: Sequence[int]) -> None:
        """Without statuses the call itself failed."""
        with self._lock:
            for number, (key, value) in enumerate(ending):
                if number < len(statuses) and statuses[number] in (0, Status.LEASE_EXPIRED):
                    del self._open[key]
                else:
                    value.ending, value.failed = False, True

    def revoke(self, keys: Sequence[str]) -> list[int]:
        """For each 0, a Refusal for one without a session, or the Status of one whose room goes back later."""
        answers: list[int] = [0] * len(keys)
        ending: dict[int, _Open] = {}
        with self._lock:
            for number, key in enumerate(keys):
                value = self._started(key)
                if value is None:
                    answers[number] = _NO_SESSION
                else:
                    ending[number] = value
                    del self._open[key]
        if ending:
            statuses = self._client.put_revoke([keys[number] for number in ending], names(list(ending.values())))
            for number, status in zip(ending, statuses, strict=True):
                answers[number] = 0 if status == Status.LEASE_EXPIRED else status
        return answers

    def _started(self, key: str) -> _Open | None:
        value = self._open.get(key)
        return None if value is None or value.epoch == 0 or value.ending else value


_NO_SESSION = Refusal(ErrorCode.INVALID_PARAMS, "no session was started for it, or it ended")
_OVER = Refusal(ErrorCode.LEASE_EXPIRED, "the pool ended its session; start it again")


def _start_answer(status: Status) -> int:
    if status == Status.EXISTS:
        return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "it has a value")
    if status == Status.BUSY:
        return Refusal(ErrorCode.OBJECT_ALREADY_EXISTS, "another client is putting it")
    return status


def _refusal(value: _Open | None, row: Row) -> Refusal | None:
    if value is None and row.sizes:
        return _NO_SESSION
    if not row.sizes:
        return Refusal(ErrorCode.INVALID_REPLICA, "no pieces were given")
    if value is not None and value.over:
        return _OVER
    why = None if value is None else row.problem(value.size)
    return None if why is None else Refusal(ErrorCode.INVALID_PARAMS, why)
