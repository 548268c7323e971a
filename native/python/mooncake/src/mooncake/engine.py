# SPDX-License-Identifier: Apache-2.0
"""mooncake.engine: Mooncake's transfer engine over kvpool's.

Return codes are Mooncake's: 0 is success (numbers of batches: above 0), -1 a failure, whose reason is in the log of
"mooncake.engine".
"""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import threading
from collections.abc import Callable, Sequence

from kvpool import KvpoolError, Status
from kvpool import TransferEngine as Engine
from mooncake.configuration.engine_settings import SERVED, EngineSettings, read_engine_settings
from mooncake.configuration.protocols import REMEDY, override_log
from mooncake.configuration.settings import BadSettings
from mooncake.memory.shared_segment import SharedSegment
from mooncake.messages.received import ReceivedData, ReceivedTensor
from mooncake.messages.rpc_interface import CoroRPCInterface, RpcInterface, create_rpc_client, create_rpc_server
from mooncake.transfers import topology
from mooncake.transfers.managed_buffers import ManagedBuffers
from mooncake.transfers.metadata_server import MetadataServer, MetadataServerError
from mooncake.transfers.peer_names import Addresses, Directory, NameTaken, PeerNames, Publication
from mooncake.transfers.transfer_types import InnerTransferEngine, TransferNotify, TransferOpcode

__all__ = [
    "SUPPORT_CUDA",
    "SUPPORT_EFA",
    "SUPPORT_HIP",
    "SUPPORT_INTRA_NVLINK",
    "SUPPORT_MNNVL",
    "SUPPORT_MUSA",
    "CoroRPCInterface",
    "InnerTransferEngine",
    "Read",
    "ReceivedData",
    "ReceivedTensor",
    "RpcInterface",
    "SharedSegment",
    "TransferEngine",
    "TransferNotify",
    "TransferOpcode",
    "Write",
    "create_rpc_client",
    "create_rpc_server",
]

SUPPORT_CUDA = SUPPORT_EFA = SUPPORT_HIP = SUPPORT_INTRA_NVLINK = SUPPORT_MNNVL = SUPPORT_MUSA = False
Read, Write = TransferOpcode
_Opcode = TransferOpcode  # for arguments of the class below, which has a member of the other name

_logger = logging.getLogger("mooncake.engine")

_ALL = f"Transfer engines of this build of kvpool have ascend, where CANN and an NPU are, and {SERVED} as protocols: {REMEDY}"
_RUNNING, _DONE, _FAILED, _TIMED_OUT = 0, 1, -1, -2


