# SPDX-License-Identifier: Apache-2.0
"""The client of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from kvpool import _kvpool
from kvpool.arguments import master_list, milliseconds, payloads_number, protocol_bits, raising_kvpool_errors
from kvpool.enrolment import certificate_directory
from kvpool.keep import UNPINNED, Keep, get_options, hint_options, put_options, remove_options
from kvpool.lifetime import close_at_exit
from kvpool.replica import Medium, Replica
from kvpool.status import Status, error_of, status_of
from kvpool.task import Task, TaskState

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kvpool.transfer_engine import TransferEngine


class Client:
    """A connection to a pool, for any number of threads.

    Keys are str, or bytes of UTF-8, of 1 to 4096 bytes. Values are any contiguous buffer: bytes, bytearray,
    memoryview, array, numpy arrays; 0 bytes are a value too. Objects are immutable: the first put of a key wins, unless a
    put is an upsert, which puts a new object in place of the old one.

    Methods for one key raise KvpoolError. Methods named `*_batch` answer for each key and raise only when the call as
    a whole is wrong. All release the GIL while they wait, and end by `timeout` at the latest, which covers retries
    after a change of leader. A KeyboardInterrupt is raised once the library let go of the caller's memory, so by
    `timeout` at the latest.

    A client does not survive fork(): in the child every call raises KvpoolError with Status.CLOSED.

    Args:
        masters: "HOST:PORT[,HOST:PORT...]" or a list of such addresses, in any order; the leader is found.
        name: shown in the logs of masters and nodes. Default: the host's name.
        protocols: of "shm", "ucx" or "ascend", and "tcp". Shared memory is used where a storage node is on this machine,
            then ucx or ascend where both sides have it; what is not used where it was wanted says explain(). ucx needs
            tcp beside it. Without tcp beside ascend, nodes without Huawei's CANN are not used, and a client without it
            is not made. Memory of NPUs may be named wherever memory is, without ascend once it is registered: it goes through
            the host's.
        timeout: seconds a call may take, unless the call names its own.
        connect_timeout: seconds to connect to one peer.
        transfer_timeout: seconds after which a transfer that makes no progress fails.
        ready_timeout: seconds to wait, here, for a serving leader.
        idle_timeout: seconds after which a connection to a storage node that nobody used is closed; the next use opens it.
        busy_wait: a waiting thread looks for its answer for up to 0.1 ms before it sleeps, where answers come sooner
            on average; False lets it sleep at once, which takes longer and may save processor time.
        tls_dir: a directory with tls.crt, tls.key and ca.crt, PEM, such as `kvpool cert issue` makes: all connections by TCP are
            TLS 1.3 then, and the certificate's name says what this process may do. Looked at every 10 s. Default: with
            environment variable KVPOOL_IDENTITY_DIR, a directory with token (of the pod's ServiceAccount), ca.crt and admins
            (HOST:PORT of the masters' admin HTTPS, by commas), a certificate that a master gives for the token, once for
            all clients of the process, and that is renewed; else none, and no TLS. Memory that ucx or ascend reach is not
            encrypted; storage nodes that require TLS do not use it unless their network is said to be trusted.
        payloads: "encrypted": connections to storage nodes stay encrypted, also to nodes that are set to check certificates
            alone (`--payloads authenticated`), and TLS is needed. Default: as each storage node is set.

    Raises:
        KvpoolError: no leader serves (PeerError, LeadershipError), this client and the pool do not fit, or no master gives a
            certificate for the token.
        ValueError: an argument is wrong.
    """

    @raising_kvpool_errors
    def __init__(
        self,
        masters: str | Iterable[str],
        *,
        name: str | None = None,
        protocols: Iterable[str] = ("shm", "tcp"),
        timeout: float = 30.0,
        connect_timeout: float = 3.0,
        transfer_timeout: float = 30.0,
        ready_timeout: float = 20.0,
        idle_timeout: float = 300.0,
        busy_wait: bool = True,
        tls_dir: str | None = None,
        payloads: str | None = None,
    ) -> None:
        self._timeout_ms = milliseconds(timeout, "timeout")
        self._raw = _kvpool.Client(
            master_list(masters),
            name,
            protocol_bits(protocols),
            milliseconds(connect_timeout, "connect_timeout"),
            milliseconds(transfer_timeout, "transfer_timeout"),
            milliseconds(ready_timeout, "ready_timeout"),
            busy_wait,
            milliseconds(idle_timeout, "idle_timeout"),
            certificate_directory(tls_dir, ready_timeout),
            payloads_number(payloads),
        )
        close_at_exit(self)

    @classmethod
    @raising_kvpool_errors
    def through_agent(
        cls,
        socket_path: str,
        *,
        name: str | None = None,
        staging_bytes: int = 64 << 20,
        timeout: float = 30.0,
        ready_timeout: float = 20.0,
    ) -> Client:
        """A client that has its work done by the `kvpool agent` of this machine, and no connections of its own.

        Calls wait for the next agent when theirs ends, and raise PeerError when none comes in time.

        Args:
            socket_path: the agent's socket, agent.sock in its --socket-dir, as this process sees it.
            name: shown in the log of the agent. Default: the host's name.
            staging_bytes: memory shared with the agent, through which all values go; no value may be larger.
            timeout: seconds a call may take, unless the call names its own.
            ready_timeout: seconds to wait, here, for an agent whom a leader serves.
        """
        if staging_bytes < 0:
            raise ValueError(f"staging_bytes is {staging_bytes}, but must be 0 (the default) or more")
        self = cls.__new__(cls)
        self._timeout_ms = milliseconds(timeout, "timeout")
        self._raw = _kvpool.Client(socket_path, name, staging_bytes, milliseconds(ready_timeout, "ready_timeout"))
        close_at_exit(self)
        return self

    def close(self) -> None:
        """Waits for calls that run in other threads, then disconnects. May be called again."""
        self._raw.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- one key

    def put(
        self,
        key: str | bytes,
        value: Buffer,
        *,
        replicas: int = 0,
        preferred_node: str | Sequence[str] | None = None,
        upsert: bool = False,
        keep: Keep = UNPINNED,
        group: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Stores a value. Returns when it is readable by everyone.

        Args:
            replicas: copies on different nodes; 0 is the pool's default. Fewer nodes than that is no failure.
            preferred_node: the storage node to try first, or up to 16 that are tried in this order, before any other that has
                room: each by its id, or by HOST:PORT where it serves. A name that no node has is a warning in the log, once.
            upsert: an existing object gives way to the new one when that is whole; otherwise it stays as it is.
            keep: what keeps the object from being evicted.
            group: name of what is leased and evicted together.
        """
        (status,) = self.put_batch(
            [key],
            [value],
            replicas=replicas,
            preferred_node=preferred_node,
            upsert=upsert,
            keep=keep,
            groups=None if group is None else [group],
            timeout=timeout,
        )
        if status:
            raise self._error(status)

    def get(self, key: str | bytes, *, timeout: float | None = None) -> bytes | None:
        """The value, or None when there is none under this key."""
        (value,) = self.get_batch([key], timeout=timeout)
        if isinstance(value, bytes):
            return value
        if value == Status.NOT_FOUND:
            return None
        raise self._error(value)

    def get_into(self, key: str | bytes, buffer: Buffer, *, timeout: float | None = None) -> int | None:
        """Reads the value into a writable buffer. Returns its length, or None when there is none under this key.

        A buffer that is too small raises ObjectError with Status.BUFFER_TOO_SMALL.
        """
        (length,) = self.get_into_batch([key], [buffer], timeout=timeout)
        return self._length(length)

    def size(self, key: str | bytes, *, timeout: float | None = None) -> int | None:
        """Bytes of the value, or None when there is none under this key. Leases what exists."""
        (length,) = self.size_batch([key], timeout=timeout)
        return self._length(length)

    def exists(self, key: str | bytes, *, timeout: float | None = None) -> bool:
        """Whether there is a value. One that exists is leased: it is not evicted for the pool's object lease."""
        return self.size(key, timeout=timeout) is not None

    def remove(self, key: str | bytes, *, force: bool = False, timeout: float | None = None) -> bool:
        """Removes an object; False when there is none under this key.

        What a reader may still use raises ObjectError with Status.HAS_LEASE, unless `force`.
        """
        (status,) = self.remove_batch([key], force=force, timeout=timeout)
        if status and status != Status.NOT_FOUND:
            raise self._error(status)
        return not status

    # ---- many keys

    @raising_kvpool_errors
    def put_batch(
        self,
        keys: Sequence[str | bytes],
        values: Sequence[Buffer],
        *,
        replicas: int = 0,
        preferred_node: str | Sequence[str] | None = None,
        upsert: bool = False,
        keep: Keep = UNPINNED,
        groups: Sequence[str | None] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """put() for many keys, with the group of each. Returns the status of each, in order."""
        options = put_options(replicas, preferred_node, upsert, keep, groups)
        statuses = self._raw.put(keys, values, options, self._ms(timeout))
        return _statuses(statuses)

    @raising_kvpool_errors
    def get_batch(self, keys: Sequence[str | bytes], *, timeout: float | None = None) -> list[bytes | Status]:
        """The bytes of each key, or the status that says why there are none."""
        values = self._raw.get(keys, self._ms(timeout))
        return [value if isinstance(value, bytes) else status_of(value) for value in values]

    @raising_kvpool_errors
    def get_into_batch(
        self, keys: Sequence[str | bytes], buffers: Sequence[Buffer], *, timeout: float | None = None
    ) -> list[int]:
        """get_into() for many keys. Lengths; a negative number is the Status of a key that was not read."""
        return _lengths(self._raw.get_into_buffers(keys, buffers, None, self._ms(timeout)))

    @raising_kvpool_errors
    def size_batch(self, keys: Sequence[str | bytes], *, timeout: float | None = None) -> list[int]:
        """size() for many keys. Lengths; a negative number is the Status of a key without one."""
        return _lengths(self._raw.exists(keys, None, None, self._ms(timeout)))

    @raising_kvpool_errors
    def locate_batch(
        self, keys: Sequence[str | bytes], *, timeout: float | None = None
    ) -> list[list[Replica] | Status]:
        """Where the copies of objects are that a reader may use now, those in memory first; the Status of a key without one.
        Leases what exists, as get() does. Not through an agent."""
        return [
            status_of(answer)
            if isinstance(answer, int)
            else [Replica(node, address, Medium(medium), *rest) for node, address, medium, *rest in answer]
            for answer in self._raw.locate(keys, self._ms(timeout))
        ]

    @raising_kvpool_errors
    def remove_batch(
        self,
        keys: Sequence[str | bytes],
        *,
        force: bool = False,
        node: str | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """remove() for many keys. Returns the status of each, in order.

        With a `node`, by its id or by HOST:PORT where it serves, only the copy in its memory goes, and the object when it has no
        other: Status.NOT_FOUND without such a copy, Status.BUSY while copies of it are being made, Status.UNAVAILABLE when no
        other copy can be read now. The leader does not replace it; the next one may, where the pool wants more copies.
        """
        return _statuses(self._raw.remove(keys, None, remove_options(force, node=node), self._ms(timeout)))

    @raising_kvpool_errors
    def remove_all(self, *, force: bool = False, timeout: float | None = None) -> int:
        """Removes every object that is not leased, or with `force` every object. Returns how many."""
        return self.remove_matching("", force=force, timeout=timeout)

    @raising_kvpool_errors
    def remove_matching(self, pattern: str, *, force: bool = False, timeout: float | None = None) -> int:
        """remove_all() of the objects in whose keys a regular expression matches somewhere. Returns how many.

        Its syntax is RE2's (no look-around, no back references), so that no pattern can hold up a master; at most 1024
        bytes, and 256 parts, repeated ones counted as often as they repeat. An empty one means every key.

        Raises:
            CallError: it is no such pattern.
            PeerError: looking at every key took too long; what was removed stays so, and the call may be made again.
        """
        removed = self._raw.remove_all(pattern, force, self._ms(timeout))
        if removed < 0:
            raise self._error(removed)
        return removed

    # ---- copies that are asked for by name

    @raising_kvpool_errors
    def copy(
        self, key: str | bytes, nodes: Sequence[str], *, source: str | None = None, timeout: float | None = None
    ) -> int:
        """Has an object copied to the memory of storage nodes, at most 16, by their ids or by HOST:PORT where they serve; from
        then on that many copies are wanted. With a
        `source`, which must have it, to one node, and the source gives its own copy up when no reader has a lease any more.
        Returns the number of a task, which goes on for 300 s at most; the same that is under way is not begun again.

        Raises:
            ObjectError: there is no such object.
            CallError: the nodes cannot be those.
        """
        task = self._raw.copy(key, source, nodes, self._ms(timeout))
        if task < 0:
            raise self._error(task)
        return task

    @raising_kvpool_errors
    def task(self, number: int, *, timeout: float | None = None) -> Task | None:
        """How far it is; None for one that the leader does not know: it has ended long ago, or another leader had it."""
        told = self._raw.task(number, self._ms(timeout))
        if told == Status.NOT_FOUND:
            return None
        if isinstance(told, int):
            raise self._error(told)
        state, why, moves, age_ms, rest_ms = told
        return Task(TaskState(state), Status(why), moves != 0, age_ms / 1000, rest_ms / 1000)

    # ---- hints: what becomes of objects that are there. They promise nothing: the next leader has heard none

    @raising_kvpool_errors
    def retain(self, keys: Sequence[str | bytes], for_seconds: float, *, timeout: float | None = None) -> list[Status]:
        """Keeps objects for a time, at most an hour, as long as anything else can be evicted: they stay where they are, in
        memory or on the SSD. A second call prolongs it; remove() still removes them. Returns the status of each, in order:
        Status.NO_SPACE when half of the pool's memory is retained."""
        return _done(self._raw.retain(keys, None, hint_options(False, for_seconds), self._ms(timeout)))

    @raising_kvpool_errors
    def release(self, keys: Sequence[str | bytes], *, timeout: float | None = None) -> list[Status]:
        """Ends retain() before its time. Returns the status of each, in order."""
        return _done(self._raw.release(keys, None, hint_options(False), self._ms(timeout)))

    @raising_kvpool_errors
    def prefetch(self, keys: Sequence[str | bytes], *, timeout: float | None = None) -> list[int]:
        """Brings objects from the SSDs to memory, ahead of their reads. For each key 0 when it is in memory, 1 when it is on
        its way there; a negative number is the Status of a key that does not come: Status.NO_SPACE when memory has no
        room for it now, Status.QUEUE_FULL when too many are waited for. May be asked again to see how far it is."""
        return _lengths(self._raw.prefetch(keys, None, hint_options(False), self._ms(timeout)))

    @raising_kvpool_errors
    def retain_group(self, group: str, for_seconds: float, *, timeout: float | None = None) -> int:
        """retain() of the objects that were put with this group and are there now, at most 16384: all of them or none.
        Returns how many."""
        (count,) = self._raw.retain([group], None, hint_options(True, for_seconds), self._ms(timeout))
        return self._length(count) or 0

    @raising_kvpool_errors
    def release_group(self, group: str, *, timeout: float | None = None) -> int:
        """release() of the objects of a group. Returns how many there are."""
        (count,) = self._raw.release([group], None, hint_options(True), self._ms(timeout))
        return self._length(count) or 0

    @raising_kvpool_errors
    def prefetch_group(self, group: str, *, timeout: float | None = None) -> int:
        """prefetch() of the objects of a group. Returns how many are on their way; 0 when all are in memory.

        When some cannot come, NoSpaceError and the like say why of the first; the others do.
        """
        (count,) = self._raw.prefetch([group], None, hint_options(True), self._ms(timeout))
        return self._length(count) or 0

    @raising_kvpool_errors
    def remove_group(self, group: str, *, force: bool = False, timeout: float | None = None) -> bool:
        """remove() of the objects of a group, at most 16384; False when there are none.

        What a reader may still use stays, and raises ObjectError with Status.HAS_LEASE, unless `force`.
        """
        (status,) = self._raw.remove([group], None, remove_options(force, of_groups=True), self._ms(timeout))
        return self._length(status) is not None

    # ---- memory by address

    @raising_kvpool_errors
    def register(self, address: int, length: int) -> None:
        """Declares memory that put_from() and get_into_memory() may use. Not copied and not pinned.

        The memory must stay valid until unregister() or close(). It may be an NPU's, of the NPU that this thread uses, or of any
        one where this thread uses none: then it goes through the host's, by Huawei's ACL, which is loaded for that, whatever the
        protocols, and also through an agent. A client copies by one NPU, the first whose memory it was given. Overlaps raise
        CallError, and so do memory of other NPUs and other memory that this process cannot read.
        """
        self._raise_unless_ok(self._raw.register(address, length))

    @raising_kvpool_errors
    def unregister(self, address: int) -> None:
        """Takes back register(), by the same address, once no call uses the memory any more: after its timeout at the most."""
        self._raise_unless_ok(self._raw.unregister(address))

    @raising_kvpool_errors
    def use_engine_memory(self, engine: TransferEngine) -> None:
        """From now on memory that is registered with the engine, now or later, counts as registered here, until it is
        unregistered there or the engine is closed: both wait for calls of this client that are at that memory. The engine
        is not kept: whoever drops it closes it.

        Raises:
            CallError: with Status.CLOSED when either of them is closed.
        """
        self._raise_unless_ok(self._raw.use_engine_memory(engine._raw))

    @raising_kvpool_errors
    def copy_memory(self, copies: Sequence[tuple[int, int, int]]) -> None:
        """Copies within this process, for applications that put values together or take them apart themselves: to an address,
        from an address, so many bytes. One side of each is registered memory, which may be an NPU's.

        Raises:
            CallError: neither side of a copy is registered; nothing was copied.
            KvpoolError: an NPU did not make the copies, or not within ASCEND_TRANSFER_TIMEOUT; any of them may have been made.
        """
        self._raise_unless_ok(self._raw.copy_memory(copies))

    @raising_kvpool_errors
    def put_from(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[int],
        lengths: Sequence[int],
        *,
        replicas: int = 0,
        preferred_node: str | Sequence[str] | None = None,
        upsert: bool = False,
        keep: Keep = UNPINNED,
        groups: Sequence[str | None] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """put_batch() from registered memory; Status.NOT_REGISTERED for what lies outside of it."""
        options = put_options(replicas, preferred_node, upsert, keep, groups)
        statuses = self._raw.put_from(keys, (addresses, lengths), options, self._ms(timeout))
        return _statuses(statuses)

    @raising_kvpool_errors
    def get_into_memory(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[int],
        lengths: Sequence[int],
        *,
        reuse: bool = False,
        timeout: float | None = None,
    ) -> list[int]:
        """get_into_batch() for registered memory; Status.NOT_REGISTERED for what lies outside of it.

        Args:
            reuse: while the lease on an object holds that an earlier call with `reuse` was told about, it is read without
                asking the leader. For keys whose value never changes: an upsert or forced remove by another client may
                be seen late, by the length of a lease at the most.
        """
        return _lengths(self._raw.get_into(keys, (addresses, lengths), get_options(reuse), self._ms(timeout)))

    @raising_kvpool_errors
    def put_from_pieces(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[Sequence[int]],
        lengths: Sequence[Sequence[int]],
        *,
        replicas: int = 0,
        preferred_node: str | Sequence[str] | None = None,
        upsert: bool = False,
        keep: Keep = UNPINNED,
        groups: Sequence[str | None] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """put_from() of values that lie in pieces: each key has lists of their addresses and lengths. The pieces of a
        key are one value and travel as one; Status.INVALID_ARGUMENT for a key with more than 65536."""
        options = put_options(replicas, preferred_node, upsert, keep, groups)
        statuses = self._raw.put_from_pieces(keys, (addresses, lengths), options, self._ms(timeout))
        return _statuses(statuses)

    @raising_kvpool_errors
    def get_into_pieces(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[Sequence[int]],
        lengths: Sequence[Sequence[int]],
        *,
        reuse: bool = False,
        timeout: float | None = None,
    ) -> list[int]:
        """get_into_memory() of values into pieces, filled in order; a value may be shorter than they are together."""
        return _lengths(self._raw.get_into_pieces(keys, (addresses, lengths), get_options(reuse), self._ms(timeout)))

    @raising_kvpool_errors
    def get_into_parts(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[Sequence[int]],
        lengths: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]],
        *,
        objects: Buffer | None = None,
        reuse: bool = False,
        timeout: float | None = None,
    ) -> list[int]:
        """Parts of values into registered memory, and only these are read: for each key pieces of memory and, for each
        piece, where in the value its bytes begin. At most PARTS_MAX pieces a key, in any order. For each key the length of
        the whole value; Status.INVALID_ARGUMENT when it has not all of these bytes.

        `objects`, an array("Q") of two numbers a key, names values: 0, 0 is replaced by the name of the value that was
        read, and a name is held to, with Status.LEASE_EXPIRED when the key has another value or none. So parts that are
        read at different times are of one value; with `reuse` its lease is prolonged meanwhile, and a key without pieces
        is named and leased and not read."""
        memory = (addresses, lengths, offsets, objects)
        return _lengths(self._raw.get_into_parts(keys, memory, get_options(reuse), self._ms(timeout)))

    # ---- a put in many calls: put_start(), put_parts() in any order, put_end() or put_revoke(). Not through an agent

    @raising_kvpool_errors
    def put_start(
        self,
        keys: Sequence[str | bytes],
        lengths: Sequence[int],
        objects: Buffer,
        *,
        replicas: int = 0,
        preferred_node: str | Sequence[str] | None = None,
        upsert: bool = False,
        keep: Keep = UNPINNED,
        groups: Sequence[str | None] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """Makes room on the storage nodes for values of these lengths; their names are written to `objects`, an array("Q") of
        two numbers a key. Status.EXISTS for a key that has a value, Status.BUSY for one that is being put.

        No reader sees a value before its put_end(). It lasts 30 s at most, and ends before that when all connections to
        its nodes end, when this client is closed or dies, or when another leader follows: then its room goes back, what is
        asked of it is Status.LEASE_EXPIRED, and it can only be started again."""
        options = put_options(replicas, preferred_node, upsert, keep, groups)
        return _statuses(self._raw.put_start(keys, (lengths, objects), options, self._ms(timeout)))

    @raising_kvpool_errors
    def put_parts(
        self,
        keys: Sequence[str | bytes],
        addresses: Sequence[Sequence[int]],
        lengths: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]],
        objects: Buffer,
        *,
        timeout: float | None = None,
    ) -> list[int]:
        """Writes pieces of registered memory to their places in values that were started, at most PARTS_MAX pieces a key. For
        each key the number of bytes, or a Status: Status.INVALID_ARGUMENT when a piece is not inside of the value, and
        Status.NOT_REGISTERED, write nothing; after Status.TIMEOUT it may be tried again; any other ends the put."""
        memory = (addresses, lengths, offsets, objects)
        return _lengths(self._raw.put_parts(keys, memory, None, self._ms(timeout)))

    @raising_kvpool_errors
    def put_end(self, keys: Sequence[str | bytes], objects: Buffer, *, timeout: float | None = None) -> list[Status]:
        """Makes values that were started readable. Whatever the Status, the put is over: Status.INVALID_ARGUMENT when bytes
        were never written."""
        return _statuses(self._raw.put_end(keys, objects, None, self._ms(timeout)))

    @raising_kvpool_errors
    def put_revoke(self, keys: Sequence[str | bytes], objects: Buffer, *, timeout: float | None = None) -> list[Status]:
        """Ends what put_start() began without a value."""
        return _statuses(self._raw.put_revoke(keys, objects, None, self._ms(timeout)))

    # ---- state

    @raising_kvpool_errors
    def explain(self) -> str:
        """The sentence behind the latest failure: which peer, and what it said. Empty when nothing failed."""
        return self._raw.explain()

    @raising_kvpool_errors
    def stats(self) -> dict[str, int]:
        """Counters since the client was made: puts, gets, hits, misses, put_bytes, get_bytes, shm_bytes, retries,
        checksum_failures, leader_changes, ucx_bytes, ucx_lanes, ucx_refusals, shm_refusals (tries to share memory with a
        storage node on this machine that failed: the log says why); put_batch_us and get_batch_us, how long batches took
        together, and put_batches_in_100us, _in_1ms, _in_10ms, _in_100ms, _in_1s and _longer, and the same of get, how
        many took how long; and leader_known and epoch of this moment."""
        return self._raw.stats()

    @raising_kvpool_errors
    def durations(self) -> dict[str, tuple[int, ...]]:
        """Since the client was made, microseconds all together, and then how many took at most 100 us, 1 ms, 10 ms, 100 ms,
        1 s, and longer, each counted once: single_put and single_get, batches of one key; and requests to the leader that were
        answered, measured in milliseconds: grant, publish, lookup, exists, remove, remove_all, copy, task, hint."""
        return self._raw.durations()

    def _ms(self, timeout: float | None) -> int:
        return self._timeout_ms if timeout is None else milliseconds(timeout, "timeout")

    def _length(self, length: int) -> int | None:
        if length == Status.NOT_FOUND:
            return None
        if length < 0:
            raise self._error(length)
        return length

    def _raise_unless_ok(self, status: int) -> None:
        if status:
            raise self._error(status)

    def _error(self, status: int) -> Exception:
        return error_of(status, self.explain())


def _statuses(numbers: list[int]) -> list[Status]:
    if not any(numbers):  # nearly always, and much faster
        return [Status.OK] * len(numbers)
    return [status_of(number) for number in numbers]


def _done(counts: list[int]) -> list[Status]:
    return _statuses([min(count, 0) for count in counts])


def _lengths(numbers: list[int]) -> list[int]:
    return [number if number >= 0 else status_of(number) for number in numbers]
