# SPDX-License-Identifier: Apache-2.0
"""Hints of kvpool.Client: what the library is asked, and what its answers become."""

import pytest
from conftest import Fake

import kvpool
from kvpool import Client, Status

RETAIN, RELEASE, PREFETCH = 5, 6, 7
REMOVE = 4
FORCE, GROUPS = 2, 64


def asked(fake: Fake) -> tuple[int, int]:
    """Operation and flags of the latest batch."""
    return int(fake.last_call[0]), int(fake.last_call[2])


def test_keys_are_retained_and_released_each_for_itself(client: Client, fake: Fake) -> None:
    client.put("k", b"v")
    assert client.retain(["k", "none"], 1.5) == [Status.OK, Status.NOT_FOUND]
    assert asked(fake) == (RETAIN, 0)
    assert fake.last_call[-1] == "1500"
    assert client.release(["none", "k"]) == [Status.NOT_FOUND, Status.OK]
    assert asked(fake) == (RELEASE, 0)
    fake.fail(RETAIN, Status.NO_SPACE)
    assert client.retain(["k"], 60) == [Status.NO_SPACE]


def test_a_prefetch_says_what_is_on_its_way(client: Client, fake: Fake) -> None:
    client.put("k", b"v")
    assert client.prefetch(["k", "none"]) == [0, Status.NOT_FOUND]
    assert asked(fake) == (PREFETCH, 0)


@pytest.mark.parametrize("seconds", [0, -1, 3600.001, float("nan")])
def test_a_time_that_cannot_be_is_refused(client: Client, seconds: float) -> None:
    with pytest.raises(ValueError, match="for_seconds"):
        client.retain(["k"], seconds)
    with pytest.raises(ValueError, match="for_seconds"):
        client.retain_group("g", seconds)


def test_a_group_is_named_in_place_of_keys(client: Client, fake: Fake) -> None:
    client.put("g", b"the fake takes the name of a group for a key")
    assert client.retain_group("g", 60) == 1
    assert asked(fake) == (RETAIN, GROUPS)
    assert client.release_group("g") == 1
    assert client.prefetch_group("g") == 0
    assert asked(fake) == (PREFETCH, GROUPS)
    assert client.remove_group("g", force=True)
    assert asked(fake) == (REMOVE, FORCE | GROUPS)
    assert not client.remove_group("g")
    assert client.retain_group("g", 60) == client.release_group("g") == 0


def test_what_could_not_be_done_with_a_group_is_raised(client: Client, fake: Fake) -> None:
    client.put("g", b"v")
    fake.fail(RETAIN, Status.NO_SPACE, sentence="half of the memory")
    with pytest.raises(kvpool.NoSpaceError, match="half of the memory"):
        client.retain_group("g", 60)
    fake.fail(REMOVE, Status.HAS_LEASE)
    with pytest.raises(kvpool.ObjectError) as caught:
        client.remove_group("g")
    assert caught.value.status is Status.HAS_LEASE
