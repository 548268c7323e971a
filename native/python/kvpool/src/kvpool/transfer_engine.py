# SPDX-License-Identifier: Apache-2.0
"""Moving bytes between the memory of processes, without a pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType

from kvpool import _kvpool
from kvpool.arguments import engine_payloads_number, milliseconds, raising_kvpool_errors
from kvpool.enrolment import certificate_directory
from kvpool.lifetime import close_at_exit
from kvpool.registered_ranges import RegisteredRanges
from kvpool.status import Status, error_of, status_of

PORTS = (_kvpool.KV_ENGINE_PORT_MIN, _kvpool.KV_ENGINE_PORT_MAX)
NOTIFY_BYTES_MAX: int = _kvpool.KV_NOTIFY_BYTES_MAX

_ENROL_SECONDS = 20.0
_POLL_MS = 100  # how long a signal handler may have to wait for its turn


class TransferEngine:
    """Writes to and reads from memory that other transfer engines have registered, and serves them likewise.

    Peers are "HOST:PORT", where PORT is the other engine's `port`. Addresses are plain numbers, as numpy's
    `array.ctypes.data` or torch's `tensor.data_ptr()`; a peer's address is looked up by the peer among what is
    registered there at that moment. The caller keeps local memory alive until the call is over, and registered memory until it is
    unregistered. For any number of threads; waiting does not hold the GIL. It does not survive fork().

    Args:
        name: shown in logs of peers. Default: the host's name.
        protocols: those that may be used, in order of preference: "ascend", which needs Huawei's CANN and an NPU here and
            at the peer, and "tcp".
        metadata: "P2PHANDSHAKE": engines need no metadata server.
        listen_host: where to listen. Default: every address of both IP families.
        ports: first and last port of the range to listen in.
        timeout: seconds that a transfer may take, its one retry included.
        connect_timeout: seconds until a peer must have answered, and after which a peer whose host answers nothing is
            given up. A peer that refuses the connection is CONNECT_FAILED at once, or one second after its connection
            ended: it may be restarting.
        transfer_timeout: seconds without progress after which a connection ends.
        idle_timeout: seconds without use after which a connection ends.
        ascend_host: the IP address at which peers reach this machine, for "ascend". Default: HCCL_IF_IP, or listen_host
            if that is one. The NPU is that of this thread's current context, or the first one.
        tls_dir: as for Client, and likewise KVPOOL_IDENTITY_DIR without it: every connection is TLS 1.3 then, and peers are
            engines of the same pool's CA and the same tenant; others, and those without a certificate, are refused. A
            certificate with ro reads and does not write.
        payloads: "encrypted", the default, or "authenticated": with peers that say so too, certificates are checked and
            bytes are not encrypted. Needs TLS.
        trusted_fabric: "ascend" is used beside certificates too. CANN checks no peer and encrypts nothing: for networks
            of NPUs on which every host is trusted.
        same_machine: with a peer on this machine, bytes are copied from memory to memory instead of by "tcp", where the
            kernel lets both processes. False: by "tcp" in any case.

    Raises:
        KvpoolError: no port is free, or no protocol works here; the message says why for each. Or there is no certificate,
            in 20 s with KVPOOL_IDENTITY_DIR, or that of a process which is no client.
        ValueError: a time is none, or payloads is none of the words.
    """

    @raising_kvpool_errors
    def __init__(
        self,
        name: str | None = None,
        *,
        protocols: Iterable[str] = ("tcp",),
        metadata: str = "P2PHANDSHAKE",
        listen_host: str | None = None,
        ports: tuple[int, int] = PORTS,
        timeout: float = 30.0,
        connect_timeout: float = 3.0,
        transfer_timeout: float = 30.0,
        idle_timeout: float = 300.0,
        ascend_host: str | None = None,
        tls_dir: str | None = None,
        payloads: str | None = None,
        trusted_fabric: bool = False,
        same_machine: bool = True,
    ) -> None:
        self._timeout_ms = milliseconds(timeout, "timeout")
        self.registered = RegisteredRanges()  # what the library knows for itself, for copies that are made in Python
        self._raw = _kvpool.Engine(
            name,
            metadata,
            ",".join(protocols),
            listen_host,
            *ports,
            milliseconds(connect_timeout, "connect_timeout"),
            milliseconds(transfer_timeout, "transfer_timeout"),
            milliseconds(idle_timeout, "idle_timeout"),
            ascend_host,
            certificate_directory(tls_dir, _ENROL_SECONDS),
            engine_payloads_number(payloads),
            int(trusted_fabric),
            int(not same_machine),
        )
        close_at_exit(self)

    @property
    def port(self) -> int:
        """The port that peers connect to."""
        return self.stats()["listen_port"]

    # ---- memory

    def register(self, addresses: Sequence[int], lengths: Sequence[int], location: str = "*") -> None:
        """Lets peers use this memory: all of it, or none and a KvpoolError. Regions must not overlap, and this process
        must be able to read them: memory of an accelerator is refused, also by transfers, unless it is that of an NPU and
        "ascend" is used."""
        self._check(self._regions(self._raw.register, addresses, lengths, location))
        for address, length in zip(addresses, lengths, strict=True):
            self.registered.add(address, length)

    def unregister(self, addresses: Sequence[int]) -> None:
        """Takes regions back, named by their first address. When it returns no peer uses that memory any more, nor does a
        call of a Client that uses the memory of this engine: it waits for those that do.

        All, or none and a KvpoolError with NOT_REGISTERED.
        """
        self._check(self._regions(self._raw.unregister, addresses, [0] * len(addresses), None))
        for address in addresses:
            self.registered.remove(address)

    # ---- transfers

    def write(
        self,
        peers: str | Sequence[str],
        sources: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        *,
        notify: tuple[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """Writes `lengths[i]` bytes at `sources[i]` to `remotes[i]` of the peer, for each i; many in one round trip.

        Args:
            peers: one for all, or one for each.
            notify: name and up to NOTIFY_BYTES_MAX bytes that each peer's application is told once all of its lines
                are done.
            timeout: seconds; default that of the engine.

        Returns:
            What became of each line. What a failed one left behind is undefined.
        """
        return self._transfer(_kvpool.KV_TRANSFER_WRITE, peers, sources, remotes, lengths, notify, timeout)

    def read(
        self,
        peers: str | Sequence[str],
        destinations: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        *,
        notify: tuple[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> list[Status]:
        """Reads `lengths[i]` bytes at `remotes[i]` of the peer to `destinations[i]`. Otherwise like write()."""
        return self._transfer(_kvpool.KV_TRANSFER_READ, peers, destinations, remotes, lengths, notify, timeout)

    def submit_write(
        self,
        peers: str | Sequence[str],
        sources: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        *,
        notify: tuple[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Begins what write() does and returns the number of the batch, for poll(). The memory stays in use till then.

        Raises:
            KvpoolError: QUEUE_FULL when too many lines are in flight or were not polled to their end.
        """
        return self._submit(_kvpool.KV_TRANSFER_WRITE, peers, sources, remotes, lengths, notify, timeout)

    def submit_read(
        self,
        peers: str | Sequence[str],
        destinations: Sequence[int],
        remotes: Sequence[int],
        lengths: Sequence[int],
        *,
        notify: tuple[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> int:
        """Begins what read() does, like submit_write()."""
        return self._submit(_kvpool.KV_TRANSFER_READ, peers, destinations, remotes, lengths, notify, timeout)

    @raising_kvpool_errors
    def poll(self, batch: int) -> list[Status] | None:
        """None while the batch runs; else what became of each line, once: the batch is forgotten then."""
        statuses = self._raw.poll(batch, 0)
        return None if statuses is None else [status_of(status) for status in statuses]

    @raising_kvpool_errors
    def wait(self, batch: int) -> list[Status]:
        """Waits for the end of a submitted batch, which comes by its own timeout at the latest."""
        statuses = None
        while statuses is None:
            statuses = self._raw.poll(batch, _POLL_MS)
        return [status_of(status) for status in statuses]

    # ---- peers

    def probe(self, peer: str, *, timeout: float | None = None) -> Status:
        """OK when a transfer engine answers there now; one that is gone is not waited for."""
        return self._transfer(_kvpool.KV_TRANSFER_PROBE, peer, [0], [0], [0], None, timeout)[0]

    def connect(self, peer: str, *, timeout: float | None = None) -> Status:
        """OK as soon as there is a connection to the peer, which is made if there is none."""
        return self._transfer(_kvpool.KV_TRANSFER_CONNECT, peer, [0], [0], [0], None, timeout)[0]

    @raising_kvpool_errors
    def describe(self, peer: str, *, timeout: float | None = None) -> list[tuple[int, int]]:
        """Address and length of each region that is registered at the peer now, in order of registration."""
        regions = self._raw.describe(peer, self._milliseconds(timeout))
        if isinstance(regions, int):
            raise error_of(regions, self._raw.explain())
        return regions

    @raising_kvpool_errors
    def next_notify(self) -> tuple[str, bytes] | None:
        """The next notification of a peer in order of arrival; None when none waits. At most 4096 wait."""
        return self._raw.next_notify()

    # ---- the engine itself

    @raising_kvpool_errors
    def transports(self) -> str:
        """What became of each protocol of the list, and how bytes go to peers of this machine."""
        return self._raw.transports()

    @raising_kvpool_errors
    def explain(self) -> str:
        """The sentence behind the latest failure; "" when there was none."""
        return self._raw.explain()

    @raising_kvpool_errors
    def stats(self) -> dict[str, int]:
        """Counters of this moment: bytes, failures, retries, what peers did here, how long batches took."""
        return self._raw.stats()

    def close(self) -> None:
        """Ends what runs with CLOSED and disconnects. May be called again; running calls end first, also those of a Client
        that are at memory of this engine."""
        self._raw.close()
        self.registered.clear()

    def __enter__(self) -> TransferEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _milliseconds(self, timeout: float | None) -> int:
        return self._timeout_ms if timeout is None else milliseconds(timeout, "timeout")

    def _check(self, status: int) -> None:
        if status != Status.OK:
            raise error_of(status, self.explain())

    @raising_kvpool_errors
    def _regions(self, call, addresses, lengths, location) -> int:
        return call(addresses, lengths, location)

    @raising_kvpool_errors
    def _transfer(self, op, peers, locals_, remotes, lengths, notify, timeout) -> list[Status]:
        statuses = self._raw.transfer(op, peers, locals_, remotes, lengths, notify, self._milliseconds(timeout))
        return [status_of(status) for status in statuses]

    @raising_kvpool_errors
    def _submit(self, op, peers, locals_, remotes, lengths, notify, timeout) -> int:
        batch = self._raw.submit(op, peers, locals_, remotes, lengths, notify, self._milliseconds(timeout))
        if batch < 0:
            raise error_of(batch, self._raw.explain())
        return batch
