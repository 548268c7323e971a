# SPDX-License-Identifier: Apache-2.0
"""kvpool.TransferEngine between two processes."""

import socket
import threading
import time
import zlib

import pytest
from conftest import SIZE, Memory, Peer

import kvpool
from kvpool import Status


def write(engine: kvpool.TransferEngine, peer: Peer, memory: Memory, offset: int = 0, **options: object) -> Status:
    return engine.write(peer.address, [memory.address], [peer.memory + offset], [memory.size], **options)[0]


def read(engine: kvpool.TransferEngine, peer: Peer, memory: Memory, offset: int = 0, **options: object) -> Status:
    return engine.read(peer.address, [memory.address], [peer.memory + offset], [memory.size], **options)[0]


def test_what_is_written_is_there_and_is_read_back(engine: kvpool.TransferEngine, peer: Peer) -> None:
    sent = Memory(SIZE, b"some bytes that repeat badly")
    assert write(engine, peer, sent) == Status.OK
    assert int(peer.ask("sum")) == zlib.crc32(sent.bytes)
    got = Memory(SIZE)
    assert read(engine, peer, got) == Status.OK
    assert got == sent
    stats = engine.stats()
    assert (stats["write_bytes"], stats["read_bytes"], stats["batches"]) == (SIZE, SIZE, 2)
    timed = sum(stats[name] for name in stats if name.startswith("batches_"))
    assert timed == 2 and stats["batch_us"] > 0


def test_a_batch_of_many_pieces(engine: kvpool.TransferEngine, peer: Peer) -> None:
    sent = Memory(SIZE, b"0123456789abc")
    piece = SIZE // 32
    sources = [sent.address + i * piece for i in range(32)]
    remotes = [peer.memory + i * piece for i in range(32)]
    assert set(engine.write(peer.address, sources, remotes, [piece] * 32)) == {Status.OK}
    assert int(peer.ask("sum")) == zlib.crc32(sent.bytes)


def test_each_line_has_its_own_answer(engine: kvpool.TransferEngine, peer: Peer) -> None:
    page = Memory(4096)
    peers = [peer.address, peer.address, "127.0.0.1:1", "nonsense", peer.address]
    remotes = [peer.memory, peer.memory - 1, peer.memory, peer.memory, 2**64 - 100]
    assert engine.write(peers, [page.address] * 5, remotes, [4096] * 5) == [
        Status.OK,
        Status.NOT_REGISTERED,
        Status.CONNECT_FAILED,
        Status.INVALID_ARGUMENT,
        Status.INVALID_ARGUMENT,
    ]


@pytest.mark.parametrize("length", [1, 4096])
def test_addresses_out_of_range_are_refused(engine: kvpool.TransferEngine, peer: Peer, length: int) -> None:
    before = peer.ask("sum")
    page = Memory(length, b"x")
    for remote in (peer.memory - 1, peer.memory + SIZE - length + 1, 4096, 2**63):
        assert engine.write(peer.address, [page.address], [remote], [length]) == [Status.NOT_REGISTERED]
        assert engine.read(peer.address, [page.address], [remote], [length]) == [Status.NOT_REGISTERED]
    assert "no region registered at" in engine.explain()
    assert peer.ask("sum") == before


def test_lengths_of_nothing_and_of_everything(engine: kvpool.TransferEngine, peer: Peer) -> None:
    page = Memory(1)
    assert engine.write(peer.address, [0], [0], [0]) == [Status.OK]
    assert engine.write(peer.address, [page.address], [peer.memory], [2**62]) == [Status.NOT_REGISTERED]
    assert engine.write(peer.address, [page.address], [peer.memory], [2**64 - 1]) == [Status.INVALID_ARGUMENT]
    with pytest.raises(OverflowError):
        engine.write(peer.address, [page.address], [peer.memory], [2**64])
    with pytest.raises(OverflowError):
        engine.write(peer.address, [page.address], [peer.memory], [-1])
    with pytest.raises(ValueError, match="one of each"):
        engine.write(peer.address, [page.address], [peer.memory], [])


