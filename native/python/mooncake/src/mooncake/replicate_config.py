# SPDX-License-Identifier: Apache-2.0
"""How to store an object: ReplicateConfig and its enums."""

from dataclasses import dataclass, field
from enum import IntEnum


class SoftPinAction(IntEnum):
    """What a put does to the soft pin of its object."""

    PRESERVE = 0
    ENABLE = 1
    DISABLE = 2


class ObjectDataType(IntEnum):
    """What an object is, for accounting."""

    UNKNOWN = 0
    KVCACHE = 1
    TENSOR = 2
    WEIGHT = 3
    SAMPLE = 4
    ACTIVATION = 5
    GRADIENT = 6
    OPTIMIZER_STATE = 7
    METADATA = 8
    GENERAL = 9


@dataclass(slots=True)
class ReplicateConfig:
    """How to store an object.

    Acted on: `replica_num` (1 leaves it to the pool, which may keep more), and `preferred_segment` or the first of
    `preferred_segments` (a storage node's id, or what get_hostname() of this store says: the memory that this process
    contributes). The other fields are accepted, so that
    engines run unchanged; a put that sets one says once in the log that it has no effect yet.
    """

    replica_num: int = 1
    nof_replica_num: int = 0
    dfs_replica_num: int = 0
    soft_pin_action: SoftPinAction = SoftPinAction.PRESERVE
    soft_pin_ttl_ms: int = 0
    with_soft_pin: bool = False
    with_hard_pin: bool = False
    preferred_segments: list[str] = field(default_factory=list)
    preferred_segment: str = ""
    preferred_nof_segments: list[str] = field(default_factory=list)
    prefer_alloc_in_same_node: bool = False
    data_type: ObjectDataType = ObjectDataType.UNKNOWN
    group_ids: list[str] = field(default_factory=list)

    def preferred(self) -> str | None:
        """The segment to try first."""
        if self.preferred_segment:
            return self.preferred_segment
        return self.preferred_segments[0] if self.preferred_segments else None

    def without_effect(self) -> list[str]:
        """Names of the fields that are set but not acted on. `prefer_alloc_in_same_node` and `data_type` are none of
        them: an object lies on one node anyway, and its type only counts in statistics."""
        promises = {
            "nof_replica_num": self.nof_replica_num,
            "dfs_replica_num": self.dfs_replica_num,
            "soft_pin_action": self.soft_pin_action == SoftPinAction.ENABLE,
            "with_soft_pin": self.with_soft_pin,
            "with_hard_pin": self.with_hard_pin,
            "preferred_nof_segments": self.preferred_nof_segments,
            "group_ids": self.group_ids,
        }
        return [name for name, value in promises.items() if value]
