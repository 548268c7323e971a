# SPDX-License-Identifier: Apache-2.0
"""vLLM: a secondary tier of OffloadingConnector's TieringOffloadingSpec.

    "secondary_tiers": [{"type": "KvpoolTier", "module_path": "kvpool_engines.vllm", "masters": "m0:50051,m1:50051"}]

vLLM moves chunks between accelerators and its own host memory; this tier moves them between that memory and the pool, by address
and in threads of its own. The tier lives in the scheduler, which waits for none of its calls.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any

import numpy

from kvpool_engines.jobs import Jobs
from kvpool_engines.pending_lookups import PendingLookups
from kvpool_engines.pool import Pieces, Pool
from kvpool_engines.quiet_log import QuietLog
from kvpool_engines.request_hint import NAME, VERSION, RequestHint, read_hint
from kvpool_engines.settings import WrongSettings, read_settings, read_time
from kvpool_engines.vllm_interface import (
    JobResult,
    Locality,
    LookupResult,
    OffloadingConnectorStats,
    OffloadingCounterMetadata,
    OffloadingMetricMetadata,
    OffloadKey,
    OffloadPolicy,
    ReqContext,
    RequestOffloadingContext,
    ScheduleEndContext,
    SecondaryTierManager,
    TransferJob,
    base_arguments,
    chunks_of,
    config_of,
    get_offload_block_hash,
    get_offload_group_idx,
    hint_of,
    hinted_actions,
    is_replicated,
    layout_of,
    result_of,
    set_hint,
)

_RETAIN_AT_MOST, _RETAIN_SECONDS_MAX = "retain_at_most", 3600.0
WHERE = "secondary_tiers of kv_connector_extra_config"
_LOOKUP_THREADS, _LOAD_THREADS, _STORE_THREADS = 1, 4, 2
_JOBS_MAX = 1024
_COUNTERS = {
    "lookups_late": "Lookups in the pool that took longer than lookup_timeout: misses.",
    "lookups_failed": "Lookups in the pool that failed: misses.",
    "lookups_skipped": "Lookups that the pool was not asked, because it was late before or has not been reached: misses.",
    "keys_not_loaded": "Chunks that were found in the pool and could not be loaded.",
    "keys_not_stored": "Chunks that the pool did not take.",
    "keys_not_retained": "Chunks that a request wanted retained and the pool did not retain.",
}

logger = logging.getLogger("vllm.kvpool")  # below the one that vLLM shows


class KvpoolTier(SecondaryTierManager):
    """A pool below vLLM's host memory."""

    def __init__(
        self,
        offloading_spec: Any,
        primary_kv_view: memoryview,
        tier_type: str,
        backpressure_detector: Any = None,
        locality: str = Locality.REMOTE.value,
        module_path: str = "",  # vLLM before 0.28 passes it on
        **given: Any,
    ) -> None:
        super().__init__(offloading_spec, primary_kv_view, tier_type, **base_arguments(backpressure_detector))
        settings = read_settings(given, os.environ, WHERE, {_RETAIN_AT_MOST})
        self._retain_at_most = _retain_at_most(given.get(_RETAIN_AT_MOST))
        self.locality = _locality(locality)
        self._chunk_bytes: int = primary_kv_view.strides[0]  # type: ignore[index]  # a view has strides
        self._begin = f"{settings.namespace}{_namespace_of(config_of(offloading_spec), self._chunk_bytes)}"
        self._pool = Pool(settings, logger)
        # vLLM releases the view, which nothing may hold then.
        self._address = numpy.frombuffer(primary_kv_view, numpy.uint8).ctypes.data
        self._pool.register(self._address, primary_kv_view.nbytes)
        self._pending: PendingLookups[OffloadKey] = PendingLookups(settings.lookup_timeout)
        self._results: SimpleQueue[tuple[JobResult, Iterable[OffloadKey]]] = SimpleQueue()
        self._lookups: Jobs[None] = Jobs("kvpool-lookup", _LOOKUP_THREADS, _JOBS_MAX, lambda _: None)
        self._loads = Jobs("kvpool-load", _LOAD_THREADS, _JOBS_MAX, self._results.put)
        self._stores = Jobs("kvpool-store", _STORE_THREADS, _JOBS_MAX, self._results.put)
        self._reported: dict[str, int] = {}
        self._log = QuietLog(logger)

    # ---- lookups

    def on_new_request(self, req_context: ReqContext) -> RequestOffloadingContext:
        if not self._retain_at_most or (said := _said_by(req_context)) is None:
            return RequestOffloadingContext()
        try:
            set_hint(req_context, read_hint(said, self._retain_at_most))
        except ValueError as problem:
            self._log.warn(
                "hint", f"{NAME} of request {req_context.req_id} is {said!r:.200}, which is ignored: {problem}"
            )
            return RequestOffloadingContext()
        # Chunks that the request finds on the accelerator or in host memory come to submit_store(), too.
        return RequestOffloadingContext(policy=OffloadPolicy.REQUEST_LEVEL)

    def lookup(self, key: OffloadKey, req_context: ReqContext) -> LookupResult:
        found = self._pending.ask(key, req_context.req_id)
        if found is None:
            return LookupResult.RETRY
        return LookupResult.HIT if found else LookupResult.MISS

    def on_schedule_end(self, context: ScheduleEndContext) -> None:
        if keys := self._pending.take():
            asked = time.monotonic()
            # Where too many wait the limit passes, which is a miss.
            self._lookups.submit(lambda: self._pending.answer(keys, self._pool.present(self._keys(keys), asked)))

    def on_request_finished(self, req_context: ReqContext) -> None:
        self._pending.forget(req_context.req_id)

    # ---- chunks

    def submit_load(self, job_metadata: TransferJob) -> None:
        keys = list(job_metadata.keys)
        if not self._loads.submit(self._transfer(job_metadata, keys, self._pool.load, self._loaded)):
            self._results.put(self._loaded(job_metadata, keys, [False] * len(keys), 0.0))

    def submit_store(self, job_metadata: TransferJob) -> None:
        keys = list(job_metadata.keys)
        hint = hint_of(job_metadata.req_context, RequestHint)
        store = functools.partial(self._store_and_retain, hint) if hint else self._pool.store
        if not self._stores.submit(self._transfer(job_metadata, keys, store, self._stored)):
            self._pool.not_stored(len(keys), "too many stores wait")
            self._results.put(self._stored(job_metadata, keys, [False] * len(keys), 0.0))

    def get_finished_jobs(self) -> Iterable[JobResult]:
        finished: list[JobResult] = []
        while True:
            try:
                result, missing = self._results.get_nowait()
            except Empty:
                return finished
            self._pending.missing(missing)
            finished.append(result)

    def drain_jobs(self) -> None:
        self._loads.drain()
        self._stores.drain()

    def shutdown(self) -> None:
        for jobs in (self._lookups, self._loads, self._stores):
            jobs.close()
        self._pool.close()

    # ---- metrics

    @classmethod
    def build_metric_definitions(cls, extra_config: dict[str, Any]) -> dict[str, OffloadingMetricMetadata]:
        return {_metric(name): OffloadingCounterMetadata(documentation=text) for name, text in _COUNTERS.items()}

    def get_stats(self) -> OffloadingConnectorStats | None:
        counts = self._pool.counts()
        stats = OffloadingConnectorStats()
        for name in _COUNTERS:
            if more := counts.get(name, 0) - self._reported.get(name, 0):
                stats.increase_counter(_metric(name), more)
        self._reported = counts
        return stats

    def counts(self) -> dict[str, int]:
        """See kvpool_engines.pool.Pool.counts()."""
        return self._pool.counts()

    # ---- jobs

    def _transfer(
        self, job: TransferJob, keys: list[OffloadKey], move: Callable[..., list[bool]], result: Callable[..., Any]
    ) -> Callable[[], Any]:
        addresses = [[self._address + int(chunk) * self._chunk_bytes] for chunk in chunks_of(job)]
        lengths = [[self._chunk_bytes]] * len(keys)
        asked = time.monotonic()

        def work() -> Any:
            began = time.monotonic()
            try:
                moved = move(self._keys(keys), addresses, lengths, asked=asked)
            except Exception:  # vLLM waits for a result
                logger.exception("%s chunks were not moved", len(keys))
                moved = [False] * len(keys)
            return result(job, keys, moved, time.monotonic() - began)

        return work

    def _store_and_retain(
        self, hint: RequestHint, keys: list[str], addresses: Pieces, lengths: Pieces, asked: float
    ) -> list[bool]:
        stored = self._pool.store(keys, addresses, lengths, asked=asked)
        if there := [key for key, is_there in zip(keys, stored, strict=True) if is_there]:
            self._pool.retain(there, hint.retain)
        return stored

    def _loaded(
        self, job: TransferJob, keys: list[OffloadKey], loaded: list[bool], seconds: float
    ) -> tuple[JobResult, list[OffloadKey]]:
        there = [key for key, is_there in zip(keys, loaded, strict=True) if is_there]
        missing = [key for key, is_there in zip(keys, loaded, strict=True) if not is_there]
        size = len(there) * self._chunk_bytes
        result = result_of(job, success=not missing, successful_keys=there, transfer_time=seconds, transfer_bytes=size)
        return result, missing

    def _stored(
        self, job: TransferJob, keys: list[OffloadKey], stored: list[bool], seconds: float
    ) -> tuple[JobResult, list[OffloadKey]]:
        """A success whatever became of it: the chunk stays in host memory as long as without a pool."""
        size = sum(stored) * self._chunk_bytes
        return result_of(job, success=True, transfer_time=seconds, transfer_bytes=size), []

    def _keys(self, keys: Iterable[OffloadKey]) -> list[str]:
        return [f"{self._begin}{get_offload_block_hash(key).hex()}/{get_offload_group_idx(key)}" for key in keys]


