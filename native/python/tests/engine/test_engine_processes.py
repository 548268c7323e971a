# SPDX-License-Identifier: Apache-2.0
"""mooncake.engine.TransferEngine between processes that are killed and started again, and with peers that are none.

TRANSFER_BYTES says how much the large transfer moves.
"""

import ctypes
import mmap
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy
import pytest
from conftest import SIZE, Memory, Peer
from torch_stand_in import stand_in_torch, tensor_of
from waiting import eventually
from wire import CODEC, frame

from mooncake.engine import TransferEngine

HERE = "127.0.0.1"
LARGE = int(os.environ.get("TRANSFER_BYTES", 1 << 30))
# Long enough that it is under way when it is looked at.
LONG, BEGUN = 512 << 20, 8 << 20
# Far below what a transfer may take, far above what a loss takes to be noticed.
SOON, TIMEOUT = 60.0, "600"
MASTER, ENGINE = 1, 4


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[TransferEngine]:
    monkeypatch.setenv("MC_TRANSFER_TIMEOUT", TIMEOUT)
    engine = TransferEngine()
    assert engine.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    yield engine
    engine.get_engine().engine.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def begin(*arguments: object, **options: object) -> Peer:
        started.append(Peer(*arguments, **options))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.kill()


def outcome(engine: TransferEngine, batch: int) -> int:
    """Of transfer_check_status(), once it is not 0."""
    end = time.monotonic() + SOON
    while (status := engine.transfer_check_status(batch)) == 0:
        assert time.monotonic() < end, "a lost peer is noticed soon"
        time.sleep(0.001)
    return status


def test_a_large_transfer_arrives_whole_both_ways(here: TransferEngine, start: Callable[..., Peer]) -> None:
    words = numpy.arange(LARGE // 8, dtype=numpy.uint64)  # no two blocks are the same
    peer = start(size=words.nbytes)
    blocks = 64
    step = words.nbytes // blocks
    order = numpy.random.default_rng(1).permutation(blocks) * step
    local = [words.ctypes.data + int(at) for at in order]
    remote = [peer.memory + int(at) for at in order]
    assert here.batch_transfer_sync_write(peer.address, local, remote, [step] * blocks) == 0
    assert int(peer.ask("sum")) == zlib.crc32(words)
    got = numpy.zeros_like(words)
    assert here.transfer_sync_read(peer.address, got.ctypes.data, peer.memory, got.nbytes) == 0
    assert numpy.array_equal(got, words)
    assert here.get_engine().engine.stats()["same_machine_bytes"] == 2 * words.nbytes


def test_processes_of_one_machine_use_sockets_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, start: Callable[..., Peer]
) -> None:
    off = {"KVPOOL_ENGINE_SAME_MACHINE": "false"}
    sent = Memory(SIZE, b"by tcp")
    for here_is_off, there in ((True, start()), (False, start(environment=off))):
        monkeypatch.setenv("KVPOOL_ENGINE_SAME_MACHINE", "false" if here_is_off else "true")
        engine = TransferEngine()
        assert engine.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
        assert engine.transfer_sync_write(there.address, sent.address, there.memory, SIZE) == 0
        assert int(there.ask("sum")) == zlib.crc32(sent.bytes)
        stats = engine.get_engine().engine.stats()
        assert (stats["same_machine_bytes"], stats["same_machine_refusals"]) == (0, 0)
        engine.get_engine().engine.close()


def test_memory_of_tensors_is_registered_by_address(here: TransferEngine) -> None:
    there = TransferEngine()
    assert there.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    torch = stand_in_torch()
    caches = [tensor_of(torch, "bfloat16", (2, 16, 8), seed) for seed in range(4)]
    got = [tensor_of(torch, "bfloat16", (2, 16, 8), 100 + seed) for seed in range(4)]
    sizes = [cache.numel() * cache.element_size() for cache in caches]
    assert there.batch_register_memory([cache.data_ptr() for cache in caches], sizes) == 0
    target = f"{HERE}:{there.get_rpc_port()}"
    pointers = [[tensor.data_ptr() for tensor in tensors] for tensors in (got, caches)]
    assert here.batch_transfer_sync_read(target, *pointers, sizes) == 0
    assert got == caches
    there.get_engine().engine.close()


