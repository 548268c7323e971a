# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeConnector, its own code, moves the blocks of a prefilling engine to a decoding one by mooncake.engine: two
processes with a worker for each rank. The memory of all decoding ranks is compared byte for byte."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest
from conftest import Engine
from local_pool import LocalPool

TWO_HEADS, FOUR_HEADS = {"num_key_value_heads": 2}, {"num_key_value_heads": 4}
LATENT = {"kv_lora_rank": 32}


@pytest.mark.parametrize(
    ("prefill_tp", "decode_tp", "model"),
    [
        pytest.param(2, 2, TWO_HEADS, id="the same shape"),
        pytest.param(4, 2, FOUR_HEADS, id="more ranks prefill than decode"),
        pytest.param(1, 2, TWO_HEADS, id="fewer ranks prefill than decode"),
        pytest.param(2, 1, LATENT, id="latents on each rank"),
    ],
)
def test_blocks_come_from_the_ranks_that_have_them(
    prefill_tp: int, decode_tp: int, model: dict[str, int], start_engine: Callable[..., Engine], pool: LocalPool
) -> None:
    engine = start_engine("vllm", pool.masters, part="vllm_pd")
    engine.process = dataclasses.replace(
        engine.process,
        arguments=[*engine.process.arguments, f"--hf-overrides={json.dumps(model)}"],
        environment=engine.process.environment | {"PREFILL_TP": str(prefill_tp), "DECODE_TP": str(decode_tp)},
    )

    prompts = [("transfer", {"prompt": prompt, "blocks": blocks}) for prompt, blocks in ((1, 6), (2, 1), (3, 20))]

    assert engine.run(*prompts) == [True] * 3
