# SPDX-License-Identifier: Apache-2.0
"""Judges a history: is every answer one that a pool may give?

A pool holds at most one value under a key. A put writes it only when there is none, and answers the same when there is
one; so its answer promises a value, not its own. Each value is put once, and once it is gone it stays gone.

Wrong: a read returned a value that was never put under this key, whose put began after the read had ended, or that was
gone before the read began. Gone for certain is a value that
  - was there, or whose put had returned, before a removal or an upsert began that then succeeded;
  - was read, after which another value was read.
A put that failed or never returned may still come true later; only a read of its value shows that it did.

A get with reuse relies on what its process was told before, while the lease on that holds: a node that the leader does not reach
may still have what was removed by force or replaced. So its value need only have been there at some time since one lease before.

Lost: a key is missing although a put of it was acknowledged, and since the put began no removal was under way, no eviction of
the key was written down, and no memory was lost in which it may have lain. An eviction is no excuse while the pool is far
below its watermark. While a storage node may be out of the leader's
sight a missing key is not judged: it comes back.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kvchaos.evictions import Evicted
from kvchaos.history import MISSING, OK, Operation
from kvchaos.values import FOREIGN
from kvchaos.windows import FOREVER, EarliestEnd, Windows

_READS = ("get", "exists")
_PUTS = ("put", "upsert")
_REMOVALS = ("remove", "remove_all")

# Of a removal: what a reader may still use stays, by both APIs' names.
_REFUSED = ("has_lease", "object_has_lease")

# A removal that failed, or whose caller died, is not carried out later than this: twice what a master lets one wait.
EFFECT_NS_MAX = 60_000_000_000


@dataclass
class Circumstances:
    """What a pool may do with objects, and when."""

    evicting: Windows = field(default_factory=Windows)  # the pool may be above its watermark
    evicted: Evicted = field(default_factory=Evicted)  # what the masters wrote down
    hidden: Windows = field(default_factory=Windows)  # a storage node may be out of the leader's sight
    perishable: Windows = field(default_factory=Windows)  # objects may lie in memory that goes, or went
    lease_ns: int = 0  # how long a reader may rely on what it was told


@dataclass(frozen=True)
class Violation:
    kind: str  # wrong or lost
    why: str
    operation: Operation
    related: tuple[Operation, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.why}", f"    {self.operation}"]
        return "\n".join(lines + [f"    {operation}" for operation in self.related])


@dataclass
class Counts:
    """What was judged."""

    values_read: int = 0
    misses: int = 0
    misses_of_evicted: int = 0  # judged no loss because the eviction was written down
    misses_of_promised: int = 0  # judged no loss because a node may have been out of sight


class Judge:
    """Takes operations as they are answered and judges each read once."""

    def __init__(self, circumstances: Circumstances) -> None:
        self._circumstances = circumstances
        self._keys: dict[str, _KeyHistory] = defaultdict(_KeyHistory)
        self._of_all_keys: list[Operation] = []
        self.counts = Counts()

    def add(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            if operation.kind == "remove_all":
                self._of_all_keys.append(operation)
            elif operation.kind == "get" and operation.reuse and operation.outcome == OK:
                told = replace(operation, start=operation.start - self._circumstances.lease_ns)
                self._keys[operation.key].add(told)
            else:
                self._keys[operation.key].add(operation)

    def promised(self) -> list[str]:
        """Keys that were acknowledged after their last removal began: what should be there."""
        last_of_all = max((it.start for it in self._of_all_keys), default=0)
        found = []
        for name, key in self._keys.items():
            removed = max((it.start for it in key.removals), default=0)
            if any(put.outcome == OK and put.end > max(removed, last_of_all) for put in key.puts):
                found.append(name)
        return found

    def judge(self, unanswered: Iterable[Operation]) -> list[Violation]:
        """Judges the reads added since the last call. `unanswered`: operations that began and are not answered yet; all
        that began before the last read ended must be among these and those added."""
        pending: dict[str, list[Operation]] = defaultdict(list)
        of_all_keys = list(self._of_all_keys)
        for operation in unanswered:
            if operation.kind == "remove_all":
                of_all_keys.append(operation)
            else:
                pending[operation.key].append(operation)
        found: list[Violation] = []
        for name, key in self._keys.items():
            if key.new_reads:
                court = _Court(key, pending[name], of_all_keys, self._circumstances, self.counts)
                found += [violation for read in key.new_reads for violation in court.judge(read)]
                key.new_reads = []
        return found


class _KeyHistory:
    def __init__(self) -> None:
        self.puts: list[Operation] = []
        self.removals: list[Operation] = []
        self.values_read: list[Operation] = []
        self.new_reads: list[Operation] = []

    def add(self, operation: Operation) -> None:
        if operation.kind in _PUTS:
            self.puts.append(operation)
        elif operation.kind == "get" and operation.outcome == OK:
            self.values_read.append(operation)
        elif operation.kind in _REMOVALS:
            self.removals.append(operation)
        answered = operation.outcome in (OK, MISSING)
        if operation.kind in _READS and answered:
            self.new_reads.append(operation)
        elif operation.kind == "remove" and operation.outcome == MISSING and not operation.retried:
            self.new_reads.append(operation)  # a second try may have met what the first one did


class _Court:
    """All that is known of one key, arranged for questions."""

    def __init__(
        self,
        key: _KeyHistory,
        pending: list[Operation],
        of_all_keys: list[Operation],
        circumstances: Circumstances,
        counts: Counts,
    ) -> None:
        self._circumstances = circumstances
        self._counts = counts
        self._puts_of: dict[str, list[Operation]] = defaultdict(list)
        self._puts = key.puts + [operation for operation in pending if operation.kind in _PUTS]
        for put in self._puts:
            self._puts_of[put.identity].append(put)
        removals = key.removals + of_all_keys + [operation for operation in pending if operation.kind in _REMOVALS]
        self._removals = _Spans([replace(it, end=_last_effect(it)) for it in removals if _may_have_removed(it)])
        self._certain = [it for it in removals if _is_certain(it)]
        self._seen_first = _first_ends(key.values_read)
        self._ends_of_all = EarliestEnd(
            [(it.start, it.end, "") for it in self._certain]
            + [(it.start, it.end, it.identity) for it in self._puts if it.kind == "upsert" and it.outcome == OK]
        )
        self._others_seen = EarliestEnd([(it.start, it.end, it.identity) for it in key.values_read])
        self._promises = _Spans([it for it in self._puts if it.outcome == OK])

    def judge(self, read: Operation) -> list[Violation]:
        if read.outcome == MISSING:
            return self._judge_miss(read)
        self._counts.values_read += 1
        if read.kind == "exists":
            return self._judge_size(read)
        return self._judge_value(read)

    def _judge_value(self, read: Operation) -> list[Violation]:
        if read.identity == FOREIGN:
            return [Violation("wrong", "these bytes are no value of this key", read)]
        puts = self._puts_of.get(read.identity, [])
        if not puts:
            return [Violation("wrong", "this value was never put under this key", read)]
        begun = [put for put in puts if put.start <= read.end]
        if not begun:
            return [Violation("wrong", "the value was read before it was put", read, tuple(puts))]
        if any(self._gone(put) >= read.start for put in begun):
            return []
        put = begun[-1]
        return [Violation("wrong", "the value was gone before the read began", read, (put, *self._evidence(put)))]

    def _judge_size(self, read: Operation) -> list[Violation]:
        """A size of -1: something was there."""
        fitting = [put for put in self._puts if read.size in (-1, put.size) and put.start <= read.end]
        if any(self._gone(put) >= read.start for put in fitting):
            return []
        return [Violation("wrong", "no value of this size can have been there", read, tuple(fitting[-1:]))]

    def _judge_miss(self, read: Operation) -> list[Violation]:
        self._counts.misses += 1
        promise = self._promises.latest_ended_by(read.start)
        if promise is None or self._removals.touching(promise.start, read.end):
            return []
        if self._may_be_evicted(read.key, promise.start, read.end):
            self._counts.misses_of_evicted += 1
            return []
        if self._circumstances.perishable.touch(self._oldest_possible(promise), read.end):
            return []
        if self._circumstances.hidden.touch(read.start, read.end):
            self._counts.misses_of_promised += 1
            return []
        return [Violation("lost", "an acknowledged key is missing", read, (promise,))]

    def _may_be_evicted(self, key: str, start: int, end: int) -> bool:
        """What was promised was there at some time since the put began: an eviction before that was of something else."""
        return self._circumstances.evicting.touch(start, end) and self._circumstances.evicted.between(key, start, end)

    def _gone(self, put: Operation) -> int:
        """When the value was gone at the latest; FOREVER when it may be there still."""
        alone = len(self._puts_of[put.identity]) == 1
        seen = self._seen_first.get(put.identity, FOREVER) if alone else FOREVER
        # Until its call returned a value may be written again: the library tries more than once.
        settled = put.end if put.outcome == OK else max(put.end, seen)
        gone = self._ends_of_all.after(settled, without=put.identity)
        return min(gone, self._others_seen.after(max(settled, seen), without=put.identity))

    def _evidence(self, put: Operation) -> list[Operation]:
        """What shows that the value was gone."""
        gone = self._gone(put)
        reads = [it for it in self._certain + self._puts if it.end == gone]
        return reads[:1]

    def _oldest_possible(self, promise: Operation) -> int:
        """Since when a value can have been there that the promise may be about: a put may have found an older one."""
        if promise.kind == "upsert":
            return promise.start
        return max((it.start for it in self._certain if it.end <= promise.start), default=0)


class _Spans:
    """Operations by time."""

    def __init__(self, operations: list[Operation]) -> None:
        self._by_start = sorted(operations, key=lambda it: it.start)
        self._starts = [it.start for it in self._by_start]
        self._last_ends: list[int] = []
        self._by_end = sorted(operations, key=lambda it: it.end)
        self._ends = [it.end for it in self._by_end]
        self._latest: list[Operation] = []
        for operation in self._by_start:
            self._last_ends.append(max(operation.end, self._last_ends[-1] if self._last_ends else 0))
        for operation in self._by_end:
            best = self._latest[-1] if self._latest else operation
            self._latest.append(operation if operation.start >= best.start else best)

    def touching(self, start: int, end: int) -> bool:
        """Whether any has a moment in common with [start, end]."""
        begun = bisect_right(self._starts, end)
        return begun > 0 and self._last_ends[begun - 1] >= start

    def latest_ended_by(self, time: int) -> Operation | None:
        """Of those that ended by a time the one that began last."""
        ended = bisect_right(self._ends, time)
        return self._latest[ended - 1] if ended else None


def _may_have_removed(removal: Operation) -> bool:
    return removal.retried or removal.outcome not in (MISSING, *_REFUSED)


def _last_effect(removal: Operation) -> int:
    """Until when a removal may take place."""
    if removal.outcome == OK or not removal.retried:
        return removal.end
    return max(removal.end if removal.end < FOREVER else 0, removal.start + EFFECT_NS_MAX)


def _is_certain(removal: Operation) -> bool:
    """Whether everything that was there when it began is gone when it ended, also on nodes that were away. Without force
    remove_all leaves what is leased."""
    return removal.outcome == OK and (removal.kind == "remove" or removal.force)


def _first_ends(reads: list[Operation]) -> dict[str, int]:
    first: dict[str, int] = {}
    for read in reads:
        first[read.identity] = min(first.get(read.identity, FOREVER), read.end)
    return first
