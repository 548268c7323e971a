# SPDX-License-Identifier: Apache-2.0
"""How parts of values are read by reading them whole, and what was written of a value: seeded models."""

import random

import pytest

from mooncake.ranges.coverage import Coverage
from mooncake.ranges.range_plan import PIECES_MAX, Line, Part, batches, lines_for

SCRATCH = 1 << 40  # far from all targets


def deliver(line: Line, value: bytes, scratch: int, memory: dict[int, int]) -> int:
    """What the library does with a line: the value into its pieces, in order. Returns the bytes that went to scratch."""
    addresses, lengths = line.pieces(scratch)
    assert sum(lengths) == len(value)
    at = wasted = 0
    for address, length in zip(addresses, lengths, strict=True):
        assert length > 0
        wasted += length if address >= SCRATCH else 0
        for i in range(length):
            assert address + i not in memory or address < SCRATCH, "bytes that share an address spoil a checksum"
            memory[address + i] = value[at + i]
        at += length
    return wasted


@pytest.mark.parametrize("seed", range(40))
def test_every_part_gets_its_bytes(seed: int) -> None:
    chance = random.Random(seed)
    value = chance.randbytes(chance.randrange(1, 60))
    parts, target = [], 1000
    for number in range(chance.randrange(1, 12)):
        offset = chance.randrange(len(value))
        size = chance.randrange(1, len(value) - offset + 1)
        parts.append(Part(number, target, offset, size))
        target += size
    lines = lines_for("k", len(value), parts)
    memory: dict[int, int] = {}
    scratch = SCRATCH
    for line in lines:
        assert deliver(line, value, scratch, memory) == line.unwanted
        scratch += line.unwanted
    for part in parts:
        got = bytes(memory[part.target + i] for i in range(part.size))
        assert got == value[part.offset : part.offset + part.size]
    most = max(sum(part.offset <= at < part.offset + part.size for part in parts) for at in range(len(value)))
    assert len(lines) == most, "as few reads as overlaps allow"


def test_a_line_has_no_more_pieces_than_the_library_takes() -> None:
    length = 2 * PIECES_MAX
    lines = lines_for("k", length, [Part(i, 2 * i, 2 * i, 1) for i in range(PIECES_MAX)])
    assert max(len(line.pieces(SCRATCH)[0]) for line in lines) == PIECES_MAX - 1
    assert sum(len(line.parts) for line in lines) == PIECES_MAX


@pytest.mark.parametrize(
    ("part", "fits"),
    [
        (Part(0, 1, 0, 10), True),
        (Part(0, 1, 9, 1), True),
        (Part(0, 1, 10, 0), True),
        (Part(0, 1, 9, 2), False),
        (Part(0, 1, -1, 1), False),
        (Part(0, 1, 0, -1), False),
        (Part(0, -1, 0, 1), False),
        (Part(0, 1, 1 << 64, 1), False),
        (Part(0, (1 << 64) - 1, 0, 1), False),
    ],
)
def test_what_a_value_has(part: Part, fits: bool) -> None:
    assert part.fits(10) is fits


def test_batches_are_bounded() -> None:
    lines = [Line("k", 10, [Part(0, 0, 0, 4)]) for _ in range(7)]
    assert [len(batch) for batch in batches(lines, 3, 1000)] == [3, 3, 1]
    assert [len(batch) for batch in batches(lines, 100, 12)] == [2, 2, 2, 1]
    assert [len(batch) for batch in batches(lines, 100, 5)] == [1] * 7, (
        "a line that is too large alone is read all the same"
    )
    assert list(batches([], 3, 3)) == []


@pytest.mark.parametrize("seed", range(40))
def test_coverage_knows_the_first_gap(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randrange(1, 40)
    coverage, there = Coverage(size), [False] * size
    for _ in range(30):
        begin, end = sorted(chance.randrange(size + 1) for _ in range(2))
        coverage.add(begin, end)
        there[begin:end] = [True] * (end - begin)
        gap = coverage.first_gap()
        if all(there):
            assert gap is None
            return
        first = there.index(False)
        assert gap == (first, there.index(True, first) if True in there[first:] else size)
