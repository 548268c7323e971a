# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: parts of values, in one call and in sessions."""

import ctypes
import threading

import pytest
from conftest import EXISTS, GET, PUT, PUT_END, PUT_PARTS, PUT_REVOKE, PUT_START, SETUP, Fake
from unreadable import Unreadable

from kvpool import PARTS_MAX, CallError, Client, Status
from mooncake.connection import pool as pool_module
from mooncake.engine import TransferEngine
from mooncake.ranges import lines as batches
from mooncake.ranges import named_values, open_values
from mooncake.ranges.open_values import OpenValues
from mooncake.store import MooncakeDistributedStore, ReplicateConfig, SoftPinAction

VALUE = bytes(range(100))


LINES_MAX = batches._LINES_MAX


class Memory:
    """Registered memory of 4 KiB, and an address outside of it."""

    def __init__(self, store: MooncakeDistributedStore) -> None:
        self.bytes = (ctypes.c_char * 4096)()
        self.outside = (ctypes.c_char * 4096)()
        self.at = ctypes.addressof(self.bytes)
        self.elsewhere = ctypes.addressof(self.outside)
        assert store.register_buffer(self.at, 4096) == 0

    def __getitem__(self, part: slice) -> bytes:
        return self.bytes[part]


@pytest.fixture
def memory(store: MooncakeDistributedStore) -> Memory:
    return Memory(store)


@pytest.fixture
def lent(either: MooncakeDistributedStore) -> Memory:
    return Memory(either)


