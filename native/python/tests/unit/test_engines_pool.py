# SPDX-License-Identifier: Apache-2.0
"""kvpool_engines.patience and .pool: a pool neither fails an engine nor makes it slower."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from waiting import eventually

import kvpool
from kvpool import Status
from kvpool.status import error_of
from kvpool_engines.patience import Patience
from kvpool_engines.pool import Pool
from kvpool_engines.settings import Settings

SETTINGS = Settings("m:1", lookup_timeout=0.125, load_timeout=2.0, store_timeout=3.0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Client:
    """Answers as it is told, after the time it is told; notes what it was asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.takes = 0.0
        self.answers: list[int] | Status = []
        self.calls: list[tuple[str, float]] = []
        self.regions: list[tuple[int, int]] = []

    def _answer(self, what: str, timeout: float) -> list:
        self.calls.append((what, timeout))
        self._clock.now += self.takes
        if isinstance(self.answers, Status):
            raise error_of(self.answers)
        return [number if number > 0 else Status(number) for number in self.answers]

    def size_batch(self, keys: list[str], *, timeout: float) -> list:
        return self._answer("size", timeout)

    def get_into_pieces(self, keys: list[str], addresses: list, lengths: list, *, timeout: float) -> list:
        return self._answer("get", timeout)

    def get_into_batch(self, keys: list[str], buffers: list, *, timeout: float) -> list:
        return self._answer("get", timeout)

    def put_from_pieces(
        self, keys: list[str], addresses: list, lengths: list, *, replicas: int, groups: list | None, timeout: float
    ) -> list:
        return self._answer("put", timeout)

    def remove_batch(self, keys: list[str], *, timeout: float) -> list:
        return self._answer("remove", timeout)

    def retain(self, keys: list[str], for_seconds: float, *, timeout: float) -> list:
        return self._answer(f"retain {for_seconds:g}", timeout)

    def release(self, keys: list[str], *, timeout: float) -> list:
        return self._answer("release", timeout)

    def register(self, address: int, length: int) -> None:
        self.regions.append((address, length))

    def explain(self) -> str:
        return "the reason"

    def close(self) -> None:
        pass


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(clock: Clock) -> Client:
    return Client(clock)


@contextmanager
def opened(connect: Callable[[], Client], clock: Clock, settings: Settings = SETTINGS) -> Iterator[Pool]:
    pool = Pool(settings, logging.getLogger("kvpool_engines"), connect, clock)
    yield pool
    pool.close()


@pytest.fixture
def pool(client: Client, clock: Clock) -> Iterator[Pool]:
    with opened(lambda: client, clock) as it:
        yield it


def test_a_lookup_is_asked_for_no_longer_than_its_limit(pool: Pool, client: Client) -> None:
    client.answers = [5, Status.NOT_FOUND, 7]

    assert pool.present(["a", "b", "c"]) == [True, False, True]

    assert client.calls == [("size", 0.125)]
    assert pool.counts() == {"lookups": 1, "lookups_failed": 0, "keys_found": 2, "keys_missed": 1}


def test_time_that_the_engine_waited_before_counts(pool: Pool, client: Client, clock: Clock) -> None:
    client.answers = [5]
    asked = clock.now
    clock.now += 0.0625

    assert pool.present(["a"], asked) == [True]
    clock.now += 0.0625
    assert pool.present(["a"], asked) == [False]

    assert client.calls == [("size", 0.0625)]  # the second was late before it began
    assert pool.counts()["lookups_late"] == 1