def _metric(name: str) -> str:
    return f"vllm:kv_offload_kvpool_{name}"


def _said_by(request: ReqContext) -> Any:
    """The hint of a request, None if it has none: by HTTP and gRPC with its transfer parameters, by gRPC among its KV hints."""
    if request.kv_transfer_params and NAME in request.kv_transfer_params:
        return request.kv_transfer_params[NAME]
    known = (it.payload for it in hinted_actions(request) if (it.action_type, it.action_version) == (NAME, VERSION))
    return next(known, None)


def _retain_at_most(value: Any) -> float:
    """Seconds; 0: requests have no say."""
    try:
        seconds = 0.0 if value is None else read_time(value)
        if seconds > _RETAIN_SECONDS_MAX:
            raise ValueError("an hour at most")
    except ValueError as problem:
        raise WrongSettings(f"{WHERE}: {_RETAIN_AT_MOST} is {value!r}: {problem}") from None
    return seconds


def _locality(name: Any) -> Any:
    try:
        return Locality(name)
    except ValueError:
        known = ", ".join(it.value for it in Locality)
        raise WrongSettings(f"{WHERE}: locality is {name!r}: write one of {known}") from None


def _namespace_of(config: Any, chunk_bytes: int) -> str:
    """Begins keys: all that the bytes of a chunk follow from beside its tokens, so that engines that differ share none."""
    parallel = config.parallel
    ranks = [parallel.tp_size, parallel.pp_size, parallel.pcp_size, parallel.dcp_size]
    same = parallel.is_parallelism_agnostic or is_replicated(config)
    form: dict[str, Any] = {
        "chunk": [config.cache.tokens_per_hash, config.cache.blocks_per_chunk, chunk_bytes],
        "dtype": str(config.model.dtype),
        "groups": [[group.tokens_per_block, list(group.layer_names)] for group in config.groups],
        "layout": layout_of(config),
        "ranks": [1, 1, 1, 1] if same else ranks,
    }
    digest = hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:16]
    return f"vllm/{config.model.name}/{digest}/"
