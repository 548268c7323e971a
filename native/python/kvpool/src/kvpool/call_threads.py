# SPDX-License-Identifier: Apache-2.0
"""Threads in which coroutines have their blocking calls done. They belong to one client, and are bounded."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from kvpool.status import Status, error_of

_R = TypeVar("_R")

DEFAULT_MAX_CALLS = 16


class CallThreads:
    """Runs blocking calls for coroutines of any number of event loops.

    A coroutine that is cancelled while its call runs goes on at once; the call goes on, holds its arguments until it
    ends, and its answer is dropped. A call that has not begun by then never does.

    After fork() the child has threads of its own, as the parent's are not there.

    Args:
        max_calls: calls that run at a time, each in a thread that is started when it is first needed; 1 or more. Later
            calls wait for their turn, in order.
    """

    def __init__(self, max_calls: int) -> None:
        if max_calls < 1:
            raise ValueError(f"max_calls is {max_calls}, but must be 1 or more")
        self._max_calls = max_calls
        self._ended = False
        self._start()
        _alive.add(self)

    def _start(self) -> None:
        self._executor = ThreadPoolExecutor(self._max_calls, thread_name_prefix="kvpool-call")

    async def run(self, call: Callable[[], _R]) -> _R:
        """What `call` returns or raises. Raises CallError with Status.CLOSED after refuse()."""
        if self._ended:
            raise _closed()
        try:
            future = self._executor.submit(call)
        except RuntimeError:
            if self._ended:  # by another thread, just now
                raise _closed() from None
            raise
        return await asyncio.wrap_future(future)

    def refuse(self) -> None:
        """From now on run() raises. What was given to it before is still done."""
        self._ended = True
        self._executor.shutdown(wait=False)

    def join(self) -> None:
        """Waits, after refuse(), until every call ended and the threads are gone. Blocks."""
        self._executor.shutdown(wait=True)


def begin_aside(call: Callable[[], _R]) -> Future[_R]:
    """Begins a call in a thread of its own, which waits for no other; it cannot be cancelled. The process does not exit
    before it ended."""
    future: Future[_R] = Future()
    future.set_running_or_notify_cancel()
    threading.Thread(target=_complete, args=(future, call), name="kvpool-aside").start()
    return future


def _complete(future: Future[_R], call: Callable[[], _R]) -> None:
    try:
        answer = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(answer)
    finally:
        del future  # which holds the error, whose traceback holds this frame


def _closed() -> Exception:
    return error_of(Status.CLOSED, "the client is closed")


_alive: weakref.WeakSet[CallThreads] = weakref.WeakSet()


def _start_in_child() -> None:
    for threads in list(_alive):
        threads._start()


os.register_at_fork(after_in_child=_start_in_child)
