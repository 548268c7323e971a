# SPDX-License-Identifier: Apache-2.0
"""Where the copies of objects are, as engines ask."""

import json
import random
import urllib.parse
from pathlib import Path

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
