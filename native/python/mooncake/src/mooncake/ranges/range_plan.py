# SPDX-License-Identifier: Apache-2.0
"""How parts of values are read by reading the values whole: pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

PIECES_MAX = 65_536  # KV_PIECES_MAX: of one line of a batch
_PARTS_MAX = (PIECES_MAX - 1) // 2  # there may be a gap before each, and one behind the last
_ADDRESS_MAX = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Part:
    """`size` bytes of a value from `offset` on, wanted at an address."""

    number: int  # of its answer
    target: int
    offset: int
    size: int

    def fits(self, length: int) -> bool:
        """Whether a value of that length has these bytes, and the address space too."""
        if self.size < 0 or self.offset < 0 or self.target < 0:
            return False
        return self.offset + self.size <= length and self.target + self.size <= _ADDRESS_MAX


@dataclass(frozen=True, slots=True)
class Line:
    """One read of a whole value, which delivers parts that do not overlap, in the order of their offsets."""

    key: str
    length: int
    parts: Sequence[Part]

    @property
    def unwanted(self) -> int:
        """Bytes of the value that no part takes."""
        return self.length - sum(part.size for part in self.parts)

    def pieces(self, scratch: int) -> tuple[list[int], list[int]]:
        """Addresses and lengths that take the whole value: what no part takes goes to `scratch`, one after the other,
        as bytes that share an address would spoil the checksum."""
        addresses: list[int] = []
        lengths: list[int] = []

        def add(address: int, length: int) -> None:
            addresses.append(address)
            lengths.append(length)

        at = 0
        for part in self.parts:
            if part.offset > at:
                add(scratch, part.offset - at)
                scratch += part.offset - at
            add(part.target, part.size)
            at = part.offset + part.size
        if at < self.length:
            add(scratch, self.length - at)
        return addresses, lengths


def lines_for(key: str, length: int, parts: Iterable[Part]) -> list[Line]:
    """As few reads as deliver all parts: one, unless parts overlap or are very many."""
    open_lines: list[tuple[int, int]] = []  # where the line ends, and its number
    lines: list[list[Part]] = []
    for part in sorted(parts, key=lambda part: part.offset):
        if open_lines and open_lines[0][0] <= part.offset:
            _, number = heapq.heappop(open_lines)
        else:
            number = len(lines)
            lines.append([])
        lines[number].append(part)
        if len(lines[number]) < _PARTS_MAX:
            heapq.heappush(open_lines, (part.offset + part.size, number))
    return [Line(key, length, line) for line in lines]


def batches(lines: Iterable[Line], lines_max: int, unwanted_max: int) -> Iterator[list[Line]]:
    """The lines in batches of a bounded size; a line that is larger alone has one of its own."""
    batch: list[Line] = []
    unwanted = 0
    for line in lines:
        if batch and (len(batch) == lines_max or unwanted + line.unwanted > unwanted_max):
            yield batch
            batch, unwanted = [], 0
        batch.append(line)
        unwanted += line.unwanted
    if batch:
        yield batch