def test_an_address_that_is_registered_again_while_the_library_waits(
    either: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another thread does: it has let go of the address, and returns when no batch uses it."""
    memory = (ctypes.c_char * 4096)()
    at = ctypes.addressof(memory)
    unregister = Client.unregister

    def unregister_and_wait(client: Client, address: int) -> None:
        unregister(client, address)
        assert either.register_buffer(address, 4096) == 0

    assert either.register_buffer(at, 4096) == 0
    monkeypatch.setattr(Client, "unregister", unregister_and_wait)
    assert either.unregister_buffer(at) == 0
    monkeypatch.undo()
    assert either._pool._registered.covers(at, 4096)
    assert either.unregister_buffer(at) == 0


# ---- one call


def test_parts_of_values(either: MooncakeDistributedStore, lent: Memory) -> None:
    either.put_batch(["a", "b"], [VALUE, VALUE[::-1]])
    answers = either.get_into_ranges(
        [lent.at, lent.at + 1000],
        [["a", "b"], ["a"]],
        [[[0, 10], [20]], [[0]]],
        [[[5, 90], [0]], [[50]]],
        [[[3, 10], [7]], [[2]]],
    )
    assert answers == [[[3, 10], [7]], [[2]]]
    assert lent[0:3] == VALUE[5:8]
    assert lent[10:20] == VALUE[90:]
    assert lent[20:27] == VALUE[::-1][:7]
    assert lent[1000:1002] == VALUE[50:52]


def test_parts_of_one_value_share_a_read(either: MooncakeDistributedStore, lent: Memory, fake: Fake) -> None:
    either.put("a", VALUE)
    sizes = [[[10, 10, 10]], [[10]]]
    offsets = [[[0, 20, 40]], [[60]]]
    assert either.get_into_ranges([lent.at, lent.at + 500], [["a"], ["a"]], offsets, offsets, sizes) == sizes
    assert fake.last_call[:2] == ["2", "1"], "one line of a get"
    assert (lent[40:50], lent[560:570]) == (VALUE[40:50], VALUE[60:70])


def test_parts_that_overlap(either: MooncakeDistributedStore, lent: Memory) -> None:
    either.put("a", VALUE)
    answers = either.get_into_ranges(
        [lent.at], [["a", "a"]], [[[0, 200], [400]]], [[[0, 50], [40]]], [[[100, 50], [20]]]
    )
    assert answers == [[[100, 50], [20]]]
    assert (lent[0:100], lent[200:250], lent[400:420]) == (VALUE, VALUE[50:], VALUE[40:60])


def test_a_part_that_fails_leaves_the_others_good(
    either: MooncakeDistributedStore, lent: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    either.put_batch(["a", "empty"], [VALUE, b""])
    answers = either.get_into_ranges(
        [lent.at + 8, lent.elsewhere],
        [["none", "a", "", "empty", "\udfff"], ["a"]],
        [[[0], [0, 10, 20, 30, -1, 40, 1 << 64], [0], [0, 0], [0]], [[0]]],
        [[[0], [0, 95, -1, 0, 0, 1 << 70, 0], [0], [0, 0], [0]], [[50]]],
        [[[1], [2, 6, 1, 0, 1, 1, 1], [1], [0, 1], [1]], [[5]]],
    )
    assert answers == [[[-704], [2, -600, -600, 0, -600, -600, -600], [-400], [0, -600], [-400]], [[-600]]]
    assert lent[0:10] == bytes(8) + VALUE[:2]
    assert lent.outside[:] == bytes(4096), "memory that is not registered is not written to"
    assert "first 'a': -600 INVALID_PARAMS: 6 bytes at 95 of " in caplog.text


@pytest.mark.parametrize(
    ("status", "code"), [(Status.TIMEOUT, -901), (Status.CHECKSUM, -801), (Status.UNAVAILABLE, -703)]
)
def test_a_failure_of_the_pool_is_that_of_each_part(
    either: MooncakeDistributedStore, lent: Memory, fake: Fake, status: Status, code: int
) -> None:
    either.put("a", VALUE)
    one = ([lent.at], [["a"]], [[[0, 1]]], [[[0, 1]]], [[[1, 1]]])
    fake.fail(GET, status)
    assert either.get_into_ranges(*one) == [[[code, code]]]
    assert either.get_into_ranges(*one) == [[[1, 1]]]


def test_a_value_that_is_replaced_meanwhile(dummy: MooncakeDistributedStore, fake: Fake) -> None:
    lent = Memory(dummy)
    dummy.put("a", VALUE)
    one = ([lent.at], [["a"]], [[[0, 1]]], [[[0, 1]]], [[[1, 1]]])
    fake.fail(EXISTS, Status.TIMEOUT)
    assert dummy.get_into_ranges(*one) == [[[-901, -901]]]
    fake.fail(GET, Status.BUFFER_TOO_SMALL)
    assert dummy.get_into_ranges(*one) == [[[-707, -707]]], "by a longer one since it was asked about"


def test_more_parts_than_a_line_takes(store: MooncakeDistributedStore, memory: Memory, fake: Fake) -> None:
    store.put("a", VALUE)
    count = 2 * PARTS_MAX + 1
    row = [[[1] * count]]
    assert store.get_into_ranges([memory.at], [["a"]], [[[0] * count]], [[[7] * count]], row) == row
    assert fake.last_call[:2] == ["2", "3"]


@pytest.mark.parametrize("short", range(5))
def test_lists_that_do_not_match(
    either: MooncakeDistributedStore, lent: Memory, short: int, caplog: pytest.LogCaptureFixture
) -> None:
    either.put("a", VALUE)
    lists = [[lent.at], [["a"]], [[[0, 1]]], [[[0, 1]]], [[[1, 1]]]]
    lists[short] = [*lists[short], *lists[short]] if short < 4 else [[[1, 1, 1]]]
    count = 3 if short == 4 else 2
    assert either.get_into_ranges(*lists) == [[[-600] * count]]
    assert "get_into_ranges" in caplog.text
    assert lent[0:2] == bytes(2)


def test_nothing_is_asked_for(either: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture) -> None:
    assert either.get_into_ranges([], [], [], [], []) == []
    assert either.get_into_ranges([0], [[]], [[]], [[]], [[]]) == [[]]
    assert either.batch_get_session_start([]) == either.batch_get_into_multi_buffer_ranges([], [], [], []) == []
    assert caplog.text == ""


# ---- get sessions


@pytest.fixture(params=[LINES_MAX, 1])
def lines_max(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one read of the pool."""
    monkeypatch.setattr(batches, "_LINES_MAX", request.param)


def test_a_session_reads_parts(either: MooncakeDistributedStore, lent: Memory, lines_max: None) -> None:
    either.put_batch(["a", "b"], [VALUE, VALUE[::-1]])
    assert either.batch_get_session_start(["a", "none", "b", "", "a"]) == [0, -704, 0, -400, 0]
    for layer in range(4):
        pointers = [[lent.at, lent.at + 10], [lent.at + 20]]
        offsets = [[25 * layer, 25 * layer + 5], [25 * layer]]
        assert either.batch_get_into_multi_buffer_ranges(["a", "b"], pointers, [[5, 2], [25]], offsets) == [7, 25]
        assert lent[0:5] == VALUE[25 * layer : 25 * layer + 5]
        assert lent[20:45] == VALUE[::-1][25 * layer : 25 * layer + 25]
    assert either.batch_get_session_end(["a", "none", "b", "a"]) == 0
    assert either.batch_get_into_multi_buffer_ranges(["a"], [[lent.at]], [[1]], [[0]]) == [-600]


def test_a_session_reads_only_the_value_that_it_began_with(store: MooncakeDistributedStore, memory: Memory) -> None:
    store.put_batch(["a", "b", "c"], [VALUE] * 3)
    assert store.batch_get_session_start(["a", "b", "c"]) == [0] * 3
    read = (["a", "b", "c"], [[memory.at + at] for at in (0, 10, 20)], [[5]] * 3, [[1]] * 3)
    store.upsert("a", VALUE[::-1])
    store.remove("b", force=True)
    store.get_into("a", memory.at + 500, 100)
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-707, -707, 5]
    assert memory[0:30] == bytes(20) + VALUE[1:6] + bytes(5), "not a byte of another value"
    store.put("b", VALUE)
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-707, -707, 5]
    assert store.batch_get_session_start(["a", "b"]) == [0, 0], "takes the values as they are now"
    assert store.batch_get_into_multi_buffer_ranges(*read) == [5, 5, 5]
    assert memory[0:15] == VALUE[::-1][1:6] + bytes(5) + VALUE[1:6]


