# SPDX-License-Identifier: Apache-2.0
"""The client of a pool for asyncio.

import kvpool.aio

async with await kvpool.aio.Client.connect("10.0.0.7:50051,10.0.0.8:50051") as client:
    await client.put("prompt/42/layer/0", some_buffer)
    value = await client.get("prompt/42/layer/0")    # bytes, or None
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import kvpool
from kvpool.call_threads import DEFAULT_MAX_CALLS, CallThreads, begin_aside

__all__ = ["Client"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_AsBlocking = Callable[Concatenate[kvpool.Client, _P], _R]
_AsCoroutine = Callable[Concatenate["Client", _P], Coroutine[Any, Any, _R]]

_NAMES = ("__name__", "__qualname__", "__doc__")


def _in_thread(method: _AsBlocking[_P, _R]) -> _AsCoroutine[_P, _R]:
    """The coroutine of a call that waits for the pool."""

    @functools.wraps(method, assigned=_NAMES)
    async def call(self: Client, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await self._threads.run(functools.partial(method, self._client, *args, **kwargs))

    return call


def _at_once(method: _AsBlocking[_P, _R]) -> _AsCoroutine[_P, _R]:
    """The coroutine of a call that does not wait: it is done in the event loop, also while all threads are busy."""

    @functools.wraps(method, assigned=_NAMES)
    async def call(self: Client, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return method(self._client, *args, **kwargs)

    return call


class Client:
    """kvpool.Client with coroutines: the same names, arguments, results and exceptions, for any number of event loops.

    Up to `max_calls` calls run at a time, each in a thread of this client's; the event loop is never blocked. Further
    ones wait for their turn in order, and `timeout` begins with the turn: what shall bound both is asyncio.timeout().
    A batch is one call, so `*_batch` of many keys does more than many calls of one key.

    Cancelling a coroutine ends its wait, and not its call. A call that waits for its turn never begins. One that runs
    goes on until it is done or `timeout` has passed, its memory stays held (a bytearray cannot be resized) and may be
    written to until then, and the result is dropped, so a cancelled put or remove may happen all the same. Who wants to
    use the memory again after a cancellation keeps the call: `call = asyncio.ensure_future(client.get_into(key, room))`,
    `await asyncio.shield(call)`, and awaits `call` before.

    After close() calls raise CallError with Status.CLOSED; after fork() they do in the child.

    Args:
        client: a connected client, which others may go on using beside this one; close() closes it. connect() and
            through_agent() make one.
        max_calls: calls at a time, and so threads at the most; 1 or more.
    """

    def __init__(self, client: kvpool.Client, *, max_calls: int = DEFAULT_MAX_CALLS) -> None:
        self._client = client
        self._threads = CallThreads(max_calls)

    @classmethod
    async def connect(
        cls,
        masters: str | Iterable[str],
        *,
        max_calls: int = DEFAULT_MAX_CALLS,
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
    ) -> Client:
        """Connects to the pool, with the arguments and exceptions of kvpool.Client. Cancelled, it closes what it opens."""
        return await cls._open(
            lambda: kvpool.Client(
                masters,
                name=name,
                protocols=protocols,
                timeout=timeout,
                connect_timeout=connect_timeout,
                transfer_timeout=transfer_timeout,
                ready_timeout=ready_timeout,
                idle_timeout=idle_timeout,
                busy_wait=busy_wait,
                tls_dir=tls_dir,
                payloads=payloads,
            ),
            max_calls,
        )

    @classmethod
    async def through_agent(
        cls,
        socket_path: str,
        *,
        max_calls: int = DEFAULT_MAX_CALLS,
        name: str | None = None,
        staging_bytes: int = 64 << 20,
        timeout: float = 30.0,
        ready_timeout: float = 20.0,
    ) -> Client:
        """kvpool.Client.through_agent(). Cancelled, it closes what it opens."""
        return await cls._open(
            lambda: kvpool.Client.through_agent(
                socket_path, name=name, staging_bytes=staging_bytes, timeout=timeout, ready_timeout=ready_timeout
            ),
            max_calls,
        )

    @classmethod
    async def _open(cls, make: Callable[[], kvpool.Client], max_calls: int) -> Client:
        self = cls.__new__(cls)
        self._threads = CallThreads(max_calls)  # first: a wrong number needs no connection
        self._client = await asyncio.wrap_future(begin_aside(make))  # cancelled, nothing refers to it, which closes it
        return self

    async def close(self) -> None:
        """Waits for calls that run, then disconnects. Calls that wait for their turn, and later ones, raise CallError with
        Status.CLOSED. May be called again; a close that is cancelled is still done."""
        self._threads.refuse()
        await asyncio.wrap_future(begin_aside(self._end))

    def _end(self) -> None:
        self._client.close()
        self._threads.join()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    put = _in_thread(kvpool.Client.put)
    get = _in_thread(kvpool.Client.get)
    get_into = _in_thread(kvpool.Client.get_into)
    size = _in_thread(kvpool.Client.size)
    exists = _in_thread(kvpool.Client.exists)
    remove = _in_thread(kvpool.Client.remove)

    put_batch = _in_thread(kvpool.Client.put_batch)
    get_batch = _in_thread(kvpool.Client.get_batch)
    get_into_batch = _in_thread(kvpool.Client.get_into_batch)
    size_batch = _in_thread(kvpool.Client.size_batch)
    locate_batch = _in_thread(kvpool.Client.locate_batch)
    remove_batch = _in_thread(kvpool.Client.remove_batch)
    remove_all = _in_thread(kvpool.Client.remove_all)
    remove_matching = _in_thread(kvpool.Client.remove_matching)

    copy = _in_thread(kvpool.Client.copy)
    task = _in_thread(kvpool.Client.task)

    retain = _in_thread(kvpool.Client.retain)
    release = _in_thread(kvpool.Client.release)
    prefetch = _in_thread(kvpool.Client.prefetch)
    retain_group = _in_thread(kvpool.Client.retain_group)
    release_group = _in_thread(kvpool.Client.release_group)
    prefetch_group = _in_thread(kvpool.Client.prefetch_group)
    remove_group = _in_thread(kvpool.Client.remove_group)

    register = _at_once(kvpool.Client.register)
    unregister = _in_thread(kvpool.Client.unregister)
    use_engine_memory = _at_once(kvpool.Client.use_engine_memory)
    copy_memory = _in_thread(kvpool.Client.copy_memory)
    put_from = _in_thread(kvpool.Client.put_from)
    get_into_memory = _in_thread(kvpool.Client.get_into_memory)
    put_from_pieces = _in_thread(kvpool.Client.put_from_pieces)
    get_into_pieces = _in_thread(kvpool.Client.get_into_pieces)
    get_into_parts = _in_thread(kvpool.Client.get_into_parts)
    put_start = _in_thread(kvpool.Client.put_start)
    put_parts = _in_thread(kvpool.Client.put_parts)
    put_end = _in_thread(kvpool.Client.put_end)
    put_revoke = _in_thread(kvpool.Client.put_revoke)

    explain = _at_once(kvpool.Client.explain)
    stats = _at_once(kvpool.Client.stats)
    durations = _at_once(kvpool.Client.durations)
