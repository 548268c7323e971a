# SPDX-License-Identifier: Apache-2.0
"""How callers say which part of a tensor they have or want, and under which key it is: pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mooncake.tensors.shards import Cut

_KINDS = ("dp", "pp", "ep", "tp")
MODES = ("as_stored", "shard", "full")


@dataclass(eq=False)
class ParallelAxis:
    """One coordinate of a part of a tensor.

    Attributes:
        kind: "tp", "dp", "ep" or "pp".
        rank: from 0.
        size: how many there are along this axis.
        split_dim: of "tp" only, which needs it: the dimension along which the tensor is cut.
        expert_id: of "ep" only, which needs it.
        stage_id: of "pp" only, which needs it.
    """

    kind: str = ""
    rank: int = 0
    size: int = 1
    split_dim: int | None = None
    expert_id: int | None = None
    stage_id: int | None = None


@dataclass(eq=False)
class TensorParallelism:
    """Which part of a tensor: at most one axis of each kind, in any order.

    "tp" cuts the tensor. The others name a tensor of their own each: that of a replica, a stage or an expert.
    """

    axes: list[ParallelAxis] = field(default_factory=list)


@dataclass(eq=False)
class ReadTarget:
    """What a read wants.

    Attributes:
        mode: "as_stored", the object of exactly this parallelism, or of none; "shard", this part, from whatever parts the
            tensor was stored in; "full", the whole tensor, from whatever parts; its "tp" axis does not matter.
        parallelism: a TensorParallelism; "shard" needs one.
    """

    mode: str = "as_stored"
    parallelism: TensorParallelism | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where parts of one tensor are: `key`, and which part is meant. `is_scoped`: other axes than "tp" were given."""

    key: str
    cut: Cut | None
    is_scoped: bool = False

    @property
    def stored_key(self) -> str:
        return self.key if self.cut is None else key_of_rank(self.key, self.cut.rank)


def key_of_rank(key: str, rank: int) -> str:
    return f"{key}_tp_{rank}"


def place_of(key: str, parallelism: Any) -> Place:
    """ValueError for a parallelism that is none."""
    if parallelism is None:
        return Place(key, None)
    axes = getattr(parallelism, "axes", None)
    if not isinstance(axes, list | tuple) or not axes:
        raise ValueError("a parallelism needs axes")
    by_kind: dict[str, Any] = {}
    for axis in axes:
        kind = getattr(axis, "kind", None)
        if kind not in _KINDS or kind in by_kind:
            raise ValueError(f"an axis of kind {kind!r}; one each of tp, dp, ep and pp is possible")
        _check(axis, kind)
        by_kind[kind] = axis
    tensor = by_kind.pop("tp", None)
    scope = "".join(_scope(by_kind[kind], kind) for kind in _KINDS if kind in by_kind)
    cut = None if tensor is None else Cut(tensor.split_dim, tensor.rank, tensor.size)
    return Place(key + scope, cut, bool(by_kind))


def place_of_partition(key: str, partition: Any) -> Place:
    """Of a writer's partition: whatever has rank, size and split_dim. ValueError when it has not."""
    numbers: list[Any] = [getattr(partition, name, None) for name in ("split_dim", "rank", "size")]
    if not all(map(_is_number, numbers)):
        raise ValueError("a writer_partition needs rank, size and split_dim")
    return Place(key, Cut(*numbers))


def place_of_target(key: str, target: Any) -> tuple[str, Place]:
    """Its mode, and where it looks. ValueError for a target that is none."""
    if target is None:
        return "as_stored", Place(key, None)
    mode = getattr(target, "mode", None)
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} of a ReadTarget is none of {', '.join(MODES)}")
    place = place_of(key, getattr(target, "parallelism", None))
    if mode == "shard" and target.parallelism is None:
        raise ValueError('a ReadTarget of mode "shard" needs a parallelism')
    return mode, Place(place.key, None, place.is_scoped) if mode == "full" else place


def _check(axis: Any, kind: str) -> None:
    rank: Any = getattr(axis, "rank", None)
    size: Any = getattr(axis, "size", None)
    if not _is_number(rank) or not _is_number(size) or not 0 <= rank < size:
        raise ValueError(f"rank {rank!r} of size {size!r} of axis {kind}")
    for owner, name in (("tp", "split_dim"), ("ep", "expert_id"), ("pp", "stage_id")):
        number = getattr(axis, name, None)
        if kind == owner and not _is_number(number):
            raise ValueError(f"axis {kind} needs {name}, which is {number!r}")
        if kind != owner and name == "split_dim" and number is not None:
            raise ValueError(f"axis {kind} has no {name}")


def _scope(axis: Any, kind: str) -> str:
    name = f"_{kind}_{axis.rank}_of_{axis.size}"
    return name if kind == "dp" else f"{name}_{axis.stage_id if kind == 'pp' else axis.expert_id}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
