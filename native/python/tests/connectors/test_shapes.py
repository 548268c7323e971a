# SPDX-License-Identifier: Apache-2.0
"""Engines of more than one rank: a worker for each, and prefill engines of another shape than the decode engines.

All tensors of all ranks are compared byte for byte. What the two shapes do not share is a miss or a failed load, which an engine
computes; it is never other bytes.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import cann_stand_in
import pytest
from conftest import Engine, EngineFailed
from local_pool import LocalPool

BLOCKS = 6
TWO_HEADS, FOUR_HEADS = {"num_key_value_heads": 2}, {"num_key_value_heads": 4}
LATENT = {"kv_lora_rank": 32}
ALL, NONE = [True] * BLOCKS, [False] * BLOCKS
SPOILS = {"spoils": True}


class Engines:
    """Engines of one kind that share a pool."""

    def __init__(self, manifest: Engine) -> None:
        self._manifest = manifest

    def configured(self, **extra: int) -> Engines:
        """The same, with more in `kv_connector_extra_config`."""
        engine, process = copy.copy(self._manifest), self._manifest.process
        [given] = [it for it in process.arguments if it.startswith("--kv-transfer-config=")]
        config = json.loads(given.partition("=")[2])
        config["kv_connector_extra_config"] = {**config.get("kv_connector_extra_config", {}), **extra}
        flag = f"--kv-transfer-config={json.dumps(config)}"  # the last one counts
        engine.process = dataclasses.replace(process, arguments=[*process.arguments, flag])
        return Engines(engine)

    def of(self, tp: int, *, pcp: int = 1, dcp: int = 1, block_size: int = 16, model: dict[str, int]) -> Engine:
        """One with these ranks. `model` is what the model's own configuration says."""
        flags = [f"--tensor-parallel-size={tp}", f"--prefill-context-parallel-size={pcp}"]
        flags += [f"--decode-context-parallel-size={dcp}", f"--block-size={block_size}"]
        flags.append(f"--hf-overrides={json.dumps(model)}")
        engine, process = copy.copy(self._manifest), self._manifest.process
        engine.process = dataclasses.replace(process, arguments=[*process.arguments, *flags])
        return engine


@pytest.fixture
def vllm(start_engine: Callable[..., Engine], pool: LocalPool) -> Engines:
    return Engines(start_engine("vllm", pool.masters))


@pytest.fixture
def ascend_by_tcp(start_engine: Callable[..., Engine], pool: LocalPool) -> Engines:
    """Tensors in host memory."""
    return Engines(start_engine("vllm-ascend", pool.masters))


@pytest.fixture(scope="module")
def npus() -> Iterator[LocalPool]:
    started = LocalPool(protocols="ascend,tcp", variables=cann_stand_in.variables())
    yield started
    started.close()


@pytest.fixture
def ascend_by_cann(start_engine: Callable[..., Engine], npus: LocalPool, tmp_path: Path) -> Iterator[Engines]:
    """Tensors in the memory of NPUs, from and to which CANN moves them: the fake of native/test/ascend/fake."""
    engine = start_engine("vllm-ascend", npus.masters, golden="ascend-a2")
    ledger = tmp_path / "ledger"
    engine.process.environment.update(cann_stand_in.variables(ledger))
    moved = npus.node_metric("ascend_write_bytes_total")
    yield Engines(engine)
    assert npus.node_metric("ascend_write_bytes_total") > moved
    assert re.search(r"^\d+ \d+ aclrtMemcpyBatchAsync 0\b", ledger.read_text(), re.MULTILINE), "from an NPU's memory"


@pytest.fixture(params=["ascend_by_tcp", "ascend_by_cann"])
def ascend(request: pytest.FixtureRequest) -> Engines:
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["vllm", "ascend_by_tcp", "ascend_by_cann"])
def engines(request: pytest.FixtureRequest) -> Engines:
    return request.getfixturevalue(request.param)


@pytest.fixture
def prompt(request: pytest.FixtureRequest) -> dict[str, int]:
    """One that no other test has."""
    return {"prompt": 1000 + 2 * request.session.items.index(request.node), "blocks": BLOCKS}


def test_prefill_has_more_ranks_than_decode_and_heads(engines: Engines, prompt: dict[str, int]) -> None:
    """Ranks of prefill hold the same head two by two, and each stores half of the blocks."""
    engines.of(4, model=TWO_HEADS).run(("save", prompt))

    assert engines.of(2, model=TWO_HEADS).run(("lookup", prompt), ("load", prompt)) == [BLOCKS, ALL]


def test_one_latent_is_on_all_ranks(engines: Engines, prompt: dict[str, int]) -> None:
    engines.of(2, model=LATENT).run(("save", prompt))

    assert engines.of(1, model=LATENT).run(("lookup", prompt), ("load", prompt)) == [BLOCKS, ALL]


def test_ranks_with_other_numbers_of_heads_share_nothing(engines: Engines, prompt: dict[str, int]) -> None:
    """Keys name the rank and not its heads: two ranks find what two of four stored, which is half of what they need."""
    other = {**prompt, "prompt": prompt["prompt"] + 1}
    engines.of(4, model=FOUR_HEADS).run(("save", prompt))

    two = engines.of(2, model=FOUR_HEADS).run(("lookup", prompt), ("load", prompt | SPOILS), ("save", other))
    four = engines.of(4, model=FOUR_HEADS).run(("lookup", prompt), ("load", prompt), ("lookup", other))

    assert two == [BLOCKS, NONE, None]
    assert four == [BLOCKS, ALL, 0]