def test_a_part_that_cannot_be_read_leaves_the_session(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    store.put_batch(["a", "b"], [VALUE, VALUE])
    assert store.batch_get_session_start(["a", "b"]) == [0, 0]
    read = (["a", "b"], [[memory.at], [memory.at + 10]], [[5]] * 2, [[1]] * 2)
    fake.fail(GET, Status.CHECKSUM)
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-801, 5]
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-200, -200]
    fake.state.submit_status = 0
    assert store.batch_get_into_multi_buffer_ranges(*read) == [5, 5]
    assert "first 'a': -801" in caplog.text


def test_more_pieces_of_a_value_than_a_line_takes(store: MooncakeDistributedStore, memory: Memory, fake: Fake) -> None:
    store.put("a", VALUE)
    store.batch_get_session_start(["a"])
    count = 2 * PARTS_MAX + 1
    read = (["a"], [[memory.at + at % 100 for at in range(count)]], [[1] * count], [[at % 100 for at in range(count)]])
    assert store.batch_get_into_multi_buffer_ranges(*read) == [count]
    assert (memory[0:100], fake.last_call[:2]) == (VALUE, ["2", "3"])
    fake.fail(GET, Status.TIMEOUT, lines=2)
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-901], "a row is right as a whole"


def test_a_part_that_is_none(either: MooncakeDistributedStore, lent: Memory, caplog: pytest.LogCaptureFixture) -> None:
    either.put_batch(["a", "empty"], [VALUE, b""])
    assert either.batch_get_session_start(["a", "empty"]) == [0, 0]
    rows = {
        "outside": ([lent.at, lent.elsewhere], [1, 1], [0, 0]),
        "over the end of the buffer": ([lent.at + 4095], [2], [0]),
        "over the end of the value": ([lent.at], [2], [99]),
        "before it": ([lent.at], [1], [-1]),
        "negative": ([lent.at], [-1], [0]),
        "huge": ([lent.at], [1], [1 << 70]),
        "huge address": ([1 << 64], [1], [0]),
        "null": ([0], [1], [0]),
        "uneven": ([lent.at], [1], []),
    }
    keys, (pointers, sizes, offsets) = ["a"] * len(rows), zip(*rows.values(), strict=True)
    assert either.batch_get_into_multi_buffer_ranges(keys, pointers, sizes, offsets) == [-600] * len(rows)
    assert lent.bytes.raw == bytes(4096), "all pieces of a key, or none"
    assert "9 of 9 keys failed, first 'a'" in caplog.text
    assert either.batch_get_into_multi_buffer_ranges(["a", "empty"], [[], [0]], [[], [0]], [[], [0]]) == [0, 0]
    assert either.batch_get_into_multi_buffer_ranges(["a"], [], [], []) == [-600]