def test_memory_that_processes_share_is_registered_as_any_other(here: TransferEngine) -> None:
    """Engines have pools of host memory in /dev/shm. Each process registers what it has mapped."""
    there = TransferEngine()
    assert there.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    with mmap.mmap(-1, 1 << 20) as shared, os.fdopen(os.memfd_create("cache"), "r+b") as file:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 1 << 20) as mapped, mmap.mmap(file.fileno(), 1 << 20) as again:
            shared[:] = bytes(range(256)) * 4096
            views = [ctypes.c_char.from_buffer(memory) for memory in (shared, mapped, again)]
            source, first, second = map(ctypes.addressof, views)
            assert there.batch_register_memory([first, second], [1 << 20] * 2) == 0
            assert here.transfer_sync_write(f"{HERE}:{there.get_rpc_port()}", source, second, 1 << 20) == 0
            assert mapped[:] == shared[:]
            assert there.batch_unregister_memory([first, second]) == 0
            del views
    there.get_engine().engine.close()


def test_several_peers_at_once_of_which_one_is_killed(here: TransferEngine, start: Callable[..., Peer]) -> None:
    peers = [start() for _ in range(3)]
    sent = [Memory(peers[0].size, bytes([number + 1, 7])) for number in range(3)]

    def begin(number: int) -> int:
        peer, memory = peers[number], sent[number]
        half = memory.size // 2
        return here.batch_transfer_async_write(
            peer.address, [memory.address, memory.address + half], [peer.memory, peer.memory + half], [half, half]
        )

    assert here.get_batch_transfer_status([begin(number) for number in range(3)]) == 0
    assert [int(peer.ask("sum")) for peer in peers] == [zlib.crc32(memory.bytes) for memory in sent]
    peers[1].freeze()
    batches = [begin(number) for number in range(3)]
    peers[1].kill()
    assert [outcome(here, batch) for batch in batches] == [1, -1, 1]


@pytest.mark.parametrize("how", ["write", "read"])
def test_a_peer_killed_in_the_middle_is_a_failure_soon_and_is_found_again_at_its_port(
    here: TransferEngine, start: Callable[..., Peer], how: str
) -> None:
    peer = start(size=LONG)
    memory = Memory(LONG, b"\7" if how == "write" else b"")
    if how == "write":
        batch = here.transfer_submit_write(peer.address, memory.address, peer.memory, LONG)
        eventually(lambda: peer.ask(f"byte {BEGUN}") == "7", "bytes arrive there")
    else:
        peer.ask("fill 7")
        batch = here.batch_transfer_async_read(peer.address, [memory.address], [peer.memory], [LONG])
        eventually(lambda: memory.bytes[BEGUN] == b"\7", "bytes arrive here")
    assert here.transfer_check_status(batch) == 0, "it was to be under way"
    peer.kill()
    assert outcome(here, batch) == -1
    assert here.transfer_check_status(batch) == -1, "its end was told already"

    again = start((peer.port, peer.port))
    page = Memory(again.size, b"again")
    assert here.transfer_sync_write(again.address, page.address, again.memory, page.size) == 0
    assert int(again.ask("sum")) == zlib.crc32(page.bytes)


def test_a_peer_that_is_back_on_a_new_port_is_reached_there_only(
    here: TransferEngine, start: Callable[..., Peer]
) -> None:
    peer = start()
    page = Memory(peer.size, b"page")
    assert here.transfer_sync_write(peer.address, page.address, peer.memory, page.size) == 0
    peer.kill()
    again = start((peer.port + 1, 17000))
    assert here.transfer_sync_write(again.address, page.address, again.memory, page.size) == 0
    assert int(again.ask("sum")) == zlib.crc32(page.bytes)
    assert here.transfer_sync_write(peer.address, page.address, again.memory, page.size) == -1
    assert here.send_probe(peer.address) == -1
    assert here.send_probe(again.address) == 0


