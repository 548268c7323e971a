# SPDX-License-Identifier: Apache-2.0
"""What rows of objects have in common: which are dicts of the same names, or lists of such, down to what is neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_DEPTH_MAX = 32
_NAMES_MAX = 64
_LENGTH_MAX = 8


class _Missing:
    """Stands in a row for a name or place that it has not, which is not the same as None."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


@dataclass(frozen=True)
class Leaf:
    """Values of all rows that have no structure in common."""

    path: str
    values: list[Any]


@dataclass(frozen=True)
class Node:
    """Dicts or lists, and the names or places that any has; in `row_mask` whether a row is one, and of lists how long it is."""

    path: str
    node_type: str
    children: list[Any]
    lengths: list[int] | None = None
    row_mask: list[bool] | None = None


def infer_structure(
    path: str, values: Sequence[Any], leaves: list[Leaf], nodes: list[Node], *, _depth: int = 0
) -> None:
    """Adds to `leaves` and `nodes` what these rows consist of.

    Rows that are dicts with names, 64 at most, or None, are a node, and so are lists, of 8 at most, of nothing but dicts,
    lists and None. All else is a leaf. Where a row lacks a name or place that another has, MISSING is its value.

    Args:
        path: of the rows: "a.b" is b in a, "a[0]" the first of a list; "." , "[" and "\\\\" in names are escaped by "\\\\".
        values: one for each row.
        leaves, nodes: are added to.

    Raises:
        ValueError: they are nested more than 32 times.
    """
    if _depth > _DEPTH_MAX:
        raise ValueError(f"rows are nested more than {_DEPTH_MAX} times at {path!r}")
    present = [value for value in values if value is not None and value is not MISSING]
    if present and all(isinstance(value, dict) for value in present):
        names = {name for value in present for name in value}
        if len(names) <= _NAMES_MAX and all(isinstance(name, str) for name in names):
            nodes.append(Node(path, "dict", sorted(names), None, [isinstance(value, dict) for value in values]))
            for name in sorted(names):
                inner = [value.get(name, MISSING) if isinstance(value, dict) else None for value in values]
                infer_structure(f"{path}.{_escaped(name)}", inner, leaves, nodes, _depth=_depth + 1)
            return
    if present and all(_is_structured(value) for value in present):
        lengths = [len(value) if isinstance(value, list | tuple) else 0 for value in values]
        is_list = [isinstance(value, list | tuple) for value in values]
        nodes.append(Node(path, "list", list(range(max(lengths))), lengths, is_list))
        for place in range(max(lengths)):
            inner = [
                None if not listed else value[place] if place < length else MISSING
                for value, listed, length in zip(values, is_list, lengths, strict=True)
            ]
            infer_structure(f"{path}[{place}]", inner, leaves, nodes, _depth=_depth + 1)
        return
    leaves.append(Leaf(path, list(values)))


def _is_structured(value: Any) -> bool:
    """A list of nothing but dicts, lists and None."""
    return (
        isinstance(value, list | tuple)
        and len(value) <= _LENGTH_MAX
        and all(one is None or isinstance(one, dict | list | tuple) for one in value)
    )


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[")
