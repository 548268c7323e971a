# SPDX-License-Identifier: Apache-2.0
"""Spans of time in which something was the case. Times are nanoseconds of CLOCK_MONOTONIC, which all processes share."""

from bisect import bisect_left

FOREVER = 1 << 62


class Windows:
    """Closed spans [start, end] that may overlap; an open one lasts until it is closed."""

    def __init__(self, spans: list[tuple[int, int]] | None = None) -> None:
        self.spans = list(spans or [])

    def open(self, start: int) -> int:
        """Begins a span; returns its place for close()."""
        self.spans.append((start, FOREVER))
        return len(self.spans) - 1

    def close(self, place: int, end: int) -> None:
        self.spans[place] = (self.spans[place][0], end)

    def touch(self, start: int, end: int) -> bool:
        """Whether any span has a moment in common with [start, end]."""
        return any(begin <= end and start <= stop for begin, stop in self.spans)


class EarliestEnd:
    """Of spans that begin at a time or later: the earliest end. Spans may be of different kinds, and one kind be left
    out of the question."""

    def __init__(self, spans: list[tuple[int, int, str]]) -> None:
        """`spans`: start, end, kind."""
        ordered = sorted(spans)
        self._starts = [start for start, _, _ in ordered]
        # For each suffix the earliest end, and the earliest among spans of another kind than that one.
        self._best: list[tuple[int, str, int]] = [(FOREVER, "", FOREVER)] * (len(ordered) + 1)
        for i in range(len(ordered) - 1, -1, -1):
            _, end, kind = ordered[i]
            self._best[i] = _merged(self._best[i + 1], end, kind)

    def after(self, time: int, without: str | None = None) -> int:
        """FOREVER when there is none."""
        end, kind, other_end = self._best[bisect_left(self._starts, time)]
        return other_end if without is not None and kind == without else end


def _merged(best: tuple[int, str, int], end: int, kind: str) -> tuple[int, str, int]:
    first, first_kind, second = best
    if kind == first_kind:
        return (min(first, end), first_kind, second)
    if end < first:
        return (end, kind, first)
    return (first, first_kind, min(second, end))
