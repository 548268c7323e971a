# SPDX-License-Identifier: Apache-2.0
"""Connectors of vLLM and vllm-ascend for prefill and decode, their own code, move the blocks of one engine to the other by
mooncake.engine: two processes with a worker for each rank. The memory of all decoding ranks is compared byte for byte."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import cann_stand_in
import pytest
from conftest import Engine, EngineFailed
from local_pool import LocalPool

TWO_HEADS, FOUR_HEADS = {"num_key_value_heads": 2}, {"num_key_value_heads": 4}
LATENT = {"kv_lora_rank": 32}
PROMPTS = [("transfer", {"prompt": prompt, "blocks": blocks}) for prompt, blocks in ((1, 6), (2, 1), (3, 20))]


def with_ranks(engine: Engine, prefill: dict[str, int], decode: dict[str, int], model: dict[str, int]) -> Engine:
    engine.process = dataclasses.replace(
        engine.process,
        arguments=[*engine.process.arguments, f"--hf-overrides={json.dumps(model)}"],
        environment=engine.process.environment | {"PREFILL": json.dumps(prefill), "DECODE": json.dumps(decode)},
    )
    return engine


@pytest.mark.parametrize(
    ("prefill", "decode", "model"),
    [
        pytest.param({"tp": 2}, {"tp": 2}, TWO_HEADS, id="the same shape"),
        pytest.param({"tp": 4}, {"tp": 2}, FOUR_HEADS, id="more ranks prefill than decode"),
        pytest.param({"tp": 1}, {"tp": 2}, TWO_HEADS, id="fewer ranks prefill than decode"),
        pytest.param({"tp": 2}, {"tp": 1}, LATENT, id="latents on each rank"),
        pytest.param({"tp": 2, "dcp": 2}, {"tp": 2, "dcp": 2}, LATENT, id="DCP on both sides"),
    ],
)
def test_vllm_writes_blocks_to_the_ranks_that_need_them(
    prefill: dict[str, int],
    decode: dict[str, int],
    model: dict[str, int],
    start_engine: Callable[..., Engine],
    pool: LocalPool,
) -> None:
    engine = with_ranks(start_engine("vllm", pool.masters, part="vllm_pd"), prefill, decode, model)
    # With DCP a rank that has no part of a prompt gets a block nevertheless, which nothing reads.
    prompts = [it for it in PROMPTS if it[1]["blocks"] % prefill.get("dcp", 1) == 0]

    assert engine.run(*prompts) == [True] * len(prompts)


def test_vllm_knows_no_pcp(start_engine: Callable[..., Engine], pool: LocalPool) -> None:
    """To its connector the second PCP rank is another worker with the first one's numbers."""
    engine = with_ranks(
        start_engine("vllm", pool.masters, part="vllm_pd"), {"tp": 1, "pcp": 2}, {"tp": 1}, {"num_key_value_heads": 1}
    )

    with pytest.raises(EngineFailed, match=r"mooncake_utils.py(.|\n)*Address already in use"):
        engine.run()


@pytest.mark.parametrize(
    ("prefill", "decode", "model"),
    [
        pytest.param({"tp": 2}, {"tp": 2}, TWO_HEADS, id="the same shape"),
        pytest.param({"tp": 4}, {"tp": 2}, TWO_HEADS, id="more ranks prefill than decode, which share heads"),
        pytest.param({"tp": 4}, {"tp": 2}, FOUR_HEADS, id="more ranks prefill than decode"),
        pytest.param({"tp": 4}, {"tp": 1}, FOUR_HEADS, id="one rank has the heads of four"),
        pytest.param({"tp": 2}, {"tp": 1}, LATENT, id="latents on each rank"),
        pytest.param({"tp": 2, "dcp": 2}, {"tp": 1}, LATENT, id="latents by DCP to one rank"),
        pytest.param({"tp": 2, "dcp": 2}, {"tp": 2, "dcp": 2}, LATENT, id="DCP on both sides"),
        pytest.param({"tp": 2, "pcp": 2}, {"tp": 2}, TWO_HEADS, id="PCP"),
        pytest.param({"tp": 2, "pcp": 2, "dcp": 2}, {"tp": 2, "dcp": 2}, LATENT, id="PCP and DCP to DCP"),
    ],
)
def test_vllm_ascend_reads_blocks_of_an_npu_by_cann(
    prefill: dict[str, int],
    decode: dict[str, int],
    model: dict[str, int],
    start_engine: Callable[..., Engine],
    pool: LocalPool,
    tmp_path: Path,
) -> None:
    started = start_engine("vllm-ascend", pool.masters, part="vllm_ascend_pd", golden="ascend-a2")
    engine = with_ranks(started, prefill, decode, model)
    ledger = tmp_path / "ledger"
    engine.process.environment.update(cann_stand_in.variables(ledger))

    assert engine.run(*PROMPTS) == [True] * len(PROMPTS)
    assert re.search(r"^\d+ \d+ \w*Transfer\w* 0\b", ledger.read_text(), re.MULTILINE), "by CANN, not by tcp"
