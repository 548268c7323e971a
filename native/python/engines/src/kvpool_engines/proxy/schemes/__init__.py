# SPDX-License-Identifier: Apache-2.0
"""How engines hand over the KV cache of a prompt, one class each. Nothing here does I/O."""

from __future__ import annotations

from kvpool_engines.proxy.schemes.ascend_layerwise import AscendLayerwise
from kvpool_engines.proxy.schemes.scheme import Scheme
from kvpool_engines.proxy.schemes.sglang import Sglang
from kvpool_engines.proxy.schemes.vllm_mooncake import VllmMooncake
from kvpool_engines.proxy.schemes.vllm_pull import AscendPull, VllmPull

# By the name that --scheme takes.
SCHEMES: dict[str, Scheme] = {
    "vllm-nixl": VllmPull(),
    "vllm-mooncake": VllmMooncake(),
    "ascend-pull": AscendPull(),
    "ascend-layerwise": AscendLayerwise(),
    "sglang": Sglang(),
}
