# SPDX-License-Identifier: Apache-2.0
"""How to store an object: ReplicateConfig and its enums."""

import logging
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from kvpool import Keep

_PREFERRED_MAX = 16

_WITHOUT_EFFECT = {
    "nof_replica_num": "no copies are made on NVMe over Fabrics; SSDs belong to storage nodes",
    "dfs_replica_num": "no copies are made in shared file systems; SSDs belong to storage nodes",
    "preferred_nof_segments": "no copies are made on NVMe over Fabrics; SSDs belong to storage nodes",
    "prefer_alloc_in_same_node": "all buffers of a value lie on one node anyway; preferred_segment says on which",
    "data_type": "nothing is decided, counted or told by it, as in Mooncake, whose master notes it with the object and no more",
}


class SoftPinAction(IntEnum):
    """What a put does to the soft pin of its object."""

    PRESERVE = 0
    ENABLE = 1
    DISABLE = 2


class ObjectDataType(IntEnum):
    """What an object is, for a reader of the code: neither kvpool nor Mooncake acts on it."""

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

    Acted on:
        replica_num: 1 leaves it to the pool, which may keep more.
        preferred_segment, or without it preferred_segments, of which each is tried in turn, up to 16: what get_hostname() of a
            store says that contributes memory, or a storage node's id, or HOST:PORT where that serves. One that is full is no
            error: another node takes the object. One that there is not is a warning in the log, once.
        soft_pin_action ENABLE, or with_soft_pin: evicted only when nothing unpinned is left, until soft_pin_ttl_ms (None: the
            pool's default, 30 minutes unless it says otherwise; at most 24 h) after the last use. A time without ENABLE
            fails the put. PRESERVE: a value that is replaced (upsert) passes its soft pin on; DISABLE: it does not.
        with_hard_pin: never evicted.
        group_ids: for each key the name of its group, or one for all: a read of one object leases all of its group, and
            they are evicted together.

    The other fields are accepted, so that engines run unchanged; a put that sets one says once in the log that it has no
    effect, and why.
    """

    replica_num: int = 1
    nof_replica_num: int = 0
    dfs_replica_num: int = 0
    soft_pin_action: SoftPinAction = SoftPinAction.PRESERVE
    soft_pin_ttl_ms: int | None = None
    with_soft_pin: bool = False
    with_hard_pin: bool = False
    preferred_segments: list[str] = field(default_factory=list)
    preferred_segment: str = ""
    preferred_nof_segments: list[str] = field(default_factory=list)
    prefer_alloc_in_same_node: bool = False
    data_type: ObjectDataType = ObjectDataType.UNKNOWN
    group_ids: list[str] | None = None

    def preferred(self) -> list[str]:
        """The segments to try first, in their order."""
        if self.preferred_segment:
            return [self.preferred_segment]
        return [segment for segment in self.preferred_segments or [] if segment][:_PREFERRED_MAX]

    def how(self, count: int) -> dict[str, Any]:
        """What a put of `count` keys says to kvpool, but for the node. ValueError names the field that is wrong."""
        if not isinstance(self.replica_num, int) or self.replica_num < 1:
            raise ValueError(f"replica_num is {self.replica_num!r}, but must be 1 or more")
        # 1 is what an engine says that did not think about it, so the pool decides.
        copies = self.replica_num if self.replica_num > 1 else 0
        return {"replicas": copies, "keep": self.keep(), "groups": self.groups(count)}

    def keep(self) -> Keep:
        """Its pins. ValueError for a time that no soft pin can have."""
        soft = self.soft_pin_action == SoftPinAction.ENABLE
        soft = soft or (self.with_soft_pin and self.soft_pin_action != SoftPinAction.DISABLE)
        ttl_ms = self.soft_pin_ttl_ms
        if ttl_ms is None:
            keeps = not soft and self.soft_pin_action == SoftPinAction.PRESERVE
            return Keep(soft_pin=soft, hard_pin=bool(self.with_hard_pin), keep_soft_pin=keeps)
        if not isinstance(ttl_ms, int):
            raise ValueError(f"soft_pin_ttl_ms is {ttl_ms!r}, but must be None (the pool's default), 0 or more")
        if not soft:
            action = SoftPinAction(self.soft_pin_action).name
            raise ValueError(
                f"soft_pin_ttl_ms is {ttl_ms}, but soft_pin_action is {action}: a time needs SoftPinAction.ENABLE, anything "
                "else soft_pin_ttl_ms None"
            )
        if ttl_ms < 0:
            raise ValueError(f"soft_pin_ttl_ms is {ttl_ms}, but must be None (the pool's default), 0 or more")
        if ttl_ms == 0:  # a pin that is over at once
            return Keep(hard_pin=bool(self.with_hard_pin))
        return Keep(soft_pin=True, soft_pin_ttl=ttl_ms / 1000, hard_pin=bool(self.with_hard_pin))

    def groups(self, count: int) -> list[str] | None:
        """The group of each of `count` keys, None when there are none."""
        if not self.group_ids:
            return None
        if len(self.group_ids) not in (1, count):
            raise ValueError(f"{count} keys but {len(self.group_ids)} group_ids: one for each key, or one for all")
        return list(self.group_ids) if len(self.group_ids) == count else self.group_ids * count

    def without_effect(self) -> list[str]:
        """Names of the fields that are set but not acted on."""
        return [name for name in _WITHOUT_EFFECT if getattr(self, name)]


class WithoutEffect:
    """Says once of each field that is set but not acted on."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._mentioned: set[str] = set()

    def mention(self, config: ReplicateConfig) -> None:
        for name in config.without_effect():
            if name not in self._mentioned:
                self._mentioned.add(name)
                why = _WITHOUT_EFFECT[name]
                self._logger.warning("put: ReplicateConfig.%s is accepted but has no effect: %s", name, why)
