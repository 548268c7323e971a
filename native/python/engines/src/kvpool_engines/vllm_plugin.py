# SPDX-License-Identifier: Apache-2.0
"""vLLM's entry point `vllm.general_plugins`: makes kvpool known by name where a configuration cannot name a module.

vLLM calls register() in each of its processes, with any model and connector. It never raises: where the engine has no such door,
or another one, a line in the log says so, and what was there before works as before.
"""

from __future__ import annotations

import importlib.util
import logging
from importlib import import_module

BACKENDS = "vllm_ascend.distributed.kv_transfer.kv_pool.ascend_store.backend"
BACKEND, BACKEND_CLASS = "kvpool", {"name": "KvpoolBackend", "path": "kvpool_engines.vllm_ascend"}
TIER = ("KvpoolTier", "kvpool_engines.vllm", "KvpoolTier")
"""Type, module and class of the tier."""

# Below vLLM's own logger, which alone it shows: of others it drops lines of level INFO.
logger = logging.getLogger("vllm.kvpool")


def register() -> None:
    try:
        # vllm-ascend has an OffloadingConnector of its own, without tiers.
        said = _add_backend() if importlib.util.find_spec("vllm_ascend") else _register_tier()
        logger.info("kvpool: %s", said)
    except Exception as problem:  # whatever it is, the engine works without the pool
        logger.warning("kvpool: the engine has no place for it: %s: %s", type(problem).__name__, problem)


def _register_tier() -> str:
    """Before 0.28 this is the only way; later ones find the tier by `module_path` too."""
    factory = import_module("vllm.v1.kv_offload.tiering.factory").SecondaryTierFactory
    if TIER[0] not in factory._registry:
        factory.register_tier(*TIER)
    return f"{TIER[0]} is a type of secondary_tiers"


def _add_backend() -> str:
    """Its table of backends has no other way in. Worker and scheduler import what it names."""
    import_module(BACKENDS).backend_map.setdefault(BACKEND, BACKEND_CLASS)
    return f"{BACKEND} is a backend of AscendStoreConnector"
