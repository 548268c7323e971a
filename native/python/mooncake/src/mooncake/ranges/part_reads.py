# SPDX-License-Identifier: Apache-2.0
"""Reads parts of values into registered memory, and only these."""

from __future__ import annotations

from collections.abc import Sequence

from kvpool import PARTS_MAX, Client, Status
from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.ranges.range_reads import Wanted

_LINES_MAX = 4096


class PartReads:
    """The parts that one call asks for, those of one value in one read."""

    def __init__(self, client: Client, reuse: bool) -> None:
        self._client = client
        self._reuse = reuse

    def read(self, wanted: Sequence[Wanted]) -> list[int]:
        """For each its size, or the negative Status or the Refusal that says why it was not read."""
        answers: list[int] = [0] * len(wanted)
        of_keys: dict[str, list[int]] = {}
        for number, one in enumerate(wanted):
            if one.is_possible():
                of_keys.setdefault(one.key, []).append(number)
            else:
                answers[number] = _refusal(one)
        lines = [
            numbers[at : at + PARTS_MAX] for numbers in of_keys.values() for at in range(0, len(numbers), PARTS_MAX)
        ]
        wrong = self._run(wanted, lines, answers)
        # One part that is wrong fails its line: the others of the line are asked for again, each alone.
        self._run(wanted, [[number] for line in wrong if len(line) > 1 for number in line], answers)
        return answers

    def _run(self, wanted: Sequence[Wanted], lines: Sequence[list[int]], answers: list[int]) -> list[list[int]]:
        """Returns the lines with a part that is outside registered memory, or outside its value."""
        wrong = []
        for at in range(0, len(lines), _LINES_MAX):
            batch = lines[at : at + _LINES_MAX]
            results = self._client.get_into_parts(
                [wanted[line[0]].key for line in batch],
                [[wanted[number].target for number in line] for line in batch],
                [[wanted[number].size for number in line] for line in batch],
                [[wanted[number].offset for number in line] for line in batch],
                reuse=self._reuse,
            )
            for line, result in zip(batch, results, strict=True):
                if result in (Status.NOT_REGISTERED, Status.INVALID_ARGUMENT):
                    wrong.append(line)
                for number in line:
                    answers[number] = _answer(wanted[number], result)
        return wrong


def _answer(one: Wanted, result: int) -> int:
    if result >= 0:
        return one.size
    return _refusal(one) if result == Status.INVALID_ARGUMENT else result


def _refusal(one: Wanted) -> Refusal:
    where = f"{one.size} bytes at {one.offset} of the value to address {one.target}"
    return Refusal(ErrorCode.INVALID_PARAMS, f"{where} are not all there")
