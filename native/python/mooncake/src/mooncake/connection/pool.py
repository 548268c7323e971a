# SPDX-License-Identifier: Apache-2.0
"""What a store is set up with: a client, and memory for the pool where the engine gives some."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence

from kvpool import Client, Replica, Status, TransferEngine
from kvpool.registered_ranges import RegisteredRanges
from kvpool.status import status_of
from mooncake.configuration.settings import AgentSettings, Settings
from mooncake.connection.client_http import ClientHttp
from mooncake.connection.own_segments import OwnSegment, OwnSegments
from mooncake.connection.own_tenant import check_tenant
from mooncake.memory.mem_pool import MemPool
from mooncake.memory.registered_copies import RegisteredCopies
from mooncake.memory.scratch import Scratch
from mooncake.ranges.held_values import HeldValues
from mooncake.ranges.named_values import NamedValues
from mooncake.ranges.open_values import OpenValues
from mooncake.ranges.part_reads import PartReads
from mooncake.ranges.put_sessions import PutSessions
from mooncake.ranges.range_reads import RangeReads
from mooncake.ranges.session_memory import SESSION_BYTES_MAX, SessionMemory


def _protocols_of_segments(of_client: tuple[str, ...]) -> tuple[str, ...]:
    """What this process's memory serves: ascend where its client uses it, with tcp where that does too."""
    if "ascend" not in of_client:
        return ("tcp",)
    return ("ascend", "tcp") if "tcp" in of_client else ("ascend",)


class Pool:
    """An open client and what came with it: memory of this process in the pool, or the memory of setup_dummy().
    Raises KvpoolError when any of it cannot be had, and NotOurTenantError."""

    def __init__(self, settings: Settings | AgentSettings, logger: logging.Logger) -> None:
        self._logger = logger
        self.reuse = settings.client.reuse
        self.segments: OwnSegments | None = None  # None for one that goes through an agent
        self.node_id: str | None = None
        self.http: ClientHttp | None = None  # None where none is asked for
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
        self.copies = RegisteredCopies(self._registered, *([] if engine is None else [engine.registered]))
        self.scratch = Scratch(self)
        self._goes_through_agent = isinstance(settings, AgentSettings)
        self._session_memory = SessionMemory(SESSION_BYTES_MAX)
        self._session_copies = RegisteredCopies(self._registered, by_device=self.client.copy_memory)
        self.ranges: PartReads | RangeReads = (
            RangeReads(self.client, self.scratch, self.reuse)
            if self._goes_through_agent
            else PartReads(self.client, self.reuse)
        )
        self.get_sessions = self.new_get_sessions()
        self.put_sessions: PutSessions | OpenValues = (
            PutSessions(self.client, self._session_copies, self._session_memory, settings.largest_value)
            if isinstance(settings, AgentSettings)
            else OpenValues(self.client)
        )

    def new_get_sessions(self) -> NamedValues | HeldValues:
        """Sessions that know nothing of others."""
        if self._goes_through_agent:
            return HeldValues(self.client, self._session_copies, self._session_memory)
        return NamedValues(self.client, self.reuse)

    def register(self, address: int, length: int) -> None:
        self.client.register(address, length)
        self._registered.add(address, length)

    def unregister(self, address: int) -> None:
        """Nothing is copied to or from that memory any more when it returns."""
        # First: the library waits with this, and meanwhile takes the address again, which is another range then.
        self._registered.remove(address)
        self.client.unregister(address)

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
            check_tenant(settings.tenant, settings.client.tls_dir, settings.client.timeout)
            self.segments = OwnSegments(
                settings.masters,
                settings.advertise_host,
                self._logger,
                _protocols_of_segments(settings.client.protocols),
                settings.client.tls_dir,
                settings.client.trusted_fabric,
            )
            own = self.segments.add(settings.segment_bytes) if settings.segment_bytes > 0 else None
            if own is not None:
                self._name_after(own, settings)
            self.client = Client(
                settings.masters,
                name=settings.local_hostname,
                protocols=settings.client.protocols,
                timeout=settings.client.timeout,
                connect_timeout=settings.client.connect_timeout,
                transfer_timeout=settings.client.transfer_timeout,
                idle_timeout=settings.client.idle_timeout,
                busy_wait=settings.client.busy_wait,
                tls_dir=settings.client.tls_dir,
                payloads=settings.client.payloads,
            )
            if settings.engine is not None:
                self.client.use_engine_memory(settings.engine)
            if own is not None:
                self.segments.await_admission(own.node_id)
            if settings.http_port is not None:
                self.http = ClientHttp(settings.http_port, self.client.stats, self.client.durations, self._logger)
        except BaseException:
            self.close()
            raise

    def node_for(self, segment: str | None) -> str | None:
        """The storage node that a segment means: our own memory by our host name, else what the leader knows by that name."""
        return (self.node_id if segment == self.hostname and self.node_id else segment) or None

    def copy(self, key: str, targets: Sequence[str], source: str | None) -> int:
        """Begins a task, to storage nodes that segments mean."""
        nodes = [self.node_for(target) or target for target in targets]
        return self.client.copy(key, nodes, source=self.node_for(source))

    def nodes_for(self, segments: Sequence[str]) -> tuple[str, ...] | None:
        """The storage nodes that segments mean, None without any."""
        return tuple(self.node_for(segment) or segment for segment in segments) or None

    def replicas_of(self, keys: Sequence[str]) -> Sequence[Sequence[Replica | None] | Status]:
        """The copies of each value, or why there are none. Through an agent one of which nothing is known stands for all."""
        if not self._goes_through_agent:
            return self.client.locate_batch(keys)
        return [[None] if size >= 0 else status_of(size) for size in self.client.size_batch(keys)]

    def require_staging(self) -> None:
        """ValueError where the application asked for a store without."""
        if not self.stages:
            raise ValueError(
                "local_buffer_size is 0, so only registered memory is served (put_from, get_into and their like); give "
                "setup() a local_buffer_size for values that are anywhere else"
            )

    def close(self) -> None:
        """The client before our own memory: what it still writes may go there."""
        if self.http is not None:
            self.http.close()
        client = getattr(self, "client", None)
        if client is not None:
            client.close()
        if self.segments is not None:
            self.segments.close()

    def _name_after(self, own: OwnSegment, settings: Settings) -> None:
        self.node_id = own.node_id
        if settings.local_hostname == settings.advertise_host:
            self.hostname = f"{settings.local_hostname}:{own.port}"
