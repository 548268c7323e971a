# SPDX-License-Identifier: Apache-2.0
"""What each engine does with blocks of its KV cache, started as its file in manifests/engines says."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Engine, EngineFailed
from local_pool import LocalPool, free_ports

ENGINES = ["lmcache", "sglang", "vllm", "vllm-ascend"]
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


def test_lmcache_that_keeps_what_chunks_are_beside_their_bytes(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """Its default: values of two parts, read into buffers of the store's."""
    engine = start_engine("lmcache", pool.masters)
    config = Path(engine.process.environment["LMCACHE_CONFIG_FILE"])
    config.write_text(config.read_text().replace("save_chunk_meta: false", "save_chunk_meta: true"))
    blocks = {"prompt": prompt, "blocks": BLOCKS}

    engine.run(("save", blocks))

    assert engine.run(("lookup", blocks), ("load", blocks)) == [BLOCKS, [True] * BLOCKS]
    assert engine.run(("remove_all", {}), ("load", blocks), ("lookup", blocks)) == [None, [False] * BLOCKS, 0]


def test_vllm_ascend_runs_over_tcp_on_purpose(start_engine: Callable[..., Engine], pool: LocalPool) -> None:
    """It knows no protocol but ascend, and the operator's ConfigMap says what to use instead; without that it does not start."""
    engine = start_engine("vllm-ascend", pool.masters)
    engine.run()
    assert "'ascend' is asked for, and tcp is used on purpose" in engine.log

    del engine.process.environment["KVPOOL_PROTOCOL_OVERRIDE"]
    with pytest.raises(EngineFailed, match="KVPOOL_PROTOCOL_OVERRIDE=tcp"):
        engine.run()


def test_an_engine_that_reaches_no_master_says_so(start_engine: Callable[..., Engine]) -> None:
    """LMCache goes on and takes -600 for a hit, as it does with the reference, but says that the load failed; the others do not
    start. All at the same time, as each waits twenty seconds."""
    address = f"127.0.0.1:{free_ports(1)}"
    engines = {name: start_engine(name, address) for name in ENGINES}

    def outcome(name: str) -> list | None:
        try:
            return engines[name].run(("load", {"prompt": 1, "blocks": 1}))
        except EngineFailed:
            return None

    with ThreadPoolExecutor() as threads:
        outcomes = dict(zip(engines, threads.map(outcome, engines), strict=True))

    assert outcomes == {"lmcache": [[False]], "sglang": None, "vllm": None, "vllm-ascend": None}
    assert "(code=-600)" in engines["lmcache"].log
    for engine in engines.values():
        assert f"masters {address}" in engine.log
