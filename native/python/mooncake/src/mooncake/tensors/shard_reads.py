# SPDX-License-Identifier: Apache-2.0
"""Reads tensors, and parts of them, out of the parts in which they were stored."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kvpool import Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.memory.scratch import Scratch
from mooncake.ranges.held_values import HeldValues
from mooncake.ranges.named_values import NamedValues
from mooncake.ranges.rows import Row
from mooncake.tensors.parallelism import Place, key_of_rank
from mooncake.tensors.shards import Cut, Run, Shape, Shard, box_of, runs, shared_elements
from mooncake.tensors.tensor_format import HEADER_BYTES_MAX, TensorHeader, decode_header


@dataclass(frozen=True, slots=True)
class _Source:
    """A stored tensor, and what of the wanted one comes from it."""

    key: str
    header_bytes: int
    runs: Sequence[Run]

    def row(self, address: int) -> Row:
        return Row(
            [address + to for _, to, _ in self.runs],
            [size for _, _, size in self.runs],
            [self.header_bytes + at for at, _, _ in self.runs],
        )


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """How a tensor is put together."""

    header: TensorHeader
    sources: Sequence[_Source]


class ShardReads:
    """Of one call. All that is read of an object, its header and its elements, is of one value."""

    def __init__(self, sessions: NamedValues | HeldValues, scratch: Scratch) -> None:
        self._sessions = sessions
        self._scratch = scratch
        self._headers: dict[str, TensorHeader | int] = {}  # or why there is none

    @classmethod
    @contextmanager
    def begin(cls, sessions: NamedValues | HeldValues, scratch: Scratch) -> Iterator[ShardReads]:
        reads = cls(sessions, scratch)
        try:
            yield reads
        finally:
            sessions.end(list(reads._headers))

    def plan(self, places: Sequence[Place]) -> list[ShardPlan | int]:
        """For each how what is meant there is read, or the negative Status or the Refusal that says why it cannot be."""
        self._look_at(key for place in places for key in _first_looks(place))
        self._look_at(key for place in places for key, _ in self._layout(place))
        return [self._plan(place) for place in places]

    def fetch(self, plans: Sequence[ShardPlan], addresses: Sequence[int]) -> list[int]:
        """Puts the elements of each behind its header, which is at that address of registered memory. Bytes of elements, or why
        they are not there, for each."""
        lines = [
            (number, source.key, source.row(address + plan.header.header_bytes))
            for number, (plan, address) in enumerate(zip(plans, addresses, strict=True))
            for source in plan.sources
        ]
        answers = [plan.header.data_bytes for plan in plans]
        results = self._sessions.read([key for _, key, _ in lines], [row for _, _, row in lines])
        for (number, _, _), result in zip(lines, results, strict=True):
            if result < 0 <= answers[number]:
                answers[number] = result
        return answers

    def _plan(self, place: Place) -> ShardPlan | int:
        layout = self._layout(place)
        if not layout:
            whys = [why for key in _first_looks(place) if isinstance(why := self._headers[key], int)]
            return next((why for why in whys if why != Status.NOT_FOUND), Status.NOT_FOUND)
        found: list[tuple[str, Cut | None, TensorHeader]] = []
        for key, cut in layout:
            header = self._headers[key]
            if isinstance(header, int):
                return header
            found.append((key, cut, header))
        first = found[0][2]
        if not all(_is_sibling(header, first, cut) for _, cut, header in found):
            return Refusal(
                ErrorCode.INVALID_PARAMS, f"what is stored under {place.key!r} are parts of different tensors"
            )
        whole = _whole_shape(first, layout[0][1])
        try:
            wanted = box_of(whole, place.cut)
            sources = [
                _Source(key, header.header_bytes, runs(header.item_bytes, box_of(whole, cut), wanted))
                for key, cut, header in found
            ]
        except ValueError as problem:
            return Refusal(ErrorCode.INVALID_PARAMS, str(problem))
        return ShardPlan(TensorHeader(first.dtype, wanted.shape), [source for source in sources if source.runs])

    def _layout(self, place: Place) -> list[tuple[str, Cut | None]]:
        """The objects that together have what is meant, and which part each is. Empty when there are none.

        Part 0 says how the tensor was cut; without it, for a part, that very part does.
        """
        whole = self._headers.get(place.key)
        if place.cut is None and isinstance(whole, TensorHeader):
            return [(place.key, None)]
        for key in _first_looks(place)[1:]:
            header = self._headers.get(key)
            if isinstance(header, TensorHeader) and header.shard is not None:
                return list(_parts(place, header, header.shard))
        return [(place.key, None)] if isinstance(whole, TensorHeader) else []

    def _look_at(self, keys: Iterable[str]) -> None:
        """Reads the headers of objects that were not looked at yet."""
        new = [key for key in dict.fromkeys(keys) if key not in self._headers]
        lengths = dict(zip(new, self._sessions.start(new), strict=True))
        self._headers.update(lengths)
        found = {key: length for key, length in lengths.items() if length >= 0}
        with self._scratch.borrow(HEADER_BYTES_MAX * len(found)) as base:
            addresses = range(base, base + HEADER_BYTES_MAX * len(found), HEADER_BYTES_MAX)
            sizes = [min(length, HEADER_BYTES_MAX) for length in found.values()]
            rows = [Row([address], [size], [0]) for address, size in zip(addresses, sizes, strict=True)]
            results = self._sessions.read(list(found), rows)
            for (key, length), address, result in zip(found.items(), addresses, results, strict=True):
                self._headers[key] = result if result < 0 else _header(ctypes.string_at(address, result), length)


def _first_looks(place: Place) -> list[str]:
    """What is looked at first: the tensor in one piece, its part 0, the part that is meant."""
    keys = [place.key, key_of_rank(place.key, 0)]
    return keys if place.cut is None or place.cut.rank == 0 else [*keys, place.stored_key]


def _parts(place: Place, header: TensorHeader, shard: Shard) -> Iterator[tuple[str, Cut]]:
    """The parts of the layout of a part that share elements with what is meant; all where that cannot be said."""
    whole = shard.shape_of_whole(header.shape)
    try:
        wanted = box_of(whole, place.cut)
    except ValueError:
        wanted = box_of(whole, None)
    for rank in range(shard.cut.size):
        cut = Cut(shard.cut.dimension, rank, shard.cut.size)
        begin, end = cut.span(shard.whole)
        if rank == shard.cut.rank or (begin < end and shared_elements(box_of(whole, cut), wanted)):
            yield key_of_rank(place.key, rank), cut


def _whole_shape(header: TensorHeader, cut: Cut | None) -> Shape:
    return header.shape if cut is None or header.shard is None else header.shard.shape_of_whole(header.shape)


def _is_sibling(header: TensorHeader, first: TensorHeader, cut: Cut | None) -> bool:
    if cut is None:
        return True
    return (
        header.shard is not None
        and header.shard.cut == cut
        and header.dtype == first.dtype
        and _whole_shape(header, cut) == _whole_shape(first, cut)
    )


def _header(head: bytes, length: int) -> TensorHeader | int:
    try:
        header = decode_header(memoryview(head))
    except ValueError as problem:
        return Refusal(ErrorCode.INVALID_PARAMS, str(problem))
    expected = header.header_bytes + header.data_bytes
    if expected != length:
        return Refusal(ErrorCode.INVALID_PARAMS, f"a tensor of {expected} bytes in a value of {length}")
    return header
