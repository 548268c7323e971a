# SPDX-License-Identifier: Apache-2.0
"""What is stored as an object, what of it is read, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mooncake.objects.bundles import RemoteBundleRef


@dataclass(frozen=True, init=False)
class StructuredObjectPayload:
    """Metadata, which becomes JSON, and members: bytes, arrays of numpy, tensors of torch."""

    metadata: Mapping[str, Any]
    buffers: Mapping[str, Any]

    def __init__(self, metadata: Mapping[str, Any] | None = None, buffers: Mapping[str, Any] | None = None) -> None:
        if buffers is None:
            raise TypeError("an object needs buffers")
        object.__setattr__(self, "metadata", metadata or {})
        object.__setattr__(self, "buffers", buffers)


@dataclass
class StructuredObjectResult:
    """The metadata of an object, and those of its members that were read."""

    metadata: dict[str, Any]
    objects: dict[str, Any]


@dataclass(frozen=True)
class StructuredMemberSlice:
    """Elements `start` to `end` along an axis, each `step`-th; as a slice of Python, so `end` may be beyond the last."""

    axis: int
    start: int
    end: int
    step: int = 1


@dataclass(frozen=True)
class StructuredObjectReadSpec:
    """Which members of an object are read, all when member_names is None, and which part of each."""

    ref: RemoteBundleRef | Mapping[str, Any]
    member_names: tuple[str, ...] | None = None
    member_slices: tuple[tuple[str, StructuredMemberSlice], ...] = ()

    def select_members(self, names: Sequence[str] | None) -> StructuredObjectReadSpec:
        """The same for these members only; None for all."""
        return replace(self, member_names=None if names is None else tuple(names))

    def slice_member(self, name: str, axis: int, start: int, end: int, step: int = 1) -> StructuredObjectReadSpec:
        """The same with a part of a member in place of the whole."""
        slices = {**dict(self.member_slices), name: StructuredMemberSlice(axis, start, end, step)}
        return replace(self, member_slices=tuple(slices.items()))

    def member_slice(self, name: str) -> StructuredMemberSlice | None:
        """The part of a member that is read; None for the whole."""
        return dict(self.member_slices).get(name)