def test_what_the_peer_unregistered_is_refused_until_it_is_back(engine: kvpool.TransferEngine, peer: Peer) -> None:
    page = Memory(4096, b"x")
    assert write(engine, peer, page) == Status.OK
    peer.ask("unregister")
    assert write(engine, peer, page) == Status.NOT_REGISTERED
    peer.ask("register")
    assert write(engine, peer, page) == Status.OK


def test_a_killed_peer_that_is_back_is_found_with_one_retry(engine: kvpool.TransferEngine, peer: Peer) -> None:
    page = Memory(4096, b"x")
    assert write(engine, peer, page) == Status.OK
    peer.kill()
    assert write(engine, peer, page) == Status.CONNECT_FAILED
    assert f"cannot reach the transfer engine at {peer.address}" in engine.explain()
    assert engine.probe(peer.address) == Status.CONNECT_FAILED
    assert engine.connect(peer.address) == Status.CONNECT_FAILED
    again = Peer((peer.port, peer.port))
    try:
        # What was learned of the dead process is not used: the addresses are those of the new one.
        assert write(engine, again, page) == Status.OK
        assert engine.stats()["peer_restarts"] == 1
    finally:
        again.kill()


def test_what_is_under_way_to_a_peer_that_is_killed_fails_long_before_its_deadline(
    engine: kvpool.TransferEngine, peer: Peer
) -> None:
    memory = Memory(SIZE, b"x")
    assert write(engine, peer, memory) == Status.OK
    # A frozen peer answers nothing, so every one of these is still under way when it dies.
    peer.freeze()
    batches = [
        engine.submit_write(peer.address, [memory.address], [peer.memory], [SIZE], timeout=300) for _ in range(20)
    ]
    peer.kill()
    assert {engine.wait(batch)[0] for batch in batches} == {Status.CONNECT_FAILED}
    assert engine.stats()["retries"] > 0


def test_async_transfers_end_once(engine: kvpool.TransferEngine, peer: Peer) -> None:
    memory = Memory(SIZE, b"async")
    batch = engine.submit_write(peer.address, [memory.address], [peer.memory], [SIZE])
    while (statuses := engine.poll(batch)) is None:
        time.sleep(0.001)
    assert statuses == [Status.OK]
    with pytest.raises(kvpool.CallError, match="no such batch"):
        engine.poll(batch)
    assert int(peer.ask("sum")) == zlib.crc32(memory.bytes)


def test_a_batch_that_other_threads_wait_for_is_still_known(engine: kvpool.TransferEngine, peer: Peer) -> None:
    memory = Memory(SIZE, b"x")
    assert write(engine, peer, memory) == Status.OK
    peer.freeze()
    batch = engine.submit_write(peer.address, [memory.address], [peer.memory], [SIZE], timeout=300)
    ends: list[list[Status]] = []
    unknown: list[str] = []

    def wait() -> None:
        try:
            ends.append(engine.wait(batch))
        except kvpool.CallError as error:
            unknown.append(str(error))

    waiting = [threading.Thread(target=wait, daemon=True) for _ in range(2)]
    for thread in waiting:
        thread.start()
    for _ in range(100):  # longer than a thread that waits keeps it at a time
        assert engine.poll(batch) is None
        time.sleep(0.005)
    assert not ends and not unknown
    peer.kill()
    for thread in waiting:
        thread.join()
    assert ends == [[Status.CONNECT_FAILED]]
    assert len(unknown) == 1 and "its end was told already" in unknown[0]


def test_notifications_come_with_the_bytes(engine: kvpool.TransferEngine, peer: Peer) -> None:
    page = Memory(4096, b"x")
    assert write(engine, peer, page, notify=("request-1", b"\x00\xff")) == Status.OK
    assert peer.ask("notifies") == "[('request-1', b'\\x00\\xff')]"
    assert write(engine, peer, page, offset=SIZE, notify=("request-2", b"")) == Status.NOT_REGISTERED
    assert peer.ask("notifies") == "[]"
    assert write(engine, peer, page, notify=("n", b"m" * 4097)) == Status.INVALID_ARGUMENT


