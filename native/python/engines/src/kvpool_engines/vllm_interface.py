# SPDX-License-Identifier: Apache-2.0
"""vLLM's interface of secondary tiers, which differs from release to release: what this one has is decided here and nowhere else.

By what is there, not by the version's number, so that builds between two releases are taken for what they are.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import inspect
from collections.abc import Iterable
from typing import Any

LEAST = "0.27.1"


def _version() -> str:
    try:
        return importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"


try:
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics import OffloadingConnectorStats
    from vllm.v1.kv_offload.base import (
        Locality,
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

    if not hasattr(ReqContext, "get_state"):
        raise ImportError("ReqContext has no get_state")
except ImportError as missing:
    raise ImportError(
        f"kvpool's tier needs vLLM {LEAST} or later, and this is vLLM {_version()}: {missing}. "
        f"Install vllm>={LEAST}, or use MooncakeStoreConnector or LMCache with this one"
    ) from missing

TransferJob = Any
"""Called JobMetadata before 0.28."""

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


def hinted_actions(request: ReqContext) -> Iterable[Any]:
    """The actions of the request's KV hints, which there are from 0.31 on."""
    hints = getattr(request, "kv_hints", None)
    return hints.actions if hints else ()


def layout_of(config: Any) -> list[Any]:
    """How a chunk lies in memory. Where vLLM does not say all of it, only engines of the same release share."""
    layout = str(config.kv_cache_layout) if hasattr(config, "kv_cache_layout") else f"that of vLLM {_version()}"
    return [layout, config.replicated_layout, getattr(config, "canonical_layout", False)]


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
    "get_offload_block_hash",
    "get_offload_group_idx",
    "hinted_actions",
    "layout_of",
    "result_of",
]
