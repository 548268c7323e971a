# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's AscendStoreConnector with its mooncake backend, or with kvpool's, in the vLLM that it extends.

Tensors are in the memory of an NPU where there is CANN, else in the host's.
"""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import Any

import msgspec
from ranks import RANKS
from stand_in import stand_in
from tensors import Event, install_torch
from vllm_engine import Vllm
from vllm_stand_ins import install_connector_base, install_vllm


class Encoder:
    def encode(self, value: object) -> list[bytes]:
        return [msgspec.msgpack.encode(value)]


class Decoder:
    def decode(self, frames: list[Any]) -> object:
        return msgspec.msgpack.decode(frames[0])


class Npu:
    """The first one, by CANN's runtime. That is the fake's here, whose memory can be read and written as the host's."""

    def __init__(self, libraries: str) -> None:
        self._acl = ctypes.CDLL(f"{libraries}/libascendcl.so", ctypes.RTLD_GLOBAL)
        self._acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        assert self._acl.aclInit(None) == 0
        self.select(0)

    def select(self, _: int) -> None:
        """For the calling thread. All ranks of an engine are in one process here, and share the NPU."""
        assert self._acl.aclrtSetDevice(0) == 0

    def memory(self, size: int) -> Any:
        start = ctypes.c_void_p()
        assert self._acl.aclrtMalloc(ctypes.byref(start), size, 0) == 0
        return (ctypes.c_char * size).from_address(start.value)


class VllmAscend(Vllm):
    split_caches = True
    pcp_deals_out = True

    def __init__(self, arguments: list[str], npu: Npu | None) -> None:
        if npu:
            self.memory = npu.memory
        super().__init__(arguments)

    def start_process(self) -> None:
        """Memory is registered once in the transfer engine of a process."""
        from vllm_ascend.distributed.kv_transfer.kv_pool.ascend_store.backend import mooncake_backend
        from vllm_ascend.distributed.kv_transfer.utils.mooncake_transfer_engine import GlobalTE

        mooncake_backend.global_te = GlobalTE()


def start(arguments: list[str]) -> VllmAscend:
    install_torch()
    libraries = os.environ.get("KVPOOL_ASCEND_LIBRARY_DIR")
    npu = Npu(libraries) if libraries else None
    stand_in("torch.npu", Event=Event, set_device=npu.select if npu else lambda _: None)
    install_vllm()
    install_connector_base()
    stand_in("vllm.distributed.parallel_state", get_world_group=lambda: SimpleNamespace(local_rank=0))
    stand_in("vllm.v1.serial_utils", MsgpackDecoder=Decoder, MsgpackEncoder=Encoder)
    stand_in("vllm_ascend.distributed.parallel_state", get_global_rank=lambda _: 0)
    stand_in(
        "vllm_ascend.distributed.utils",
        get_decode_context_model_parallel_rank=lambda: RANKS.dcp().rank_in_group,
        get_decode_context_model_parallel_world_size=lambda: RANKS.dcp().world_size,
    )
    from vllm.plugins import load_general_plugins
    from vllm_ascend.distributed.kv_transfer import register_connector

    load_general_plugins()
    register_connector()
    return VllmAscend([it for it in arguments if it not in ("vllm", "serve")], npu)
