# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's MooncakeConnector, by which a decoding engine reads the blocks of a prefilling one.

Both have tensors in the memory of an NPU, which is the fake of CANN here. What the NPU computes, in the kernel of vllm-ascend
that puts heads together where ranks decode more of them than prefilled, is done by the processor.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from ranks import RANKS, Rank
from stand_in import stand_in, unused
from tensors import Tensor, install_torch
from vllm_ascend_engine import Npu
from vllm_engine import LAYERS, TransferConfig, config_of
from vllm_pd_engine import Instance, PrefillAndDecode
from vllm_stand_ins import install_connector_base, install_vllm


def put_heads_together(
    keys: list[Tensor], values: list[Tensor], blocks: Tensor, size: int, heads: int, width: int, parts: int, layers: int
) -> None:
    """vllm-ascend's transpose_kv_cache_by_block: of a block's [part, token, heads of the part] it makes [token, part, ...]."""
    assert len(keys) == len(values) == layers
    for cache in [*keys, *values]:
        assert cache.shape[1:] == (size, heads, width)
        read = cache.array[blocks.array].reshape(len(blocks), parts, size, -1)
        cache.array[blocks.array] = read.swapaxes(1, 2).reshape(-1, size, heads, width)


def install_ascend(npu: Npu) -> None:
    """What the connector imports beside that of the store connector."""
    install_torch()
    stand_in("torch.npu", set_device=npu.select, current_device=lambda: 0)
    stand_in("torch.distributed")
    stand_in("torch.ops", _C_ascend=SimpleNamespace(transpose_kv_cache_by_block=put_heads_together))
    stand_in("torch_npu")
    install_vllm()
    install_connector_base()
    stand_in("vllm.distributed.kv_transfer.kv_connector.utils", BlockIds=tuple)
    stand_in("vllm.distributed.utils", get_pp_indices=lambda layers, *_: (0, layers))
    stand_in(
        "vllm.distributed.parallel_state",
        get_pp_group=lambda: SimpleNamespace(rank_in_group=0, world_size=1),
        get_tp_group=RANKS.tp,
        get_tensor_model_parallel_rank=lambda: RANKS.tp().rank_in_group,
        get_tensor_model_parallel_world_size=lambda: RANKS.tp().world_size,
    )
    stand_in("vllm.v1.request", RequestStatus=SimpleNamespace(FINISHED_LENGTH_CAPPED="length"), **unused("Request"))
    stand_in("vllm.v1.worker.utils", extract_layer_index=lambda name, _: int(name.split(".")[2]))
    stand_in("vllm_ascend.envs", VLLM_ASCEND_FUSION_OP_TRANSPOSE_KV_CACHE_BY_BLOCK=True)
    stand_in(
        "vllm_ascend.ascend_config",
        get_ascend_config=lambda: SimpleNamespace(enable_kv_nz=False),
        init_ascend_config=lambda _: None,
    )
    stand_in("vllm_ascend.utils", enable_sfa_dcp_replicated_indexer=lambda _: False, enable_custom_op=lambda: True)
    stand_in("vllm_ascend.distributed.parallel_state", **unused("get_p_tp_group"))
    stand_in(
        "vllm_ascend.distributed.utils",
        get_decode_context_model_parallel_rank=lambda: RANKS.dcp().rank_in_group,
        get_decode_context_model_parallel_world_size=lambda: RANKS.dcp().world_size,
    )


class AscendInstance(Instance):
    split_caches = True

    def install(self, port: int) -> None:
        npu = Npu(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"])
        self.memory = npu.memory
        install_ascend(npu)

    def connector(self) -> Any:
        from vllm_ascend.distributed.kv_transfer.kv_p2p import mooncake_connector
        from vllm_ascend.distributed.kv_transfer.utils.mooncake_transfer_engine import GlobalTE

        mooncake_connector.global_te = GlobalTE()
        return mooncake_connector.MooncakeConnector

    def config_of(self, rank: Rank, model: str, transfer: TransferConfig) -> Any:
        config = config_of(rank, model, transfer)
        parallel, named = config.parallel_config, config.model_config
        parallel.data_parallel_rank_local = 0
        parallel.data_parallel_size = parallel.data_parallel_size_local = 1
        named.is_deepseek_mla = named.use_mla
        named.get_total_num_hidden_layers = lambda: LAYERS
        named.hf_text_config.num_key_value_heads = rank.shape.heads
        named.hf_text_config.model_type = "model"
        return config

    def done(self, connector: Any) -> tuple[set[str], set[str]]:
        sent, received = connector.get_finished(set())
        return sent, received

    def shutdown(self) -> None:
        """Its threads end with the process."""


def start(arguments: list[str]) -> PrefillAndDecode:
    return PrefillAndDecode(AscendInstance, [it for it in arguments if it not in ("vllm", "serve")])
