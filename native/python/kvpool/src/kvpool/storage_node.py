# SPDX-License-Identifier: Apache-2.0
"""A storage node inside this process."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType

from kvpool import _kvpool
from kvpool.arguments import master_list, milliseconds, protocol_bits, raising_kvpool_errors
from kvpool.enrolment import certificate_directory
from kvpool.lifetime import close_at_exit

MIN_SEGMENT_BYTES = 16 << 20

_POLL_SECONDS = 0.02
_ENROL_SECONDS = 20.0


class StorageNode:
    """Memory of this process in a pool, for as long as the process lives: a transient node.

    Its objects are gone with it, it has no vote in the pool, and it is shown apart. It serves other clients from
    threads of libkvpool, which need neither the GIL nor a JVM. It does not survive fork().

    Args:
        masters: as for Client. All of them are dialled, for ever.
        segment_size: bytes of memory, 16 MiB at least, reserved at once.
        advertise_host: the name or address by which clients reach this machine.
        listen_host: where to listen. Default: every address of both IP families.
        port: 0 takes any free port; see `port`.
        node_id: default random.
        pool_id: UUID of the only pool to join. Default: whichever the masters serve.
        protocols: of "tcp", "ucx" and "ascend"; without CANN a node with "ascend" alone is not made.
        idle_timeout: seconds after which clients close what they do not use; at twice the time this side does.
        memory_path: an existing file on tmpfs or hugetlbfs of which segment_size bytes are the memory, in place of memory of
            this process's own. What is there is overwritten. Until close() others must not write there; the node leaves
            the pool when the file is made shorter.
        memory_offset: where in that file they begin; a multiple of its pages.
        tls_dir: as for Client.
        trusted_fabric: "ucx" and "ascend" are served beside certificates too, though they authenticate no peer and encrypt
            nothing: for networks whose hosts are all trusted.

    Raises:
        KvpoolError: the memory or the port could not be had, or no master gives a certificate within 20 s.
        ValueError: an argument is wrong.
    """

    @raising_kvpool_errors
    def __init__(
        self,
        masters: str | Iterable[str],
        segment_size: int,
        *,
        advertise_host: str,
        listen_host: str | None = None,
        port: int = 0,
        node_id: str | None = None,
        pool_id: str | None = None,
        protocols: Iterable[str] = ("tcp",),
        connect_timeout: float = 3.0,
        transfer_timeout: float = 30.0,
        idle_timeout: float = 300.0,
        memory_path: str | None = None,
        memory_offset: int = 0,
        tls_dir: str | None = None,
        trusted_fabric: bool = False,
    ) -> None:
        if not MIN_SEGMENT_BYTES <= segment_size < 2**63:
            raise ValueError(f"segment_size is {segment_size}, but must be {MIN_SEGMENT_BYTES} bytes at least")
        if not 0 <= port <= 65535:
            raise ValueError(f"port is {port}, but must be 0 to 65535")
        if not 0 <= memory_offset < 2**63:
            raise ValueError(f"memory_offset is {memory_offset}, but must be 0 or more")
        self._raw = _kvpool.Node(
            master_list(masters),
            advertise_host,
            listen_host,
            node_id,
            pool_id,
            segment_size,
            port,
            protocol_bits(protocols),
            milliseconds(connect_timeout, "connect_timeout"),
            milliseconds(transfer_timeout, "transfer_timeout"),
            milliseconds(idle_timeout, "idle_timeout"),
            memory_path,
            memory_offset,
            certificate_directory(tls_dir, _ENROL_SECONDS),
            trusted_fabric,
        )
        close_at_exit(self)

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        return self.stats()["listen_port"]

    def wait_ready(self, timeout: float = 10.0) -> bool:
        """Waits until the leader has taken the node into the pool. False when `timeout` seconds were not enough."""
        end = time.monotonic() + timeout
        while not self.stats()["fenced"]:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    @raising_kvpool_errors
    def stats(self) -> dict[str, int]:
        """Capacity, use, connections and counters of this moment."""
        return self._raw.stats()

    def close(self) -> None:
        """Leaves the pool; the objects held here alone are gone. May be called again."""
        self._raw.close()

    def __enter__(self) -> StorageNode:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
