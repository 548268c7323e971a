# SPDX-License-Identifier: Apache-2.0
"""Connections that break on demand: a proxy on each path between processes of a pool.

A link listens at one address and forwards to another. While nothing is wrong it behaves as the target itself would: when
nobody listens there, nobody listens here, so that a connection is refused and not accepted and dropped.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from kvchaos.sockets import listening

_CHUNK = 64 << 10
_SLOW_CHUNK = 2 << 10
_POLL_SECONDS = 0.03
_CALL_SECONDS = 60
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: close() sends RST

Address = tuple[str, int]


@dataclass(eq=False)
class _Connection:
    near: asyncio.StreamWriter
    far: asyncio.StreamWriter

    def reset(self) -> None:
        for end in (self.near, self.far):
            with contextlib.suppress(OSError):  # closed already
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.transport.abort()

    def close(self) -> None:
        self.near.close()
        self.far.close()


@dataclass(eq=False)
class Link:
    """One path. What is wrong with it is in its fields, and changed through Proxy."""

    name: str
    near: Address
    far: Address
    refusing: bool = False
    stalled: bool = False  # bytes are held back, nobody is told
    delay_seconds: float = 0.0  # of each piece
    bytes_per_second: int = 0  # 0: no bound
    cuts: int = 0  # so many of the next pieces are cut in half, and their connections with them
    forwarded: int = 0
    connections: set[_Connection] = field(default_factory=set)
    server: asyncio.Server | None = None

    def is_whole(self) -> bool:
        return not (self.refusing or self.stalled or self.delay_seconds or self.bytes_per_second or self.cuts)


class Proxy:
    """All links, in one thread. Its methods may be called from any thread and return when they took effect."""

    def __init__(self) -> None:
        self.links: dict[str, Link] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._tasks: set[asyncio.Task] = set()
        self._thread.start()
        self._run(self._start())

    def add(self, name: str, near: Address, far: Address) -> Link:
        link = Link(name, near, far)
        self.links[name] = link
        return link

    def refuse(self, link: Link) -> None:
        """New connections are refused, present ones reset."""
        self._run(self._refuse(link))

    def reset(self, link: Link) -> int:
        """Present connections are reset. Returns how many."""
        return self._run(self._reset(link))

    def stall(self, link: Link) -> None:
        """Nothing gets through, and nobody is told: neither on present nor on new connections."""
        self._run(self._set(link, stalled=True))

    def delay(self, link: Link, seconds: float) -> None:
        self._run(self._set(link, delay_seconds=seconds))

    def throttle(self, link: Link, bytes_per_second: int) -> None:
        self._run(self._set(link, bytes_per_second=bytes_per_second))

    def cut(self, link: Link, pieces: int = 1) -> None:
        """Of each of the next pieces, in either direction, the first half is forwarded and then the connection reset."""
        self._run(self._set(link, cuts=pieces))

    def heal(self, link: Link) -> None:
        whole = {"refusing": False, "stalled": False, "delay_seconds": 0.0, "bytes_per_second": 0, "cuts": 0}
        self._run(self._set(link, **whole))

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # ---- in the thread of the loop

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_SECONDS)

    async def _start(self) -> None:
        self._tasks.add(self._loop.create_task(self._follow_targets()))

    async def _set(self, link: Link, **values: object) -> None:
        for name, value in values.items():
            setattr(link, name, value)

    async def _refuse(self, link: Link) -> None:
        link.refusing = True
        self._stop_listening(link)
        await self._reset(link)

    async def _reset(self, link: Link) -> int:
        count = len(link.connections)
        for connection in list(link.connections):
            connection.reset()
        return count

    async def _close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        for link in self.links.values():
            self._stop_listening(link)
            await self._reset(link)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow_targets(self) -> None:
        """A link listens while its target does."""
        while True:
            there = listening()
            for link in list(self.links.values()):
                if link.server is None and not link.refusing and link.far in there:
                    await self._listen(link)
                elif link.server is not None and link.far not in there:
                    self._stop_listening(link)
            await asyncio.sleep(_POLL_SECONDS)

    async def _listen(self, link: Link) -> None:
        # The near address may be busy for a moment after a restart of the target; the next round tries again.
        with contextlib.suppress(OSError):
            link.server = await asyncio.start_server(
                lambda reader, writer: self._serve(link, reader, writer), *link.near, limit=_CHUNK, reuse_address=True
            )

    @staticmethod
    def _stop_listening(link: Link) -> None:
        if link.server is not None:
            link.server.close()
            link.server = None

    async def _serve(self, link: Link, near_reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        connection = None
        try:
            far_reader, far = await asyncio.open_connection(*link.far, limit=_CHUNK)
            connection = _Connection(near, far)
            link.connections.add(connection)
            await self._forward_both(link, connection, near_reader, far_reader)
        except OSError:
            near.transport.abort()
        except asyncio.CancelledError:
            near.transport.abort()
        finally:
            link.connections.discard(connection)
            self._tasks.discard(task)

    async def _forward_both(
        self, link: Link, connection: _Connection, near_reader: asyncio.StreamReader, far_reader: asyncio.StreamReader
    ) -> None:
        """Ends both ways when one ends, in the manner in which it ended."""
        up = asyncio.ensure_future(self._forward(link, near_reader, connection.far))
        down = asyncio.ensure_future(self._forward(link, far_reader, connection.near))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            clean = all(it.done() and it.exception() is None for it in (up, down) if it.done())
            # Who lost the connection dials again at once, and must not find an open door to a dead process.
            if down.done() and link.far not in listening():
                self._stop_listening(link)
            if clean:
                connection.close()
            else:
                connection.reset()
        finally:
            for way in (up, down):
                way.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            connection.close()

    async def _forward(self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Returns at the end of the stream; raises when the connection is reset or cut."""
        while piece := await reader.read(_SLOW_CHUNK if link.bytes_per_second else _CHUNK):
            await _wait_while(lambda: link.stalled)
            if link.delay_seconds:
                await asyncio.sleep(link.delay_seconds)
            if link.cuts > 0 and len(piece) > 1:
                link.cuts -= 1
                writer.write(piece[: len(piece) // 2])
                await writer.drain()
                await asyncio.sleep(_POLL_SECONDS)  # the half is out before the reset, which would discard it
                raise ConnectionResetError("cut on purpose")
            writer.write(piece)
            link.forwarded += len(piece)
            await writer.drain()
            if link.bytes_per_second:
                await asyncio.sleep(len(piece) / link.bytes_per_second)


async def _wait_while(condition: Callable[[], bool]) -> None:
    while condition():
        await asyncio.sleep(_POLL_SECONDS)
