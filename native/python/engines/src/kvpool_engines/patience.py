# SPDX-License-Identifier: Apache-2.0
"""How long a pool is waited for, and when it is left alone: pure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_LATE_IN_A_ROW = 3
_FIRST_REST, _LONGEST_REST = 1.0, 30.0


class Patience:
    """One kind of call to a pool must not take longer than a limit, nor may many in a row take that long: after three late
    ones no call is made for a second; when the next is late too, for two seconds, and so on, for 30 s at most.

    Times are those of `clock`, in seconds. For any number of threads.
    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._lock = threading.Lock()
        self._late_in_a_row = 0
        self._rest = 0.0
        self._rested = self._resumes = float("-inf")  # when the last rest began, and when it ends

    def resting(self) -> bool:
        """Whether no call is made now."""
        return self._clock() < self._resumes

    def budget(self, asked: float | None = None) -> float:
        """Seconds that a call may take that somebody has waited for since `asked`, or 0: it is not made."""
        if self.resting():
            return 0.0
        waited = 0.0 if asked is None else self._clock() - asked
        return max(0.0, self._limit - waited)

    def ended(self, asked: float) -> bool:
        """A call that was made has ended; whether it is late. One that was under way when a rest began counts for nothing."""
        now = self._clock()
        late = now - asked >= self._limit
        with self._lock:
            if asked < self._rested:
                return late
            if not late:
                self._late_in_a_row, self._rest = 0, 0.0
                return False
            self._late_in_a_row += 1
            if self._late_in_a_row >= _LATE_IN_A_ROW:
                self._rest = min(2 * self._rest or _FIRST_REST, _LONGEST_REST)
                self._rested, self._resumes = now, now + self._rest
        return True
