# SPDX-License-Identifier: Apache-2.0
"""A subscriber of a real pool, while masters and a node die. LEADER_KILLS says how often: `make soak` sets 20."""

import json
import os
import threading
import urllib.parse
from functools import partial
from pathlib import Path

from conftest import open_store
from local_pool import LocalPool
from waiting import eventually

from kvpool.events import Copy, Directory, Subscription

LEADER_KILLS = int(os.environ.get("LEADER_KILLS", "8"))  # three seconds each
KEYS_OF_A_ROUND = 20
REMOVED_OF_THEM = 5


class Follower:
    """Applies events on a thread of its own."""

    def __init__(self, pool: LocalPool) -> None:
        self.directory = Directory()
        self.snapshots = 0
        self._pool = pool
        self._lock = threading.Lock()
        self._events = Subscription(pool.admin_addresses)
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        for event in self._events:
            with self._lock:
                self.directory.apply(event)
                self.snapshots += event.kind == "snapshot-end"

    def is_exact_after(self, snapshots: int) -> bool:
        """Whether there were more of them, of another leader therefore, and it is exact."""
        return self.snapshots > snapshots and self.is_exact()

    def is_exact(self) -> bool:
        """Whether it knows every key that the leader does, and no other."""
        told = set(self._pool.admin("/get_all_keys").split())
        with self._lock:
            return self.directory.exact and {*map(str, self.directory.objects)} == told

    def wrong_keys(self) -> list[str]:
        """Keys of which it knows other copies than the leader."""
        with self._lock:
            known = {str(key): self.directory.holders(key) for key in self.directory.objects}
        return [key for key, copies in known.items() if copies != self._copies_by_leader(key)]

    def _copies_by_leader(self, key: str) -> set[Copy]:
        status = json.loads(self._pool.admin("/api/v1/key?" + urllib.parse.urlencode({"key": key})))
        return {Copy(it["node"], it["medium"]) for it in status["replicas"] if it["reachable"]}

    def close(self) -> None:
        self._events.close()
        self._thread.join()


def lose(pool: LocalPool, node: str) -> None:
    """The node dies, its memory with it, and starts again empty."""
    arguments = Path(f"/proc/{pool.pids[node]}/cmdline").read_text().split("\0")
    directory = arguments[arguments.index("--data-dir") + 1]
    os.unlink(f"{directory}/segment-0.kvs")
    pool.kill_and_await_restart(node)
    eventually(lambda: pool.view()["readyNodes"] == 2, f"{node} is back")


def test_a_subscriber_is_exact_after_leaders_are_killed_and_a_node_is_lost() -> None:
    pool = LocalPool(masters=2, restart=True)
    follower = Follower(pool)
    try:
        store = open_store(pool)
        for kill in range(LEADER_KILLS):
            keys = [f"round/{kill}/{i}" for i in range(KEYS_OF_A_ROUND)]
            assert store.put_batch(keys, [b"v"] * len(keys)) == 0
            assert [store.remove(key, force=True) for key in keys[:REMOVED_OF_THEM]] == [0] * REMOVED_OF_THEM
            exact = partial(follower.is_exact_after, follower.snapshots)
            pool.kill_and_await_restart(pool.leader())
            eventually(exact, f"it is exact after {kill + 1} kills")
            if kill == LEADER_KILLS // 2:
                lose(pool, "node-0")
                eventually(follower.is_exact, "it is exact after a node was lost")
        eventually(lambda: not follower.wrong_keys(), "it knows where each key is")

        left = len(follower.directory.objects)
        everything = LEADER_KILLS * (KEYS_OF_A_ROUND - REMOVED_OF_THEM)
        assert everything // 4 < left < everything, "what the other node had is there"
        store.close()
    finally:
        follower.close()
        pool.close()
