# SPDX-License-Identifier: Apache-2.0
"""Watches a pool from outside while faults happen: what may be out of sight, and whether it evicts when it should not."""

import threading
import time

from kvchaos.judge import Circumstances
from kvchaos.view import Masters

_PERIOD_SECONDS = 0.3


class Watch:
    """A thread that asks the masters again and again.

    A storage node can be out of the leader's sight without a fault of ours, on a machine that is slow; from the last time
    all were seen until they are seen again, a missing key is not judged.
    """

    def __init__(self, masters: Masters, circumstances: Circumstances) -> None:
        self.problems: list[str] = []
        self.evicted = 0
        self._masters = masters
        self._circumstances = circumstances
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._last_whole = time.monotonic_ns()
        self._hidden: int | None = None
        self._evicted: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def await_whole(self, seconds: float) -> bool:
        """Until a leader sees every expected node, none of its objects is out of reach, and every master is caught up,
        twice in a row."""
        end = time.monotonic() + seconds
        in_a_row = 0
        while in_a_row < 2:
            view = self._masters.leader()
            whole = view is not None and view.is_whole and len(self._masters.ready()) == self._masters.count
            in_a_row = in_a_row + 1 if whole else 0
            if time.monotonic() > end:
                return False
            time.sleep(_PERIOD_SECONDS / 3)
        self._look()
        return True

    def await_copies(self, seconds: float) -> str:
        """Until every object has as many copies as it should; what is wrong when that takes longer."""
        end = time.monotonic() + seconds
        while True:
            view = self._masters.leader()
            wrong = "nobody leads" if view is None else view.wrong_copies
            if not wrong or time.monotonic() > end:
                return wrong
            time.sleep(_PERIOD_SECONDS)

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._lock:
            started = time.monotonic_ns()
            view = self._masters.leader()
            if view is not None and view.ready_nodes < view.expected_nodes and self._hidden is None:
                self._hidden = self._circumstances.hidden.open(self._last_whole)
            elif view is not None and view.is_whole:
                if self._hidden is not None:
                    self._circumstances.hidden.close(self._hidden, time.monotonic_ns())
                    self._hidden = None
                self._last_whole = started
            self._count_evictions(started)

    def _count_evictions(self, started: int) -> None:
        for name, now in self._masters.evicted().items():
            before = self._evicted.get(name, 0)
            grown = now - before if now >= before else now  # a new life counts from 0
            self._evicted[name] = now
            self.evicted += grown
            seconds_ago = started - int(2 * _PERIOD_SECONDS * 1e9)
            if grown > 0 and not self._circumstances.evicting.touch(seconds_ago, time.monotonic_ns()):
                self.problems.append(f"{name} evicted {grown} objects although the pool was far below its watermark")
