# SPDX-License-Identifier: Apache-2.0
"""Rows as lines of batches: a line takes so many pieces, and a batch so many lines."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kvpool import PARTS_MAX
from mooncake.answers.error_code import Refusal
from mooncake.ranges.rows import Row

_LINES_MAX = 4096


class Named(Protocol):
    """A value by its name."""

    @property
    def epoch(self) -> int: ...
    @property
    def counter(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Lines:
    """What the client is asked at once."""

    keys: list[str]
    addresses: list[Sequence[int]]
    sizes: list[Sequence[int]]
    offsets: list[Sequence[int]]
    objects: array[int]


def move(
    keys: Sequence[str],
    rows: Sequence[Row],
    values: Sequence[Named | None],
    refusals: Sequence[Refusal | None],
    call: Callable[[Lines], Sequence[int]],
) -> list[int]:
    """Bytes moved, a negative Status of `call` or the Refusal for each row. Pieces that are not refused have a value."""
    answers = [row.bytes if refusal is None else refusal for row, refusal in zip(rows, refusals, strict=True)]
    lines = [
        (number, slice(at, at + PARTS_MAX))
        for number, (row, refusal) in enumerate(zip(rows, refusals, strict=True))
        if refusal is None and row.bytes > 0
        for at in range(0, len(row.sizes), PARTS_MAX)
    ]
    for at in range(0, len(lines), _LINES_MAX):
        batch = lines[at : at + _LINES_MAX]
        results = call(
            Lines(
                [keys[number] for number, _ in batch],
                [rows[number].addresses[pieces] for number, pieces in batch],
                [rows[number].sizes[pieces] for number, pieces in batch],
                [rows[number].offsets[pieces] for number, pieces in batch],
                names([values[number] for number, _ in batch]),
            )
        )
        for (number, _), result in zip(batch, results, strict=True):
            if result < 0 <= answers[number]:
                answers[number] = result
    return answers


def names(values: Sequence[Named | None]) -> array[int]:
    """Two numbers for each, as the client takes them."""
    numbers = array("Q")
    for value in values:
        assert value is not None
        numbers.extend((value.epoch, value.counter))
    return numbers
