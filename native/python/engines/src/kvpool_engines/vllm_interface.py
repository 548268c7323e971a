# SPDX-License-Identifier: Apache-2.0
"""vLLM's interface of secondary tiers, which differs from release to release: what this one has is decided here and nowhere else.

By what is there, not by the version's number, so that builds between two releases are taken for what they are.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib.metadata
import inspect
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

LEAST = "0.25.1"
_HINT = "kvpool_hint"


def _version() -> str:
    try:
        return importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"


try:
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics import OffloadingConnectorStats
    from vllm.v1.kv_offload import base
    from vllm.v1.kv_offload.base import (
        LookupResult,
        OffloadingCounterMetadata,
        OffloadingMetricMetadata,
        OffloadKey,
        OffloadPolicy,
        ReqContext,
        RequestOffloadingContext,
        ScheduleEndContext,
        get_offload_block_hash,
        get_offload_group_idx,
    )
    from vllm.v1.kv_offload.tiering.base import JobResult, SecondaryTierManager
except ImportError as missing:
    raise ImportError(
        f"kvpool's tier needs vLLM {LEAST} or later, and this is vLLM {_version()}: {missing}. "
        f"Install vllm>={LEAST}, or use MooncakeStoreConnector or LMCache with this one"
    ) from missing

TransferJob = Any
"""Called JobMetadata before 0.28."""


class _Locality(enum.Enum):
    LOCAL = "LOCAL"
    REMOTE = "REMOTE"


Locality = getattr(base, "Locality", _Locality)
"""Before 0.26 vLLM does not ask."""

_TAKES_DETECTOR = "backpressure_detector" in inspect.signature(SecondaryTierManager.__init__).parameters
_RESULT_FIELDS = {field.name for field in dataclasses.fields(JobResult)}


def base_arguments(backpressure_detector: Any) -> dict[str, Any]:
    """What the base class is made with beside the three arguments that it takes in all releases."""
    return {"backpressure_detector": backpressure_detector} if _TAKES_DETECTOR else {}


def chunks_of(job: TransferJob) -> Iterable[int]:
    """The rows of host memory of a job: called blocks before 0.30."""
    return job.chunk_ids if hasattr(job, "chunk_ids") else job.block_ids


def result_of(job: TransferJob, **said: Any) -> JobResult:
    """A result with as much of what is said about it as this release takes. Where it takes no `successful_keys`, what was loaded
    in part is not loaded."""
    return JobResult(job_id=job.job_id, **{name: value for name, value in said.items() if name in _RESULT_FIELDS})


def set_hint(request: ReqContext, hint: Any) -> None:
    """Until the request ends. Before 0.27 requests have no place for what tiers keep of them."""
    if hasattr(request, "set_state"):
        request.set_state(hint)
    else:
        setattr(request, _HINT, hint)


def hint_of(request: ReqContext, kind: type) -> Any:
    """What set_hint() was given, of this type, or None."""
    return request.get_state(kind) if hasattr(request, "get_state") else getattr(request, _HINT, None)


def hinted_actions(request: ReqContext) -> Iterable[Any]:
    """The actions of the request's KV hints, which there are from 0.31 on."""
    hints = getattr(request, "kv_hints", None)
    return hints.actions if hints else ()


def config_of(spec: Any) -> Any:
    """What the engine is like: before 0.26 among the settings of all of vLLM."""
    if hasattr(spec, "config"):
        return spec.config
    engine, parallel = spec.vllm_config, spec.vllm_config.parallel_config
    dtype = engine.cache_config.cache_dtype
    if dtype == "auto":  # that of the model, which is what later releases say then
        dtype = engine.model_config.dtype
    groups = zip(spec.gpu_block_size, spec.kv_cache_config.kv_cache_groups, strict=True)
    return SimpleNamespace(
        model=SimpleNamespace(name=engine.model_config.model, dtype=str(dtype).removeprefix("torch.")),
        cache=SimpleNamespace(tokens_per_hash=spec.hash_block_size, blocks_per_chunk=spec.block_size_factor),
        groups=[SimpleNamespace(tokens_per_block=size, layer_names=group.layer_names) for size, group in groups],
        parallel=SimpleNamespace(
            tp_size=parallel.tensor_parallel_size,
            pp_size=parallel.pipeline_parallel_size,
            pcp_size=parallel.prefill_context_parallel_size,
            dcp_size=parallel.decode_context_parallel_size,
            is_parallelism_agnostic=False,
        ),
    )


def is_replicated(config: Any) -> bool:
    """Whether all ranks have the same bytes, as far as vLLM says."""
    return bool(getattr(config, "replicated_layout", False))


def layout_of(config: Any) -> list[Any]:
    """How a chunk lies in memory. Where vLLM does not say all of it, only engines of the same release share."""
    layout = str(config.kv_cache_layout) if hasattr(config, "kv_cache_layout") else f"that of vLLM {_version()}"
    return [layout, is_replicated(config), getattr(config, "canonical_layout", False)]


__all__ = [
    "JobResult",
    "Locality",
    "LookupResult",
    "OffloadKey",
    "OffloadPolicy",
    "OffloadingConnectorStats",
    "OffloadingCounterMetadata",
    "OffloadingMetricMetadata",
    "ReqContext",
    "RequestOffloadingContext",
    "ScheduleEndContext",
    "SecondaryTierManager",
    "TransferJob",
    "base_arguments",
    "chunks_of",
    "config_of",
    "get_offload_block_hash",
    "get_offload_group_idx",
    "hint_of",
    "hinted_actions",
    "is_replicated",
    "layout_of",
    "result_of",
    "set_hint",
]
