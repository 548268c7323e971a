# SPDX-License-Identifier: Apache-2.0
"""The plugins of kvpool-engines in the engines that load them: each engine's own base classes and loader, against a real pool."""

import functools
import json
import re
from collections.abc import Callable, Iterator

import cann_stand_in
import pytest
from conftest import Engine, EngineFailed
from local_pool import LocalPool, free_ports
from sources import ENGINES
from waiting import eventually

import kvpool
from manifests import ROOT, SMALLEST

BLOCKS = 12
LOOKUPS = 10
# Another process may have the processors for long; what takes longer than a limit is tested with a pool that stands still.
PATIENT = {"start_timeout": "30s", "lookup_timeout": "10s"}


def documented(engine: str) -> dict:
    """The configuration of the plugin in docs/engines."""
    page = (ROOT / f"docs/engines/{engine}.md").read_text(encoding="utf-8")
    [block] = [
        it for it in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "kvpool_engines" in it
    ]
    return json.loads(block)


def sglang(start_engine: Callable[..., Engine], masters: str, **settings: object) -> Engine:
    engine = start_engine("sglang", masters)
    extra = {**documented("sglang"), "masters": masters, **settings}
    arguments = [it for it in engine.process.arguments if not it.startswith("--hicache-storage-backend")]
    arguments += ["--hicache-storage-backend=dynamic", "--hicache-storage-backend-extra-config", json.dumps(extra)]
    engine.process.arguments[:] = arguments
    return engine


def vllm(start_engine: Callable[..., Engine], masters: str, release: str = "vllm", **settings: object) -> Engine:
    engine = start_engine("vllm", masters, part="vllm_tier", release=release)
    config = documented("vllm")
    config["kv_connector_extra_config"]["secondary_tiers"][0] |= {"masters": masters, **settings}
    engine.process.arguments[:] = ["--kv-transfer-config", json.dumps(config)]
    return engine


def lmcache(start_engine: Callable[..., Engine], masters: str, **settings: object) -> Engine:
    engine = start_engine("lmcache", masters, part="lmcache_server")
    adapter = documented("lmcache")
    adapter["adapter_params"] |= {"masters": masters, **settings}
    engine.process.arguments[:] = ["--l2-adapter", json.dumps(adapter)]
    return engine


# A release of each minor version of vLLM that has tiers.
OLDER = {name: functools.partial(vllm, release=name) for name in ENGINES if re.fullmatch(r"vllm-(least|0\.\d+)", name)}
vllm_least = OLDER["vllm-least"]
CURRENT = {"lmcache": lmcache, "sglang": sglang, "vllm": vllm}
PLUGINS = {**CURRENT, **OLDER}
with_older_releases = pytest.mark.parametrize("start_plugin", PLUGINS, indirect=True)


def vllm_ascend(
    start_engine: Callable[..., Engine], masters: str, golden: str = SMALLEST, **settings: object
) -> Engine:
    """With the backend that the plugin adds; `extra` is more of its kv_connector_extra_config."""
    engine = start_engine("vllm-ascend", masters, golden=golden)
    engine.process.environment["KVPOOL_PLUGIN_SETTINGS"] = json.dumps(settings)
    page = (ROOT / "docs/engines/vllm-ascend.md").read_text(encoding="utf-8")
    [config] = re.findall(r'^    --kv-transfer-config=([^#]*?"kvpool".*?)\n\n', page, re.MULTILINE | re.DOTALL)
    return with_config(engine, json.loads(config))


def with_config(engine: Engine, config: dict) -> Engine:
    arguments = [it for it in engine.process.arguments if not it.startswith("--kv-transfer-config")]
    engine.process.arguments[:] = [*arguments, f"--kv-transfer-config={json.dumps(config)}"]
    return engine


def retained(pool: LocalPool) -> int:
    """How often an object was retained since the pool's start."""
    [count] = re.findall(r"^kvpool_master_retained_total (\S+)$", pool.admin("/metrics"), re.MULTILINE)
    return int(float(count))


@pytest.fixture
def prompt(request: pytest.FixtureRequest) -> int:
    """A number that no other test has, nor has the next."""
    return 1000 + 2 * request.session.items.index(request.node)


