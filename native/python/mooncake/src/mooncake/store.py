# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: the store that inference engines use, over a kvpool pool.

Return codes are Mooncake's: 0 or a length is success, a negative number is an ErrorCode. What a code cannot say is in
the log of "mooncake.store".
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kvpool import KvpoolError, Status, Task
from mooncake.answers.error_code import ErrorCode, code_of
from mooncake.answers.setup_failure import cause_of, sentence
from mooncake.answers.short_values import engine_compares_lengths, refuse_short_values
from mooncake.buffer_pool import (
    BufferLease,
    BufferLeaseView,
    BufferPool,
    RegisteredBufferLease,
    RegisteredBufferLeaseView,
    RegisteredBufferPool,
)
from mooncake.configuration.agent_settings import read_agent_settings
from mooncake.configuration.protocols import REMEDY, override_log
from mooncake.configuration.settings import AgentSettings, BadSettings, Settings, read_settings
from mooncake.connection.own_segments import OwnSegment, OwnSegments
from mooncake.connection.own_tenant import NotOurTenantError
from mooncake.connection.pool import Pool
from mooncake.memory.buffer_handle import BufferHandle
from mooncake.memory.host_memory import MooncakeHostMemAllocator, get_alloc_func_addr, get_free_func_addr
from mooncake.memory.numa import bind_to_numa_node
from mooncake.methods.calls import first_failure
from mooncake.methods.parallel_tensor_methods import ParallelTensorMethods
from mooncake.methods.parts import joined
from mooncake.methods.store_calls import INVALID_PARAMS, logger
from mooncake.objects.engram_store import EngramStore, EngramStoreConfig
from mooncake.replicas.replica_descriptors import (
    Descriptor,
    DiskDescriptor,
    LocalDiskDescriptor,
    MemoryDescriptor,
    ReplicaDescriptor,
    ReplicaStatus,
)
from mooncake.replicas.replicate_config import ObjectDataType, ReplicateConfig, SoftPinAction
from mooncake.replicas.tasks import QueryTaskResponse, TaskStatus, TaskType, response_of
from mooncake.tensors.parallelism import ParallelAxis, ReadTarget, TensorParallelism

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ACTIVATION",
    "COMPLETE",
    "FAILED",
    "GENERAL",
    "GRADIENT",
    "INITIALIZED",
    "KVCACHE",
    "METADATA",
    "OPTIMIZER_STATE",
    "PENDING",
    "PROCESSING",
    "REMOVED",
    "REPLICA_COPY",
    "REPLICA_MOVE",
    "SAMPLE",
    "SUCCESS",
    "TENSOR",
    "UNDEFINED",
    "UNKNOWN",
    "WEIGHT",
    "BufferHandle",
    "BufferLease",
    "BufferLeaseView",
    "BufferPool",
    "Descriptor",
    "DiskDescriptor",
    "EngramStore",
    "EngramStoreConfig",
    "ErrorCode",
    "LocalDiskDescriptor",
    "MemoryDescriptor",
    "MooncakeDistributedStore",
    "MooncakeHostMemAllocator",
    "ObjectDataType",
    "ParallelAxis",
    "QueryTaskResponse",
    "ReadTarget",
    "RegisteredBufferLease",
    "RegisteredBufferLeaseView",
    "RegisteredBufferPool",
    "ReplicaDescriptor",
    "ReplicaStatus",
    "ReplicateConfig",
    "SoftPinAction",
    "TaskStatus",
    "TaskType",
    "TensorParallelism",
    "bind_to_numa_node",
    "get_alloc_func_addr",
    "get_free_func_addr",
]

# As the reference has them beside their enum.
UNKNOWN, KVCACHE, TENSOR, WEIGHT, SAMPLE, ACTIVATION, GRADIENT, OPTIMIZER_STATE, METADATA, GENERAL = ObjectDataType
UNDEFINED, INITIALIZED, COMPLETE, REMOVED = (
    ReplicaStatus.UNDEFINED,
    ReplicaStatus.INITIALIZED,
    ReplicaStatus.COMPLETE,
    ReplicaStatus.REMOVED,
)
REPLICA_COPY, REPLICA_MOVE = TaskType
PENDING, PROCESSING, FAILED, SUCCESS = TaskStatus

