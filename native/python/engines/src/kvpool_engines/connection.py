# SPDX-License-Identifier: Apache-2.0
"""The client of a pool that may not be there yet."""

from __future__ import annotations

import threading
from collections.abc import Callable

import kvpool
from kvpool.lifetime import close_at_exit
from kvpool_engines.quiet_log import QuietLog

_RETRY_SECONDS = 1.0


class Connection:
    """Connects in a thread of its own, as often as it takes, so that an engine starts and runs without its pool."""

    def __init__(
        self, connect: Callable[[], kvpool.Client], log: QuietLog, retry_seconds: float = _RETRY_SECONDS
    ) -> None:
        self._connect, self._log, self._retry_seconds = connect, log, retry_seconds
        self._lock = threading.Lock()
        self._regions: list[tuple[int, int]] = []
        self._client: kvpool.Client | None = None
        self._connected, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="kvpool-connect", daemon=True)
        self._thread.start()
        close_at_exit(self)

    @property
    def client(self) -> kvpool.Client | None:
        """None while the pool has not been reached."""
        return self._client

    def wait(self, seconds: float) -> bool:
        """Whether the pool has been reached, after this time at the latest."""
        return self._connected.wait(seconds)

    def register(self, address: int, length: int) -> None:
        """kvpool.Client.register(), now or as soon as there is a client. Engines may name memory that lies in other memory."""
        with self._lock:
            if not length or any(begin <= address and address + length <= end for begin, end in self._regions):
                return
            self._regions.append((address, address + length))
            if self._client:
                self._register(self._client, address, length)

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        if self._client:
            self._client.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                client = self._connect()
            except Exception as failure:  # whatever it is, the engine runs without the pool
                self._log.warn("connect", f"no pool, so nothing is found and nothing is kept: {failure}")
                self._closing.wait(self._retry_seconds)
                continue
            with self._lock:
                for begin, end in self._regions:
                    self._register(client, begin, end - begin)
                self._client = client
            self._connected.set()
            return

    def _register(self, client: kvpool.Client, address: int, length: int) -> None:
        try:
            client.register(address, length)
        except kvpool.KvpoolError as failure:
            self._log.warn("register", f"{length} bytes of memory cannot be used, so nothing is moved there: {failure}")
