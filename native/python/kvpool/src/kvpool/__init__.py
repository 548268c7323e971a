# SPDX-License-Identifier: Apache-2.0
"""Client of kvpool, the KV-cache pool for LLM inference.

import kvpool

with kvpool.Client("10.0.0.7:50051,10.0.0.8:50051") as client:
    client.put("prompt/42/layer/0", some_buffer)
    value = client.get("prompt/42/layer/0")    # bytes, or None
"""

from kvpool import _kvpool
from kvpool.client import Client
from kvpool.keep import Keep
from kvpool.replica import Medium, Replica
from kvpool.status import (
    CallError,
    InternalError,
    KvpoolError,
    LeadershipError,
    NoSpaceError,
    ObjectError,
    PeerError,
    SegmentError,
    Status,
)
from kvpool.storage_node import MIN_SEGMENT_BYTES, StorageNode
from kvpool.task import Task, TaskState
from kvpool.transfer_engine import TransferEngine

__version__ = "0.1.0"

KEY_BYTES_MAX: int = _kvpool.KV_KEY_BYTES_MAX
PARTS_MAX: int = _kvpool.KV_PARTS_MAX


def versions() -> dict[str, tuple[int, int]]:
    """The ranges [min, max] of wire, segment layout and C ABI that this library speaks."""
    return _kvpool.versions()


def sbom() -> str:
    """What code of other projects is linked into the library, with versions and licences, in CycloneDX JSON; the wheel has it."""
    return _kvpool.sbom()


def log_level(level: int) -> None:
    """What the library's own threads write to stderr: 0 nothing, 1 errors, 2 warnings (default), 3 info, 4 debug."""
    _kvpool.log_level(level)


__all__ = [
    "KEY_BYTES_MAX",
    "MIN_SEGMENT_BYTES",
    "PARTS_MAX",
    "CallError",
    "Client",
    "InternalError",
    "Keep",
    "KvpoolError",
    "LeadershipError",
    "Medium",
    "NoSpaceError",
    "ObjectError",
    "PeerError",
    "Replica",
    "SegmentError",
    "Status",
    "StorageNode",
    "Task",
    "TaskState",
    "TransferEngine",
    "log_level",
    "sbom",
    "versions",
]