def test_a_passed_deadline_is_a_timeout(engine: kvpool.TransferEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        page = Memory(4096)
        status = engine.read(f"127.0.0.1:{silent.getsockname()[1]}", [page.address], [1], [1], timeout=0.2)
        assert status == [Status.TIMEOUT]
        assert "ran out of time while connecting to" in engine.explain()


def test_a_hostile_peer_that_is_no_engine(engine: kvpool.TransferEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.recv(65536)

        other = threading.Thread(target=answer)
        other.start()
        page = Memory(4096)
        peer = f"127.0.0.1:{listener.getsockname()[1]}"
        assert engine.read(peer, [page.address], [1], [1]) == [Status.PROTOCOL]
        assert "is that a transfer engine?" in engine.explain()
        other.join()


def test_bytes_that_are_no_protocol_harm_nobody(engine: kvpool.TransferEngine, peer: Peer) -> None:
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 5000, b"\x00"):
        with socket.create_connection(("127.0.0.1", peer.port)) as connection:
            connection.sendall(garbage)
    page = Memory(4096, b"x")
    assert write(engine, peer, page) == Status.OK


def test_a_port_range_without_a_free_port_is_named(engine: kvpool.TransferEngine) -> None:
    with pytest.raises(kvpool.SegmentError, match=f"none of the 1 ports from {engine.port} to {engine.port} is free"):
        kvpool.TransferEngine(listen_host="127.0.0.1", ports=(engine.port, engine.port))


def test_protocols_that_are_not_here_are_refused_each_with_its_reason() -> None:
    with pytest.raises(kvpool.CallError, match=r"rdma: not installed.*ascend: not installed.*Add tcp to the list"):
        kvpool.TransferEngine(protocols=("rdma", "ascend"))
    with kvpool.TransferEngine(protocols=("rdma", "tcp")) as made:
        assert "; tcp: used; peers on this machine: " in made.transports()
    with pytest.raises(kvpool.CallError, match="give P2PHANDSHAKE"):
        kvpool.TransferEngine(metadata="http://10.0.0.1:8080/metadata")


def test_peers_are_probed_and_described(engine: kvpool.TransferEngine, peer: Peer) -> None:
    assert engine.probe(peer.address) == Status.OK
    assert engine.probe("127.0.0.1:1") == Status.CONNECT_FAILED
    assert engine.describe(peer.address) == [(peer.memory, SIZE)]
    with pytest.raises(kvpool.PeerError, match="cannot reach the transfer engine"):
        engine.describe("127.0.0.1:1")


def test_registration_is_all_or_none(engine: kvpool.TransferEngine) -> None:
    memory = Memory(8192)
    with pytest.raises(kvpool.CallError, match="overlaps"):
        engine.register([memory.address, memory.address + 4096], [8192, 1])
    assert engine.stats()["regions"] == 0
    engine.register([memory.address, memory.address + 4096], [4096, 4096])
    with pytest.raises(kvpool.CallError, match="no registered region begins"):
        engine.unregister([memory.address, memory.address + 1])
    assert engine.stats()["regions"] == 2
    with pytest.raises(kvpool.CallError, match="npu:0"):
        engine.register([1], [1], "npu:0")


def test_other_threads_run_while_one_waits(engine: kvpool.TransferEngine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        page = Memory(4096)
        peer = f"127.0.0.1:{silent.getsockname()[1]}"
        waiting = threading.Thread(target=lambda: engine.read(peer, [page.address], [1], [1], timeout=1.0), daemon=True)
        waiting.start()
        while engine.stats()["batches"] == 0:  # needs the GIL, again and again
            assert waiting.is_alive() or engine.stats()["batches"] == 1
        waiting.join()


def test_closing_is_idempotent_and_later_calls_say_so(peer: Peer) -> None:
    engine = kvpool.TransferEngine(listen_host="127.0.0.1")
    memory = Memory(SIZE)
    engine.submit_write(peer.address, [memory.address], [peer.memory], [SIZE])
    engine.close()
    engine.close()
    with pytest.raises(kvpool.CallError, match="the transfer engine is closed"):
        engine.probe(peer.address)