@pytest.fixture(params=CURRENT)
def start_plugin(request: pytest.FixtureRequest, start_engine: Callable[..., Engine]) -> Callable[..., Engine]:
    """start_plugin(masters, SETTING=VALUE...): the engine with the plugin, as its documentation configures it."""
    return lambda masters, **settings: PLUGINS[request.param](start_engine, masters, **settings)


@with_older_releases
def test_another_process_finds_and_loads_what_one_saved(
    start_plugin: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = start_plugin(pool.masters, **PATIENT)
    blocks, longer = {"prompt": prompt, "blocks": BLOCKS}, {"prompt": prompt, "blocks": BLOCKS + 3}

    assert engine.run(("lookup", blocks), ("save", blocks), ("lookup", blocks)) == [0, None, BLOCKS]
    answers = engine.run(("lookup", longer), ("load", blocks), ("remove_all", {}), ("load", blocks), ("lookup", blocks))
    assert answers == [BLOCKS, [True] * BLOCKS, None, [False] * BLOCKS, 0]


@with_older_releases
def test_an_engine_starts_and_runs_without_its_pool(start_plugin: Callable[..., Engine], prompt: int) -> None:
    engine = start_plugin(f"127.0.0.1:{free_ports(1)}", start_timeout="100ms")
    blocks = {"prompt": prompt, "blocks": 2}

    answers = engine.run(("lookup", blocks), ("save", blocks), ("load", blocks), ("counts", {}))

    assert answers[:3] == [0, None, [False] * 2]
    assert answers[3]["lookups_skipped"] and answers[3]["keys_not_stored"] == 2


def test_a_pool_that_stands_still_is_a_miss_after_the_limit(
    start_plugin: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = start_plugin(pool.masters, start_timeout="30s", lookup_timeout="100ms", store_timeout="100ms")
    blocks = {"prompt": prompt, "blocks": 2}
    still = {"pids": list(pool.pids.values())}
    steps = [("freeze", still), *[("lookup", blocks)] * LOOKUPS, ("save", blocks), ("thaw", still), ("counts", {})]

    _, *found, saved, _, counts = engine.run(*steps)

    assert (found, saved) == ([0] * LOOKUPS, None)
    # Three that were made, and what waited behind these where lookups have a queue; then the pool is left alone.
    assert 3 <= counts["lookups_late"] <= 7, counts
    assert counts["lookups_late"] + counts["lookups_skipped"] == LOOKUPS, counts
    assert counts["keys_not_stored"] == 2


def test_wrong_settings_are_said_at_the_start(start_plugin: Callable[..., Engine], pool: LocalPool) -> None:
    with pytest.raises(EngineFailed, match=r"WrongSettings: .*lookup_timeot is no setting: write lookup_timeout"):
        start_plugin(pool.masters, lookup_timeot="1s").run()


def test_sglang_copies_no_pages(start_engine: Callable[..., Engine], pool: LocalPool) -> None:
    with pytest.raises(
        EngineFailed, match='interface_v1 is 0, so SGLang would copy each page: write "interface_v1": 1'
    ):
        sglang(start_engine, pool.masters, interface_v1=0).run()


def test_sglang_with_several_host_pools(start_engine: Callable[..., Engine], pool: LocalPool, prompt: int) -> None:
    engine = sglang(start_engine, pool.masters, **PATIENT)
    engine.run(("save_all", {"prompt": prompt, "blocks": 8, "windows": [0, 1, 2, 5]}))

    def lookup(hit_policy: str, trailing: int = 1) -> tuple[str, dict]:
        return ("lookup_all", {"prompt": prompt, "blocks": 9, "hit_policy": hit_policy, "trailing": trailing})

    assert engine.run(
        lookup("all_pages"), lookup("trailing_pages"), lookup("trailing_pages", 2), lookup("block_groups")
    ) == [
        [3, {"kv": 8, "mamba": 3}, [1, 2, 3]],
        [6, {"kv": 8, "mamba": 6}, [1, 2, 3, 6]],
        [3, {"kv": 8, "mamba": 3}, [1, 2, 3]],
        [8, {"kv": 8}, [1, 2, 3, 4, 5, 6, 7, 8]],
    ]
    assert engine.run(("load_all", {"prompt": prompt, "windows": [5, 6, 0]})) == [[True, False, True]]


def test_sglangs_pages_are_not_taken_for_others(start_engine: Callable[..., Engine], pool: LocalPool) -> None:
    [refusal] = sglang(start_engine, pool.masters, **PATIENT).run(("load_short", {"prompt": 0}))

    assert refusal == "host pool kv: 128 indices are not those of 4 pages"


def test_sglangs_ranks_share_what_is_the_same_on_all(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = sglang(start_engine, pool.masters, **PATIENT)
    blocks = ("lookup", {"prompt": prompt, "blocks": 2})

    def restart(rank: int, **config: object) -> tuple[str, dict]:
        return ("restart", {"tp_rank": rank, "tp_size": 2, **config})

    heads = engine.run(restart(0), ("save", blocks[1]), blocks, restart(1), blocks, ("restart", {}), blocks)
    latent = engine.run(
        restart(0, is_mla_model=True), blocks, ("save", blocks[1]), restart(1, is_mla_model=True), blocks
    )

    assert heads == [None, None, 2, None, 0, None, 0]
    assert latent == [None, 0, None, None, 2]


def test_sglang_engines_of_several_sizes_share_heads(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """tp_lcm_size: what one rank stores of all heads is what each of two ranks has."""
    engine = sglang(start_engine, pool.masters, **PATIENT)
    blocks = {"prompt": prompt, "blocks": 3}
    whole = ("restart", {"tp_lcm_size": 2, "should_split_heads": True})
    ranks = [[("restart", {"tp_rank": rank, "tp_size": 2, "tp_lcm_size": 2}), ("lookup", blocks)] for rank in (0, 1)]

    answers = engine.run(whole, ("save", blocks), ("lookup", blocks), ("load", blocks), *ranks[0], *ranks[1])

    assert answers == [None, None, 3, [True] * 3, None, 3, None, 3]


def test_sglang_empties_its_namespace(start_engine: Callable[..., Engine], pool: LocalPool, prompt: int) -> None:
    blocks = {"prompt": prompt, "blocks": 2}
    with kvpool.Client(pool.masters) as other:
        other.put("others/sglang/k", b"")
        engine = sglang(start_engine, pool.masters, namespace="mine-(1)/", **PATIENT)

        answers = engine.run(("save", blocks), ("clear", {}), ("lookup", blocks))

        assert answers == [None, True, 0]
        assert other.exists("others/sglang/k")


def test_vllm_is_told_what_could_not_be_loaded(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """And asks no more about it, where a tier that says that it is there would have it try for ever."""
    engine = vllm(start_engine, pool.masters, **PATIENT)
    blocks = {"prompt": prompt, "blocks": 4}
    engine.run(("save", blocks))

    [(results, loaded, again)] = engine.run(("load_what_goes", {**blocks, "masters": pool.masters}))

    assert (results, loaded, again) == ([[False, 0]], [False] * 4, ["MISS"] * 4)


def test_vllm_counts_the_pools_failures_in_its_metrics(start_engine: Callable[..., Engine], prompt: int) -> None:
    engine = vllm(start_engine, f"127.0.0.1:{free_ports(1)}", start_timeout="100ms")
    blocks = {"prompt": prompt, "blocks": 2}

    [_, _, metrics, none] = engine.run(("lookup", blocks), ("save", blocks), ("metrics", {}), ("metrics", {}))

    assert metrics == {"vllm:kv_offload_kvpool_lookups_skipped": 1, "vllm:kv_offload_kvpool_keys_not_stored": 2}
    assert none == {}


def test_vllms_requests_have_their_chunks_retained(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """By a request's transfer parameters or an orchestrator's hint; all chunks, also those that host memory has already."""
    before = retained(pool)
    engine = vllm(start_engine, pool.masters, retain_at_most="15m", **PATIENT)
    first, both = {"prompt": prompt, "blocks": 3}, {"prompt": prompt, "blocks": 5}
    action = {"action_type": "kvpool", "action_version": "1", "payload": {"retain": "10m"}}

    policies = engine.run(
        ("serve", {**first, "params": {"kvpool": {"release": True}}}),
        ("serve", {**both, "params": {"kvpool": {"retain": "10m"}}}),
        ("serve", {**first, "hint": action}),
        ("serve", {**first, "hint": {**action, "action_version": "2"}}),
        ("serve", {**first, "params": {"kvpool": {"retain": "for long"}}}),
        ("counts", {}),
    )

    counts = policies.pop()
    assert policies == ["REQUEST_LEVEL"] * 3 + ["CHUNK_LEVEL"] * 2
    assert (counts["keys_retained"], counts["keys_not_retained"]) == (8, 0)
    eventually(lambda: retained(pool) > before, "the master's metrics, which are a moment old, show it")
    assert "is {'retain': 'for long'}, which is ignored: write a whole number with a unit" in engine.log


def test_requests_have_their_chunks_retained_in_the_oldest_vllm(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = vllm_least(start_engine, pool.masters, retain_at_most="15m", **PATIENT)
    request = {"prompt": prompt, "blocks": 3, "params": {"kvpool": {"retain": "10m"}}}

    policy, counts = engine.run(("serve", request), ("counts", {}))

    assert (policy, counts["keys_retained"]) == ("REQUEST_LEVEL", 3)


def test_vllms_requests_have_no_say_unless_the_tier_lets_them(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = vllm(start_engine, pool.masters, **PATIENT)
    request = {"prompt": prompt, "blocks": 3, "params": {"kvpool": {"retain": "10m"}}}

    policy, counts = engine.run(("serve", request), ("counts", {}))

    assert policy == "CHUNK_LEVEL"
    assert counts["keys_stored"] == 3 and "keys_retained" not in counts


@pytest.mark.parametrize(
    ("release", "other", "shared"),
    [
        (vllm, {}, True),
        (vllm, {"tp_size": 2}, False),
        (vllm, {"tp_size": 2, "is_parallelism_agnostic": True}, True),
        (vllm, {"dtype": "bfloat16"}, False),
        (vllm, {"cache_dtype": "fp8"}, False),
        (vllm_least, {}, True),
        (vllm_least, {"tp_size": 2}, False),
        (vllm_least, {"dtype": "bfloat16"}, False),
        (vllm_least, {"cache_dtype": "fp8"}, False),
    ],
)
def test_vllm_engines_share_chunks_of_the_same_form(
    release: Callable[..., Engine],
    other: dict,
    shared: bool,
    start_engine: Callable[..., Engine],
    pool: LocalPool,
    prompt: int,
) -> None:
    engine = release(start_engine, pool.masters, **PATIENT)
    blocks = {"prompt": prompt, "blocks": 2}

    answers = engine.run(("save", blocks), ("restart", other), ("lookup", blocks))

    assert answers == [None, None, 2 if shared else 0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"locality": "NEAR"}, "locality is 'NEAR': write one of LOCAL, REMOTE"),
        ({"retain_at_most": "2h"}, "retain_at_most is '2h': write a whole number with a unit"),
        ({"retain_at_most": "61m"}, "retain_at_most is '61m': an hour at most"),
    ],
)
def test_vllms_tier_refuses_what_it_cannot_do(
    setting: dict, message: str, start_engine: Callable[..., Engine], pool: LocalPool
) -> None:
    with pytest.raises(EngineFailed, match=f"WrongSettings: .*{message}"):
        vllm(start_engine, pool.masters, **setting).run()


def test_lmcache_is_told_of_each_key_and_ends_each_batch(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = lmcache(start_engine, pool.masters, **PATIENT)
    stored, more = {"prompt": prompt, "blocks": 2}, {"prompt": prompt, "blocks": 4}

    assert engine.run(("save", stored), ("lookup_each", more), ("load", more)) == [
        None,
        [True, True, False, False],
        [True, True, False, False],
    ]


def test_lmcache_keeps_its_copy_of_what_could_not_be_stored(start_engine: Callable[..., Engine], prompt: int) -> None:
    engine = lmcache(start_engine, f"127.0.0.1:{free_ports(1)}", start_timeout="100ms")

    assert engine.run(("store", {"prompt": prompt, "blocks": 2})) == [False]


def test_lmcache_deletes(start_engine: Callable[..., Engine], pool: LocalPool, prompt: int) -> None:
    engine = lmcache(start_engine, pool.masters, **PATIENT)
    blocks = {"prompt": prompt, "blocks": 2}

    assert engine.run(("save", blocks), ("delete", blocks), ("lookup", blocks)) == [None, None, 0]


@pytest.fixture(scope="module")
def npus() -> Iterator[LocalPool]:
    started = LocalPool(protocols="ascend,tcp", variables=cann_stand_in.variables())
    yield started
    started.close()


@pytest.fixture(params=["host memory", "NPU memory"])
def start_ascend(
    request: pytest.FixtureRequest, start_engine: Callable[..., Engine], pool: LocalPool
) -> Iterator[Callable[..., Engine]]:
    """Tensors in host memory, which go by tcp; or in that of an NPU, from and to which the fake of CANN moves them."""
    if request.param == "host memory":
        yield lambda **settings: vllm_ascend(start_engine, pool.masters, **PATIENT, **settings)
        return
    npus = request.getfixturevalue("npus")

    moved = npus.node_metric("ascend_write_bytes_total")

    def start(**settings: object) -> Engine:
        engine = vllm_ascend(start_engine, npus.masters, golden="ascend-a2", **PATIENT, **settings)
        engine.process.environment.update(cann_stand_in.variables())
        return engine

    yield start
    assert npus.node_metric("ascend_write_bytes_total") > moved


def test_vllm_ascends_backend(start_ascend: Callable[..., Engine], prompt: int) -> None:
    engine = start_ascend()
    blocks, longer = {"prompt": prompt, "blocks": BLOCKS}, {"prompt": prompt, "blocks": BLOCKS + 3}

    assert engine.run(("lookup", blocks), ("save", blocks), ("lookup", blocks)) == [0, None, BLOCKS]
    answers = engine.run(("lookup", longer), ("lookup", blocks), ("load", blocks))
    assert answers == [BLOCKS, BLOCKS, [True] * BLOCKS]


def test_vllm_ascend_is_told_what_could_not_be_loaded(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    engine = vllm_ascend(start_engine, pool.masters, **PATIENT)
    blocks = {"prompt": prompt, "blocks": 4}

    answers = engine.run(("save", blocks), ("lookup", blocks), ("remove_all", {}), ("load", blocks), ("lookup", blocks))

    assert answers == [None, 4, None, [False] * 4, 0]


def test_vllm_ascend_starts_and_runs_without_its_pool(start_engine: Callable[..., Engine], prompt: int) -> None:
    engine = vllm_ascend(start_engine, f"127.0.0.1:{free_ports(1)}", start_timeout="100ms")
    blocks = {"prompt": prompt, "blocks": 2}

    assert engine.run(("lookup", blocks), ("save", blocks), ("lookup", blocks)) == [0, None, 0]
    assert "no pool, so nothing is found and nothing is kept" in engine.log


def test_vllm_ascend_engines_with_other_namespaces_share_nothing(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """Where the connector's own keys would be the same."""
    blocks = {"prompt": prompt, "blocks": 2}
    engine = vllm_ascend(start_engine, pool.masters, namespace="a/", **PATIENT)
    engine.run(("save", blocks))
    assert engine.run(("lookup", blocks)) == [2]

    engine.process.environment["KVPOOL_PLUGIN_SETTINGS"] = json.dumps({"namespace": "b/", **PATIENT})
    assert engine.run(("lookup", blocks)) == [0]


def test_vllm_ascend_layer_by_layer_does_without_the_pool(
    start_engine: Callable[..., Engine], pool: LocalPool, prompt: int
) -> None:
    """As it takes failed loads for successful."""
    engine = vllm_ascend(start_engine, pool.masters, **PATIENT)
    [given] = [it for it in engine.process.arguments if it.startswith("--kv-transfer-config=")]
    config = json.loads(given.partition("=")[2])
    config["kv_connector_extra_config"]["use_layerwise"] = True
    blocks = {"prompt": prompt, "blocks": 2}

    assert with_config(engine, config).run(("save", blocks), ("lookup", blocks)) == [None, 0]
    assert "leave use_layerwise out" in engine.log


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('{"lookup_timeot": "1s"}', "KVPOOL_PLUGIN_SETTINGS: lookup_timeot is no setting: write lookup_timeout"),
        ("namespace", "KVPOOL_PLUGIN_SETTINGS is no JSON"),
        ("[]", "KVPOOL_PLUGIN_SETTINGS is .*: write an object"),
    ],
)
def test_vllm_ascends_settings_are_checked_at_the_start(
    settings: str, message: str, start_engine: Callable[..., Engine], pool: LocalPool
) -> None:
    engine = vllm_ascend(start_engine, pool.masters)
    engine.process.environment["KVPOOL_PLUGIN_SETTINGS"] = settings

    with pytest.raises(EngineFailed, match=f"WrongSettings: .*{message}"):
        engine.run()
