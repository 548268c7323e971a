# SPDX-License-Identifier: Apache-2.0
"""kvpool.Client: what goes in, what comes out."""

import array
import ctypes
import mmap

import pytest
from conftest import EXISTS, GET, PUT, REMOVE, Fake

import kvpool
from kvpool import Client, Medium, Replica, Status


def _mapped(data: bytes) -> mmap.mmap:
    mapping = mmap.mmap(-1, len(data))
    mapping.write(data)
    return mapping


@pytest.mark.parametrize(
    "value",
    [
        b"bytes",
        bytearray(b"bytearray"),
        memoryview(b"memoryview")[3:],
        array.array("d", [1.5, 2.5]),
        _mapped(b"mapped"),
        (ctypes.c_int32 * 3)(1, 2, 3),
        b"",
        bytes(1),
        bytes(range(256)) * 4096,
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_contiguous_buffer_comes_back_byte_for_byte(client: Client, value: object) -> None:
    client.put("key", value)
    assert client.get("key") == bytes(memoryview(value).cast("B"))
    assert client.size("key") == memoryview(value).nbytes


@pytest.mark.parametrize("key", ["k", "ключ/鍵", b"raw", "x" * 4096])
def test_keys(client: Client, key: str | bytes) -> None:
    client.put(key, b"v")
    assert client.exists(key)
    assert client.remove(key) is True
    assert client.remove(key) is False
    assert client.get(key) is None


@pytest.mark.parametrize("key", ["", "x" * 4097, "\ud800", b""], ids=["empty", "long", "surrogate", "no bytes"])
def test_a_wrong_key_is_a_status_of_its_own_line(client: Client, key: str | bytes) -> None:
    assert client.put_batch(["good", key], [b"1", b"2"]) == [Status.OK, Status.INVALID_KEY]
    assert client.get_batch([key, "good"]) == [Status.INVALID_KEY, b"1"]
    with pytest.raises(kvpool.ObjectError) as caught:
        client.get(key)
    assert caught.value.status is Status.INVALID_KEY


def test_a_batch_answers_for_each_key(client: Client, fake: Fake) -> None:
    assert client.put_batch(["a", "b"], [b"1", b"22"]) == [Status.OK, Status.OK]
    assert client.size_batch(["a", "none", "b"]) == [1, Status.NOT_FOUND, 2]
    assert client.get_batch(["b", "none", "a"]) == [b"22", Status.NOT_FOUND, b"1"]
    fake.fail(REMOVE, Status.UNAVAILABLE)
    assert client.remove_batch(["a", "b"]) == [Status.UNAVAILABLE, Status.OK]


def test_where_copies_are(client: Client) -> None:
    keys = [str(1000 + i) for i in range(100)]  # more than are asked for at a time
    client.put_batch([*keys, "ssd"], [b"22"] * 100 + [b""])
    found = client.locate_batch([*keys, "none", "ssd", ""])
    assert found[:100] == [[Replica("node-4", "host:4", Medium.DRAM, 2, 4096)]] * 100
    assert found[100:] == [Status.NOT_FOUND, [Replica("node-3", "host:3", Medium.SSD, 0, 4096)], Status.INVALID_KEY]


def test_nodes_are_named(client: Client, fake: Fake) -> None:
    client.put("key", b"", preferred_node=["a", "host:1"])
    assert fake.last_call[4] == "a,host:1"
    client.put("key", b"", preferred_node=[])
    assert fake.last_call[4] == ""
    assert client.remove_batch(["key"], node="host:1") == [Status.OK]
    assert fake.last_call[4] == "host:1"
    client.remove_batch(["key"])
    assert fake.last_call[4] == ""


def test_empty_batches(client: Client) -> None:
    assert client.put_batch([], []) == client.get_batch([]) == client.size_batch([]) == client.remove_batch([]) == []
    assert client.locate_batch([]) == []


def test_a_batch_larger_than_the_abi_takes(client: Client) -> None:
    keys = [str(i) for i in range(70_000)]
    assert set(client.put_batch(keys, [b"v"] * len(keys))) == {Status.OK}
    assert client.get_batch(keys) == [b"v"] * len(keys)


def test_get_of_many_sizes(client: Client) -> None:
    """More than the memory offered on a guess, less, and again more."""
    for size in (10, 100_000, 0, 4096, 5_000_000, 1, 4097):
        client.put(f"s{size}", bytes([size % 251]) * size)
        assert client.get(f"s{size}") == bytes([size % 251]) * size
    assert [len(value) for value in client.get_batch(["s0", "s5000000", "s1", "s4097"])] == [0, 5_000_000, 1, 4097]


def test_an_object_that_never_fits_ends(client: Client, fake: Fake) -> None:
    client.put("key", b"x" * 10)
    fake.fail(GET, Status.BUFFER_TOO_SMALL, lines=100)
    assert client.get_batch(["key"]) == [Status.BUFFER_TOO_SMALL]


def test_get_into(client: Client) -> None:
    client.put("key", b"value")
    room = bytearray(8)
    assert client.get_into("key", room) == 5
    assert room == b"value\0\0\0"
    assert client.get_into("none", room) is None
    with pytest.raises(kvpool.ObjectError) as caught:
        client.get_into("key", bytearray(4))
    assert caught.value.status is Status.BUFFER_TOO_SMALL


def test_wrong_buffers_are_python_errors(client: Client) -> None:
    with pytest.raises(BufferError):
        client.put("key", memoryview(b"abcdef")[::2])
    with pytest.raises(BufferError):
        client.get_into("key", b"read-only")
    with pytest.raises(TypeError):
        client.put("key", "text")
    assert not client.exists("key")


def test_wrong_tables_are_python_errors(client: Client) -> None:
    with pytest.raises(ValueError, match="2 keys but 1 values"):
        client.put_batch(["a", "b"], [b""])
    with pytest.raises(TypeError, match="not a single str"):
        client.get_batch("abc")
    with pytest.raises(TypeError, match="must be str or bytes"):
        client.get_batch([7])
    with pytest.raises(OverflowError):
        client.put_from(["a"], [-1], [1])
    with pytest.raises(ValueError, match="replicas is -1"):
        client.put("a", b"", replicas=-1)


def test_memory_by_address_must_be_registered(client: Client) -> None:
    memory = (ctypes.c_char * 64)(*b"hello")
    address = ctypes.addressof(memory)
    assert client.put_from(["k"], [address], [5]) == [Status.NOT_REGISTERED]
    client.register(address, 64)
    assert client.put_from(["k", "out"], [address, address + 60], [5, 5]) == [Status.OK, Status.NOT_REGISTERED]
    assert client.get_into_memory(["k", "none"], [address + 32, address], [32, 32]) == [5, Status.NOT_FOUND]
    assert memory.raw[32:37] == b"hello"
    with pytest.raises(kvpool.CallError):
        client.register(address + 1, 4)
    client.unregister(address)
    with pytest.raises(kvpool.CallError) as caught:
        client.unregister(address)
    assert caught.value.status is Status.NOT_REGISTERED


def test_values_in_pieces(client: Client) -> None:
    memory = (ctypes.c_char * 64)(*b"hello, world")
    at = ctypes.addressof(memory)
    client.register(at, 64)
    addresses, lengths = [[at + 5, at, at], [], [at + 60]], [[7, 0, 5], [], [5]]
    put = client.put_from_pieces(["k", "empty", "out"], addresses, lengths)
    assert put == [Status.OK, Status.OK, Status.NOT_REGISTERED]
    assert client.get("k") == b", worldhello"
    assert client.get("empty") == b""
    assert client.get_into_pieces(["k", "none"], [[at + 20, at + 40], [at]], [[4, 20], [9]]) == [12, Status.NOT_FOUND]
    assert (memory.raw[20:24], memory.raw[40:48]) == (b", wo", b"rldhello")
    with pytest.raises(ValueError, match="key 1 has 2 addresses but 1 sizes"):
        client.put_from_pieces(["a", "b"], [[at], [at, at]], [[1], [1]])
    with pytest.raises(ValueError, match="2 keys but 1 lists of sizes"):
        client.put_from_pieces(["a", "b"], [[at], [at]], [[1]])
    with pytest.raises(TypeError):
        client.put_from_pieces(["a"], [at], [1])  # type: ignore[list-item]
    with pytest.raises(OverflowError):
        client.put_from_pieces(["a"], [[-1]], [[1]])


def test_parts_of_values(client: Client) -> None:
    client.put("k", b"hello, world")
    memory = (ctypes.c_char * 64)()
    at = ctypes.addressof(memory)
    client.register(at, 64)
    keys, addresses = ["k", "k", "none", "k"], [[at, at + 10], [], [at], [at]]
    answers = client.get_into_parts(keys, addresses, [[5, 3], [], [1], [2]], [[7, 0], [], [0], [11]])
    assert answers == [12, 12, Status.NOT_FOUND, Status.INVALID_ARGUMENT]
    assert (memory.raw[:5], memory.raw[10:13]) == (b"world", b"hel")
    with pytest.raises(ValueError, match="key 0 has 2 addresses but 1 offsets"):
        client.get_into_parts(["k"], [[at, at]], [[1, 1]], [[0]])
    with pytest.raises(ValueError, match="1 keys but 2 lists of offsets"):
        client.get_into_parts(["k"], [[at]], [[1]], [[0], [0]])
    with pytest.raises(OverflowError):
        client.get_into_parts(["k"], [[at]], [[1]], [[-1]])


def test_parts_of_one_value(client: Client) -> None:
    client.put("k", b"hello, world")
    memory = (ctypes.c_char * 64)()
    at = ctypes.addressof(memory)
    client.register(at, 64)
    names = array.array("Q", [0, 0, 0, 0])
    none: list[list[int]] = [[], []]
    assert client.get_into_parts(["k", "none"], none, none, none, objects=names) == [12, Status.NOT_FOUND]
    assert (names[1] > 0, names[3]) == (True, 0)
    name = names[:2]
    assert client.get_into_parts(["k"], [[at]], [[1]], [[0]], objects=name) == [12]
    client.put("k", b"another", upsert=True)
    assert client.get_into_parts(["k"], [[at]], [[1]], [[0]], objects=name) == [Status.LEASE_EXPIRED]
    with pytest.raises(ValueError, match="2 keys need 32"):
        client.get_into_parts(["k", "k"], none, none, none, objects=name)
    with pytest.raises(BufferError):
        client.get_into_parts(["k"], [[]], [[]], [[]], objects=b"0" * 16)


def test_a_put_in_many_calls(client: Client, fake: Fake) -> None:
    memory = (ctypes.c_char * 64)(*b"world")
    at = ctypes.addressof(memory)
    client.register(at, 64)
    client.put("there", b"v")
    names = array.array("Q", [0] * 6)
    started = client.put_start(["k", "there", "gone"], [10, 1, 5], names, replicas=2, preferred_node="n")
    assert started == [Status.OK, Status.EXISTS, Status.OK]
    assert [fake.last_call[i] for i in (0, 1, 3, 4)] == ["8", "3", "2", "n"]
    assert (names[1] > 0, names[3]) == (True, 0)
    one, other = names[:2], names[4:]
    assert client.put_parts(["k"], [[at, at]], [[5, 2]], [[0, 8]], one) == [7]
    assert client.put_parts(["k"], [[at]], [[5]], [[6]], one) == [Status.INVALID_ARGUMENT]
    assert client.put_parts(["k"], [[at + 60]], [[5]], [[0]], one) == [Status.NOT_REGISTERED]
    assert client.put_parts(["k"], [[at + 2]], [[3]], [[5]], one) == [3]
    assert client.get("k") is None
    assert client.put_end(["k"], one) == [Status.OK]
    assert client.get("k") == b"worldrldwo"
    assert client.put_end(["k"], one) == [Status.LEASE_EXPIRED]
    assert client.put_revoke(["gone"], other) == [Status.OK]
    assert client.put_parts(["gone"], [[at]], [[1]], [[0]], other) == [Status.LEASE_EXPIRED]
    with pytest.raises(ValueError, match="1 keys but 2 lengths"):
        client.put_start(["k"], [1, 2], one)
    with pytest.raises(ValueError, match="2 keys need 32"):
        client.put_end(["k", "k"], one)


def test_options_reach_the_library(client: Client, fake: Fake) -> None:
    client.put("key", b"", replicas=3, preferred_node="demo-1", timeout=1.5)
    op, count, flags, replicas, node, timeout = fake.last_call[:6]
    assert (op, count, flags, replicas, node) == (str(PUT), "1", "0", "3", "demo-1")
    assert 1000 < int(timeout) <= 1500
    client.remove("key", force=True)
    assert fake.last_call[2] == "2"


def test_remove_and_leases(client: Client, fake: Fake) -> None:
    fake.state.leases = 1
    client.put_batch(["a", "b", "c"], [b""] * 3)
    assert client.exists("a") and client.exists("b")
    with pytest.raises(kvpool.ObjectError) as caught:
        client.remove("a")
    assert caught.value.status is Status.HAS_LEASE
    assert client.remove("a", force=True)
    assert client.remove_all() == 1
    assert client.remove_all(force=True) == 1


def test_a_pattern_says_which_keys_are_removed(client: Client) -> None:
    client.put_batch(["model-a/1", "model-a/2", "model-b/1"], [b""] * 3)
    assert client.remove_matching("^model-a/[0-9]$") == 2
    with pytest.raises(kvpool.CallError):
        client.remove_matching("(")
    assert client.size_batch(["model-a/1", "model-b/1"]) == [Status.NOT_FOUND, 0]


@pytest.mark.parametrize("op", [PUT, GET, EXISTS, REMOVE])
@pytest.mark.parametrize("status", [status for status in Status if status])
def test_every_failure_is_an_exception_with_its_reason(client: Client, fake: Fake, op: int, status: Status) -> None:
    calls = {
        PUT: lambda: client.put("key", b""),
        GET: lambda: client.get("key"),
        EXISTS: lambda: client.size("key"),
        REMOVE: lambda: client.remove("key"),
    }
    fake.fail(op, status, lines=100, sentence="node demo-0 at 10.0.0.7:50061 said so")
    if status is Status.NOT_FOUND and op != PUT:
        assert not calls[op]()
        return
    with pytest.raises(kvpool.KvpoolError, match=r"node demo-0 at 10\.0\.0\.7:50061 said so") as caught:
        calls[op]()
    assert caught.value.status is status


def test_a_batch_that_cannot_be_queued_is_an_answer_for_each_key(client: Client, fake: Fake) -> None:
    fake.state.submit_status = Status.QUEUE_FULL
    assert client.put_batch(["a", "b"], [b"", b""]) == [Status.QUEUE_FULL] * 2
    assert client.get_batch(["a"]) == [Status.QUEUE_FULL]
    with pytest.raises(kvpool.CallError):
        client.remove_all()
    fake.state.submit_status = 0
    assert not client.exists("a")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), 5_000_000])