def test_decode_context_parallelism(engines: Engines, prompt: dict[str, int]) -> None:
    """Each rank has half of the tokens of a block, and one that lost its half fails the block."""
    lost = ("remove", {"pattern": "@dcp1@"})
    answers = engines.of(2, dcp=2, model=LATENT).run(
        *(("save", prompt), ("lookup", prompt), ("load", prompt), ("lookup", prompt), lost, ("load", prompt))
    )
    assert answers == [None, BLOCKS, ALL, BLOCKS, None, NONE]


def test_vllm_with_a_tensor_parallelism_of_the_store(vllm: Engines, prompt: dict[str, int]) -> None:
    """`store_tp_size`: an object for each of so many parts of the heads, of which two ranks read two each."""
    engines = vllm.configured(store_tp_size=4)
    engines.of(4, model=FOUR_HEADS).run(("save", prompt))

    assert engines.of(2, model=FOUR_HEADS).run(("lookup", prompt), ("load", prompt)) == [BLOCKS, ALL]


def test_vllm_has_all_tokens_on_each_rank_of_prefill_context_parallelism(vllm: Engines, prompt: dict[str, int]) -> None:
    """So one rank alone reads what two stored, but not the other way round: each looks for a copy of its own."""
    other = {**prompt, "prompt": prompt["prompt"] + 1}
    two = vllm.of(1, pcp=2, model=TWO_HEADS)
    two.run(("save", prompt))

    assert vllm.of(1, model=TWO_HEADS).run(("lookup", prompt), ("load", prompt), ("save", other)) == [BLOCKS, ALL, None]
    assert two.run(("lookup", prompt), ("load", prompt), ("lookup", other)) == [BLOCKS, ALL, 0]


def test_vllm_ascend_deals_tokens_out_to_both_kinds_of_context_parallelism(
    ascend: Engines, prompt: dict[str, int]
) -> None:
    """Four ranks with a quarter of the tokens each. With fewer ranks, blocks have other tokens, or other bytes."""
    steps = (("save", prompt), ("lookup", prompt), ("load", prompt))
    assert ascend.of(2, pcp=2, dcp=2, model=LATENT).run(*steps) == [None, BLOCKS, ALL]

    assert ascend.of(2, dcp=2, model=LATENT).run(("lookup", prompt)) == [0]
    larger_blocks = ascend.of(2, dcp=2, block_size=32, model=LATENT)
    assert larger_blocks.run(("lookup", prompt), ("load", prompt | SPOILS)) == [BLOCKS, NONE]


def test_vllm_ascend_layer_by_layer(ascend: Engines, prompt: dict[str, int]) -> None:
    """An object for each layer. Of ranks that share a head only the first stores its part of the blocks."""
    engines = ascend.configured(use_layerwise=True)
    engines.of(4, model=TWO_HEADS).run(("save", prompt))

    other = {**prompt, "prompt": prompt["prompt"] + 1}
    first = {**prompt, "blocks": 1}
    answers = engines.of(2, model=TWO_HEADS).run(
        *(("lookup", prompt), ("load", first), ("save", other), ("lookup", other), ("load", other))
    )
    assert answers == [1, [True], None, BLOCKS, ALL]


def test_vllm_ascend_layer_by_layer_takes_failed_loads_for_loaded(ascend: Engines, prompt: dict[str, int]) -> None:
    """The connector drops what the store answers, so that blocks of another shape, or lost ones, are other bytes."""
    engines = ascend.configured(use_layerwise=True)
    engines.of(4, model=FOUR_HEADS).run(("save", prompt))

    with pytest.raises(EngineFailed, match="AssertionError: rank 0, tensor 0"):
        engines.of(2, model=FOUR_HEADS).run(("lookup", prompt), ("load", prompt | SPOILS))


def test_sglang_ranks_with_other_numbers_of_heads_share_nothing(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: dict[str, int]
) -> None:
    """Its keys name the rank only, and it takes any positive length for a whole page: one rank would read half of each."""
    engine = start_engine("sglang", pool.masters)
    ranks = [("restart", {"tp_rank": rank, "tp_size": 2}) for rank in (0, 1)]
    other = {**prompt, "prompt": prompt["prompt"] + 1}

    engine.run(ranks[0], ("save", prompt), ranks[1], ("save", prompt))
    one = engine.run(("lookup", prompt), ("load", prompt | SPOILS), ("save", other))
    two = engine.run(
        ranks[0], ("load", prompt), ("lookup", other), ("load", other | SPOILS), ranks[1], ("load", prompt)
    )

    assert one == [BLOCKS, NONE, None]
    assert two == [None, ALL, BLOCKS, NONE, None, ALL]


def test_sglang_engines_of_other_shapes_with_a_tag_each(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: dict[str, int]
) -> None:
    """Where there are more ranks than heads, pages of one key and length are of other heads, which no store can see."""
    engine = start_engine("sglang", pool.masters)

    def rank(tp_rank: int, tp_size: int, **extra: str) -> tuple[str, dict]:
        return ("restart", {"tp_rank": tp_rank, "tp_size": tp_size, "extra_config": extra})

    engine.run(rank(1, 4), ("save", prompt))
    assert engine.run(rank(1, 2, extra_backend_tag="tp2"), ("lookup", prompt)) == [None, 0]
    with pytest.raises(
        EngineFailed, match="AssertionError: what was not loaded is untouched, and the rest is what was"
    ):
        engine.run(rank(1, 2), ("load", prompt))
