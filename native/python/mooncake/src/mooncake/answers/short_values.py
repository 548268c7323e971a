# SPDX-License-Identifier: Apache-2.0
"""Values that are shorter than their memory: a success, or a failure where an engine would use what the rest of it had before."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from mooncake.answers.error_code import ErrorCode, Refusal

# Of the engines that read whole values into one piece of memory each, SGLang takes any length for a whole page, while LMCache
# stores chunks that are not full and wants their length. Both have one method for it, so the engine decides.
_OF_SGLANG = "sglang.srt.mem_cache.storage.mooncake_store.mooncake_store"


def engine_compares_lengths() -> bool:
    """False where SGLang's connector is loaded."""
    return _OF_SGLANG not in sys.modules


def refuse_short_values(lengths: Sequence[int], room: Iterable[int]) -> list[int]:
    """The lengths that were read, where they are those of the memory, and what failed before."""
    return [
        length if length < 0 or length == size else _too_short(length, size)
        for length, size in zip(lengths, room, strict=True)
    ]


def _too_short(length: int, room: int) -> Refusal:
    why = f"the value has {length} bytes and its buffers {room}: it is of an engine with other ranks or another block size"
    return Refusal(ErrorCode.INVALID_PARAMS, why)
