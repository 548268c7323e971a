# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend: a backend of AscendStoreConnector, which kvpool_engines.vllm_plugin adds to its backends.

    "kv_connector_extra_config": {"backend": "kvpool", "lookup_rpc_port": "0"}

vllm-ascend gives a backend nothing but the shape of the engine, so that settings come from the environment alone. It moves bytes
in threads of its own; its scheduler waits for lookups, each for lookup_timeout at most.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from typing import Any

import torch
from vllm.distributed.parallel_state import get_world_group
from vllm_ascend.distributed.kv_transfer.kv_pool.ascend_store.backend.backend import Backend

from kvpool_engines.pool import Pool
from kvpool_engines.quiet_log import QuietLog
from kvpool_engines.settings import Settings, WrongSettings, read_settings

VARIABLE = "KVPOOL_PLUGIN_SETTINGS"
_LOADED, _FAILED = 0, -1
_OF_A_LAYER = "@layer_id:"

logger = logging.getLogger("vllm.kvpool")  # below the one that vLLM shows


class KvpoolBackend(Backend):
    """A pool for the blocks of one rank."""

    def __init__(self, parallel_config: Any, lazy_init: bool = False, looks_up_only: bool = False) -> None:
        """`lazy_init` changes nothing: an engine starts without its pool anyway."""
        settings = _settings()
        if looks_up_only:
            # Lookups ask masters alone, and an NPU belongs to a worker.
            settings = dataclasses.replace(settings, protocols=("tcp",))
        self._begin = settings.namespace
        self._log = QuietLog(logger)
        self._pool = Pool(settings, logger, prepare=None if looks_up_only else self.set_device)

    @classmethod
    def create_scheduler_client(cls, parallel_config: Any) -> KvpoolBackend:
        return cls(parallel_config, looks_up_only=True)

    def set_device(self) -> None:
        """For the calling thread."""
        torch.npu.set_device(torch.device(f"npu:{get_world_group().local_rank}"))

    def register_buffer(self, ptrs: list[int], lengths: list[int]) -> None:
        for address, length in zip(ptrs, lengths, strict=True):
            self._pool.register(address, length)

    def exists(self, keys: list[str]) -> list[int]:
        if self._are_layers(keys):
            return [0] * len(keys)
        return [int(there) for there in self._pool.present(self._named(keys))]

    def put(self, keys: list[str], addrs: list[list[int]], sizes: list[list[int]]) -> None:
        if not self._are_layers(keys):
            self._pool.store(self._named(keys), addrs, sizes)

    def get(self, keys: list[str], addrs: list[list[int]], sizes: list[list[int]]) -> list[int]:
        """An answer for each key whatever became of it: what vllm-ascend hears nothing of it takes for loaded."""
        loaded = self._pool.load(self._named(keys), addrs, sizes)
        return [_LOADED if there else _FAILED for there in loaded]

    def _named(self, keys: list[str]) -> list[str]:
        return [f"{self._begin}{key}" for key in keys]

    def _are_layers(self, keys: list[str]) -> bool:
        """With use_layerwise vllm-ascend takes each load for successful, and computes with what was in a block that was not
        loaded. So nothing is stored, and nothing found."""
        if not keys or _OF_A_LAYER not in keys[0]:
            return False
        self._log.warn("layers", "use_layerwise ignores failed loads, so the pool is not used: leave use_layerwise out")
        return True


def _settings() -> Settings:
    text = os.environ.get(VARIABLE, "") or "{}"
    where = f"environment variable {VARIABLE}"
    try:
        given = json.loads(text)
    except json.JSONDecodeError as problem:
        raise WrongSettings(f"{where} is no JSON: {problem}") from None
    if not isinstance(given, dict):
        raise WrongSettings(f'{where} is {text!r:.100}: write an object, for example {{"namespace": "a/"}}')
    return read_settings(given, os.environ, where)
