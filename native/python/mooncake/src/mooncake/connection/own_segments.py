# SPDX-License-Identifier: Apache-2.0
"""Memory of this process that belongs to a pool: embedded storage nodes, one for each segment."""

from __future__ import annotations

import logging
import os
import random
import stat
import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import kvpool
from kvpool import MIN_SEGMENT_BYTES, KvpoolError, Status, StorageNode

# Engines open these ports in firewalls for their store clients.
_PORTS = range(12300, 14300)
_PORT_TRIES = 20

_ADMISSION_SECONDS = 10.0


@dataclass(frozen=True)
class OwnSegment:
    node_id: str
    port: int
    size: int


class OwnSegments:
    """What this process gives to the pool, for any number of threads. It is gone from the pool with close()."""

    def __init__(
        self,
        masters: str,
        advertise_host: str,
        logger: logging.Logger,
        protocols: tuple[str, ...] = ("tcp",),
        tls_dir: str | None = None,
        trusted_fabric: bool = False,
    ) -> None:
        self._masters = masters
        self._advertise_host = advertise_host
        self._logger = logger
        self._protocols = protocols
        self._tls_dir = tls_dir
        self._trusted_fabric = trusted_fabric
        self._lock = threading.Lock()
        self._nodes: dict[str, StorageNode] = {}
        self._leaving: dict[str, threading.Timer] = {}
        self._closed = False

    def add(self, size: int) -> OwnSegment:
        """Memory that joins, 16 MiB of it at least. Raises KvpoolError when it cannot be had."""
        return self._join(max(size, MIN_SEGMENT_BYTES), None, 0)

    def lend(self, path: str, size: int, offset: int) -> OwnSegment:
        """A part of a file on tmpfs or hugetlbfs that joins. Raises KvpoolError, OSError or ValueError when it cannot."""
        there = os.stat(path)
        if not stat.S_ISREG(there.st_mode) or offset + size > there.st_size:
            raise ValueError(f"{path} is no file of {offset + size} bytes")
        return self._join(size, path, offset)

    def _join(self, size: int, path: str | None, offset: int) -> OwnSegment:
        last: KvpoolError | None = None
        for port in random.sample(_PORTS, _PORT_TRIES):
            # Random, and not the host's name alone: in containers many hosts have the same name.
            node_id = f"{self._advertise_host}:{port}-{uuid.uuid4().hex[:8]}"
            try:
                node = StorageNode(
                    self._masters,
                    size,
                    advertise_host=self._advertise_host,
                    port=port,
                    node_id=node_id,
                    protocols=self._protocols,
                    memory_path=path,
                    memory_offset=offset,
                    tls_dir=self._tls_dir,
                    trusted_fabric=self._trusted_fabric,
                )
            except KvpoolError as error:
                if error.status != Status.IO:
                    raise
                last = error
                self._logger.info("port %d for the embedded storage node: %s", port, error)
                continue
            self._keep(node_id, node)
            return OwnSegment(node_id, port, size)
        assert last is not None
        raise last

    def await_admission(self, node_id: str) -> None:
        """Raises KvpoolError, and the memory does not stay, when no leader takes it into the pool in time."""
        node = self._nodes.get(node_id)
        if node is None or node.wait_ready(_ADMISSION_SECONDS):
            return
        stats = node.stats()
        self.remove([node_id], 0)
        raise kvpool.PeerError(
            Status.TIMEOUT,
            f"no leader took the memory of this process into the pool within {_ADMISSION_SECONDS:g} s "
            f"(connected to {stats['masters_connected']} of {stats['masters_total']} masters); "
            f"can the masters be reached from here?",
        )

    def remove(self, node_ids: Iterable[str], after_seconds: float) -> bool:
        """These segments leave, now or later. False, and nothing happens, when one of them is none of ours."""
        with self._lock:
            wanted = list(dict.fromkeys(node_ids))
            if not all(node_id in self._nodes for node_id in wanted):
                return False
            if after_seconds > 0:
                for node_id in wanted:
                    self._leave_later(node_id, after_seconds)
                return True
            nodes = [self._forget(node_id) for node_id in wanted]
        for node in nodes:
            node.close()
        return True

    def close(self) -> None:
        with self._lock:
            self._closed = True
            nodes = [self._forget(node_id) for node_id in list(self._nodes)]
        for node in nodes:
            node.close()

    def _keep(self, node_id: str, node: StorageNode) -> None:
        with self._lock:
            if not self._closed:
                self._nodes[node_id] = node
                return
        node.close()
        raise kvpool.CallError(Status.CLOSED, "the store was closed meanwhile")

    def _leave_later(self, node_id: str, seconds: float) -> None:
        if node_id not in self._leaving:
            timer = threading.Timer(seconds, self.remove, ([node_id], 0))
            timer.daemon = True
            self._leaving[node_id] = timer
            timer.start()

    def _forget(self, node_id: str) -> StorageNode:
        timer = self._leaving.pop(node_id, None)
        if timer is not None:
            timer.cancel()
        return self._nodes.pop(node_id)
