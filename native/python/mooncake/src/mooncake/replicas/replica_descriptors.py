# SPDX-License-Identifier: Apache-2.0
"""What a store says of the copies of a value: that there are some. Where they lie it does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NoReturn


class ReplicaStatus(IntEnum):
    """Of a copy. A store tells only of what can be read, so COMPLETE."""

    UNDEFINED = 0
    INITIALIZED = 1
    PROCESSING = 2
    COMPLETE = 3
    REMOVED = 4
    FAILED = 5


@dataclass
class Descriptor:
    """Where memory lies."""

    size: int = 0
    buffer_address: int = 0
    transport_endpoint: str = ""


@dataclass
class MemoryDescriptor:
    """A copy in memory. A store makes none."""

    buffer_descriptor: Descriptor = field(default_factory=Descriptor)


@dataclass
class DiskDescriptor:
    """A copy in a file. A store makes none."""

    file_path: str = ""
    object_size: int = 0


@dataclass
class ReplicaDescriptor:
    """That a value can be read. The leader knows in which memory, or on which SSD, its copies are, and tells only the
    reader: it is of none of the kinds that it can be asked about."""

    status: ReplicaStatus = ReplicaStatus.COMPLETE

    def is_memory_replica(self) -> bool:
        """False: not known."""
        return False

    def is_disk_replica(self) -> bool:
        """False: not known."""
        return False

    def is_local_disk_replica(self) -> bool:
        """False: not known."""
        return False

    def get_memory_descriptor(self) -> NoReturn:
        """RuntimeError, as for a copy of another kind."""
        raise RuntimeError("it is not known whether this copy is in memory")

    def get_disk_descriptor(self) -> NoReturn:
        """RuntimeError, as for a copy of another kind."""
        raise RuntimeError("it is not known whether this copy is in a file")
