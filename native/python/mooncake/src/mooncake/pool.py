# SPDX-License-Identifier: Apache-2.0
"""What a store is set up with: a client, and memory for the pool where the engine gives some."""

from __future__ import annotations

import logging
import random
import socket
import uuid

import kvpool
from kvpool import Client, KvpoolError, Status, StorageNode, TransferEngine
from kvpool.registered_ranges import RegisteredRanges
from mooncake.mem_pool import MemPool
from mooncake.range_reads import RangeReads
from mooncake.registered_copies import RegisteredCopies
from mooncake.sessions import SESSION_BYTES_MAX, GetSessions, PutSessions, Room
from mooncake.settings import AgentSettings, Settings

# Engines open these ports in firewalls for their store clients.
_PORTS = range(12300, 14300)
_PORT_TRIES = 20

_ADMISSION_SECONDS = 10.0


class Pool:
    """An open client and what came with it: the embedded storage node of setup(), or the memory of setup_dummy().
    Raises KvpoolError when any of it cannot be had."""

    def __init__(self, settings: Settings | AgentSettings, logger: logging.Logger) -> None:
        self._logger = logger
        self.reuse = settings.client.reuse
        self.node: StorageNode | None = None
        self.node_id: str | None = None
        self.memory = MemPool(0)
        self.local_buffer_bytes = 0
        self.stages = True
        self._engine: TransferEngine | None = None
        self._registered = RegisteredRanges()
        if isinstance(settings, AgentSettings):
            self._attach(settings)
        else:
            self._connect(settings)
        engine: TransferEngine | None = self._engine
        copies = RegisteredCopies(self._registered, *([] if engine is None else [engine.registered]))
        room = Room(SESSION_BYTES_MAX)
        self.ranges = RangeReads(self.client, self.reuse)
        self.get_sessions = GetSessions(self.client, copies, room)
        self.put_sessions = PutSessions(self.client, copies, room)

    def register(self, address: int, length: int) -> None:
        self.client.register(address, length)
        self._registered.add(address, length)

    def unregister(self, address: int) -> None:
        """Nothing is copied to or from that memory any more when it returns."""
        self.client.unregister(address)
        self._registered.remove(address)

    def _attach(self, settings: AgentSettings) -> None:
        self.hostname = socket.gethostname()
        self.local_buffer_bytes = settings.staging_bytes
        self.memory = MemPool(settings.mem_pool_bytes)
        self.client = Client.through_agent(
            settings.socket, staging_bytes=settings.staging_bytes, timeout=settings.client.timeout
        )

    def _connect(self, settings: Settings) -> None:
        self.hostname = settings.local_hostname
        self.local_buffer_bytes = settings.local_buffer_bytes
        self.stages = settings.local_buffer_bytes > 0
        self._engine = settings.engine  # open until we are closed, even if its application drops it
        try:
            if settings.segment_bytes > 0:
                self._contribute(settings)
            self.client = Client(
                settings.masters,
                name=settings.local_hostname,
                protocols=settings.client.protocols,
                timeout=settings.client.timeout,
                connect_timeout=settings.client.connect_timeout,
                transfer_timeout=settings.client.transfer_timeout,
                idle_timeout=settings.client.idle_timeout,
                busy_wait=settings.client.busy_wait,
            )
            if settings.engine is not None:
                self.client.use_engine_memory(settings.engine)
            self._await_admission()
        except BaseException:
            self.close()
            raise

    def node_for(self, segment: str | None) -> str | None:
        """The storage node that a preferred segment means: our own memory by our host name, else a node's id."""
        return self.node_id if segment == self.hostname and self.node_id else segment

    def require_staging(self) -> None:
        """ValueError where the application asked for a store without."""
        if not self.stages:
            raise ValueError(
                "local_buffer_size is 0, so only registered memory is served (put_from, get_into and their like); give "
                "setup() a local_buffer_size for values that are anywhere else"
            )

    def close(self) -> None:
        """The client first: what it still writes may go to our own memory."""
        client = getattr(self, "client", None)
        if client is not None:
            client.close()
        if self.node is not None:
            self.node.close()

    def _contribute(self, settings: Settings) -> None:
        for port in random.sample(_PORTS, _PORT_TRIES):
            try:
                # Random, and not the host's name alone: in containers many hosts have the same name.
                self.node_id = f"{settings.advertise_host}:{port}-{uuid.uuid4().hex[:8]}"
                self.node = StorageNode(
                    settings.masters,
                    settings.segment_bytes,
                    advertise_host=settings.advertise_host,
                    port=port,
                    node_id=self.node_id,
                )
            except KvpoolError as error:
                if error.status != Status.IO:
                    raise
                last = error
                self._logger.info("port %d for the embedded storage node: %s", port, error)
                continue
            if settings.local_hostname == settings.advertise_host:
                self.hostname = f"{settings.local_hostname}:{port}"
            return
        raise last

    def _await_admission(self) -> None:
        if self.node is None or self.node.wait_ready(_ADMISSION_SECONDS):
            return
        stats = self.node.stats()
        raise kvpool.PeerError(
            Status.TIMEOUT,
            f"no leader took the memory of this process into the pool within {_ADMISSION_SECONDS:g} s "
            f"(connected to {stats['masters_connected']} of {stats['masters_total']} masters); "
            f"can the masters be reached from here?",
        )
