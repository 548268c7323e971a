# SPDX-License-Identifier: Apache-2.0
"""Work that an engine submits and whose results it collects later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Jobs(Generic[Result]):
    """Runs work in threads of its own. So many jobs wait or run at most; each has a result in the end, unless close() came first.

    Args:
        name: of the threads.
        threads: how many.
        most: jobs at a time.
        finished: called in a thread of the jobs with each result.
    """

    def __init__(self, name: str, threads: int, most: int, finished: Callable[[Result], None]) -> None:
        self._most, self._finished = most, finished
        self._changed = threading.Condition()
        self._submitted = 0
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[[], Result]) -> bool:
        """False: there are too many, or jobs are closed, and this one is not done."""
        with self._changed:
            if self._submitted >= self._most:
                return False
            try:
                self._threads.submit(self._do, work)
            except RuntimeError:  # closed
                return False
            self._submitted += 1
        return True

    def drain(self) -> None:
        """Waits until none is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._submitted == 0)

    def close(self) -> None:
        """Waits for the jobs that run; those that wait are not done, and drain() waits for them no more."""
        self._threads.shutdown(cancel_futures=True)
        with self._changed:
            self._submitted = 0
            self._changed.notify_all()

    def _do(self, work: Callable[[], Result]) -> None:
        try:
            self._finished(work())
        finally:
            with self._changed:
                self._submitted -= 1
                self._changed.notify_all()
