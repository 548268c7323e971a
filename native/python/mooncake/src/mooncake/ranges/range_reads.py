# SPDX-License-Identifier: Apache-2.0
"""Reads parts of values into registered memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kvpool import Client, Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.memory.scratch import Scratch
from mooncake.ranges.range_plan import Line, Part, batches, lines_for

_LINES_MAX = 4096
_UNWANTED_BYTES_MAX = 64 << 20  # memory for bytes that no part takes, at a time


@dataclass(frozen=True, slots=True)
class Wanted:
    key: str
    target: int
    offset: int
    size: int

    def is_possible(self) -> bool:
        """Whether there could be a value with these bytes, and memory for them."""
        numbers = (self.target, self.offset, self.size)
        return min(numbers) >= 0 and max(self.target, self.offset) + self.size < 1 << 64


class RangeReads:
    """Through an agent values come whole: a part costs as much as its value. The parts of a value that one call asks for
    share a read and go straight to where they are wanted; the rest goes to scratch memory."""

    def __init__(self, client: Client, scratch: Scratch, reuse: bool) -> None:
        self._client = client
        self._reuse = reuse
        self._scratch = scratch

    def read(self, wanted: Sequence[Wanted]) -> list[int]:
        """For each its size, or the negative Status or the Refusal that says why it was not read."""
        answers: list[int] = [0] * len(wanted)
        keys = list(dict.fromkeys(one.key for one in wanted))
        lengths = dict(zip(keys, self._client.size_batch(keys), strict=True))
        parts: dict[str, list[Part]] = {}
        for number, one in enumerate(wanted):
            length = lengths[one.key]
            part = Part(number, one.target, one.offset, one.size)
            if length < 0:
                answers[number] = length
            elif not part.fits(length):
                answers[number] = _outside(part, length)
            elif one.size > 0:
                parts.setdefault(one.key, []).append(part)
        lines = [line for key, of_key in parts.items() for line in lines_for(key, lengths[key], of_key)]
        outside = self._run(lines, answers)
        # One part outside registered memory fails its line: the others of the line are asked for again, each alone.
        alone = [Line(line.key, line.length, [part]) for line in outside if len(line.parts) > 1 for part in line.parts]
        self._run(alone, answers)
        return answers

    def _run(self, lines: Iterable[Line], answers: list[int]) -> list[Line]:
        """Returns the lines that name memory which is not registered."""
        outside = []
        for batch in batches(lines, _LINES_MAX, _UNWANTED_BYTES_MAX):
            with self._scratch.borrow(sum(line.unwanted for line in batch)) as scratch:
                pieces = []
                for line in batch:
                    pieces.append(line.pieces(scratch))
                    scratch += line.unwanted
                addresses, lengths = zip(*pieces, strict=True)
                keys = [line.key for line in batch]
                results = self._client.get_into_pieces(keys, addresses, lengths, reuse=self._reuse)
            for line, result in zip(batch, results, strict=True):
                failure = _failure(line, result)
                if failure == Status.NOT_REGISTERED:
                    outside.append(line)
                for part in line.parts:
                    answers[part.number] = part.size if failure is None else failure
        return outside


def _failure(line: Line, result: int) -> int | None:
    if result == line.length:
        return None
    if result >= 0 or result == Status.BUFFER_TOO_SMALL:
        return Refusal(ErrorCode.LEASE_EXPIRED, "a value of another length took its place during the call")
    return result


def _outside(part: Part, length: int) -> Refusal:
    where = f"{part.size} bytes at {part.offset} of a value of {length} to address {part.target}"
    return Refusal(ErrorCode.INVALID_PARAMS, f"{where} are not all there")
