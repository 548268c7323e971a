# SPDX-License-Identifier: Apache-2.0
"""What keeps an object from being evicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvpool import _kvpool
from kvpool.arguments import milliseconds

_UINT32_MAX = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Keep:
    """Pins of the objects of a put.

    Args:
        soft_pin: evicted only when nothing unpinned is left, until `soft_pin_ttl` after the last use.
        soft_pin_ttl: seconds, at most 24 h; None is the pool's default (30 minutes unless it says otherwise).
        hard_pin: never evicted. remove() and remove_all() still remove it.
        keep_soft_pin: an upsert without soft_pin takes over the soft pin of the object that it replaces, with its length, if
            that is not over. Without it a new value has the pins of its own put alone.
    """

    soft_pin: bool = False
    soft_pin_ttl: float | None = None
    hard_pin: bool = False
    keep_soft_pin: bool = False

    def __post_init__(self) -> None:
        if self.soft_pin_ttl is None:
            return
        if not self.soft_pin:
            raise ValueError("soft_pin_ttl needs soft_pin=True")
        if milliseconds(self.soft_pin_ttl, "soft_pin_ttl") > _kvpool.KV_SOFT_PIN_MS_MAX:
            raise ValueError(f"soft_pin_ttl is {self.soft_pin_ttl!r} s, but may be 24 h at most")

    @property
    def pins(self) -> int:
        """The bits of the C ABI."""
        return (_kvpool.KV_PIN_SOFT if self.soft_pin else 0) | (_kvpool.KV_PIN_HARD if self.hard_pin else 0)

    @property
    def soft_pin_ms(self) -> int:
        return 0 if self.soft_pin_ttl is None else milliseconds(self.soft_pin_ttl, "soft_pin_ttl")


UNPINNED = Keep()


def put_options(
    replicas: int,
    preferred_node: str | Sequence[str] | None,
    upsert: bool,
    keep: Keep,
    groups: Sequence[str | None] | None,
) -> tuple[int, int, str | None, int, int, Sequence[str | None] | None]:
    """What the extension takes for a put."""
    if not 0 <= replicas <= _UINT32_MAX:
        raise ValueError(f"replicas is {replicas}, but must be 0 (the pool's default) or more")
    nodes = preferred_node if isinstance(preferred_node, str | None) else ",".join(preferred_node)
    flags = _kvpool.KV_BATCH_UPSERT if upsert else 0
    pins = keep.pins | (_kvpool.KV_PIN_KEEP_SOFT if upsert and keep.keep_soft_pin else 0)
    return (flags, replicas, nodes, pins, keep.soft_pin_ms, groups)


def get_options(reuse: bool) -> tuple[int, int, None, int, int, None] | None:
    """What the extension takes for a get."""
    return (_kvpool.KV_BATCH_REUSE, 0, None, 0, 0, None) if reuse else None


def remove_options(
    force: bool, of_groups: bool = False, node: str | None = None
) -> tuple[int, int, str | None, int, int, None]:
    """What the extension takes for a remove."""
    flags = (_kvpool.KV_BATCH_FORCE if force else 0) | (_kvpool.KV_BATCH_GROUPS if of_groups else 0)
    return (flags, 0, node, 0, 0, None)


def hint_options(of_groups: bool, for_seconds: float | None = None) -> tuple[int, int, None, int, int, None, int]:
    """What the extension takes for a hint; `for_seconds` is of retain()."""
    retain_ms = 0 if for_seconds is None else milliseconds(for_seconds, "for_seconds")
    if retain_ms > _kvpool.KV_RETAIN_MS_MAX:
        raise ValueError(f"for_seconds is {for_seconds!r}, but may be {_kvpool.KV_RETAIN_MS_MAX // 1000} at most")
    return (_kvpool.KV_BATCH_GROUPS if of_groups else 0, 0, None, 0, 0, None, retain_ms)