def test_a_late_lookup_is_a_miss_and_counted(pool: Pool, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    client.answers, client.takes = [5, 5], 0.125

    assert pool.present(["a", "b"]) == [False, False]

    assert pool.counts() == {"lookups": 1, "lookups_late": 1}
    assert "a lookup took longer than 0.125 s" in caplog.text


def test_a_pool_that_is_late_again_and_again_is_left_alone(pool: Pool, client: Client, clock: Clock) -> None:
    client.answers, client.takes = [5], 0.125
    for _ in range(3):
        pool.present(["a"])

    assert pool.present(["a"]) == [False]
    assert len(client.calls) == 3
    assert pool.counts()["lookups_skipped"] == 1

    clock.now += 1
    client.takes = 0.0
    assert pool.present(["a"]) == [True]


def test_lookups_that_waited_too_long_say_nothing_of_the_pool(pool: Pool, client: Client, clock: Clock) -> None:
    client.answers = [5]
    for _ in range(5):
        assert pool.present(["a"], clock.now - 0.125) == [False]

    assert pool.present(["a"]) == [True]
    assert pool.counts()["lookups_late"] == 5


def test_calls_that_were_under_way_do_not_make_the_rest_longer(clock: Clock) -> None:
    patience = Patience(0.125, clock)
    asked = clock.now
    clock.now += 0.125
    for _ in range(10):
        patience.ended(asked)

    clock.now += 1
    assert not patience.resting()


def test_the_rest_grows_up_to_30_s_and_ends_with_a_call_in_time(clock: Clock) -> None:
    patience = Patience(0.125, clock)

    def call(seconds: float) -> None:
        assert patience.budget() == 0.125
        asked = clock.now
        clock.now += seconds
        patience.ended(asked)

    call(0.125), call(0.125), call(0.125)
    rests = []
    for _ in range(7):
        began = clock.now
        while patience.resting():
            assert patience.budget() == 0
            clock.now += 0.5
        rests.append(clock.now - began)
        call(0.125)
    assert rests == [1, 2, 4, 8, 16, 30, 30]

    clock.now += 30
    call(0.0), call(0.125), call(0.125)
    assert not patience.resting()


@pytest.mark.parametrize("failure", [Status.NOT_LEADER, Status.CLOSED])
def test_a_failed_lookup_is_a_miss_with_its_reason_in_the_log(
    failure: Status, pool: Pool, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for client.answers in (failure, [5, failure]):
        assert not pool.present(["a", "b"])[1]

    assert pool.counts()["lookups_failed"] == 2
    assert f"lookup: {failure.name}: the reason" in caplog.text
    assert len(caplog.records) == 1  # no line for each


def test_an_object_of_another_length_is_not_loaded(pool: Pool, client: Client) -> None:
    client.answers = [30, 20, Status.NOT_FOUND]

    assert pool.load(["a", "b", "c"], [[1, 2]] * 3, [[10, 20]] * 3) == [True, False, False]
    client.answers = [4]
    assert pool.load_into(["a"], [memoryview(bytearray(4))]) == [True]

    assert client.calls == [("get", 2.0)] * 2
    assert pool.counts() == {"keys_loaded": 2, "keys_not_loaded": 2}


def test_transfers_that_waited_too_long_are_not_begun(pool: Pool, client: Client, clock: Clock) -> None:
    asked = clock.now
    clock.now += 3

    assert pool.load(["a"], [[1]], [[10]], asked=asked) == pool.store(["a"], [[1]], [[10]], asked=asked) == [False]
    pool.not_stored(2, "too many stores wait")

    assert not client.calls
    assert pool.counts() == {"keys_not_loaded": 1, "keys_not_stored": 3}


def test_nothing_is_found_while_nothing_can_be_loaded(pool: Pool, client: Client) -> None:
    client.answers, client.takes = [Status.TIMEOUT], 2.0
    for _ in range(3):
        assert pool.load(["a"], [[1]], [[10]]) == [False]

    client.answers, client.takes = [5], 0.0
    assert pool.present(["a"]) == [False]
    assert pool.load(["a"], [[1]], [[10]]) == [False]
    assert len(client.calls) == 3


@pytest.mark.parametrize("failure", [Status.NO_SPACE, Status.TIMEOUT])
def test_a_failed_store_is_counted_and_logged_and_raises_nothing(
    failure: Status, pool: Pool, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.answers = failure
    assert pool.store(["a", "b"], [[1]] * 2, [[10]] * 2) == [False, False]
    client.answers = [Status.OK, failure]
    assert pool.store(["a", "b"], [[1]] * 2, [[10]] * 2) == [True, False]

    assert client.calls == [("put", 3.0)] * 2
    assert pool.counts() == {"keys_stored": 1, "keys_not_stored": 3}
    assert f"store: {failure.name}: the reason" in caplog.text


def test_a_hint_takes_no_longer_than_a_lookup_and_raises_nothing(
    pool: Pool, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.answers = [Status.OK, Status.NO_SPACE]
    pool.retain(["a", "b"], 60.0)
    client.answers = Status.NOT_LEADER
    pool.retain(["a", "b"], 60.0)
    client.answers = [Status.OK, Status.NOT_FOUND]
    pool.retain(["a", "b"], 0.0)

    assert client.calls == [("retain 60", 0.125)] * 2 + [("release", 0.125)]
    assert pool.counts() == {"keys_retained": 1, "keys_not_retained": 3}
    assert "hint: NO_SPACE: the reason" in caplog.text and "hint: NOT_LEADER: the reason" in caplog.text


def test_hints_that_are_late_again_and_again_are_left_out(pool: Pool, client: Client) -> None:
    client.answers, client.takes = [Status.OK], 0.125
    for _ in range(4):
        pool.retain(["a"], 60.0)

    assert len(client.calls) == 3
    assert pool.counts() == {"keys_retained": 3, "keys_not_retained": 1}


def test_an_engine_starts_without_its_pool_and_has_it_later(
    client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    there = False

    def connect() -> Client:
        if there:
            return client
        raise error_of(Status.CONNECT_FAILED, "no master answers")

    client.answers = [5]
    with opened(connect, clock, Settings("m:1", start_timeout=0.01)) as pool:
        pool.register(4096, 64)
        assert pool.present(["a"]) == [False]
        assert pool.load(["a"], [[4096]], [[5]]) == pool.store(["a"], [[4096]], [[5]]) == pool.remove(["a"]) == [False]
        assert not client.calls
        assert "no pool, so nothing is found and nothing is kept: no master answers" in caplog.text

        there = True
        eventually(lambda: pool.present(["a"]) == [True], "the pool is found")
        assert client.regions == [(4096, 64)]
        pool.register(4096, 64)
        pool.register(8192, 64)
        pool.register(4100, 60)
        assert client.regions == [(4096, 64), (8192, 64)]


def test_memory_that_cannot_be_registered_is_said_and_no_more(
    client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(address: int, length: int) -> None:
        raise error_of(Status.INVALID_ARGUMENT, "overlaps")

    monkeypatch.setattr(client, "register", refuse)
    client.answers = [5]
    connecting = threading.Event()

    def connect() -> Client:
        connecting.wait()
        return client

    with opened(connect, clock, Settings("m:1", start_timeout=0.01)) as pool:
        pool.register(4096, 64)
        connecting.set()
        eventually(lambda: pool.present(["a"]) == [True], "the pool is found")
        pool.register(8192, 64)

    assert "64 bytes of memory cannot be used, so nothing is moved there: overlaps" in caplog.text


def test_the_client_is_made_as_the_settings_say(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    made = []
    monkeypatch.setattr(kvpool, "Client", lambda masters, **options: made.append((masters, options)) or client)
    settings = Settings(
        "m:1",
        ("tcp",),
        connect_timeout=1.0,
        transfer_timeout=2.0,
        idle_timeout=3.0,
        tls_dir="/tls",
        payloads="encrypted",
    )

    Pool(settings, logging.getLogger("kvpool_engines")).close()

    times = {"connect_timeout": 1.0, "transfer_timeout": 2.0, "idle_timeout": 3.0, "ready_timeout": 2.0}
    assert made == [("m:1", {"protocols": ("tcp",), **times, "tls_dir": "/tls", "payloads": "encrypted"})]


def test_counts_are_in_the_log_once_a_minute(
    pool: Pool, client: Client, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    client.answers = [5]
    for _ in range(3):
        pool.present(["a"])
        clock.now += 60

    assert caplog.messages == [
        f"pool m:1 since the start: lookups {n}, lookups_failed 0, keys_found {n}, keys_missed 0" for n in (2, 3)
    ]