class TransferEngine:
    """Mooncake's transfer engine: memory registered here can be written and read by peers, and theirs from here.

    A peer is "HOST:PORT" with PORT from its get_rpc_port(), or, with a metadata server, the local_hostname that it was
    initialized with. Addresses and lengths are in bytes. A peer's address is
    looked up by the peer among what is registered there: anything else is refused. Methods may be called by any number of
    threads, and wait without the GIL. A transfer may take 30 s, or MC_TRANSFER_TIMEOUT seconds (5 at least), and one
    more for each GB. A peer that refuses the connection is a failure at once, or one second after its connection ended, as
    it may be restarting; one whose host answers nothing is a failure after 3 s.

    With KVPOOL_TLS_DIR or KVPOOL_IDENTITY_DIR in the environment, as for mooncake.store, all connections of engines are
    TLS 1.3, and peers are engines of the same pool's CA and tenant; all others are refused, and see nothing of what is
    registered. Without, peers with a certificate are refused, and nothing is authenticated or encrypted.
    """

    TransferOpcode = TransferOpcode

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._buffers: ManagedBuffers | None = None
        self._names: PeerNames = Addresses()
        self._timeout = 30.0

    # ---- life

    def initialize(self, local_hostname: str, metadata_server: str, protocol: str, device_name: str) -> int:
        """Listens on a free port of MC_MIN_RPC_PORT to MC_MAX_RPC_PORT (15000 to 17000).

        Args:
            local_hostname: by which others reach this process; shown in their logs. A port in it is not used: peers are
                told get_rpc_port(). With a metadata server it is also the name by which peers address this engine, all
                of it; a name that is no host stands for the address by which this machine reaches the server.
            metadata_server: "P2PHANDSHAKE", or the URL of a metadata server, "http://HOST:PORT/metadata". The entry of
                this engine is there until the process ends, and again 5 s after the server lost it; that of an engine
                which is gone is replaced. A peer that started again elsewhere is found by its name. Without the server
                known peers are used on. etcd and redis are refused.
            protocol: "tcp", "ascend", or a list such as "rdma,tcp": with each peer the first that works here and there
                is used, and the log says what became of the others. "ascend" needs CANN and an NPU, and memory that is
                registered on both sides. "rdma" alone is refused, and so is "ascend" without CANN: tcp takes their
                place only where the environment variable KVPOOL_PROTOCOL_OVERRIDE is "tcp".
            device_name: accepted and not used: tcp takes the route of the machine, "ascend" the NPU of this thread's
                current context, or the first one.

        Returns:
            0, or -1: an argument is wrong, no port is free, it was initialized before, the metadata server cannot be
            reached, or another engine has that name.
        """
        return self.initialize_ext(local_hostname, metadata_server, protocol, device_name, "")

    def initialize_ext(
        self, local_hostname: str, metadata_server: str, protocol: str, device_name: str, metadata_type: str
    ) -> int:
        """Like initialize(). metadata_type says what a metadata server without "://" is: "http"."""
        with self._lock:
            if self._engine is not None:
                return self._failed("initialize", "this engine is initialized already")
            try:
                settings = read_engine_settings(local_hostname, metadata_server, protocol, metadata_type, os.environ)
                engine = Engine(
                    settings.name,
                    protocols=settings.protocols,
                    listen_host=settings.listen_host,
                    ports=settings.ports,
                    ascend_host=_address_of(settings.name) if "ascend" in settings.protocols else None,
                    tls_dir=settings.tls_dir,
                    payloads=settings.payloads,
                    trusted_fabric=settings.trusted_fabric,
                    same_machine=settings.same_machine,
                )
            except KvpoolError as error:
                none_served = SERVED not in settings.protocols
                return self._failed("initialize", f"{error}. {_ALL}" if none_served else str(error))
            except (BadSettings, ValueError) as error:
                return self._failed("initialize", str(error))
            try:
                self._names = _names_of(engine, settings)
            except (MetadataServerError, NameTaken) as error:
                engine.close()
                return self._failed("initialize", str(error))
            self._engine = engine
            self._timeout = settings.timeout
            self._buffers = ManagedBuffers(self._engine)
        if settings.instead_of is not None:
            override_log.write(_logger, settings.instead_of, settings.protocols[0])
        level = logging.INFO if len(settings.protocols) == 1 else logging.WARNING
        _logger.log(level, "port %d; %s", self._engine.port, self._engine.transports())
        return 0

    def get_rpc_port(self) -> int:
        """The port that peers connect to; -1 before initialize()."""
        return self._engine.port if self._engine is not None else -1

    def get_engine(self) -> InnerTransferEngine:
        """For MooncakeDistributedStore.setup(engine=...): the store then takes what is registered here as registered there.
        RuntimeError before initialize()."""
        return InnerTransferEngine(self._open("get_engine"))

    def get_engine_ptr(self) -> int:
        """0: this engine is no C++ object of Mooncake that could be handed on as a pointer."""
        return 0

    # ---- memory

    def register_memory(self, buffer_addr: int, capacity: int, location: str = "*") -> int:
        """Lets peers use these bytes, which the caller keeps until unregister_memory().

        Args:
            buffer_addr: of the first byte, as a tensor's data_ptr().
            capacity: bytes.
            location: "*", "cpu" or "cpu:N", and where "ascend" is used "npu" or "npu:N"; others are refused.

        Returns:
            0, or -1: the range is empty or overlaps what is registered, or it is no memory that this process can read,
            as that of an accelerator. Calls that transfer from or to memory which was refused so return -1 as well.
        """
        return self.batch_register_memory([buffer_addr], [capacity], location)

    def unregister_memory(self, buffer_addr: int) -> int:
        """Takes a region back. No peer uses it any more when this returns, nor a call of a store that was given this engine:
        those that are at it are waited for. 0, or -1: no region begins there."""
        return self.batch_unregister_memory([buffer_addr])

    def batch_register_memory(
        self, buffer_addresses: Sequence[int], capacities: Sequence[int], location: str = "*"
    ) -> int:
        """register_memory() for many: all of them, or none and -1."""
        return self._try(
            "batch_register_memory",
            lambda engine: engine.register(buffer_addresses, capacities, location) if buffer_addresses else None,
        )

    def batch_unregister_memory(self, buffer_addresses: Sequence[int]) -> int:
        """unregister_memory() for many: all of them, or none and -1."""
        return self._try(
            "batch_unregister_memory",
            lambda engine: engine.unregister(buffer_addresses) if buffer_addresses else None,
        )

    def allocate_managed_buffer(self, length: int) -> int:
        """The address of registered memory of the engine's own, at least `length` bytes; 0 when there is none."""
        if self._buffers is None:
            self._failed("allocate_managed_buffer", "the engine is not initialized")
            return 0
        try:
            return self._buffers.allocate(length)
        except (KvpoolError, ValueError, OSError) as error:
            self._failed("allocate_managed_buffer", str(error))
            return 0

    def free_managed_buffer(self, buffer_addr: int, length: int) -> int:
        """Gives it back. 0, or -1: it is none. `length` is not looked at: the engine knows it."""
        if self._buffers is None or not self._buffers.free(buffer_addr):
            return self._failed("free_managed_buffer", f"0x{buffer_addr:x} is no managed buffer")
        return 0

    def write_bytes_to_buffer(self, dest_address: int, src_ptr: bytes, length: int) -> int:
        """Copies the first `length` bytes of src_ptr to memory of this process. 0, or -1: src_ptr is shorter."""
        if not 0 <= length <= len(src_ptr):
            return self._failed("write_bytes_to_buffer", f"{len(src_ptr)} bytes do not have {length}")
        ctypes.memmove(dest_address, bytes(src_ptr), length)
        return 0

    def read_bytes_from_buffer(self, source_address: int, length: int) -> bytes:
        """`length` bytes of memory of this process. ValueError for fewer than none."""
        if length < 0:
            raise ValueError(f"{length} bytes")
        return ctypes.string_at(source_address, length)

    # ---- transfers

    def transfer_sync_write(
        self, target_hostname: str, buffer: int, peer_buffer_address: int, length: int, transport_hint: str = ""
    ) -> int:
        """Writes `length` bytes at `buffer` to the peer's memory and waits. 0, or -1."""
        return self.transfer_sync(target_hostname, buffer, peer_buffer_address, length, TransferOpcode.Write)

    def transfer_sync_read(
        self, target_hostname: str, buffer: int, peer_buffer_address: int, length: int, transport_hint: str = ""
    ) -> int:
        """Reads `length` bytes of the peer's memory to `buffer` and waits. 0, or -1."""
        return self.transfer_sync(target_hostname, buffer, peer_buffer_address, length, TransferOpcode.Read)

    def transfer_sync(
        self,
        target_hostname: str,
        buffer: int,
        peer_buffer_address: int,
        length: int,
        opcode: _Opcode,
        notify: TransferNotify | None = None,
        transport_hint: str = "",
    ) -> int:
        """Writes or reads and waits. The peer's get_notifies() has `notify` when the bytes are there. 0, or -1."""
        return self.batch_transfer_sync(
            target_hostname, [buffer], [peer_buffer_address], [length], opcode, notify, transport_hint
        )

    def batch_transfer_sync_write(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        transport_hint: str = "",
    ) -> int:
        """transfer_sync_write() for many, in few round trips. 0, or -1 when any of them failed."""
        return self.batch_transfer_sync(
            target_hostname, buffers, peer_buffer_addresses, lengths, TransferOpcode.Write, None, transport_hint
        )

    def batch_transfer_sync_read(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        transport_hint: str = "",
    ) -> int:
        """transfer_sync_read() for many, in few round trips. 0, or -1 when any of them failed."""
        return self.batch_transfer_sync(
            target_hostname, buffers, peer_buffer_addresses, lengths, TransferOpcode.Read, None, transport_hint
        )

    def batch_transfer_sync(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        opcode: _Opcode,
        notify: TransferNotify | None = None,
        transport_hint: str = "",
    ) -> int:
        """transfer_sync() for many, in few round trips; the other sync calls are this one with a part of its arguments.

        Args:
            target_hostname: the peer, the same for all.
            buffers: addresses here, one for each line. They need not be registered.
            peer_buffer_addresses: addresses there; each line must lie in one region that the peer has registered.
            lengths: bytes of each line, 0 allowed.
            opcode: TransferOpcode.Write, from here to there, or TransferOpcode.Read.
            notify: what the peer's get_notifies() has once all lines are done; nothing when one failed.
            transport_hint: accepted and not used.

        Returns:
            0, or -1: the lists differ in length, the peer cannot be reached or did not register that memory, or the time
            is up. What a failed write or read left behind is undefined.
        """

        def run(engine: Engine) -> None:
            call = engine.write if opcode == TransferOpcode.Write else engine.read
            told = None if notify is None else (notify.name, notify.msg.encode())
            timeout = self._timeout_for(lengths)
            self._with_peer(
                engine,
                target_hostname,
                lambda peer: call(peer, buffers, peer_buffer_addresses, lengths, notify=told, timeout=timeout),
            )

        return self._try("batch_transfer_sync", run)

    def batch_transfer_async_write(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        transport_hint: str = "",
    ) -> int:
        """Begins a write; the number of the batch for get_batch_transfer_status(), or 0 when the peer cannot be reached."""
        return self.batch_transfer_async(
            target_hostname, buffers, peer_buffer_addresses, lengths, TransferOpcode.Write, transport_hint
        )

    def batch_transfer_async_read(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        transport_hint: str = "",
    ) -> int:
        """Begins a read, like batch_transfer_async_write()."""
        return self.batch_transfer_async(
            target_hostname, buffers, peer_buffer_addresses, lengths, TransferOpcode.Read, transport_hint
        )

    def batch_transfer_async(
        self,
        target_hostname: str,
        buffers: Sequence[int],
        peer_buffer_addresses: Sequence[int],
        lengths: Sequence[int],
        opcode: _Opcode,
        transport_hint: str = "",
    ) -> int:
        """Begins a write or read, and makes the connection to the peer where there is none. The memory stays in use until
        get_batch_transfer_status() or transfer_check_status() has returned its end."""
        batch = 0

        def begin(engine: Engine) -> None:
            nonlocal batch
            peer = self._with_peer(engine, target_hostname, lambda peer: [engine.connect(peer)])
            call = engine.submit_write if opcode == TransferOpcode.Write else engine.submit_read
            batch = call(peer, buffers, peer_buffer_addresses, lengths, timeout=self._timeout_for(lengths))

        self._try("batch_transfer_async", begin)
        return batch

    def get_batch_transfer_status(self, batch_ids: Sequence[int]) -> int:
        """Waits for all of these batches and forgets them. 0, or -1 when any line of any of them failed, or one is unknown."""

        outcomes = [
            self._try("get_batch_transfer_status", lambda engine, batch=batch: _raise_first(engine, engine.wait(batch)))
            for batch in batch_ids
        ]
        return min(outcomes, default=0)

    def transfer_submit_write(
        self, target_hostname: str, buffer: int, peer_buffer_address: int, length: int, transport_hint: str = ""
    ) -> int:
        """Begins one write; the number for transfer_check_status(), or 0 when the peer cannot be reached."""
        return self.batch_transfer_async_write(target_hostname, [buffer], [peer_buffer_address], [length])

    def transfer_check_status(self, batch_id: int) -> int:
        """1 done, 0 running, -1 failed, -2 out of time. Once it is not 0 the number is forgotten."""
        outcome = _FAILED

        def look(engine: Engine) -> None:
            nonlocal outcome
            statuses = engine.poll(batch_id)
            if statuses is None:
                outcome = _RUNNING
            elif Status.TIMEOUT in statuses:
                outcome = _TIMED_OUT
            else:
                _raise_first(engine, statuses)
                outcome = _DONE

        self._try("transfer_check_status", look)
        return outcome

    # ---- peers

    def get_notifies(self) -> list[TransferNotify]:
        """What peers told us since the last call, in order of arrival. At most 4096 wait; more are refused."""
        notifies: list[TransferNotify] = []

        def take(engine: Engine) -> None:
            while (told := engine.next_notify()) is not None:
                notifies.append(TransferNotify(told[0], told[1].decode(errors="replace")))

        self._try("get_notifies", take)
        return notifies

    def send_probe(self, peer_server_name: str) -> int:
        """0 when a transfer engine answers there now, else -1: one that is gone is not waited for."""

        def probe(engine: Engine) -> None:
            self._with_peer(engine, peer_server_name, lambda peer: [engine.probe(peer)])

        return self._try("send_probe", probe)

    def get_first_buffer_address(self, segment_name: str) -> int:
        """The address of the region that the peer registered first; 0 when it has none or cannot be reached."""
        address = 0

        def ask(engine: Engine) -> None:
            nonlocal address
            regions = engine.describe(self._with_peer(engine, segment_name, lambda peer: [engine.connect(peer)]))
            address = regions[0][0] if regions else 0

        self._try("get_first_buffer_address", ask)
        return address

    def get_local_topology(self, device_name: str | None = None) -> str:
        """Which RDMA devices are near which memory, as JSON: for each "cpu:N", N a NUMA node, those of that node and the others.

        Args:
            device_name: only these, separated by commas; None or "" for all. Transfers choose no device by it.
        """
        return topology.text(topology.discover([name for name in (device_name or "").split(",") if name]))

    def warmup_efa_segment(self, segment_name: str) -> int:
        """0: there is nothing to warm up without EFA."""
        return 0

    def _open(self, method: str) -> Engine:
        if self._engine is None:
            raise RuntimeError(f"{method}: the engine is not initialized")
        return self._engine

    def _with_peer(self, engine: Engine, target: str, call: Callable[[str], Sequence[Status]]) -> str:
        """Calls with the peer's address, and once more where it is elsewhere by now; the address. RuntimeError for a
        status that is not OK."""
        peer = self._names.address_of(target)
        statuses = call(peer)
        if (failed := _failed(statuses)) and (moved := self._names.moved(target)) is not None:
            peer = moved
            statuses = call(peer)
            failed = _failed(statuses)
        if failed:
            raise _failure(engine, failed, len(statuses))
        return peer

    def _timeout_for(self, lengths: Sequence[int]) -> float:
        return self._timeout + sum(lengths) / 1e9

    def _try(self, method: str, call) -> int:
        try:
            call(self._open(method))
        except (KvpoolError, MetadataServerError, ValueError, OverflowError, RuntimeError) as error:
            return self._failed(method, str(error))
        return 0

    def _failed(self, method: str, reason: str) -> int:
        _logger.error("%s: %s", method, reason)
        return -1


