# SPDX-License-Identifier: Apache-2.0
"""Where a thread runs and its memory comes from."""

from __future__ import annotations

import ctypes
import logging
import os
import platform
from pathlib import Path

_logger = logging.getLogger("mooncake.store")

_NODES = Path("/sys/devices/system/node")
_SET_MEMPOLICY = {"x86_64": 238, "aarch64": 237}
_MPOL_PREFERRED = 1


def bind_to_numa_node(node: int) -> None:
    """Has the calling thread run on the processors of a NUMA node, and new pages of it come from there as long as there
    are free ones. Where that cannot be, nothing changes and the log says why."""
    try:
        processors = _parse_list((_NODES / f"node{int(node)}" / "cpulist").read_text())
        if processors:  # a node may have memory alone
            os.sched_setaffinity(0, processors)
        _prefer_memory(int(node))
    except (OSError, ValueError) as problem:
        _logger.warning("bind_to_numa_node: node %s: %s", node, problem)


def _parse_list(text: str) -> set[int]:
    """The numbers of "0-3,8"."""
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _prefer_memory(node: int) -> None:
    number = _SET_MEMPOLICY.get(platform.machine())
    if number is None:
        raise OSError(f"no number of set_mempolicy on {platform.machine()} is known")
    words = (ctypes.c_ulong * (node // 64 + 1))()
    words[node // 64] = 1 << node % 64
    libc = ctypes.CDLL(None, use_errno=True)
    # The kernel looks at one bit less than it is told.
    if libc.syscall(number, _MPOL_PREFERRED, words, ctypes.c_ulong(64 * len(words) + 1)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
