# SPDX-License-Identifier: Apache-2.0
"""What vLLM's store connector imports of the rest of vLLM: ranks of one process, no model, no multimodal input, no metrics."""

import logging
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

from ranks import RANKS
from stand_in import stand_in, unused
from tensors import Tensor


class Logger(logging.Logger):
    info_once, warning_once, debug_once = logging.Logger.info, logging.Logger.warning, logging.Logger.debug


def _logger(name: str) -> Logger:
    logger = Logger(name, logging.INFO)
    logger.addHandler(logging.StreamHandler())
    return logger


@dataclass
class KVConnectorStats:
    data: dict[str, Any] = field(default_factory=dict)


def _not_multimodal(*_: object, **__: object) -> None:
    raise NotImplementedError("no request of these tests has multimodal input")


def _is_non_overlapping_and_dense(tensor: Tensor) -> bool:
    array = tensor.array
    return array.transpose(sorted(range(array.ndim), key=lambda it: -array.strides[it])).flags.c_contiguous


def install_vllm() -> None:
    stand_in("vllm.logger", init_logger=_logger, logger=_logger("vllm"))
    stand_in(
        "vllm.config",
        get_current_vllm_config_or_none=lambda: None,
        **unused("KVTransferConfig", "ModelConfig", "ParallelConfig", "VllmConfig"),
    )
    stand_in("vllm.platforms", current_platform=SimpleNamespace(register_custom_kv_cache_specs=lambda _: None))
    stand_in("vllm.config.kv_events", **unused("KVEventsConfig"))
    stand_in("vllm.config.kv_transfer", **unused("KVTransferConfig"))
    stand_in("vllm.config.ec_manager_config", **unused("EncoderCacheManagerMetadata"))
    stand_in(
        "vllm.distributed",
        get_dcp_group=RANKS.dcp,
        get_pcp_group=RANKS.pcp,
        get_tensor_model_parallel_rank=lambda: RANKS.tp().rank_in_group,
        get_tensor_model_parallel_world_size=lambda: RANKS.tp().world_size,
    )
    stand_in(
        "vllm.distributed.kv_transfer.kv_connector.v1.metrics",
        KVConnectorStats=KVConnectorStats,
        PromMetricT=TypeVar("PromMetricT"),
        **unused("KVConnectorPromMetrics", "PromMetric"),
    )
    stand_in("vllm.forward_context", **unused("ForwardContext"))
    stand_in("vllm.compilation.cuda_graph", **unused("CUDAGraphStat"))
    stand_in("vllm.multimodal.utils", get_mm_features_in_window=_not_multimodal, strip_covered_mm_data=_not_multimodal)
    stand_in("vllm.utils.mem_utils", **unused("format_gib"))
    stand_in(
        "vllm.utils.torch_utils",
        PIN_MEMORY=False,
        get_dtype_size=lambda dtype: dtype.itemsize,
        is_non_overlapping_and_dense=_is_non_overlapping_and_dense,
        **unused("nvfp4_kv_cache_full_dim"),
    )
    stand_in("vllm.v1.attention.backend", **unused("AttentionBackend", "AttentionMetadata"))
    stand_in("vllm.v1.attention.backends.registry", MambaAttentionBackendEnum=SimpleNamespace(MAMBA2="mamba2"))
    stand_in("vllm.v1.attention.backends.utils", NULL_BLOCK_ID=0)
    stand_in("vllm.v1.metrics.stats", **unused("KVCacheEvictionEvent", "PrefixCacheStats"))
    stand_in("vllm.v1.request", **unused("Request", "RequestStatus"))
    stand_in("vllm.v1.utils", **unused("tensor_data"))


def install_connector_base() -> None:
    """After install_vllm(): the base class of connectors. Its own __init__ also loads a connector for benchmarks."""
    v1 = stand_in("vllm.distributed.kv_transfer.kv_connector.v1")
    from vllm.distributed.kv_transfer.kv_connector.v1 import base

    v1.KVConnectorBase_V1, v1.KVConnectorRole, v1.supports_hma = (
        base.KVConnectorBase_V1,
        base.KVConnectorRole,
        base.supports_hma,
    )
