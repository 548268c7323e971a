# SPDX-License-Identifier: Apache-2.0
"""Which bytes of which part of a tensor go where, against plain slicing."""

import itertools
import math
import random
from collections.abc import Iterator

import pytest

from mooncake.tensors import shards
from mooncake.tensors.shards import Box, Cut, Shard, box_of, runs, shared_elements


@pytest.mark.parametrize(
    ("whole", "size", "spans"),
    [
        (8, 4, [(0, 2), (2, 4), (4, 6), (6, 8)]),
        (7, 3, [(0, 3), (3, 6), (6, 7)]),
        (5, 4, [(0, 2), (2, 4), (4, 5), (5, 5)]),
        (0, 2, [(0, 0), (0, 0)]),
        (3, 1, [(0, 3)]),
    ],
)
def test_a_cut_is_as_torch_chunks(whole: int, size: int, spans: list[tuple[int, int]]) -> None:
    assert [Cut(0, rank, size).span(whole) for rank in range(size)] == spans


@pytest.mark.parametrize("wrong", [(0, 2, 2), (0, -1, 2), (-1, 0, 1), (0, 0, 0), (0, 0, 1 << 21)])
def test_cuts_that_cannot_be(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="part"):
        Cut(*wrong)


def test_a_part_knows_the_shape_of_the_whole() -> None:
    assert Shard(Cut(1, 2, 3), 7).shape_of_whole((4, 1)) == (4, 7)
    for shape in ((4, 3), (4,), ()):
        with pytest.raises(ValueError, match="is not Shard"):
            Shard(Cut(1, 2, 3), 7).shape_of_whole(shape)
    with pytest.raises(ValueError, match="elements"):
        Shard(Cut(0, 0, 1), -1)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # rows of 4 x 6 elements of 2 bytes: halves out of quarters along the rows are one run each
        (Cut(0, 2, 4), Cut(0, 1, 2), [(0, 0, 12)]),
        (Cut(0, 3, 4), Cut(0, 1, 2), [(0, 12, 12)]),
        (Cut(0, 0, 4), Cut(0, 1, 2), []),
        (None, Cut(0, 1, 2), [(24, 0, 24)]),
        (Cut(0, 1, 2), None, [(0, 24, 24)]),
        (None, None, [(0, 0, 48)]),
        # along the columns a run a row
        (Cut(1, 1, 3), Cut(1, 0, 2), [(0, 4, 2), (4, 10, 2), (8, 16, 2), (12, 22, 2)]),
        (Cut(1, 1, 2), None, [(0, 6, 6), (6, 18, 6), (12, 30, 6), (18, 42, 6)]),
        # out of rows into columns
        (Cut(0, 1, 4), Cut(1, 1, 2), [(6, 6, 6)]),
    ],
)
def test_runs(source: Cut | None, target: Cut | None, expected: list[tuple[int, int, int]]) -> None:
    assert runs(2, box_of((4, 6), source), box_of((4, 6), target)) == expected


def test_tensors_of_no_dimensions_and_of_no_elements() -> None:
    assert runs(8, box_of((), None), box_of((), None)) == [(0, 0, 8)]
    assert runs(8, box_of((3, 0), None), box_of((3, 0), Cut(0, 0, 3))) == []
    assert box_of((0,), Cut(0, 0, 2)).shape == (0,)
    for cut in (Cut(0, 3, 4), Cut(2, 0, 1)):
        with pytest.raises(ValueError, match=r"no part 3|dimension 2"):
            box_of((5, 1), cut)


def test_what_would_take_too_many_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "RUNS_MAX", 3)
    whole, half = box_of((4, 2), None), box_of((4, 2), Cut(1, 0, 2))
    with pytest.raises(ValueError, match="more than 3 reads"):
        runs(1, whole, half)
    assert len(runs(1, whole, whole)) == 1


def places(box: Box) -> Iterator[tuple[int, ...]]:
    yield from itertools.product(*map(range, box.begin, box.end))


@pytest.mark.parametrize("seed", range(150))
def test_any_layout_out_of_any_other(seed: int) -> None:
    """A tensor of numbers that tell their place is stored in parts, and read in others."""
    chance = random.Random(seed)
    shape = tuple(chance.randrange(1, 7) for _ in range(chance.randrange(1, 5)))
    item = chance.choice([1, 2, 4])
    number = {place: at.to_bytes(4, "little")[:item] for at, place in enumerate(itertools.product(*map(range, shape)))}

    def value(box: Box) -> bytes:
        return b"".join(number[place] for place in places(box))

    def layout() -> list[Box]:
        dimension, size = chance.randrange(len(shape)), chance.randrange(1, 6)
        boxes = []
        for rank in range(size):
            begin, end = Cut(dimension, rank, size).span(shape[dimension])
            if begin < end:
                boxes.append(box_of(shape, Cut(dimension, rank, size)))
        return boxes

    stored = layout()
    assert sum(math.prod(box.shape) for box in stored) == math.prod(shape)
    for wanted in [*layout(), box_of(shape, None)]:
        got, written = bytearray(item * math.prod(wanted.shape)), 0
        for box in stored:
            source, copied = value(box), 0
            for at, to, length in runs(item, box, wanted):
                assert at + length <= len(source) and to + length <= len(got)
                got[to : to + length] = source[at : at + length]
                copied += length
            assert copied == item * shared_elements(box, wanted)
            written += copied
        assert (got, written) == (value(wanted), len(got)), "each byte once"
