# SPDX-License-Identifier: Apache-2.0
"""Which bytes of a value are there: pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Coverage:
    """Of bytes 0 to `size`, those that were written, in any order and as often as one likes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._begins: list[int] = []  # of runs that neither overlap nor touch, ascending
        self._ends: list[int] = []

    def add(self, begin: int, end: int) -> None:
        if begin >= end:
            return
        first = bisect_left(self._ends, begin)  # the first run that it touches, and the one behind the last
        behind = bisect_right(self._begins, end)
        if first < behind:
            begin = min(begin, self._begins[first])
            end = max(end, self._ends[behind - 1])
        self._begins[first:behind] = [begin]
        self._ends[first:behind] = [end]

    def first_gap(self) -> tuple[int, int] | None:
        """The first bytes that are missing, None when all are there."""
        if self._begins and self._begins[0] == 0:
            end = self._begins[1] if len(self._begins) > 1 else self._size
            return (self._ends[0], end) if self._ends[0] < self._size else None
        if self._size == 0:
            return None
        return (0, self._begins[0] if self._begins else self._size)
