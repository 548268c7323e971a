# SPDX-License-Identifier: Apache-2.0
"""kvpool_engines.pending_lookups and .jobs: what engines ask for and collect later."""

import threading
import time
from collections.abc import Iterator

import pytest

from kvpool_engines.jobs import Jobs
from kvpool_engines.pending_lookups import PendingLookups


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lookups(clock: Clock) -> PendingLookups[str]:
    return PendingLookups(0.125, clock)


def test_a_key_is_looked_up_once_for_all_requests(lookups: PendingLookups[str]) -> None:
    assert lookups.ask("a", "r1") is lookups.ask("b", "r1") is lookups.ask("a", "r2") is None
    assert lookups.take() == ["a", "b"]
    assert lookups.ask("a", "r1") is None
    assert lookups.take() == []

    lookups.answer(["a", "b"], [True, False])

    assert (lookups.ask("a", "r1"), lookups.ask("a", "r2"), lookups.ask("b", "r1")) == (True, True, False)


def test_what_is_not_known_after_the_limit_is_not_there(lookups: PendingLookups[str], clock: Clock) -> None:
    lookups.ask("a", "r1")
    clock.now += 0.0625
    assert lookups.ask("a", "r1") is None
    clock.now += 0.0625
    assert lookups.ask("a", "r1") is False

    lookups.answer(["a"], [True])  # too late
    assert lookups.ask("a", "r1") is False


def test_an_answer_in_time_holds_however_late_it_is_asked_for(lookups: PendingLookups[str], clock: Clock) -> None:
    lookups.ask("a", "r1")
    lookups.answer(["a"], [True])
    clock.now += 10
    assert lookups.ask("a", "r1") is True


def test_what_could_not_be_loaded_is_not_there_any_more(lookups: PendingLookups[str]) -> None:
    lookups.ask("a", "r1")
    lookups.answer(["a"], [True])

    lookups.missing(["a", "never asked"])

    assert lookups.ask("a", "r1") is False


def test_a_key_is_looked_up_again_when_no_request_asks_any_more(lookups: PendingLookups[str]) -> None:
    lookups.ask("a", "r1"), lookups.ask("a", "r2")
    lookups.take()
    lookups.answer(["a"], [False])

    lookups.forget("r1")
    assert lookups.ask("a", "r2") is False
    lookups.forget("r2")
    lookups.forget("never seen")
    lookups.answer(["a"], [True])  # of the first lookup

    assert lookups.ask("a", "r3") is None
    assert lookups.take() == ["a"]


@pytest.mark.parametrize("there", [True, False])
def test_a_new_request_does_not_get_an_old_answer(lookups: PendingLookups[str], clock: Clock, there: bool) -> None:
    lookups.ask("a", "r1")
    assert lookups.take() == ["a"]
    lookups.answer(["a"], [there])
    clock.now += 1
    assert lookups.ask("a", "r2") is there
    clock.now += 1
    assert lookups.ask("a", "r1") is lookups.ask("a", "r2") is there
    assert lookups.take() == []

    assert lookups.ask("a", "r3") is None
    assert lookups.take() == ["a"]
    lookups.answer(["a"], [not there])
    assert [lookups.ask("a", request) for request in ("r1", "r2", "r3")] == [not there] * 3


def test_what_was_late_is_looked_up_again_for_a_new_request(lookups: PendingLookups[str], clock: Clock) -> None:
    lookups.ask("a", "r1")
    lookups.take()
    clock.now += 2

    assert lookups.ask("a", "r2") is None
    lookups.answer(lookups.take(), [True])
    assert lookups.ask("a", "r2") is True


def test_what_is_forgotten_before_it_is_taken_is_not_looked_up(lookups: PendingLookups[str]) -> None:
    lookups.ask("a", "r1")
    lookups.forget("r1")
    assert lookups.take() == []


@pytest.fixture
def results() -> list[int]:
    return []


@pytest.fixture
def jobs(results: list[int]) -> Iterator[Jobs[int]]:
    it = Jobs("test", 1, 2, results.append)
    yield it
    it.close()


def test_jobs_beyond_the_most_are_refused_and_not_done(jobs: Jobs[int], results: list[int]) -> None:
    gate = threading.Event()

    def first() -> int:
        gate.wait()
        return 1

    assert jobs.submit(first) and jobs.submit(lambda: 2)
    assert not jobs.submit(lambda: 3)
    gate.set()
    jobs.drain()

    assert results == [1, 2]
    assert jobs.submit(lambda: 4)


def test_none_is_left_after_close_though_some_were_dropped(results: list[int]) -> None:
    jobs = Jobs("test", 1, 10_000, results.append)
    runs, closed = threading.Event(), threading.Event()

    def first() -> int:
        runs.set()
        closed.wait()
        return 1

    assert jobs.submit(first) and jobs.submit(lambda: 2)
    runs.wait()
    drains = threading.Thread(target=jobs.drain, daemon=True)
    drains.start()
    closes = threading.Thread(target=jobs.close)
    closes.start()
    while jobs.submit(lambda: 2):
        time.sleep(0.001)
    closed.set()
    closes.join()
    drains.join(30)

    assert not drains.is_alive()
    assert results == [1]


def test_close_waits_for_what_runs_and_drops_what_waits(results: list[int]) -> None:
    jobs = Jobs("test", 1, 10_000, results.append)
    runs = threading.Event()

    def until_closed() -> int:
        runs.set()
        while jobs.submit(lambda: 2):
            time.sleep(0.001)
        return 1

    jobs.submit(until_closed)
    runs.wait()
    jobs.close()

    assert results == [1]