def _address_of(local_hostname: str) -> str | None:
    """The IP address of HOST or HOST:PORT; None where there is none, which the engine then says."""
    if local_hostname.startswith("["):
        host = local_hostname[1:].partition("]")[0]
    else:
        host = local_hostname.partition(":")[0] if local_hostname.count(":") == 1 else local_hostname
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return None


def _names_of(engine: Engine, settings: EngineSettings) -> PeerNames:
    """With a metadata server the engine has an entry there when this returns. Raises MetadataServerError or NameTaken."""
    if settings.metadata_url is None:
        return Addresses()
    server = MetadataServer(settings.metadata_url)
    directory = Directory(server, settings.metadata_prefix)
    publication = Publication(server, directory, settings.name, engine.port)
    publication.publish(lambda place: engine.probe(place) == Status.OK)
    publication.keep(engine)
    return directory


def _failed(statuses: Sequence[Status]) -> list[Status]:
    return [status for status in statuses if status != Status.OK]


def _failure(engine: Engine, failed: Sequence[Status], lines: int) -> RuntimeError:
    what = f"{len(failed)} of {lines} transfers failed, first with {failed[0].name}"
    return RuntimeError(f"{what}: {engine.explain() or failed[0].text}")


def _raise_first(engine: Engine, statuses: Sequence[Status]) -> None:
    """Raises what became of the first line that failed."""
    if failed := _failed(statuses):
        raise _failure(engine, failed, len(statuses))