def test_a_time_that_is_none_is_refused(client: Client, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout is"):
        client.get("key", timeout=timeout)


def test_how_a_client_is_made(fake: Fake) -> None:
    with Client(["h1:1", " h2:2 "], name="me", protocols=["tcp"], connect_timeout=1, ready_timeout=0.25):
        assert fake.last_call == ["h1:1,h2:2", "me", "1", "1000", "30000", "250", "0", "300000", "", "0"]
    with Client("h:1", busy_wait=False):
        assert fake.last_call[6] == str(0xFFFFFFFF)
    for arguments in ({"masters": " , "}, {"masters": []}, {"masters": "h:1", "protocols": ["rdma"]}):
        with pytest.raises(ValueError, match=r"no master given|unknown protocol 'rdma'"):
            Client(**arguments)
    with Client("h:1", payloads="encrypted"):
        assert fake.last_call[9] == "1"
    for wrong in ("authenticated", "", "Encrypted"):
        with pytest.raises(ValueError, match=f"payloads is '{wrong}', but must be 'encrypted'"):
            Client("h:1", payloads=wrong)


def test_a_pool_that_does_not_answer(fake: Fake) -> None:
    fake.state.create_status = Status.CONNECT_FAILED
    fake.state.sentence = b"h1:1: connection refused; h2:2: no such host"
    with pytest.raises(kvpool.PeerError, match="h1:1: connection refused; h2:2: no such host"):
        Client("h1:1,h2:2")
    assert fake.state.clients == 0


def test_a_sentence_that_is_no_utf8(fake: Fake) -> None:
    fake.state.create_status = Status.PROTOCOL
    fake.state.sentence = b"peer sent \xff\xfe"
    with pytest.raises(kvpool.PeerError, match="peer sent \ufffd"):
        Client("h:1")


def test_closed(fake: Fake) -> None:
    client = Client("h:1")
    client.close()
    client.close()
    assert fake.state.clients == 0
    with pytest.raises(kvpool.CallError, match="the client is closed") as caught:
        client.get("key")
    assert caught.value.status is Status.CLOSED


def test_stats_and_explain(client: Client, fake: Fake) -> None:
    assert client.stats()["leader_known"] is True
    assert {"puts", "hits", "shm_bytes", "epoch", "retries"} <= set(client.stats())
    steps = {"in_100us", "in_1ms", "in_10ms", "in_100ms", "in_1s", "longer"}
    for kind in ("put", "get"):
        assert {f"{kind}_batch_us"} | {f"{kind}_batches_{step}" for step in steps} <= set(client.stats())
    fake.state.sentence = b"why"
    assert client.explain() == "why"
    assert kvpool.sbom() == "{}"
    assert kvpool.versions() == {"wire": (1, 2), "layout": (3, 4), "abi": (5, 6)}
    with pytest.raises(Exception, match="as asked"):
        kvpool.log_level(9)


def test_storage_node(fake: Fake) -> None:
    with kvpool.StorageNode("h:1", 32 << 20, advertise_host="10.0.0.9", node_id="me") as node:
        assert fake.last_call == ["h:1", "10.0.0.9", "me", str(32 << 20), "0", "1", "1", "", "0"]
        assert node.port == 14000
        with kvpool.StorageNode("h:1", 32 << 20, advertise_host="h", trusted_fabric=True):
            assert fake.last_call[5] == "9"  # transient, on a trusted fabric
        assert node.wait_ready(1)
        fake.state.not_fenced = 1
        assert not node.wait_ready(0.01)
    assert fake.state.nodes == 0
    with pytest.raises(kvpool.CallError, match="storage node is closed"):
        node.stats()
    with pytest.raises(ValueError, match="segment_size is 1"):
        kvpool.StorageNode("h:1", 1, advertise_host="h")
    with pytest.raises(ValueError, match="port is 70000"):
        kvpool.StorageNode("h:1", 32 << 20, advertise_host="h", port=70000)
    fake.state.node_failures, fake.state.node_status = 1, Status.OUT_OF_MEMORY
    fake.state.sentence = b"cannot reserve 33554432 bytes"
    with pytest.raises(kvpool.SegmentError, match="cannot reserve"):
        kvpool.StorageNode("h:1", 32 << 20, advertise_host="h")
