# SPDX-License-Identifier: Apache-2.0
"""What the machine itself does at this moment, without any pool: the limits that results are compared with."""

import ctypes
import mmap
import socket
import threading
import time

PIECE = 1 << 20
PAGE = 4096
ROUND_TRIPS = 2000


def _receive(connection, room, count):
    """`count` bytes into `room`, from its start; False at the end of the stream."""
    done = 0
    while done < count:
        got = connection.recv_into(room[done:count])
        if got == 0:
            return False
        done += got
    return True


def _connected(serve):
    """A connection to a thread that runs serve(connection), and what ends both."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        connection, _ = listener.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve(connection)

    thread = threading.Thread(target=run)
    thread.start()
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def end():
        client.close()
        thread.join()
        listener.close()

    return client, end


def stream(total_bytes=1 << 30):
    """GB/s of one loopback connection that moves 1 MiB pieces."""

    def drain(connection):
        room = memoryview(bytearray(PIECE))
        while connection.recv_into(room):
            pass

    client, end = _connected(drain)
    data = bytes(PIECE)
    start = time.perf_counter()
    for _ in range(total_bytes // PIECE):
        client.sendall(data)
    end()  # returns when the reader has read everything
    return total_bytes / (time.perf_counter() - start) / 1e9


def stream_to_memory(pieces=32, repeats=16):
    """GB/s of one loopback connection that moves the same 32 pieces of 1 MiB again and again into memory that is written once:
    what a put of that many values does at least. The stream above reads and writes two pieces that stay in the processor's cache.
    """
    source, target = mmap.mmap(-1, pieces * PIECE), mmap.mmap(-1, pieces * repeats * PIECE)
    for region in (source, target):
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(region)), 7, len(region))
    data, room = memoryview(source), memoryview(target)
    client, end = _connected(lambda connection: _receive(connection, room, len(room)))
    start = time.perf_counter()
    for piece in range(pieces * repeats):
        client.sendall(data[piece % pieces * PIECE :][:PIECE])
    end()
    return len(target) / (time.perf_counter() - start) / 1e9


def round_trips():
    """Microseconds, p50 and p99, of a small question and a 4 KiB answer on one loopback connection."""

    def answer(connection):
        room, page = memoryview(bytearray(64)), bytes(PAGE)
        while _receive(connection, room, 64):
            connection.sendall(page)

    client, end = _connected(answer)
    question, room, times = bytes(64), memoryview(bytearray(PAGE)), []
    for _ in range(ROUND_TRIPS):
        start = time.perf_counter_ns()
        client.sendall(question)
        _receive(client, room, PAGE)
        times.append(time.perf_counter_ns() - start)
    end()
    times.sort()
    return times[len(times) // 2] / 1e3, times[len(times) * 99 // 100] / 1e3


def memory_copy(pieces=32, repeats=16):
    """GB/s of a memcpy as one thread does it, of pieces of 1 MiB from memory that is read once to the same 32 pieces again and
    again: what a get of that many objects does at least, where none of them is in the processor's cache.
    """
    source, target = mmap.mmap(-1, pieces * repeats * PIECE), mmap.mmap(-1, pieces * PIECE)
    begin, into = (ctypes.addressof(ctypes.c_char.from_buffer(region)) for region in (source, target))
    ctypes.memset(begin, 7, len(source))
    ctypes.memset(into, 0, len(target))
    start = time.perf_counter()
    for piece in range(pieces * repeats):
        ctypes.memmove(into + piece % pieces * PIECE, begin + piece * PIECE, PIECE)
    return pieces * repeats * PIECE / (time.perf_counter() - start) / 1e9
