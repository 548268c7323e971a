# SPDX-License-Identifier: Apache-2.0
"""Memory of the host that a group of processes of one machine has together."""

from __future__ import annotations

import ctypes
import hashlib
import mmap as memory_map
import os
import re
import struct
import uuid
import weakref
from collections.abc import Sequence
from contextlib import suppress

_BYTES_MAX = 1 << 46
_DIRECTORY = "/dev/shm"
_NAME = re.compile(rb"kvpool-shared-[0-9a-f]{32}")
_MAGIC = b"KVSHARED"
# What a process tells the others: magic, version, rank, fingerprint of what was agreed on, name of the file where it owns it.
_BLOB = struct.Struct("<8sII32s64s")
_VERSION = 1


class SharedSegment:
    """Memory that one process of a group makes and all have. It is made in two steps: every process calls create(), and gives the
    bytes that it gets to all others, by any means; complete() with those of all, in the order of ranks, maps the memory.

    It is there as long as the object; its file goes with that of the owner. Processes must be the same user's, and see the same
    /dev/shm.
    """

    _size: int
    _ranks: int
    _rank: int
    _owner: int
    _agreed: bytes  # fingerprint of what all must have said
    _map: memory_map.mmap | None
    _base: int
    _completed: bool

    def __init__(self) -> None:
        raise TypeError("SharedSegment.create() makes one")

    @classmethod
    def create(
        cls,
        name: str,
        size: int,
        world_size: int,
        rank_id: int,
        owner_rank: int = 0,
        device_id: int = 0,
        mmap: bool = True,
        host_register: bool = False,
    ) -> tuple[SharedSegment, bytes]:
        """The first step.

        Args:
            name: any text; must be the same in all processes, as size, world_size and owner_rank.
            size: bytes, 64 TiB at most.
            world_size: how many processes there are.
            rank_id: which of them this one is.
            owner_rank: which of them makes the memory.
            device_id: accepted.
            mmap: False is refused, as there is no memory of a device.
            host_register: True is refused, for the same reason.

        Returns:
            The segment, not ready yet, and the bytes for the others, as many in each process.

        Raises:
            RuntimeError: a number is wrong, or the memory cannot be had.
        """
        if not cls.supported(mmap, host_register):
            raise RuntimeError("memory of a device is not served: mmap must be True and host_register False")
        if not 0 < size <= _BYTES_MAX:
            raise RuntimeError(f"size is {size}, but must be 1 to {_BYTES_MAX}")
        if not (0 <= rank_id < world_size and 0 <= owner_rank < world_size):
            raise RuntimeError(f"rank_id {rank_id} and owner_rank {owner_rank} must be below world_size, {world_size}")
        segment = cls.__new__(cls)
        segment._size, segment._ranks, segment._rank, segment._owner = size, world_size, rank_id, owner_rank
        agreed = repr((name, size, world_size, owner_rank)).encode("utf-8", "surrogatepass")
        segment._agreed = hashlib.blake2b(agreed, digest_size=32).digest()
        segment._map, segment._base, segment._completed = None, 0, False
        path = b""
        if rank_id == owner_rank:
            path = f"kvpool-shared-{uuid.uuid4().hex}".encode()
            segment._make(os.path.join(_DIRECTORY, path.decode()))
        return segment, _BLOB.pack(_MAGIC, _VERSION, rank_id, segment._agreed, path)

    @staticmethod
    def supported(mmap: bool = True, host_register: bool = False) -> bool:
        """Whether memory of that kind can be had here."""
        return mmap and not host_register and os.path.isdir(_DIRECTORY)

    def complete(self, blobs: Sequence[bytes]) -> None:
        """The second step, with the bytes of all processes by rank. RuntimeError when they do not agree, or the memory cannot be
        had, and when it was called before."""
        if self._completed:
            raise RuntimeError("complete() was called already")
        if len(blobs) != self._ranks:
            raise RuntimeError(f"the bytes of {len(blobs)} processes, but there are {self._ranks}")
        name = b""
        for rank, blob in enumerate(blobs):
            if not isinstance(blob, bytes | bytearray | memoryview) or len(blob) != _BLOB.size:
                raise RuntimeError(f"what rank {rank} gave is not what create() returns")
            magic, version, of, agreed, path = _BLOB.unpack(blob)
            if (magic, version, of) != (_MAGIC, _VERSION, rank):
                raise RuntimeError(f"what rank {rank} gave is not what create() returned there")
            if agreed != self._agreed:
                raise RuntimeError(
                    f"rank {rank} has another name, size, world_size or owner_rank than rank {self._rank}"
                )
            name = path.rstrip(b"\0") if rank == self._owner else name
        if self._map is None:
            if not _NAME.fullmatch(name):
                raise RuntimeError(f"the owner, rank {self._owner}, named no memory")
            self._open(os.path.join(_DIRECTORY, name.decode()))
        self._completed = True

    def ready(self) -> bool:
        """Whether complete() has succeeded."""
        return self._completed

    def base_addr(self) -> int:
        """Of the first byte here, which is not the same in all processes; 0 before complete()."""
        return self._base if self._completed else 0

    def device_addr(self) -> int:
        """0: no device has it."""
        return 0

    def size(self) -> int:
        """Bytes."""
        return self._size

    def _make(self, path: str) -> None:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise RuntimeError(f"memory of {self._size} bytes cannot be made: {problem}") from problem
        # Also at the end of the process, but not in its children.
        self._file = weakref.finalize(self, _remove, path, os.getpid())
        try:
            os.posix_fallocate(file, 0, self._size)
            self._take(file)
        except (OSError, ValueError) as problem:
            self._file()
            raise RuntimeError(f"memory of {self._size} bytes cannot be made in {_DIRECTORY}: {problem}") from problem
        finally:
            os.close(file)

    def _open(self, path: str) -> None:
        try:
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as problem:
            raise RuntimeError(f"the memory of rank {self._owner} cannot be opened: {problem}") from problem
        try:
            there = os.fstat(file)
            if there.st_uid != os.geteuid() or there.st_size != self._size:
                raise RuntimeError(f"{path} has {there.st_size} bytes and belongs to user {there.st_uid}")
            self._take(file)
        except (OSError, ValueError) as problem:
            raise RuntimeError(f"{path} cannot be mapped: {problem}") from problem
        finally:
            os.close(file)

    def _take(self, file: int) -> None:
        self._map = memory_map.mmap(file, self._size)
        self._bytes = (ctypes.c_char * self._size).from_buffer(self._map)
        self._base = ctypes.addressof(self._bytes)


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        with suppress(FileNotFoundError):
            os.unlink(path)