def test_the_number_of_sessions_is_bounded(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(named_values, "SESSIONS_MAX", 2)
    store.put_batch(["a", "b", "c"], [VALUE] * 3)
    assert store.batch_get_session_start(["a", "a", "b", "c"]) == [0, 0, 0, -200]
    assert "first 'c': -200 NO_AVAILABLE_HANDLE: there are 2 sessions: end some first" in caplog.text
    store.batch_get_session_end(["a"])
    assert store.batch_get_session_start(["b", "c"]) == [0, 0]


def test_through_an_agent_a_session_holds_the_value(dummy: MooncakeDistributedStore, fake: Fake) -> None:
    lent = Memory(dummy)
    dummy.put("a", VALUE)
    assert dummy.batch_get_session_start(["a"]) == [0]
    dummy.upsert("a", b"another")
    before = fake.last_call
    assert dummy.batch_get_into_multi_buffer_ranges(["a"], [[lent.at]], [[100]], [[0]]) == [100]
    assert (lent[0:100], fake.last_call) == (VALUE, before)
    assert dummy.batch_get_session_start(["a"]) == [0], "takes the value as it is now"
    assert dummy.batch_get_into_multi_buffer_ranges(["a"], [[lent.at]], [[7]], [[0]]) == [7]
    assert lent[0:7] == b"another"


def test_through_an_agent_sessions_reach_memory_of_a_device(
    dummy: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    lent = Memory(dummy)
    dummy.put("a", VALUE)
    with Unreadable(1 << 16) as device:
        assert dummy.register_buffer(device.address, device.size) == 0, "as the library does for an NPU's"
        places = [[device.address + 8, lent.at]], [[60, 40]], [[0, 60]]
        assert dummy.batch_get_session_start(["a"]) == [0]
        assert dummy.batch_get_into_multi_buffer_ranges(["a"], *places) == [100]
        assert (lent[0:40], fake.last_call) == (VALUE[60:], ["copy_memory", "1"]), "the processor copies the rest"
        assert dummy.batch_put_session_start(["b"], [100]) == [0]
        fake.state.submit_status, fake.state.sentence = Status.TIMEOUT, b"not done within 200 ms"
        assert dummy.batch_get_into_multi_buffer_ranges(["a"], *places) == [-901]
        assert dummy.batch_put_from_multi_buffer_ranges(["b"], *places) == [-901]
        assert "not done within 200 ms" in caplog.text
        fake.state.submit_status = 0
        assert dummy.batch_put_session_end(["b"]) == [-600], "nothing was written"
        assert dummy.batch_put_from_multi_buffer_ranges(["b"], *places) == [100]
        assert dummy.batch_put_session_end(["b"]) == [0]
        assert dummy.get("b") == VALUE
        assert dummy.unregister_buffer(device.address) == 0
        assert dummy.batch_get_into_multi_buffer_ranges(["a"], *places) == [-600]


def test_what_sessions_hold_is_bounded(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pool_module, "SESSION_BYTES_MAX", 150)
    dummy = MooncakeDistributedStore()
    dummy.setup_dummy(0, 64 << 20, "unix:/run/kvpool")
    dummy.put_batch(["a", "b"], [VALUE, VALUE])
    assert dummy.batch_get_session_start(["a", "b"]) == [0, -200]
    assert fake.last_call[:2] == ["2", "1"], "what is refused is not read"
    assert dummy.batch_put_session_start(["p", "q"], [50, 1]) == [0, -200], "both kinds share the bound"
    assert dummy.batch_get_session_start(["a"]) == [-200], "as both are held for a moment"
    dummy.batch_get_session_end(["a"])
    assert dummy.batch_put_session_start(["q", "r"], [100, 64 << 20]) == [0, -200]
    assert dummy.batch_put_session_revoke(["p", "q"]) == [0, 0]
    assert dummy.batch_get_session_start(["b"]) == [0]
    assert "first 'b': -200 NO_AVAILABLE_HANDLE: sessions hold 100 of 150 bytes" in caplog.text
    dummy.close()


def test_memory_of_an_engine_counts_until_it_is_unregistered_there(fake: Fake) -> None:
    engine = TransferEngine()
    assert engine.initialize("h", "P2PHANDSHAKE", "tcp", "") == 0
    buffer = (ctypes.c_char * 64)()
    at = ctypes.addressof(buffer)
    store = MooncakeDistributedStore()
    assert store.setup(*SETUP, engine=engine.get_engine()) == 0
    store.put("a", VALUE)
    store.batch_get_session_start(["a"])
    read = (["a"], [[at]], [[5]], [[1]])
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-600]
    assert engine.register_memory(at, 64) == 0
    assert store.batch_get_into_multi_buffer_ranges(*read) == [5]
    assert buffer[0:5] == VALUE[1:6]
    assert engine.unregister_memory(at) == 0
    assert store.batch_get_into_multi_buffer_ranges(*read) == [-600]
    store.close()
    engine._engine.close()


def test_unregistered_memory_is_not_copied_to_any_more(store: MooncakeDistributedStore, memory: Memory) -> None:
    store.put("a", VALUE)
    store.batch_get_session_start(["a"])
    assert store.unregister_buffer(memory.at) == 0
    assert store.batch_get_into_multi_buffer_ranges(["a"], [[memory.at]], [[1]], [[0]]) == [-600]
    assert store.register_buffer(memory.at + 10, 20) == 0
    for at, code in ((9, -600), (10, 2), (28, 2), (29, -600)):
        assert store.batch_get_into_multi_buffer_ranges(["a"], [[memory.at + at]], [[2]], [[0]]) == [code]


def test_a_start_that_fails_holds_nothing(
    dummy: MooncakeDistributedStore, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    dummy.put_batch(["a", "b"], [VALUE, VALUE])
    memory = dummy._pool.get_sessions._memory
    fake.fail(GET, Status.CHECKSUM)
    assert dummy.batch_get_session_start(["a", "b"]) == [-801, 0]
    assert memory._taken == 100
    fake.state.submit_status = Status.QUEUE_FULL
    assert dummy.batch_get_session_start(["a", "b"]) == [-200, -200]
    fake.state.submit_status = 0
    monkeypatch.setattr(dummy._pool.client, "get_batch", lambda keys: [b"longer" * 100])
    assert dummy.batch_get_session_start(["a"]) == [-707]
    assert memory._taken == 100
    monkeypatch.undo()
    assert dummy.batch_get_session_start(["b", "b", "a"]) == [0, 0, 0]
    assert memory._taken == 200
    assert dummy.batch_get_session_end(["a", "b"]) == 0
    assert memory._taken == 0


# ---- put sessions


def test_a_value_is_put_together_of_parts(either: MooncakeDistributedStore, lent: Memory, fake: Fake) -> None:
    lent.bytes[:100] = VALUE
    config = ReplicateConfig(replica_num=2, preferred_segment="n", group_ids=["g1", "g"], with_hard_pin=True)
    assert either.batch_put_session_start(["a", "b"], [100, 10], config) == [0, 0]
    call = fake.last_call
    write = either.batch_put_from_multi_buffer_ranges
    assert write(["a", "b"], [[lent.at + 60, lent.at], [lent.at]], [[40, 30], [5]], [[60, 0], [5]]) == [70, 5]
    assert either.is_exist("a") == 0, "readers do not see a part of it"
    assert either.batch_put_session_end(["a", "b"]) == [-600, -600], "parts were never written"
    assert write(["a", "b"], [[lent.at + 30], [lent.at]], [[40], [7]], [[30], [0]]) == [40, 7]
    lent.bytes[:100] = bytes(100)
    assert either.batch_put_session_end(["a", "b"]) == [0, 0]
    writes_parts = isinstance(either._pool.put_sessions, OpenValues)
    call = call if writes_parts else fake.last_call
    assert [call[at] for at in (1, 3, 4, 6, 8, 9)] == ["2", "2", "n", "2", "1002", "1001"], "as asked for"
    assert call[0] == str(PUT_START if writes_parts else PUT)
    assert either.get("a") == VALUE
    assert either.get("b") == VALUE[:7] + VALUE[2:5]
    assert either.batch_put_session_end(["a"]) == [-600], "it is over"


def test_codes_of_a_start(store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    store.put("there", b"v")
    keys = ["there", "new", "new", "", "zero", "negative", "\udfff", "huge"]
    sizes = [1, 1, 1, 1, 0, -1, 1, 1 << 64]
    assert store.batch_put_session_start(keys, sizes) == [-705, 0, -600, -400, -600, -600, -400, -200]
    fake.fail(PUT_START, Status.BUSY)
    assert store.batch_put_session_start(["busy"], [1]) == [-705], "another client is putting it"
    fake.fail(PUT_START, Status.TIMEOUT)
    assert store.batch_put_session_start(["late"], [1]) == [-901]
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_put_session_start(["full"], [1]) == [-200]
    fake.state.submit_status = 0
    assert store.batch_put_session_start(["x"], []) == [-600]
    wrong = ReplicateConfig(soft_pin_ttl_ms=5)
    assert wrong.soft_pin_action == SoftPinAction.PRESERVE
    assert store.batch_put_session_start(["x", "y"], [1, 1], wrong) == [-600, -600]
    assert store.batch_put_session_start(["x", "late", "full"], [1] * 3) == [0] * 3, "what was refused left nothing"


def test_the_number_of_put_sessions_is_bounded(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(open_values, "SESSIONS_MAX", 2)
    assert store.batch_put_session_start(["a", "b", "c"], [1] * 3) == [0, 0, -200]
    assert "first 'c': -200 NO_AVAILABLE_HANDLE: there are 2 sessions: end some first" in caplog.text
    store.batch_put_session_revoke(["a"])
    assert store.batch_put_session_start(["c"], [1]) == [0]


def test_codes_of_a_start_through_an_agent(dummy: MooncakeDistributedStore, fake: Fake) -> None:
    dummy.put("there", b"v")
    keys = ["there", "new", "new", "", "zero", "negative"]
    assert dummy.batch_put_session_start(keys, [1, 1, 1, 1, 0, -1]) == [-705, 0, -600, -400, -600, -600]
    fake.fail(EXISTS, Status.BUSY)
    assert dummy.batch_put_session_start(["busy"], [1]) == [-705], "another client is putting it"
    fake.fail(EXISTS, Status.TIMEOUT)
    assert dummy.batch_put_session_start(["late"], [1]) == [-901]


@pytest.mark.parametrize(
    ("staging", "largest"), [(2 << 20, 2 << 20), (1500001, 1499968), (4096, 1 << 20), (0, 64 << 20)]
)
def test_what_can_never_be_stored_through_an_agent_is_not_begun(
    fake: Fake, caplog: pytest.LogCaptureFixture, staging: int, largest: int
) -> None:
    dummy = MooncakeDistributedStore()
    assert dummy.setup_dummy(0, staging, "unix:/run/kvpool") == 0
    assert dummy.batch_put_session_start(["fits", "large"], [largest, largest + 1]) == [0, -600]
    assert f"does not fit into the {largest} bytes of local_buffer_size" in caplog.text
    dummy.close()


def test_wrong_pieces_change_nothing(either: MooncakeDistributedStore, lent: Memory) -> None:
    assert either.batch_put_session_start(["a"], [10]) == [0]
    write = either.batch_put_from_multi_buffer_ranges
    good = [lent.at, lent.at]
    assert write(["a", "none", "a"], [[], good, [0]], [[], [5, 5], [0]], [[], [0, 5], [0]]) == [-702, -600, 0]
    for row in (([lent.elsewhere], [10], [0]), (good, [5, 6], [0, 5]), (good, [5, -1], [0, 5]), (good, [5, 5], [5])):
        assert write(["a"], *([part] for part in row)) == [-600]
    assert either.batch_put_session_end(["a"]) == [-600]
    assert write(["a"], [good], [[5, 5]], [[0, 5]]) == [10]
    assert either.batch_put_session_end(["a"]) == [0]


def test_more_pieces_of_a_write_than_a_line_takes(store: MooncakeDistributedStore, memory: Memory, fake: Fake) -> None:
    count = 2 * PARTS_MAX + 1
    memory.bytes[:100] = VALUE
    assert store.batch_put_session_start(["a"], [count]) == [0]
    row = (["a"], [[memory.at + at % 100 for at in range(count)]], [[1] * count], [list(range(count))])
    fake.fail(PUT_PARTS, Status.TIMEOUT, lines=2)
    assert store.batch_put_from_multi_buffer_ranges(*row) == [-901], "a row is right as a whole"
    assert store.batch_put_session_end(["a"]) == [-600]
    assert store.batch_put_from_multi_buffer_ranges(*row) == [count]
    assert fake.last_call[:2] == ["9", "3"]
    assert store.batch_put_session_end(["a"]) == [0]
    assert store.get("a") == (VALUE * (count // 100 + 1))[:count]


def test_a_session_that_the_pool_ended_is_over(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.batch_put_session_start(["a", "b", "c"], [3] * 3) == [0] * 3
    write = (["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2)
    fake.fail(PUT_PARTS, Status.TRANSFER_FAILED)
    assert store.batch_put_from_multi_buffer_ranges(*write) == [-800, 3]
    assert store.batch_put_from_multi_buffer_ranges(*write) == [-707, 3]
    assert store.batch_put_session_end(["a", "b"]) == [-707, 0]
    assert "first 'a': -707" in caplog.text
    assert store.batch_put_session_end(["a", "b"]) == [-600, -600]
    assert store.batch_put_session_start(["a"], [3]) == [0]
    fake.fail(PUT_REVOKE, Status.LEASE_EXPIRED)
    assert store.batch_put_session_revoke(["c"]) == [0], "there is nothing to give back"


@pytest.mark.parametrize("status", [Status.LEASE_EXPIRED, Status.TRANSFER_FAILED])
def test_a_session_that_the_pool_ended_half_written_can_be_started_again(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, status: Status
) -> None:
    memory.bytes[:6] = b"abcdef"
    assert store.batch_put_session_start(["a", "b"], [6, 6]) == [0, 0]
    write = store.batch_put_from_multi_buffer_ranges
    assert write(["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2) == [3, 3]
    fake.fail(PUT_PARTS, status, lines=2)
    assert (
        write(["a", "b"], [[memory.at + 3]] * 2, [[3]] * 2, [[3]] * 2)
        == [-707 if status == Status.LEASE_EXPIRED else -800] * 2
    )
    fake.fail(PUT_REVOKE, status)
    assert store.batch_put_session_start(["a"], [6]) == [0]
    assert fake.state.fail_lines == 0, "the leader is told that the first one is over: it takes no second one before"
    assert store.batch_put_session_end(["a", "b"]) == [-600, -707], "nothing of the first one is in the second one"
    assert store.batch_put_session_start(["b"], [6]) == [0]
    assert write(["a", "b"], [[memory.at]] * 2, [[6]] * 2, [[0]] * 2) == [6, 6]
    assert store.batch_put_session_end(["a", "b"]) == [0, 0]
    assert store.get_batch(["a", "b"]) == [b"abcdef"] * 2


def test_after_a_full_queue_a_write_is_repeated_or_the_value_started_again(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake
) -> None:
    """Whose queue it was, that of this process or of a node that has ended the session, is not known."""
    memory.bytes[:3] = b"abc"
    assert store.batch_put_session_start(["a", "b"], [3] * 2) == [0] * 2
    write = (["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2)
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_put_from_multi_buffer_ranges(*write) == [-200] * 2
    fake.state.submit_status = 0
    fake.fail(PUT_REVOKE, Status.LEASE_EXPIRED)
    assert store.batch_put_session_start(["a"], [3]) == [0]
    assert fake.state.fail_lines == 0, "the leader is told"
    assert store.batch_put_from_multi_buffer_ranges(*write) == [3] * 2
    assert store.batch_put_session_end(["a", "b"]) == [0] * 2
    assert store.get_batch(["a", "b"]) == [b"abc"] * 2


def test_a_leader_that_cannot_be_told_of_what_is_over_spoils_no_results(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_revoke(keys: list[str], objects: object, *, timeout: float | None = None) -> list[Status]:
        raise CallError(Status.CLOSED, "the client was closed")

    monkeypatch.setattr(store._pool.client, "put_revoke", put_revoke)
    assert store.batch_put_session_start(["a", "b", "c"], [3] * 3) == [0] * 3
    fake.fail(PUT_PARTS, Status.TRANSFER_FAILED, lines=2)
    write = (["a", "b", "c"], [[memory.at]] * 3, [[3]] * 3, [[0]] * 3)
    assert store.batch_put_from_multi_buffer_ranges(*write) == [-800, -800, 3]
    assert store.batch_put_session_end(["a", "c"]) == [-707, 0]
    assert store.batch_put_session_start(["b", "d"], [3] * 2) == [0, 0], "the leader is asked for it all the same"


def test_a_session_that_is_over_is_given_back_when_it_gives_way(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_values, "SESSIONS_MAX", 2)
    assert store.batch_put_session_start(["a", "b"], [3] * 2) == [0] * 2
    fake.fail(PUT_PARTS, Status.TRANSFER_FAILED)
    assert store.batch_put_from_multi_buffer_ranges(["a"], [[memory.at]], [[3]], [[0]]) == [-800]
    fake.fail(PUT_REVOKE, Status.LEASE_EXPIRED)
    assert store.batch_put_session_start(["c"], [3]) == [0]
    assert fake.state.fail_lines == 0, "the leader is told"


def test_sessions_whose_time_is_over_give_way(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_values, "SESSIONS_MAX", 2)
    monkeypatch.setattr(open_values, "SESSION_SECONDS", -1.0)
    assert store.batch_put_session_start(["a", "b", "a", "c", "d", "e"], [3] * 6) == [0, 0, -600, -200, -200, -200]
    assert store.batch_put_session_start(["a", "b"], [3] * 2) == [0, 0]
    assert store.batch_put_session_start(["c", "d"], [3] * 2) == [0, 0]


def test_an_end_that_fails_can_be_repeated(store: MooncakeDistributedStore, memory: Memory, fake: Fake) -> None:
    memory.bytes[:3] = b"abc"
    assert store.batch_put_session_start(["a", "b"], [3, 3]) == [0, 0]
    assert store.batch_put_from_multi_buffer_ranges(["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2) == [3, 3]
    fake.fail(PUT_END, Status.TIMEOUT)
    assert store.batch_put_session_end(["a", "b"]) == [-901, 0]
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_put_session_end(["a"]) == [-200]
    fake.state.submit_status = 0
    assert store.batch_put_session_end(["a", "a", "b"]) == [0, -600, -600]
    assert store.get("a") == b"abc"


def test_an_end_without_answer_that_stored_the_value_is_found_done(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake
) -> None:
    sessions = store._pool.put_sessions
    assert store.batch_put_session_start(["a", "b"], [3, 3]) == [0, 0]
    assert store.batch_put_from_multi_buffer_ranges(["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2) == [3, 3]
    fake.fail(PUT_END, Status.TIMEOUT, lines=2)
    assert store.batch_put_session_end(["a", "b"]) == [-901, -901]
    objects = open_values.names([sessions._open[key] for key in ("a", "b")])
    assert store._pool.client.put_end(["a", "b"], objects) == [0, 0], "as if that had been done before"
    assert store.remove("b") == 0
    assert store.put("b", b"another") == 0
    assert store.batch_put_session_end(["a", "b"]) == [0, -707]
    assert store.batch_put_session_end(["a", "b"]) == [-600, -600]


def test_a_session_whose_end_failed_gives_way(
    store: MooncakeDistributedStore, memory: Memory, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_values, "SESSIONS_MAX", 2)
    write = (["a", "b"], [[memory.at]] * 2, [[3]] * 2, [[0]] * 2)
    assert store.batch_put_session_start(["a", "b"], [3, 3]) == [0, 0]
    assert store.batch_put_from_multi_buffer_ranges(*write) == [3, 3]
    fake.fail(PUT_END, Status.TIMEOUT, lines=2)
    assert store.batch_put_session_end(["a", "b"]) == [-901, -901]
    assert store.batch_put_session_start(["a", "c", "a"], [3] * 3) == [0, 0, -600]
    assert store.batch_put_session_start(["d"], [3]) == [-200]
    assert store.batch_put_session_revoke(["a", "b", "c"]) == [0, -600, 0]


def test_through_an_agent_an_end_that_fails_can_be_repeated(dummy: MooncakeDistributedStore, fake: Fake) -> None:
    lent = Memory(dummy)
    lent.bytes[:3] = b"abc"
    assert dummy.batch_put_session_start(["a", "b"], [3, 3]) == [0, 0]
    assert dummy.batch_put_from_multi_buffer_ranges(["a", "b"], [[lent.at]] * 2, [[3]] * 2, [[0]] * 2) == [3, 3]
    fake.fail(PUT, Status.NO_SPACE)
    assert dummy.batch_put_session_end(["a", "b"]) == [-200, 0]
    fake.state.submit_status = Status.QUEUE_FULL
    assert dummy.batch_put_session_end(["a"]) == [-200]
    fake.state.submit_status = 0
    assert dummy.batch_put_session_end(["a", "a", "b"]) == [0, -600, -600]
    assert dummy.get("a") == b"abc"


def test_a_revoked_session_leaves_nothing(either: MooncakeDistributedStore, lent: Memory) -> None:
    assert either.batch_put_session_start(["a"], [3]) == [0]
    assert either.batch_put_from_multi_buffer_ranges(["a"], [[lent.at]], [[3]], [[0]]) == [3]
    assert either.batch_put_session_revoke(["a", "none", "a"]) == [0, -600, -600]
    assert either.batch_put_session_end(["a"]) == [-600]
    assert either.is_exist("a") == 0
    assert either.batch_put_session_start(["a"], [3]) == [0], "and the key may begin again"


def test_nothing_is_written_while_it_is_stored(either: MooncakeDistributedStore, lent: Memory, fake: Fake) -> None:
    assert either.batch_put_session_start(["a"], [3]) == [0]
    write = (["a"], [[lent.at]], [[3]], [[0]])
    assert either.batch_put_from_multi_buffer_ranges(*write) == [3]
    fake.close_gate()
    codes: list[int] = []
    ending = threading.Thread(target=lambda: codes.extend(either.batch_put_session_end(["a"])))
    ending.start()
    while fake.state.batches == 0:
        pass
    assert either.batch_put_from_multi_buffer_ranges(*write) == [-600]
    assert either.batch_put_session_revoke(["a"]) == [-600]
    assert either.batch_put_session_end(["a"]) == [-600]
    fake.open_gate()
    ending.join()
    assert codes == [0]


# ---- a store that is not set up


def test_without_a_pool(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    store = MooncakeDistributedStore()
    for _ in range(2):
        assert store.get_into_ranges([1], [["a"]], [[[0]]], [[[0]]], [[[1]]]) == []
        assert store.batch_get_session_start(["a"]) == []
        assert store.batch_get_into_multi_buffer_ranges(["a"], [[1]], [[1]], [[0]]) == []
        assert store.batch_get_session_end(["a"]) == -1
        assert store.batch_put_session_start(["a"], [1]) == []
        assert store.batch_put_from_multi_buffer_ranges(["a"], [[1]], [[1]], [[0]]) == []
        assert store.batch_put_session_end(["a"]) == store.batch_put_session_revoke(["a"]) == []
        assert "setup() was never called" in caplog.text
        store.setup(*SETUP)
        assert store.batch_put_session_start(["a"], [1]) == [0]
        store.close()
