# SPDX-License-Identifier: Apache-2.0
"""Which bytes of which part of a tensor go where: pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

RUNS_MAX = 1 << 20  # of one tensor that is read from parts, or cut out of one
_PARTS_MAX = 1 << 20
_WHOLE_MAX = (1 << 63) - 1

Shape = tuple[int, ...]
Run = tuple[int, int, int]  # offset in the source, offset in the target, bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """Part `rank` of `size` parts along one dimension, each of the same length but for the last ones, as torch.chunk() cuts."""

    dimension: int
    rank: int
    size: int

    def __post_init__(self) -> None:
        if not (0 <= self.rank < self.size <= _PARTS_MAX) or self.dimension < 0:
            raise ValueError(f"part {self.rank} of {self.size} along dimension {self.dimension}")

    def span(self, whole: int) -> tuple[int, int]:
        """Where the part begins and ends in a dimension of that length. Empty for one that there is none of."""
        step = -(-whole // self.size)
        return min(self.rank * step, whole), min((self.rank + 1) * step, whole)


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a tensor whose length in that dimension is `whole`."""

    cut: Cut
    whole: int

    def __post_init__(self) -> None:
        if not 0 <= self.whole <= _WHOLE_MAX:
            raise ValueError(f"a part of {self.whole} elements")

    def shape_of_whole(self, shape: Shape) -> Shape:
        """From the shape of the part. ValueError when it is not that of this part."""
        dimension = self.cut.dimension
        begin, end = self.cut.span(self.whole)
        if dimension >= len(shape) or shape[dimension] != end - begin:
            raise ValueError(f"a tensor of shape {shape} is not {self}")
        return (*shape[:dimension], self.whole, *shape[dimension + 1 :])


@dataclass(frozen=True, slots=True)
class Box:
    """A contiguous tensor that holds the elements from `begin` to `end`, in each dimension of a larger one."""

    begin: Shape
    end: Shape

    @property
    def shape(self) -> Shape:
        return tuple(end - begin for begin, end in zip(self.begin, self.end, strict=True))


def box_of(whole: Shape, cut: Cut | None) -> Box:
    """ValueError for a cut that this shape does not have, or leaves without elements."""
    begin, end = [0] * len(whole), list(whole)
    if cut is not None:
        if cut.dimension >= len(whole):
            raise ValueError(f"dimension {cut.dimension} of a tensor of shape {whole}")
        first, last = cut.span(whole[cut.dimension])
        if first == last and cut.rank > 0:
            raise ValueError(f"there is no part {cut.rank} of {cut.size} of a tensor of shape {whole}")
        begin[cut.dimension], end[cut.dimension] = first, last
    return Box(tuple(begin), tuple(end))


def shared_elements(source: Box, target: Box) -> int:
    return math.prod(map(len, _overlap(source, target)))


def runs(item_bytes: int, source: Box, target: Box) -> list[Run]:
    """The bytes that both have, in as few runs as are contiguous in both. ValueError when they are more than RUNS_MAX."""
    both = _overlap(source, target)
    if not math.prod(map(len, both)):
        return []
    inner = len(both)  # dimensions from here on are one run
    while inner > 0:
        inner -= 1
        if not len(both[inner]) == source.shape[inner] == target.shape[inner]:
            break
    if math.prod(map(len, both[:inner])) > RUNS_MAX:
        raise ValueError(f"it would take more than {RUNS_MAX} reads: cut along an earlier dimension")
    sources = _offsets(item_bytes, source, both, inner)
    targets = _offsets(item_bytes, target, both, inner)
    size = item_bytes * math.prod(map(len, both[inner:]))
    return [(at, to, size) for at, to in zip(sources, targets, strict=True)]


def _overlap(one: Box, other: Box) -> list[range]:
    return [
        range(max(begins), min(ends))
        for begins, ends in zip(
            zip(one.begin, other.begin, strict=True), zip(one.end, other.end, strict=True), strict=True
        )
    ]


def _offsets(item_bytes: int, box: Box, both: Sequence[range], inner: int) -> list[int]:
    """Where in the box each run begins: the outer dimensions in the order of rows, the first elements of the inner ones."""
    offsets = [0]
    for dimension, indices in enumerate(both):
        stride = item_bytes * math.prod(box.shape[dimension + 1 :])
        begin = box.begin[dimension]
        chosen = indices if dimension < inner else indices[:1]
        offsets = [offset + (index - begin) * stride for offset in offsets for index in chosen]
    return offsets
