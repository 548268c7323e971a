# SPDX-License-Identifier: Apache-2.0
"""`kvpool-events-zmq` between a real pool and a router that reads ZMQ: what the router knows, from messages alone."""

import contextlib
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgpack
import zmq
from conftest import open_store
from local_pool import START_SECONDS, LocalPool, free_ports
from waiting import eventually

from mooncake.store import ReplicateConfig

HASHES = [f"{block:064x}" for block in (0xA1, 0xB2, 0xC3)]


class Router:
    """Connects, reads all topics that begin so, and keeps what it was told is stored: names with their tier."""

    def __init__(self, address: str, name: str, topic: str = "") -> None:
        self.stored: dict[object, str] = {}
        self.numbers: list[int] = []
        self.events: list[dict] = []
        self._name, self._topic = name, topic.encode()
        self._socket = zmq.Context.instance().socket(zmq.SUB)
        self._socket.subscribe(self._topic)
        self._socket.connect(address)

    def knows(self, stored: dict) -> bool:
        """Whether it does after all that has come by now."""
        while self._socket.poll(1):
            topic, number, packed = self._socket.recv_multipart()
            assert topic == self._topic
            self.numbers.append(struct.unpack(">Q", number)[0])
            _, events, rank = msgpack.unpackb(packed)
            assert rank == 0
            for event in events:
                self.events.append(event)
                self._apply(event)
        return self.stored == stored

    def _apply(self, event: dict) -> None:
        names = event[self._name] if isinstance(event[self._name], list) else [event[self._name]]
        for name in names:
            if event["type"] == "BlockStored":
                self.stored[name] = event["medium"]
            else:
                assert self.stored.pop(name) == event["medium"], "only what was stored is removed"

    def missed_nothing(self) -> bool:
        return self.numbers == list(range(self.numbers[0], self.numbers[0] + len(self.numbers)))

    def close(self) -> None:
        self._socket.close(linger=0)


@contextlib.contextmanager
def published(pool: LocalPool, *arguments: str) -> Iterator[str]:
    """The command, ended as Kubernetes ends it; where routers connect."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    address = f"tcp://127.0.0.1:{free_ports(1)}"
    command = [Path(sys.executable).parent / "kvpool-events-zmq", "--admin", pool.admin_addresses, "--bind", address]
    process = subprocess.Popen([*command, *arguments], env=environment)
    try:
        yield address
        assert process.poll() is None
    finally:
        process.terminate()
        assert process.wait(START_SECONDS) == 0


def test_a_router_knows_each_key_whichever_master_leads() -> None:
    pool = LocalPool(masters=2, restart=True)
    store = open_store(pool)
    try:
        config = ReplicateConfig()
        config.group_ids = ["session", "session"]
        assert store.put_batch(["zmq/a", "zmq/b"], [b"v", b"v"], config) == 0
        with published(pool, "--repeat", "1", "--backend-id", "demo") as address:
            router = Router(address, "object_key")
            both = {"zmq/a": "cpu", "zmq/b": "cpu"}
            eventually(lambda: router.knows(both), "a router that came late hears of what is there")
            a, b = (next(it for it in router.events if it["object_key"] == key) for key in both)
            assert (a["event_type"], a["backend_id"]) == ("stored", "demo")
            assert a["group_id"] == b["group_id"] != ""

            assert store.remove("zmq/a", force=True) == 0
            eventually(lambda: router.knows({"zmq/b": "cpu"}), "it hears of a removal")
            pool.kill_and_await_restart(pool.leader())
            assert store.put("zmq/c", b"v") == 0
            eventually(lambda: router.knows({"zmq/b": "cpu", "zmq/c": "cpu"}), "it hears of the next leader's objects")

            assert [it["event_type"] for it in router.events if it["object_key"] == "zmq/a"].count("removed") == 1
            assert router.missed_nothing()
            router.close()
    finally:
        store.close()
        pool.close()


def test_a_router_knows_blocks_of_which_all_ranks_have_theirs(pool: LocalPool) -> None:
    store = open_store(pool)
    topic = "kv@pool:demo@model"
    ranks = [[f"model@tp_rank:{rank}@{block}" for block in HASHES] for rank in (0, 1)]
    form = ["--form", "vllm", "--topic", topic, "--block-size", "32", "--objects-of-block", "2", "--repeat", "1"]
    with published(pool, *form) as address:
        router = Router(address, "block_hashes", topic)
        assert store.put_batch(["no block", *ranks[0], *ranks[1][:2]], [b"v"] * 6) == 0
        eventually(lambda: router.knows({0xA1: "CPU", 0xB2: "CPU"}), "two blocks are whole")
        assert store.remove(ranks[0][0], force=True) == 0
        eventually(lambda: router.knows({0xB2: "CPU"}), "a block that lacks a part is none")

        assert {it["block_size"] for it in router.events if it["type"] == "BlockStored"} == {32}
        assert router.missed_nothing()
        router.close()
    store.remove_all(force=True)
    store.close()
