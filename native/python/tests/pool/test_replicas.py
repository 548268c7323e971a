# SPDX-License-Identifier: Apache-2.0
"""Where the copies of objects are, as engines ask."""

import json
import random
import urllib.parse
from pathlib import Path

import pytest
from conftest import Agent, open_dummy, open_lending_store, open_store
from local_pool import LocalPool
from waiting import eventually

import kvpool
from mooncake.store import MooncakeDistributedStore, ReplicateConfig

VALUE = random.Random(7).randbytes(1 << 20)


def endpoints(store: MooncakeDistributedStore, key: str) -> list[str]:
    """Of copies in memory, as vLLM's users read them."""
    return [
        copy.get_memory_descriptor().buffer_descriptor.transport_endpoint
        for copy in store.get_replica_desc(key)
        if copy.is_memory_replica()
    ]


def test_copies_in_memory_name_their_storage_nodes(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    assert store.put(prefix, VALUE, ReplicateConfig(replica_num=2)) == 0
    assert sorted(endpoints(store, prefix)) == sorted(pool.nodes)
    found = store.batch_get_replica_desc([prefix, prefix + "/none"])
    assert list(found) == [prefix]
    for copy in found[prefix]:
        assert not copy.is_local_disk_replica()
        assert copy.get_memory_descriptor().buffer_descriptor.size == len(VALUE)
    store.close()


def test_memory_of_a_store_is_named_by_its_host(pool: LocalPool, prefix: str) -> None:
    store = open_lending_store(pool)
    assert store.put(prefix, VALUE, ReplicateConfig(preferred_segment=store.get_hostname())) == 0
    assert endpoints(store, prefix) == [store.get_hostname()]
    store.close()


def test_asking_is_as_good_as_reading_for_the_lease(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    assert store.put(prefix, VALUE) == 0
    assert len(store.get_replica_desc(prefix)) == 1
    assert store.remove(prefix) == -706
    assert store.remove(prefix, force=True) == 0
    assert store.get_replica_desc(prefix) == []
    store.close()


def test_through_an_agent_there_are_copies_and_no_more_is_known(pool: LocalPool, agent: Agent, prefix: str) -> None:
    store = open_dummy(agent)
    assert store.put(prefix, VALUE) == 0
    [copy] = store.get_replica_desc(prefix)
    assert not (copy.is_memory_replica() or copy.is_local_disk_replica())
    assert store.get_replica_desc(prefix + "/none") == []
    store.close()
    with kvpool.Client.through_agent(agent.address.removeprefix("unix:") + "/agent.sock") as client:
        assert client.locate_batch([prefix]) == [kvpool.Status.INVALID_ARGUMENT]


def test_preferred_segments_are_tried_in_turn(pool: LocalPool, prefix: str, capfd: pytest.CaptureFixture[str]) -> None:
    store, other = open_lending_store(pool), open_lending_store(pool)
    config = ReplicateConfig(preferred_segments=["gone:1", other.get_hostname(), store.get_hostname(), pool.nodes[0]])
    for i in range(8):
        assert store.put(f"{prefix}/{i}", VALUE, config) == 0
        assert endpoints(store, f"{prefix}/{i}") == [other.get_hostname()]
    warned = [line for line in capfd.readouterr().err.splitlines() if "'gone:1'" in line]
    assert len(warned) == 1 and "get_hostname()" in warned[0]
    config.replica_num = 2
    assert store.put(f"{prefix}/two", VALUE, config) == 0
    assert sorted(endpoints(store, f"{prefix}/two")) == sorted([other.get_hostname(), store.get_hostname()])
    more = [f"{prefix}/more/{i}" for i in range(12)]  # the first has no room for all of them
    assert store.put_batch(more, [VALUE] * 12, ReplicateConfig(preferred_segments=config.preferred_segments)) == 0
    spread = {endpoint for key in more for endpoint in endpoints(store, key)}
    assert spread == {other.get_hostname(), store.get_hostname()}
    other.close()
    store.close()


@pytest.mark.parametrize("through", ["setup", "setup_dummy"])
def test_a_copy_on_a_segment_is_cleared_alone(pool: LocalPool, agent: Agent, prefix: str, through: str) -> None:
    asks = open_store(pool)
    store = open_store(pool) if through == "setup" else open_dummy(agent)
    assert store.put(prefix, VALUE, ReplicateConfig(replica_num=2)) == 0
    first, second = pool.nodes
    assert store.batch_replica_clear([prefix, prefix + "/none"], "no:1") == []
    assert store.batch_replica_clear([prefix, prefix + "/none"], first) == [prefix]
    assert endpoints(asks, prefix) == [second]
    assert store.batch_replica_clear([prefix], second) == [], "those who asked may read it yet"
    assert store.batch_replica_clear([prefix], first) == [], "there is none any more"
    eventually(lambda: store.batch_replica_clear([prefix], second) == [prefix], "its readers are gone")
    assert store.get(prefix) == b"", "the last copy was the value"
    store.close()
    asks.close()


def test_what_went_to_an_ssd_says_so(tmp_path: Path, prefix: str) -> None:
    flags = ["--ssd-dir", str(tmp_path), "--ssd-size", str(512 << 20)]
    pool = LocalPool(nodes=1, segment_bytes=32 << 20, flags=flags)
    store = open_store(pool)
    try:
        keys = [f"{prefix}/{i}" for i in range(64)]
        for key in keys:
            eventually(lambda key=key: store.put(key, VALUE) == 0, "room for one more")

        def media(key: str) -> set[str]:
            answer = json.loads(pool.admin("/api/v1/key?" + urllib.parse.urlencode({"key": key})))
            return {replica["medium"] for replica in answer["replicas"]}

        eventually(lambda: media(keys[0]) == {"ssd"}, "the oldest value to be on the SSD alone")
        [copy] = store.get_replica_desc(keys[0])
        assert copy.is_local_disk_replica() and not copy.is_memory_replica()
        disk = copy.get_local_disk_descriptor()
        assert (disk.object_size, disk.transport_endpoint) == (len(VALUE), pool.nodes[0])
        assert store.get_replica_desc(keys[-1])[0].is_memory_replica()
        assert store.get(keys[0]) == VALUE
    finally:
        store.close()
        pool.close()
