# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's AscendStoreConnector with its mooncake backend, in the vLLM that it extends; tensors are in host memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
from stand_in import stand_in
from tensors import Event, install_torch
from vllm_engine import KvCaches, Vllm, config_of
from vllm_stand_ins import install_vllm


class Encoder:
    def encode(self, value: object) -> list[bytes]:
        return [msgspec.msgpack.encode(value)]


class Decoder:
    def decode(self, frames: list[Any]) -> object:
        return msgspec.msgpack.decode(frames[0])


def start(arguments: list[str]) -> Vllm:
    install_torch()
    stand_in("torch.npu", Event=Event, set_device=lambda _: None)
    install_vllm()
    stand_in("vllm.distributed.parallel_state", get_world_group=lambda: SimpleNamespace(local_rank=0))
    stand_in("vllm.v1.serial_utils", MsgpackDecoder=Decoder, MsgpackEncoder=Encoder)
    stand_in("vllm_ascend.distributed.parallel_state", get_global_rank=lambda _: 0)
    stand_in(
        "vllm_ascend.distributed.utils",
        get_decode_context_model_parallel_rank=lambda: 0,
        get_decode_context_model_parallel_world_size=lambda: 1,
    )
    from vllm_ascend.distributed.kv_transfer import register_connector

    register_connector()
    return Vllm(config_of([it for it in arguments if it not in ("vllm", "serve")]), KvCaches(split=True))
