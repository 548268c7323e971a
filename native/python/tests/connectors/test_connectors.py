# SPDX-License-Identifier: Apache-2.0
"""What each engine does with blocks of its KV cache, started as its file in manifests/engines says."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import Engine, EngineFailed
from local_pool import LocalPool, free_ports

ENGINES = ["sglang", "vllm"]
BLOCKS = 12


@pytest.fixture(params=ENGINES)
def manifest(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def engine(manifest: str, start_engine: Callable[..., Engine], pool: LocalPool) -> Engine:
    return start_engine(manifest, pool.masters)


@pytest.fixture
def prompt(request: pytest.FixtureRequest) -> int:
    """A number that no other test has."""
    return request.session.items.index(request.node) + 1


def test_another_process_finds_and_loads_what_one_saved(engine: Engine, prompt: int) -> None:
    blocks = {"prompt": prompt, "blocks": BLOCKS}

    assert engine.run(("lookup", blocks), ("save", blocks), ("lookup", blocks)) == [0, None, BLOCKS]
    assert engine.run(("lookup", blocks), ("load", blocks)) == [BLOCKS, [True] * BLOCKS]


def test_bytes_go_by_tcp_where_the_pool_says_so(engine: Engine, pool: LocalPool, prompt: int) -> None:
    """As a pool has it whose TransferEngine has `protocols: [tcp]`, and as pods have it that share no directory with a node."""
    engine.process.environment["KVPOOL_PROTOCOLS"] = "tcp"
    blocks = {"prompt": prompt, "blocks": BLOCKS}
    written, read = pool.node_metric("write_bytes_total"), pool.node_metric("read_bytes_total")

    assert engine.run(("save", blocks)) == [None]
    assert engine.run(("lookup", blocks), ("load", blocks)) == [BLOCKS, [True] * BLOCKS]

    assert pool.node_metric("write_bytes_total") - written >= BLOCKS << 10
    assert pool.node_metric("read_bytes_total") - read >= BLOCKS << 10


def test_a_longer_prompt_finds_the_part_that_was_saved(engine: Engine, prompt: int) -> None:
    engine.run(("save", {"prompt": prompt, "blocks": 5}))

    found, loaded = engine.run(
        ("lookup", {"prompt": prompt, "blocks": BLOCKS}), ("load", {"prompt": prompt, "blocks": 5})
    )

    assert (found, loaded) == (5, [True] * 5)


def test_blocks_that_go_between_lookup_and_load_are_misses(engine: Engine, prompt: int) -> None:
    blocks = {"prompt": prompt, "blocks": BLOCKS}
    engine.run(("save", blocks))

    answers = engine.run(("lookup", blocks), ("remove_all", {}), ("load", blocks), ("lookup", blocks))

    assert answers == [BLOCKS, None, [False] * BLOCKS, 0]


def test_an_engine_that_reaches_no_master_says_so(start_engine: Callable[..., Engine]) -> None:
    """It does not start, or finds nothing. All at the same time, as each waits ten seconds."""
    address = f"127.0.0.1:{free_ports(1)}"
    engines = [start_engine(name, address) for name in ENGINES]

    def outcome(engine: Engine) -> tuple[str, list | None]:
        try:
            answers = engine.run(("lookup", {"prompt": 1, "blocks": 1}))
        except EngineFailed:
            answers = None
        return engine.log, answers

    with ThreadPoolExecutor() as threads:
        for log, answers in threads.map(outcome, engines):
            assert f"masters {address}" in log
            assert answers in (None, [0]), log
