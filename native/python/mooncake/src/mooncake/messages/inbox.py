# SPDX-License-Identifier: Apache-2.0
"""Takes messages of any number of senders."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from mooncake.messages.frames import REFUSED, TAKEN, BadMessage, Kind, receive_body, receive_head

CONNECTIONS_MAX = 1024
_IDLE_SECONDS = 300.0
_PAUSE_SECONDS = 0.5

Take = Callable[[Kind, bytearray, str], bool]
"""Takes a message of a sender, "HOST:PORT"; whether it was taken."""


class Inbox:
    """Listens from when it is made until close(). So many messages `at_a_time` are in memory and in `take`. Raises OSError."""

    def __init__(
        self, address: tuple[str, int], at_a_time: int, seconds: float, take: Take, report: Callable[[str], object]
    ) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._listener = socket.create_server(address, family=family)
        self._listener.settimeout(None)
        self._seconds, self._take, self._report = seconds, take, report
        self._taking = threading.Semaphore(at_a_time)
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._accept, name="mooncake-rpc", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No message is taken any more that has not begun to be."""
        self._closed.set()
        with self._lock:
            for connection in (self._listener, *self._connections):  # that of the listener ends accept()
                with contextlib.suppress(OSError):  # the other side may have ended it
                    connection.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def wait(self) -> None:
        """Until close()."""
        self._closed.wait()

    def _accept(self) -> None:
        with self._listener:
            while not self._closed.is_set():
                try:
                    connection, peer = self._listener.accept()
                except OSError as failure:  # of one sender, too many open files, or of close()
                    if self._closed.is_set():
                        return
                    self._report(f"a connection could not be accepted: {failure}")
                    self._closed.wait(_PAUSE_SECONDS)
                    continue
                with self._lock:
                    admitted = len(self._connections) < CONNECTIONS_MAX and not self._closed.is_set()
                    if admitted:
                        self._connections.add(connection)
                if not admitted:
                    self._report(f"{peer[0]} is refused: there are {CONNECTIONS_MAX} connections")
                    connection.close()
                    continue
                source = f"{peer[0]}:{peer[1]}" if ":" not in peer[0] else f"[{peer[0]}]:{peer[1]}"
                threading.Thread(target=self._serve, args=(connection, source), daemon=True).start()

    def _serve(self, connection: socket.socket, source: str) -> None:
        try:
            while head := receive_head(connection, _IDLE_SECONDS, self._seconds):
                kind, length = head
                with self._taking:
                    body = receive_body(connection, length, time.monotonic() + self._seconds)
                    if self._closed.is_set():
                        return
                    taken = self._take(kind, body, source)
                    del body
                connection.sendall(TAKEN if taken else REFUSED)
        except (BadMessage, OSError) as failure:
            if not self._closed.is_set() and not isinstance(failure, TimeoutError):
                self._report(f"the connection of {source} is closed: {failure}")
        finally:
            with self._lock:
                self._connections.discard(connection)
                connection.close()
