# SPDX-License-Identifier: Apache-2.0
"""A message on a connection: what kind it is, how long, and its bytes; and the answer to it, one byte.

Lengths are checked before memory is taken, and memory grows with what has come.
"""

from __future__ import annotations

import enum
import socket
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

MESSAGE_BYTES_MAX = 1 << 30
TAKEN, REFUSED = b"\0", b"\1"

_HEAD = struct.Struct("<4sIQ")
_MAGIC = b"kvm1"
_CHUNK_BYTES = 1 << 20


class Kind(enum.IntEnum):
    DATA = 1
    TENSOR = 2


class BadMessage(Exception):
    """What came is no message, or one that is too long; the text says what."""


def send(connection: socket.socket, kind: Kind, body: Buffer, deadline: float) -> None:
    """Raises OSError, also when it takes longer than until `deadline` of the monotonic clock."""
    _allow(connection, deadline)
    connection.sendall(_HEAD.pack(_MAGIC, kind, memoryview(body).nbytes))
    _allow(connection, deadline)
    connection.sendall(body)


def receive_head(connection: socket.socket, idle_seconds: float, seconds: float) -> tuple[Kind, int] | None:
    """Kind and length of the next message, which may begin in `idle_seconds`; None at the end of the connection.

    Raises:
        BadMessage
        OSError: also when it takes too long.
    """
    connection.settimeout(idle_seconds)
    head = bytearray(connection.recv(_HEAD.size))
    if not head:
        return None
    _fill(connection, head, _HEAD.size, time.monotonic() + seconds)
    magic, kind, length = _HEAD.unpack(head)
    if magic != _MAGIC or kind not in (Kind.DATA, Kind.TENSOR):
        raise BadMessage(f"{bytes(head)!r} begins no message")
    if length > MESSAGE_BYTES_MAX:
        raise BadMessage(f"a message of {length} bytes, but {MESSAGE_BYTES_MAX} is the most")
    return Kind(kind), length


def receive_body(connection: socket.socket, length: int, deadline: float) -> bytearray:
    """Raises OSError, also when it takes too long."""
    body = bytearray()
    _fill(connection, body, length, deadline)
    return body


def receive_answer(connection: socket.socket, deadline: float) -> bytes:
    """Raises OSError, also when it takes too long, or at the end of the connection."""
    answer = bytearray()
    _fill(connection, answer, 1, deadline)
    return bytes(answer)


def _fill(connection: socket.socket, received: bytearray, length: int, deadline: float) -> None:
    while len(received) < length:
        _allow(connection, deadline)
        more = connection.recv(min(length - len(received), _CHUNK_BYTES))
        if not more:
            raise ConnectionError("the connection ended in the middle of a message")
        received += more


def _allow(connection: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    connection.settimeout(left)
