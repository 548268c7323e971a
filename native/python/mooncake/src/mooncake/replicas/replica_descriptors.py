# SPDX-License-Identifier: Apache-2.0
"""What a store says of the copies of a value: on which medium they are, where, and how large."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from kvpool import Medium, Replica


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
    """Where memory lies. Of a copy in the pool `transport_endpoint` is HOST:PORT of its storage node, of memory that a store
    brings what its get_hostname() says; `buffer_address` counts from the beginning of the node's segment, and is no address
    that a TransferEngine could read."""

    size: int = 0
    buffer_address: int = 0
    transport_endpoint: str = ""


@dataclass
class MemoryDescriptor:
    """A copy in memory."""

    buffer_descriptor: Descriptor = field(default_factory=Descriptor)


@dataclass
class DiskDescriptor:
    """A copy in a file of a shared file system. A store makes none."""

    file_path: str = ""
    object_size: int = 0


@dataclass
class LocalDiskDescriptor:
    """A copy on the SSD of a storage node, which reads it for those who ask."""

    object_size: int = 0
    transport_endpoint: str = ""


@dataclass
class ReplicaDescriptor:
    """One copy of a value: in memory, or on an SSD. A store that goes through an agent (setup_dummy) knows only that there is
    one: it is of no kind then."""

    status: ReplicaStatus = ReplicaStatus.COMPLETE
    _replica: Replica | None = None

    def is_memory_replica(self) -> bool:
        """In the memory of a storage node."""
        return self._is_on(Medium.DRAM)

    def is_disk_replica(self) -> bool:
        """False: no copy is in a file of a shared file system."""
        return False

    def is_local_disk_replica(self) -> bool:
        """On the SSD of a storage node."""
        return self._is_on(Medium.SSD)

    def get_memory_descriptor(self) -> MemoryDescriptor:
        """Raises RuntimeError for a copy that is not in memory."""
        replica = self._on(Medium.DRAM, "in memory")
        return MemoryDescriptor(Descriptor(replica.length, replica.offset, replica.address))

    def get_disk_descriptor(self) -> DiskDescriptor:
        """Raises RuntimeError: no copy is in a file of a shared file system."""
        raise RuntimeError("this copy is not in a file of a shared file system: see get_local_disk_descriptor()")

    def get_local_disk_descriptor(self) -> LocalDiskDescriptor:
        """Raises RuntimeError for a copy that is not on an SSD."""
        replica = self._on(Medium.SSD, "on an SSD")
        return LocalDiskDescriptor(replica.length, replica.address)

    def _is_on(self, medium: Medium) -> bool:
        return self._replica is not None and self._replica.medium == medium

    def _on(self, medium: Medium, where: str) -> Replica:
        if self._replica is None or self._replica.medium != medium:
            raise RuntimeError(f"this copy is not {where}")
        return self._replica
