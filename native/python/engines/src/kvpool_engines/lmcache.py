# SPDX-License-Identifier: Apache-2.0
"""LMCache in multi-process mode: a connector for its L2 adapter `native_plugin`.

    lmcache server --l2-adapter '{"type": "native_plugin", "module_path": "kvpool_engines.lmcache",
      "class_name": "KvpoolConnector", "adapter_params": {"masters": "m0:50051,m1:50051"}}'

LMCache submits batches under a lock and waits for their ends at an eventfd, without a limit. Each batch ends here, in time, also
when no pool was ever reached.
"""

from __future__ import annotations

import itertools
import logging
import os
import time
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from kvpool_engines.jobs import Jobs
from kvpool_engines.pool import Pool
from kvpool_engines.settings import read_settings

WHERE = "adapter_params of the L2 adapter"
_LOOKUP_THREADS, _LOAD_THREADS, _STORE_THREADS = 2, 4, 2
_JOBS_MAX = 1024

logger = logging.getLogger(__name__)

Completion = tuple[int, bool, str, list[bool] | None]
"""Number of a batch, whether all of it succeeded, why not, and for each key whether it did."""


class KvpoolConnector:
    """What `native_plugin` wants of a native connector."""

    def __init__(self, **adapter_params: Any) -> None:
        self._settings = read_settings(adapter_params, os.environ, WHERE)
        self._pool = Pool(self._settings, logger)
        self._numbers = itertools.count(1)
        self._completions: SimpleQueue[Completion] = SimpleQueue()
        self._open: dict[int, int] = {}  # keys of each batch that has no end yet
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        # Not with close(): who submits or drains after it would use a descriptor that is something else by then.
        weakref.finalize(self, os.close, self._event)
        self._lookups = Jobs("kvpool-lookup", _LOOKUP_THREADS, _JOBS_MAX, self._complete)
        self._loads = Jobs("kvpool-load", _LOAD_THREADS, _JOBS_MAX, self._complete)
        self._stores = Jobs("kvpool-store", _STORE_THREADS, _JOBS_MAX, self._complete)

    def event_fd(self) -> int:
        return self._event

    def submit_batch_exists(self, keys: list[str]) -> int:
        asked = time.monotonic()
        return self._submit(self._lookups, keys, lambda names: self._pool.present(names, asked))

    def submit_batch_get(self, keys: list[str], buffers: list[memoryview]) -> int:
        asked = time.monotonic()
        return self._submit(self._loads, keys, lambda names: self._pool.load_into(names, buffers, asked))

    def submit_batch_set(self, keys: list[str], buffers: list[memoryview]) -> int:
        """LMCache is told of a failed store, as it may drop its own copy of what is stored; the engine hears nothing."""
        asked = time.monotonic()
        return self._submit(self._stores, keys, lambda names: self._pool.store_from(names, buffers, asked))

    def submit_batch_delete(self, keys: list[str]) -> int:
        return self._submit(self._stores, keys, self._pool.remove)

    def drain_completions(self) -> list[Completion]:
        try:
            os.eventfd_read(self._event)
        except BlockingIOError:
            return []
        completions: list[Completion] = []
        while True:
            try:
                completions.append(self._completions.get_nowait())
            except Empty:
                return completions

    def counts(self) -> dict[str, int]:
        """See kvpool_engines.pool.Pool.counts()."""
        return self._pool.counts()

    def close(self) -> None:
        """Waits for transfers that run, as LMCache takes their memory back; those that wait end without being begun."""
        for jobs in (self._lookups, self._loads, self._stores):
            jobs.close()
        for number in list(self._open):
            self._refuse(number, "the connector was closed")
        self._pool.close()

    def _submit(self, jobs: Jobs[Completion], keys: list[str], call: Callable[[list[str]], list[bool]]) -> int:
        number = next(self._numbers)
        names = [f"{self._settings.namespace}lmcache/{key}" for key in keys]

        def work() -> Completion:
            try:
                done = call(names)
            except Exception as failure:  # LMCache waits for an end
                logger.exception("a batch of %s keys failed", len(names))
                return number, False, str(failure), [False] * len(names)
            # The answer to a lookup counts only in a batch that succeeded.
            succeeded = jobs is self._lookups or all(done)
            return number, succeeded, "" if succeeded else "not all keys: see the log", done

        self._open[number] = len(names)
        if not jobs.submit(work):
            self._refuse(number, f"{_JOBS_MAX} batches wait already, or the connector was closed")
        return number

    def _refuse(self, number: int, why: str) -> None:
        keys = self._open.pop(number, None)  # by one: close() may find a batch that is being refused just then
        if keys is not None:
            self._complete((number, False, why, [False] * keys))

    def _complete(self, completion: Completion) -> None:
        self._open.pop(completion[0], None)
        self._completions.put(completion)
        os.eventfd_write(self._event, 1)
