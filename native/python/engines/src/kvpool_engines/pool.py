# SPDX-License-Identifier: Apache-2.0
"""A pool as an engine wants it: it never fails, and it never makes the engine wait for long."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

import kvpool
from kvpool import KvpoolError, Status
from kvpool_engines.connection import Connection
from kvpool_engines.patience import Patience
from kvpool_engines.quiet_log import QuietLog
from kvpool_engines.settings import Settings

_REPORT_SECONDS = 60.0
_READY_SECONDS = 2.0  # of one attempt to connect: what a process waits for at its end

Pieces = Sequence[Sequence[int]]
"""For each key numbers: the addresses, or the lengths, of the pieces of its value."""


class Pool:
    """Lookups, loads and stores of a plugin.

    A lookup that takes longer than `lookup_timeout` answers that nothing is there. What cannot be loaded is not loaded, what
    cannot be stored is not stored; both are counted and logged, and neither raises. Before the pool is reached for the first
    time, and while it has been late too often, it is not asked at all.

    Methods take the time of `clock` at which the engine asked, where that was before the call.

    `prepare` is called before each attempt to connect, in its thread.
    """

    def __init__(
        self,
        settings: Settings,
        logger: logging.Logger,
        connect: Callable[[], kvpool.Client] | None = None,
        clock: Callable[[], float] = time.monotonic,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._settings, self._logger, self._clock, self._prepare = settings, logger, clock, prepare
        self._log = QuietLog(logger, clock)
        self._lookups = Patience(settings.lookup_timeout, clock)
        self._loads = Patience(settings.load_timeout, clock)
        self._stores = Patience(settings.store_timeout, clock)
        self._hints = Patience(settings.lookup_timeout, clock)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._reported = clock()
        self._connection = Connection(connect or self._new_client, self._log)
        self._connection.wait(settings.start_timeout)

    def register(self, address: int, length: int) -> None:
        """Memory that load() and store() may name, until close()."""
        self._connection.register(address, length)

    def present(self, keys: Sequence[str], asked: float | None = None) -> list[bool]:
        """Which of the objects are there, and will be for the pool's object lease."""
        asked = self._clock() if asked is None else asked
        client = self._connection.client
        # What cannot be loaded is better not found.
        if not client or self._lookups.resting() or self._loads.resting():
            self._count(lookups_skipped=1)
            return [False] * len(keys)
        failure = None
        lengths: list[int] = []
        late = True
        if budget := self._lookups.budget(asked):
            try:
                lengths = client.size_batch(keys, timeout=budget)
            except KvpoolError as error:
                failure = error.status
            late = self._lookups.ended(asked)
        if late:
            self._count(lookups=1, lookups_late=1)
            self._log.warn("late", f"a lookup took longer than {self._settings.lookup_timeout:g} s: a miss")
            return [False] * len(keys)
        found = [length >= 0 for length in lengths] or [False] * len(keys)
        failure = failure or _first_failure(lengths, but=Status.NOT_FOUND)
        self._count(
            lookups=1, lookups_failed=failure is not None, keys_found=sum(found), keys_missed=found.count(False)
        )
        self._explain("lookup", failure, client)
        return found

    def load(self, keys: Sequence[str], addresses: Pieces, lengths: Pieces, asked: float | None = None) -> list[bool]:
        """Objects into pieces of registered memory; which of them are there now, whole."""
        return self._load(
            keys,
            asked,
            [sum(pieces) for pieces in lengths],
            lambda client, budget: client.get_into_pieces(keys, addresses, lengths, timeout=budget),
        )

    def load_into(self, keys: Sequence[str], buffers: Sequence[memoryview], asked: float | None = None) -> list[bool]:
        """load() into buffers."""
        return self._load(
            keys,
            asked,
            [buffer.nbytes for buffer in buffers],
            lambda client, budget: client.get_into_batch(keys, buffers, timeout=budget),
        )

    def store(
        self,
        keys: Sequence[str],
        addresses: Pieces,
        lengths: Pieces,
        groups: Sequence[str] | None = None,
        asked: float | None = None,
    ) -> list[bool]:
        """Objects from pieces of registered memory; which of them are in the pool now. What is there already is left alone."""
        return self._store(
            keys,
            asked,
            lambda client, budget: client.put_from_pieces(
                keys, addresses, lengths, replicas=self._settings.replicas, groups=groups, timeout=budget
            ),
        )

    def store_from(self, keys: Sequence[str], buffers: Sequence[memoryview], asked: float | None = None) -> list[bool]:
        """store() from buffers."""
        return self._store(
            keys,
            asked,
            lambda client, budget: client.put_batch(keys, buffers, replicas=self._settings.replicas, timeout=budget),
        )

    def not_stored(self, keys: int, reason: str) -> None:
        """So many objects were not even tried."""
        self._count(keys_not_stored=keys)
        self._log.warn(f"store {reason}", f"store: {reason}")

    def retain(self, keys: Sequence[str], seconds: float) -> None:
        """Objects that others are evicted before, for this time; 0: no longer. It takes no longer than a lookup, and what is
        not retained is evicted as any other."""
        client, asked = self._connection.client, self._clock()
        failure = None
        statuses: list[Status] = []
        if client and (budget := self._hints.budget(asked)):
            try:
                statuses = (
                    client.retain(keys, seconds, timeout=budget) if seconds else client.release(keys, timeout=budget)
                )
            except KvpoolError as error:
                failure = error.status
            self._hints.ended(asked)
            self._explain("hint", failure or _first_failure(statuses, but=Status.NOT_FOUND), client)
        if seconds:
            retained = statuses.count(Status.OK)
            self._count(keys_retained=retained, keys_not_retained=len(keys) - retained)

    def remove(self, keys: Sequence[str]) -> list[bool]:
        """Which objects are gone now; one that is still leased stays."""
        client, asked = self._connection.client, self._clock()
        if not client or not (budget := self._stores.budget(asked)):
            return [False] * len(keys)
        try:
            statuses = client.remove_batch(keys, timeout=budget)
        except KvpoolError:
            return [False] * len(keys)
        return [status in (Status.OK, Status.NOT_FOUND) for status in statuses]

    def clear(self, begin: str) -> bool:
        """Removes all objects whose keys begin so, also those that others stored or read; whether they are gone."""
        client = self._connection.client
        if not client:
            return False
        try:
            client.remove_matching(f"^{re.escape(begin)}", force=True, timeout=self._settings.store_timeout)
        except KvpoolError as error:
            self._explain("clear", error.status, client)
            return False
        return True

    def counts(self) -> dict[str, int]:
        """Since the start: `lookups`, of them `lookups_late` and `lookups_failed`, `lookups_skipped` besides, `keys_found` and
        `keys_missed`; `keys_loaded` and `keys_not_loaded`; `keys_stored` and `keys_not_stored`; `keys_retained` and
        `keys_not_retained`."""
        with self._lock:
            return dict(self._counts)

    def close(self) -> None:
        self._connection.close()

    def _load(
        self,
        keys: Sequence[str],
        asked: float | None,
        wanted: list[int],
        get: Callable[[kvpool.Client, float], list[int]],
    ) -> list[bool]:
        asked = self._clock() if asked is None else asked
        client = self._connection.client
        if not client or not (budget := self._loads.budget(asked)):
            self._count(keys_not_loaded=len(keys))
            return [False] * len(keys)
        failure = None
        try:
            read = get(client, budget)
        except KvpoolError as error:
            failure, read = error.status, []
        self._loads.ended(asked)
        # An object of another length is another engine's: its bytes are not these.
        loaded = [length == whole for length, whole in zip(read, wanted, strict=True)] if read else [False] * len(keys)
        self._count(keys_loaded=sum(loaded), keys_not_loaded=loaded.count(False))
        if not all(loaded):
            self._explain("load", failure or _first_failure(read, but=None) or Status.BUFFER_TOO_SMALL, client)
        return loaded

    def _store(
        self, keys: Sequence[str], asked: float | None, put: Callable[[kvpool.Client, float], list[Status]]
    ) -> list[bool]:
        asked = self._clock() if asked is None else asked
        client = self._connection.client
        if not client or not (budget := self._stores.budget(asked)):
            self._count(keys_not_stored=len(keys))
            return [False] * len(keys)
        failure = None
        statuses: list[Status] = []
        try:
            statuses = put(client, budget)
        except KvpoolError as error:
            failure = error.status
        self._stores.ended(asked)
        stored = [status == Status.OK for status in statuses] or [False] * len(keys)
        self._count(keys_stored=sum(stored), keys_not_stored=stored.count(False))
        self._explain("store", failure or _first_failure(statuses, but=None), client)
        return stored

    def _new_client(self) -> kvpool.Client:
        settings = self._settings
        if self._prepare:
            self._prepare()
        return kvpool.Client(
            settings.masters,
            protocols=settings.protocols,
            connect_timeout=settings.connect_timeout,
            transfer_timeout=settings.transfer_timeout,
            idle_timeout=settings.idle_timeout,
            ready_timeout=_READY_SECONDS,
            tls_dir=settings.tls_dir,
            payloads=settings.payloads,
        )

    def _count(self, **increments: int) -> None:
        with self._lock:
            self._counts.update(increments)
            now = self._clock()
            if now - self._reported < _REPORT_SECONDS:
                return
            self._reported = now
            counts = ", ".join(f"{name} {count}" for name, count in self._counts.items())
        self._logger.info("pool %s since the start: %s", self._settings.masters, counts)

    def _explain(self, what: str, failure: Status | None, client: kvpool.Client) -> None:
        if failure is None:
            return
        try:
            reason = client.explain()
        except KvpoolError:
            reason = ""
        self._log.warn(f"{what} {failure.name}", f"{what}: {failure.name}: {reason or failure.text}")


def _first_failure(numbers: Sequence[int], but: Status | None) -> Status | None:
    return next((Status(number) for number in numbers if number < 0 and number != but), None)
