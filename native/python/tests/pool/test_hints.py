# SPDX-License-Identifier: Apache-2.0
"""Hints of clients, followed by a real pool: retained objects outlive ten times as many others, with and without an agent."""

from collections.abc import Iterator

import pytest
from conftest import Agent
from local_pool import LocalPool

import kvpool
from kvpool import Status

SEGMENT_BYTES = 64 << 20
VALUE = bytes(1 << 20)
RETAINED = [f"retained/{i}" for i in range(8)]
MINUTE = 60.0


@pytest.fixture(scope="module")
def small_pool() -> Iterator[LocalPool]:
    """One whose memory the tests fill many times over."""
    pool = LocalPool(nodes=1, segment_bytes=SEGMENT_BYTES)
    yield pool
    pool.close()


@pytest.fixture(params=["direct", "agent"])
def client(request: pytest.FixtureRequest, small_pool: LocalPool) -> Iterator[kvpool.Client]:
    agent = Agent(small_pool.masters) if request.param == "agent" else None
    opened = (
        kvpool.Client(small_pool.masters)
        if agent is None
        else kvpool.Client.through_agent(agent.address.removeprefix("unix:") + "/agent.sock")
    )
    with opened:
        yield opened
        opened.remove_all(force=True)
    if agent is not None:
        agent.close()


def flood(client: kvpool.Client, name: str) -> None:
    """Several times the memory, one after the other."""
    for i in range(4 * SEGMENT_BYTES // len(VALUE)):
        client.put(f"{name}/{i}", VALUE)


def are_there(client: kvpool.Client, keys: list[str]) -> list[bool]:
    return [length >= 0 for length in client.size_batch(keys)]


def test_retained_objects_outlive_what_is_put_after_them(client: kvpool.Client) -> None:
    client.put_batch(RETAINED, [VALUE] * len(RETAINED))
    client.put("plain", VALUE)
    assert set(client.retain(RETAINED, MINUTE)) == {Status.OK}
    flood(client, "flood")
    assert all(are_there(client, RETAINED))
    assert not client.exists("plain")


def test_released_objects_are_as_any_other(client: kvpool.Client) -> None:
    client.put_batch(RETAINED, [VALUE] * len(RETAINED), groups=["session"] * len(RETAINED))
    assert client.retain_group("session", MINUTE) == len(RETAINED)
    flood(client, "first")
    assert client.release_group("session") == len(RETAINED)
    flood(client, "second")
    assert not any(are_there(client, RETAINED))


def test_not_so_much_is_retained_that_puts_fail(client: kvpool.Client) -> None:
    keys = [f"much/{i}" for i in range(40)]
    client.put_batch(keys, [VALUE] * len(keys))
    statuses = client.retain(keys, MINUTE)
    assert 28 <= statuses.count(Status.OK) <= 32
    assert set(statuses) == {Status.OK, Status.NO_SPACE}
    assert "half of the memory" in client.explain()
    flood(client, "flood")


def test_a_group_goes_as_one(client: kvpool.Client) -> None:
    client.put_batch(RETAINED, [b"v"] * len(RETAINED), groups=["session"] * len(RETAINED))
    client.put("other", b"v")
    assert client.prefetch_group("session") == 0
    assert client.prefetch(["other", "none"]) == [0, Status.NOT_FOUND]
    assert client.remove_group("session", force=True)
    assert are_there(client, [*RETAINED, "other"]) == [False] * len(RETAINED) + [True]
    assert not client.remove_group("session")


def test_hints_by_http(small_pool: LocalPool) -> None:
    with kvpool.Client(small_pool.masters) as client:
        client.put("k", b"v", group="a session")
        assert small_pool.post("/api/v1/hint", hint="retain", key="k", **{"for": "10m"}) == (200, {"objects": 1})
        assert small_pool.post("/api/v1/hint", hint="release", group="a session") == (200, {"objects": 1})
        assert small_pool.post("/api/v1/hint", hint="prefetch", key="k") == (200, {"onTheirWay": 0})
        assert small_pool.post("/api/v1/hint", hint="prefetch", key="none")[0] == 404
        assert small_pool.post("/api/v1/hint", hint="retain", key="k", **{"for": "2h"})[0] == 400
        assert small_pool.post("/api/v1/remove_group", group="a session") == (200, {})
        assert not client.exists("k")