def test_a_writer_that_is_killed_while_it_writes_here_holds_up_nothing(
    here: TransferEngine, start: Callable[..., Peer]
) -> None:
    memory = Memory(LONG)
    assert here.register_memory(memory.address, memory.size) == 0
    writer, other = start(size=LONG), start()
    writer.ask("fill 1")
    target = f"{HERE}:{here.get_rpc_port()}"
    writer.tell(f"write {target} {memory.address}")
    eventually(lambda: memory.bytes[BEGUN] == b"\1", "bytes arrive here")
    writer.kill()
    other.ask("fill 2")
    assert other.ask(f"write {target} {memory.address}") == "0"
    assert bytes(memory.bytes[: other.size]) == b"\2" * other.size
    assert here.unregister_memory(memory.address) == 0
    assert other.ask(f"write {target} {memory.address}") == "-1"


# ---- peers that are none


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


def welcome(**fields: object) -> bytes:
    one = {"min": 1, "max": 1}
    about = {"wire": one, "layout": one, "abi": one, "incarnation": 5, "name": "other", "product": "9.0.0"}
    return frame(CODEC.encode("Welcome", {**about, **fields}))


WRONG = {
    "bytes of no protocol": (b"\xff" * 4096, "is that a transfer engine?"),
    "an answer of HTTP": (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "is that a transfer engine?"),
    "a pool's master": (welcome(role=MASTER, wireChosen=1), "master"),
    "an engine that speaks another version": (
        frame(CODEC.encode("Refused", {"code": 2, "wire": {"min": 90, "max": 99}, "message": "speaks 90 to 99"})),
        "speaks 90 to 99",
    ),
    "an engine that chose a version that was not offered": (welcome(role=ENGINE, wireChosen=99), "version"),
    "half a frame": (welcome(role=ENGINE, wireChosen=1)[:20], "transfer engine"),
}


@pytest.mark.parametrize("who", WRONG)
def test_a_peer_that_is_no_engine_of_ours_is_a_failure_soon_that_says_so(
    here: TransferEngine, caplog: pytest.LogCaptureFixture, who: str
) -> None:
    said, reason = WRONG[who]
    with socket.create_server((HERE, 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(said)

        other = threading.Thread(target=answer)
        other.start()
        target = f"{HERE}:{listener.getsockname()[1]}"
        page = Memory(4096)
        began = time.monotonic()
        try:
            assert here.transfer_sync_write(target, page.address, page.address, 4096) == -1
            assert here.batch_transfer_sync_read(target, [page.address], [page.address], [4096]) == -1
            assert here.transfer_submit_write(target, page.address, page.address, 4096) == 0
            assert here.send_probe(target) == -1
            assert here.get_first_buffer_address(target) == 0
        finally:
            listener.shutdown(socket.SHUT_RDWR)
        other.join()
    assert time.monotonic() - began < SOON
    assert target in caplog.text and reason in caplog.text


def test_a_server_of_http_at_the_port_is_a_failure_and_goes_on_serving(here: TransferEngine) -> None:
    with ThreadingHTTPServer((HERE, 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        target = f"{HERE}:{server.server_address[1]}"
        page = Memory(4096)
        assert here.transfer_sync_write(target, page.address, page.address, 4096) == -1
        assert here.send_probe(target) == -1
        server.shutdown()


def test_a_port_where_something_listens_and_is_silent_is_given_up_after_three_seconds(
    here: TransferEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server((HERE, 0)) as silent:
        target = f"{HERE}:{silent.getsockname()[1]}"
        page = Memory(4096)
        began = time.monotonic()
        assert here.transfer_sync_write(target, page.address, page.address, 4096) == -1
        assert time.monotonic() - began < SOON
    assert "is a transfer engine running there?" in caplog.text
