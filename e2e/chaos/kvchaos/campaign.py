# SPDX-License-Identifier: Apache-2.0
"""A run: rounds of faults under load, and after each round a look at everything while the pool is left alone."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from kvchaos.client import Player
from kvchaos.evictions import EvictionReader
from kvchaos.history import MISSING, OK, Operation, Reader, Recorder
from kvchaos.judge import Judge
from kvchaos.kinds import Kind
from kvchaos.load import Move
from kvchaos.report import Result, Struck
from kvchaos.stage import Stage
from kvchaos.stores import KvpoolStore
from kvchaos.watch import Watch

WHOLE_SECONDS = 90.0
_FAULTS_OF_ROUND = 4
_READABLE_SECONDS = 30.0
_NOTICED_SECONDS = 0.3
"""After which a leader knows of a connection that ended."""
_COPIES_SECONDS = 90.0
"""For copies that are made anew, or freed, when everybody is back; repair waits and is slow on purpose."""
_EMPTY_SECONDS = 60.0
_AUDITED_AT_ONCE = 16
_USED_MAX = 0.5
"""Part of the pool in use below which nothing may be evicted."""


@dataclass
class Campaign:
    stage: Stage
    watch: Watch
    kinds: list[Kind]
    result: Result
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        crew = self.stage.crew
        self._draws = random.Random(self.result.seed)
        self._judge = Judge(self.stage.circumstances)
        self._bag: list[Kind] = []
        self._evictions = [EvictionReader(self.stage.pool.eviction_log(name)) for name in self.stage.pool.masters]
        self._began = time.monotonic_ns()
        path = crew.path_of("auditor")
        self._auditor = KvpoolStore(self.stage.pool.master_list(), "auditor", ("shm", "tcp"))
        self._player = Player(self._auditor, Recorder(path), crew.next_writer())
        crew.readers.append(Reader(path))

    def run(self, seconds: float) -> None:
        """Whole rounds until the time is over. What was judged until then is in the result, also when something fails."""
        end = time.monotonic() + seconds
        filling = False
        try:
            while time.monotonic() < end and not self.result.violations:
                self._round(filling, end)
                filling = not filling
        finally:
            self.result.counts = self._judge.counts
            self.result.evicted = self.watch.evicted
        self._check_eviction_logs()

    def close(self) -> None:
        self._auditor.close()
        for log in self._evictions:
            log.close()

    def _round(self, filling: bool, end: float) -> None:
        evicting = None
        if filling:
            evicting = self.stage.circumstances.evicting.open(time.monotonic_ns())
            self.stage.crew.tell("fill")
        for _ in range(_FAULTS_OF_ROUND):
            if time.monotonic() < end:
                self._strike(self._next_kind())
        self.stage.crew.pause()
        self._audit()
        if filling:
            self._empty()
            self.stage.circumstances.evicting.close(evicting, time.monotonic_ns())
            self.stage.crew.tell("relax")
        else:
            self._count_copies()
        self._judge_all()
        self.stage.crew.tell("resume")

    def _next_kind(self) -> Kind:
        """Each kind once before any comes again."""
        if not self._bag:
            self._bag = self._draws.sample(self.kinds, k=len(self.kinds))
        return self._bag.pop()

    def _strike(self, kind: Kind) -> None:
        time.sleep(self._draws.uniform(0.3, 1.5))
        self.say(f"{kind.name}")
        start = time.monotonic_ns()
        hidden = self.stage.circumstances.hidden.open(start) if kind.hides else None
        kind.strike(self.stage)
        time.sleep(_NOTICED_SECONDS)
        whole = self.watch.await_whole(WHOLE_SECONDS)
        if not whole:
            self.result.problems.append(f"after '{kind.name}' the pool did not get whole within {WHOLE_SECONDS:.0f} s")
        time.sleep(self._draws.uniform(0.2, 0.6))  # for the first put after it
        now = time.monotonic_ns()
        if hidden is not None and whole:
            self.stage.circumstances.hidden.close(hidden, now)
        self.result.faults.append(Struck(kind.name, start, now))

    def _audit(self) -> None:
        """Reads every key that is promised, until the pool says what it has."""
        if not self.watch.await_whole(WHOLE_SECONDS):
            self.result.problems.append(f"left alone the pool did not get whole within {WHOLE_SECONDS:.0f} s")
        self._hear()
        unread = self._judge.promised()
        self.say(f"auditing {len(unread)} keys")
        end = time.monotonic() + _READABLE_SECONDS
        while unread and time.monotonic() < end:
            for i in range(0, len(unread), _AUDITED_AT_ONCE):
                self._player.play(Move("get", tuple(unread[i : i + _AUDITED_AT_ONCE])))
            answers = {operation.key: operation.outcome for operation in self._hear()}
            unread = [key for key in unread if answers[key] not in (OK, MISSING)]
        if unread:
            self.result.problems.append(
                f"{len(unread)} keys cannot be read {_READABLE_SECONDS:.0f} s after the pool is whole, "
                f"among them {unread[0]}: {answers[unread[0]]}"
            )

    def _count_copies(self) -> None:
        """Only where there is room: repair does not evict."""
        wrong = self.watch.await_copies(_COPIES_SECONDS)
        if wrong:
            self.result.problems.append(f"left alone for {_COPIES_SECONDS:.0f} s the pool has {wrong}")

    def _empty(self) -> None:
        """Removes everything, so that from here on nothing may be evicted."""
        end = time.monotonic() + _EMPTY_SECONDS
        while True:
            self._player.play(Move("remove_all", force=True))
            view = self.stage.masters.leader()
            if view is not None and view.used_bytes < _USED_MAX * view.capacity_bytes:
                return
            if time.monotonic() > end:
                self.result.problems.append(f"remove_all by force did not empty the pool within {_EMPTY_SECONDS:.0f} s")
                return
            time.sleep(0.2)

    def _hear(self) -> list[Operation]:
        heard = [operation for reader in self.stage.crew.readers for operation in reader.answered()]
        self._judge.add(heard)
        for operation in heard:
            self.result.add(operation)
        return heard

    def _hear_evictions(self) -> None:
        for log in self._evictions:
            for eviction in log.new():
                self.stage.circumstances.evicted.add(eviction)
                if not self._began <= eviction.start <= time.monotonic_ns():
                    self.result.problems.append(f"{eviction}: that is no time of this run's clock")

    def _check_eviction_logs(self) -> None:
        """The metrics know of no eviction that is not written down."""
        self._hear_evictions()
        for log in self._evictions:
            self.result.problems += log.problems
        logged = sum(log.count for log in self._evictions)
        if logged < self.result.evicted:
            self.result.problems.append(f"{self.result.evicted} evictions were counted, but only {logged} written down")

    def _judge_all(self) -> None:
        self._hear()
        self._hear_evictions()  # after the histories: then what was missed is among them
        rest = [operation for reader in self.stage.crew.readers for operation in reader.rest()]
        self.result.violations += self._judge.judge(rest)