# What is_exist answers 0 for: also a key whose nodes are all away, as it cannot be read now.
_ABSENT = frozenset((int(ErrorCode.OBJECT_NOT_FOUND), int(ErrorCode.REPLICA_IS_NOT_READY)))

_REQUIRED: Any = object()


def _needs_ascend(settings: Settings | AgentSettings) -> bool:
    return isinstance(settings, Settings) and settings.client.protocols == ("ascend",)


class MooncakeDistributedStore(ParallelTensorMethods):
    """A client of a pool with Mooncake's methods, for any number of threads. It does not survive fork().

    Keys are str (or bytes of UTF-8) of 1 to 4096 bytes. Objects are immutable: a put of a key that exists returns 0
    and changes nothing. Before setup(), after one that failed, and after close() every method answers -600, for each key
    where it has many, or an empty result where it returns data; the log says why.
    """

    # ---- life

    def setup(
        self,
        local_hostname: Any = _REQUIRED,
        metadata_server: str = _REQUIRED,
        global_segment_size: int = _REQUIRED,
        local_buffer_size: int = _REQUIRED,
        protocol: str = _REQUIRED,
        rdma_devices: str = _REQUIRED,
        master_server_addr: str = _REQUIRED,
        engine: object = None,
        enable_ssd_offload: bool = False,
        ssd_offload_path: str = "",
        tenant_id: str = "default",
        enable_client_http_server: bool = False,
        client_http_port: int = 9300,
        *,
        config: Mapping[str, object] | None = None,
    ) -> int:
        """Connects to the pool: setup(seven positional arguments, ...) or setup({...}), where the dict may leave out
        all but local_hostname and metadata_server, and sizes may be text such as "16MB". A dict may use the names of
        engines' files as well, master_server_address and device_name; without masters the environment variable
        MOONCAKE_MASTER has them. What is no setting is named in the log.

        Args:
            local_hostname: "host" or "host:port" by which others reach this process; only the host is used.
            metadata_server: accepted and not used: a pool needs none.
            global_segment_size: bytes of this process's memory that join the pool (16 MiB at least); 0 for none.
            local_buffer_size: 0: only registered memory is served, by put_from(), get_into() and their like; what needs
                staging in the reference (put(), get(), their like) fails with -600 or is empty. Any other size serves
                everything and is no bound: values are sent from where they are.
            protocol: "tcp" (or ""): tcp, and shared memory where the storage node is on this machine. "ascend": by
                Huawei's CANN alone, which this process, its storage nodes and an NPU must have, unless the environment
                variable KVPOOL_PROTOCOLS names ascend with what else may be used; registered memory may be an NPU's.
                "rdma" is refused: this build does not have it, and falls back to nothing in silence; on purpose it does
                where the environment variable KVPOOL_PROTOCOL_OVERRIDE is "tcp", and so does "ascend".
            rdma_devices: accepted and not used.
            master_server_addr: "HOST:PORT[,HOST:PORT...]", all masters of the pool in any order.
            engine: what get_engine() of a mooncake.engine.TransferEngine returns. Memory that is registered there, before
                or after this call, counts as registered here until it is unregistered there. The client moves bytes by
                itself all the same.
            tenant_id: "default" (or ""), or the tenant that this process's certificate names; without a certificate that is
                `default`. Any other name is refused, as it would give no access.
            enable_client_http_server, client_http_port: GET /health, /metrics and /metrics/summary of this client by HTTP.
                A port that another process has is said in the log, and this process goes on without.
            enable_ssd_offload, ssd_offload_path: accepted; one that is set is reported in the log as having no effect, as
                SSD tiers belong to storage nodes.

        Returns:
            0, or -600 (an argument is wrong, or the store is set up already), -900 (no master can be reached),
            -901 (no leader serves in time), -300 (versions do not fit), -200 (no memory), -1701 (tenant_id is
            another tenant's); the log says more.
        """
        if config is None and isinstance(local_hostname, Mapping):
            config = local_hostname
        if config is None:
            config = {name: value for name, value in locals().items() if name not in ("self", "config")}
            missing = [name for name, value in config.items() if value is _REQUIRED]
            if missing:
                raise TypeError(f"setup() misses {', '.join(missing)}; or give one dict")
        given = config
        return self._open("setup", lambda: read_settings(given, os.environ), "masters")

    def setup_dummy(self, mem_pool_size: int, local_buffer_size: int, server_address: str) -> int:
        """Goes through the `kvpool agent` of this machine instead of connecting to the pool: setup()'s sibling.

        Args:
            mem_pool_size: bytes that alloc_from_mem_pool() gives out; any other memory may be registered as well.
            local_buffer_size: bytes shared with the agent, through which all values go, so also the largest value;
                0 for 64 MiB, 1 MiB at least.
            server_address: "unix:/PATH" or "/PATH" of the agent's socket or of the directory it is in; or "HOST:PORT", as
                for Mooncake's real client: where KVPOOL_SOCKET_DIR names that directory, it is that (host and port are
                unused); else the `mooncake_client` of that port on this machine, where this process has the same user, or
                that one is root's, and both have the same /tmp or, as containers of one pod, the same network namespace.

        A process with an NPU registers that one's memory as any other, and names it in all methods: it is copied here, between
        the NPU and the host, and needs Huawei's ACL (libascendcl.so), which is loaded then, and no port. What is registered
        stays so when another agent follows.

        Returns:
            0, or -600 (an argument is wrong, or the store is set up already), -900 (no agent, or it has no leader),
            -200 (the agent shares less memory than that), -300 (versions do not fit); the log says more.
        """
        return self._open(
            "setup_dummy",
            lambda: read_agent_settings(mem_pool_size, local_buffer_size, server_address, os.environ),
            "agent at",
        )

    def init_all(self, protocol: str, device_name: str, mount_segment_size: int = 16 << 20, /) -> int:
        """setup() with what the environment says: masters from MOONCAKE_MASTER, this process's name from
        MOONCAKE_LOCAL_HOSTNAME, or the machine's name."""
        return self.setup(
            {
                "local_hostname": os.environ.get("MOONCAKE_LOCAL_HOSTNAME") or socket.gethostname(),
                "metadata_server": "P2PHANDSHAKE",
                "global_segment_size": mount_segment_size,
                "protocol": protocol,
                "rdma_devices": device_name,
            }
        )

    def _open(self, method: str, read: Callable[[], Settings | AgentSettings], peers: str) -> int:
        with self._setup_lock:
            if self._pool is not None:
                logger.error("%s: this store is set up already; close() it first", method)
                return INVALID_PARAMS
            try:
                settings = read()
                self._mention(method, settings)
                self._pool = Pool(settings, logger)
            except KvpoolError as error:
                where = settings.socket if isinstance(settings, AgentSettings) else settings.masters
                remedy = f"; {REMEDY}" if _needs_ascend(settings) else ""
                return self._setup_failed(method, code_of(error.status), f"{peers} {where}: {error}{remedy}")
            except NotOurTenantError as error:
                return self._setup_failed(method, ErrorCode.TENANT_NOT_REGISTERED, str(error))
            except (BadSettings, ValueError, OSError) as error:
                return self._setup_failed(method, INVALID_PARAMS, str(error))
        return 0

    def _mention(self, method: str, settings: Settings | AgentSettings) -> None:
        if isinstance(settings, AgentSettings):
            return
        for note in settings.notes:
            logger.warning("%s: %s", method, note)
        if settings.instead_of is not None:
            override_log.write(logger, settings.instead_of, "tcp")

    def _setup_failed(self, method: str, code: int, reason: str) -> int:
        """Some engines do not look at the result, so the log and all later answers have to tell."""
        self._calls.why_no_pool = cause_of(method, code, reason)
        logger.error("%s", sentence(method, code, reason))
        return code

    def close(self) -> int:
        """Disconnects; memory given by this process leaves the pool. 0, also when there was nothing to close."""
        with self._setup_lock:
            pool, self._pool = self._pool, None
            if pool is not None:
                self._calls.why_no_pool = "it is closed"
        if pool is not None:
            pool.close()
        return 0

    def get_hostname(self) -> str:
        """This store's name: local_hostname, with a port when it contributes memory. "" before setup()."""
        pool = self._pool
        return pool.hostname if pool is not None else ""

    def health_check(self) -> int:
        """0: a leader serves us, 1: not set up, 2: no leader is connected now."""
        pool = self._pool
        if pool is None:
            return 1
        try:
            return 0 if pool.client.stats()["leader_known"] else 2
        except KvpoolError:
            return 1

    # ---- memory of this process in the pool

    def allocate_and_mount_segment(self, size: int, protocol: str = "tcp", location: str = "") -> dict[str, Any]:
        """Gives more memory of this process to the pool, as setup() does by global_segment_size.

        Args:
            size: bytes; 16 MiB at least are taken.
            protocol: "tcp", or "" for it.
            location: "", "*" or "cpu"; accepted, and the kernel decides.

        Returns:
            {"ret": 0, "segment_ids": [ID], "allocated_size": BYTES}, where ID is a preferred_segment too; or in "ret" the code
            of what failed, without segments.
        """
        code, mounted = self._mount("allocate_and_mount_segment", size, protocol, location, lambda own: own.add(size))
        return {
            "ret": code,
            "segment_ids": [own.node_id for own in mounted],
            "allocated_size": sum(own.size for own in mounted),
        }

    def mount_segment(
        self, path: str, size: int, offset: int = 0, protocol: str = "tcp", location: str = ""
    ) -> dict[str, Any]:
        """Gives a part of an existing file to the pool as memory, until unmount_segment() or close(). What is there is
        overwritten, and others must not write there meanwhile; the file stays.

        Args:
            path: of a file on tmpfs or hugetlbfs, as in /dev/shm.
            size: bytes, 16 MiB at least; whole pages of that file.
            offset: where in the file they begin; a multiple of its pages.
            protocol: "tcp", or "" for it.
            location: "", "*" or "cpu"; accepted, as the pages are where they are.

        Returns:
            {"ret": 0, "segment_ids": [ID]}, where ID is a preferred_segment too; or in "ret" the code of what failed, without
            segments: -1 when that part of the file cannot be had.
        """

        def lend(own: OwnSegments) -> OwnSegment:
            try:
                if offset < 0:
                    raise ValueError(f"offset {offset}")
                return own.lend(path, size, offset)
            except OSError as problem:
                raise ValueError(str(problem)) from problem

        code, mounted = self._mount("mount_segment", size, protocol, location, lend)
        if code == int(ErrorCode.INVALID_PARAMS):
            code = int(ErrorCode.INTERNAL_ERROR)
        return {"ret": code, "segment_ids": [own.node_id for own in mounted]}

    def _mount(
        self, method: str, size: int, protocol: str, location: str, join: Callable[[OwnSegments], OwnSegment]
    ) -> tuple[int, list[OwnSegment]]:
        mounted: list[OwnSegment] = []

        def mount(pool: Pool) -> None:
            if pool.segments is None:
                raise ValueError("a store that goes through an agent has no memory of its own in the pool")
            if size <= 0 or protocol not in ("", "tcp") or location not in ("", "*", "cpu"):
                raise ValueError(f"size {size}, protocol {protocol!r}, location {location!r}: tcp and cpu are served")
            own = join(pool.segments)
            pool.segments.await_admission(own.node_id)
            mounted.append(own)

        if self._pool is None:
            self._without_pool(method)
            return int(ErrorCode.INTERNAL_ERROR), []
        return self._calls.once(self._pool, method, mount), mounted

    def unmount_and_free_segment(self, segment_ids: Sequence[str], grace_period_seconds: int = 0) -> int:
        """Takes memory of this process back out of the pool, at once or after a time; what lies there alone is gone then, so
        drain before what shall stay. The segment of setup() has the id that begins with get_hostname().

        Returns:
            0; -101 when one of them is none of this store's, and then none is taken back; -1 for a store that is not set up.
        """
        pool = self._pool
        if pool is None:
            self._without_pool("unmount_and_free_segment")
            return int(ErrorCode.INTERNAL_ERROR)
        if grace_period_seconds < 0:
            return self._refuse("unmount_and_free_segment", 1, f"a grace period of {grace_period_seconds} s")[0]
        if pool.segments is not None and pool.segments.remove(segment_ids, grace_period_seconds):
            return 0
        return int(ErrorCode.SEGMENT_NOT_FOUND)

    def unmount_segment(self, segment_ids: Sequence[str], grace_period_seconds: int = 0) -> int:
        """unmount_and_free_segment()."""
        return self.unmount_and_free_segment(segment_ids, grace_period_seconds)

    def unmount_local_disk_segment(self, grace_period_seconds: int = 0) -> int:
        """-101: the memory that this process gives has no SSD under it. The SSDs of a pool are its storage nodes'. -1 for a store
        that is not set up."""
        if self._pool is None:
            self._without_pool("unmount_local_disk_segment")
            return int(ErrorCode.INTERNAL_ERROR)
        return int(ErrorCode.SEGMENT_NOT_FOUND)

    # ---- memory

    def alloc_from_mem_pool(self, size: int) -> int:
        """The address of zeroed memory out of setup_dummy()'s mem_pool_size, good until close(); 0 if none is left."""
        pool = self._pool
        address = pool.memory.take(size) if pool is not None else 0
        if address == 0:
            left = pool.memory.left if pool is not None else 0
            logger.error(
                "alloc_from_mem_pool: %s bytes asked for, %d left (see mem_pool_size of setup_dummy)", size, left
            )
        return address

    def register_buffer(self, buffer_ptr: int, size: int) -> int:
        """Declares memory for put_from and get_into. It may be an NPU's, after setup_dummy() too: of the NPU that this thread
        uses, or of any one where this thread uses none, and of one NPU for each store. 0, or -600 for an empty or overlapping
        range, for memory of other NPUs, and for other memory that this process cannot read; the log says why."""
        return self._calls.once(self._pool, "register_buffer", lambda pool: pool.register(buffer_ptr, size))

    def unregister_buffer(self, buffer_ptr: int) -> int:
        """Takes back register_buffer. 0, or -600 when no buffer begins there."""
        return self._calls.once(self._pool, "unregister_buffer", lambda pool: pool.unregister(buffer_ptr))

    # ---- put, and upsert: the same, but an existing object gives way to the new one

    def put(self, key: str, value: Buffer, config: ReplicateConfig | None = None) -> int:
        """Stores a value of any contiguous buffer, 0 bytes allowed. 0 or negative."""
        return self.put_batch([key], [value], config)

    def upsert(self, key: str, value: Buffer, config: ReplicateConfig | None = None) -> int:
        """Stores a value, in place of the one the key has. Readers see the old value or the new one, whole. 0 or negative."""
        return self.upsert_batch([key], [value], config)

    def put_parts(self, key: str, *parts: Buffer, config: ReplicateConfig | None = None) -> int:
        """One value of several buffers, one after the other. 0 or negative."""
        return self.put(key, joined(parts), config)

    def upsert_parts(self, key: str, *parts: Buffer, config: ReplicateConfig | None = None) -> int:
        """upsert() of several buffers, one after the other. 0 or negative."""
        return self.upsert(key, joined(parts), config)

    def put_batch(self, keys: Sequence[str], values: Sequence[Buffer], config: ReplicateConfig | None = None) -> int:
        """put() for many keys: 0 when all are stored, else the code of the first that is not."""
        return first_failure(self._put_values("put", keys, values, config, upsert=False))

    def upsert_batch(self, keys: Sequence[str], values: Sequence[Buffer], config: ReplicateConfig | None = None) -> int:
        """upsert() for many keys: 0 when all are stored, else the code of the first that is not."""
        return first_failure(self._put_values("upsert", keys, values, config, upsert=True))

    def put_from(self, key: str, buffer_ptr: int, size: int, config: ReplicateConfig | None = None) -> int:
        """put() from registered memory. 0 or negative."""
        return self.batch_put_from([key], [buffer_ptr], [size], config)[0]

    def upsert_from(self, key: str, buffer_ptr: int, size: int, config: ReplicateConfig | None = None) -> int:
        """upsert() from registered memory. 0 or negative."""
        return self.batch_upsert_from([key], [buffer_ptr], [size], config)[0]

    def batch_put_from(
        self,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        config: ReplicateConfig | None = None,
    ) -> list[int]:
        """put_from() for many keys: the code of each."""
        return self._put_memory("put_from", keys, buffer_ptrs, sizes, config, upsert=False)

    def batch_upsert_from(
        self,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        config: ReplicateConfig | None = None,
    ) -> list[int]:
        """upsert_from() for many keys: the code of each."""
        return self._put_memory("upsert_from", keys, buffer_ptrs, sizes, config, upsert=True)

    def batch_put_from_multi_buffers(
        self,
        keys: Sequence[str],
        all_buffer_ptrs: Sequence[Sequence[int]],
        all_sizes: Sequence[Sequence[int]],
        config: ReplicateConfig | None = None,
    ) -> list[int]:
        """put_from() for many keys whose values each lie in many pieces of registered memory: the code of each."""
        return self._put(
            "put_from_multi_buffers",
            keys,
            config,
            lambda pool, how: pool.client.put_from_pieces(keys, all_buffer_ptrs, all_sizes, **how),
        )

    def put_from_with_metadata(
        self,
        key: str,
        buffer_ptr: int,
        metadata_buffer_ptr: int,
        size: int,
        metadata_size: int,
        config: ReplicateConfig | None = None,
    ) -> int:
        """put_from() of one value in two pieces, the metadata before the rest. 0 or negative."""
        pieces = [piece for piece in ((metadata_buffer_ptr, metadata_size), (buffer_ptr, size)) if piece[1] != 0]
        return self.batch_put_from_multi_buffers(
            [key], [[address for address, _ in pieces]], [[length for _, length in pieces]], config
        )[0]

    # ---- get

    def get(self, key: str) -> bytes:
        """The value; b"" when there is none or it cannot be read (the log tells the two apart)."""
        return next(iter(self.get_batch([key])), b"")

    def get_batch(self, keys: Sequence[str]) -> list[bytes]:
        """get() for many keys, in order."""
        return [value or b"" for value in self._values("get", keys)]

    def get_buffer(self, key: str) -> BufferHandle | None:
        """The value in memory of its own; None when there is none or it cannot be read (the log tells the two apart)."""
        return next(iter(self.batch_get_buffer([key])), None)

    def batch_get_buffer(self, keys: Sequence[str]) -> list[BufferHandle | None]:
        """get_buffer() for many keys, in order."""
        return [None if value is None else BufferHandle(value) for value in self._values("get_buffer", keys)]

    def get_into(self, key: str, buffer_ptr: int, size: int) -> int:
        """Reads into registered memory. Bytes read, or negative; -600 also when `size` is too small."""
        return self.batch_get_into([key], [buffer_ptr], [size])[0]

    def batch_get_into(self, keys: Sequence[str], buffer_ptrs: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """get_into() for many keys: bytes read or the code of each. Where SGLang's connector is loaded a value that is shorter
        than its memory is -600, as it compares no lengths."""
        if engine_compares_lengths():
            return self._read_memory("get_into", keys, buffer_ptrs, sizes)
        return self._for_each(
            "get_into",
            keys,
            lambda pool: refuse_short_values(
                pool.client.get_into_memory(keys, buffer_ptrs, sizes, reuse=pool.reuse), sizes
            ),
        )

    def batch_get_into_multi_buffers(
        self,
        keys: Sequence[str],
        all_buffer_ptrs: Sequence[Sequence[int]],
        all_sizes: Sequence[Sequence[int]],
        prefer_alloc_in_same_node: bool = False,
    ) -> list[int]:
        """get_into() for many keys, each into many pieces of registered memory, filled in order: bytes read or the code
        of each; -600 also when the value is shorter than the pieces together, as engines compare no lengths. A copy on this
        machine is always preferred, whatever `prefer_alloc_in_same_node` says."""

        return self._for_each(
            "get_into_multi_buffers",
            keys,
            lambda pool: refuse_short_values(
                pool.client.get_into_pieces(keys, all_buffer_ptrs, all_sizes, reuse=pool.reuse), map(sum, all_sizes)
            ),
        )

    # ---- questions

    def is_exist(self, key: str) -> int:
        """1, 0 or negative. What exists is leased: it is not evicted for the pool's object lease."""
        return self.batch_is_exist([key])[0]

    def batch_is_exist(self, keys: Sequence[str]) -> list[int]:
        """is_exist() for many keys."""
        codes = self._for_each("is_exist", keys, lambda pool: pool.client.size_batch(keys))
        return [1 if code >= 0 else 0 if code in _ABSENT else code for code in codes]

    def get_offload_rpc_read_count(self) -> int:
        """0: what lies on an SSD is read like everything else."""
        return 0

    def get_size(self, key: str) -> int:
        """Bytes of the value, or -704."""
        return self._for_each("get_size", [key], lambda pool: pool.client.size_batch([key]))[0]

    def get_replica_desc(self, key: str) -> list[ReplicaDescriptor]:
        """A descriptor of each copy that can be read now, those in memory first; none for what does not exist. Leases the
        value, as a read does."""
        return self.batch_get_replica_desc([key]).get(key, [])

    def batch_get_replica_desc(self, keys: Sequence[str]) -> dict[str, list[ReplicaDescriptor]]:
        """get_replica_desc() for many keys, of those that exist."""
        found: dict[str, list[ReplicaDescriptor]] = {}

        def ask(pool: Pool) -> list[int]:
            answers = pool.replicas_of(keys)
            for key, replicas in zip(keys, answers, strict=True):
                if not isinstance(replicas, Status):
                    found[key] = [ReplicaDescriptor(_replica=replica) for replica in replicas]
            return [answer if isinstance(answer, Status) else 0 for answer in answers]

        self._for_each("batch_get_replica_desc", keys, ask)
        return found

    # ---- remove

    def remove(self, key: str, force: bool = False) -> int:
        """0, -704 when there is none, -706 while a reader may use it (not with `force`)."""
        return self.batch_remove([key], force)[0]

    def batch_remove(self, keys: Sequence[str], force: bool = False) -> list[int]:
        """remove() for many keys."""
        return self._for_each("remove", keys, lambda pool: pool.client.remove_batch(keys, force=force))

    def batch_replica_clear(self, keys: Sequence[str], segment_name: str = "") -> list[str]:
        """Removes what no reader may use, and says which keys that were; others keep their values. With the name of a segment,
        what get_hostname() of a store says or a storage node's id or HOST:PORT, only the copies in its memory, and a value with
        its last copy."""
        codes = self._for_each(
            "batch_replica_clear", keys, lambda pool: pool.client.remove_batch(keys, node=pool.node_for(segment_name))
        )
        return [key for key, code in zip(keys, codes, strict=False) if code == 0]

    def create_copy_task(self, key: str, targets: Sequence[str]) -> tuple[tuple[int, int], int]:
        """Has an object copied to storage nodes, named by their ids or by HOST:PORT where they serve, but not to memory that
        stores bring. The id of a task, and 0; or (0, 0) and a code: -704, -600 when the nodes cannot be those, -1401 for too
        many tasks. As many copies as there are then are wanted from then on."""
        return self._begin_task("create_copy_task", key, targets, None)

    def create_move_task(self, key: str, source: str, target: str) -> tuple[tuple[int, int], int]:
        """Has an object moved to a storage node from another, or from memory that a store brings, by what its get_hostname()
        says; the source lets go of it when no reader has a lease any more. As create_copy_task()."""
        return self._begin_task("create_move_task", key, [target], source)

    def _begin_task(
        self, method: str, key: str, targets: Sequence[str], source: str | None
    ) -> tuple[tuple[int, int], int]:
        code = self._calls.once(self._pool, method, lambda pool: pool.copy(key, targets, source))
        if code == ErrorCode.NO_AVAILABLE_HANDLE:  # nothing else is full where a task begins
            code = int(ErrorCode.TASK_PENDING_LIMIT_EXCEEDED)
        return ((0, 0), code) if code < 0 else ((code, 0), 0)

    def query_task(self, task_id: tuple[int, int]) -> tuple[QueryTaskResponse | None, int]:
        """How far a task is, and 0; or None and a code: -1400 for one that the leader does not know, as another leader had
        it or 10,000 have ended since."""
        number, rest = task_id
        if rest != 0 or not 0 <= number < 1 << 64:
            return None, int(ErrorCode.TASK_NOT_FOUND)
        found: list[Task | None] = []
        code = self._calls.once(self._pool, "query_task", lambda pool: found.append(pool.client.task(number)))
        if code < 0:
            return None, code
        task = found[0]
        return (None, int(ErrorCode.TASK_NOT_FOUND)) if task is None else (response_of(task_id, task), 0)

    def remove_by_regex(self, regex_pattern: str, force: bool = False) -> int:
        """Removes what is not leased, or with `force` also that, of the keys in which a regular expression matches. How
        many, or negative: -600 when it is no pattern of `kvpool.Client.remove_matching()`."""
        return self._calls.once(
            self._pool, "remove_by_regex", lambda pool: pool.client.remove_matching(regex_pattern, force=force)
        )

    def remove_all(self, force: bool = False) -> int:
        """Removes all objects that are not leased, or with `force` all. How many, or negative."""
        return self._calls.once(self._pool, "remove_all", lambda pool: pool.client.remove_all(force=force))
