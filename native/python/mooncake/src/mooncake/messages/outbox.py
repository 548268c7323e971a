# SPDX-License-Identifier: Apache-2.0
"""Sends messages, over connections that are kept."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

from mooncake.messages.frames import TAKEN, Kind, receive_answer, send

if TYPE_CHECKING:
    from typing_extensions import Buffer


_IDLE_SECONDS = 60.0  # less than the other side's


class Outbox:
    """For any number of threads. At most `pool_size` connections to one peer are kept, for a minute without a message."""

    def __init__(self, seconds: float, pool_size: int) -> None:
        self._seconds, self._pool_size = seconds, pool_size
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, int], list[tuple[float, socket.socket]]] = {}

    def send(self, peer: tuple[str, int], kind: Kind, body: Buffer) -> bool:
        """Whether the peer took it. A message is sent once. Raises OSError where that is not known or did not happen."""
        deadline = time.monotonic() + self._seconds
        connection = self._take(peer) or socket.create_connection(peer, self._seconds)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            send(connection, kind, body, deadline)
            answer = receive_answer(connection, deadline)
        except BaseException:
            connection.close()
            raise
        self._put_back(peer, connection)
        return answer == TAKEN

    def __del__(self) -> None:
        """The reference's class has nothing to close a client with."""
        self.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for _, connection in connections:
                connection.close()

    def _take(self, peer: tuple[str, int]) -> socket.socket | None:
        """One that the peer has not ended."""
        while True:
            with self._lock:
                connections = self._idle.get(peer)
                if not connections:
                    return None
                since, connection = connections.pop()
            if time.monotonic() - since < _IDLE_SECONDS and _is_silent(connection):
                return connection
            connection.close()

    def _put_back(self, peer: tuple[str, int], connection: socket.socket) -> None:
        with self._lock:
            connections = self._idle.setdefault(peer, [])
            if len(connections) < self._pool_size:
                connections.append((time.monotonic(), connection))
                return
        connection.close()


def _is_silent(connection: socket.socket) -> bool:
    """Neither ended nor with an answer to no question."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
