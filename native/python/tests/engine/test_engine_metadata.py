# SPDX-License-Identifier: Apache-2.0
"""Transfer engines that find each other by a metadata server of HTTP, in processes."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
import zlib
from collections.abc import Iterator

import pytest
from conftest import Memory, Peer

from mooncake.engine import TransferEngine
from mooncake.http_metadata_server import KVBootstrapServer

NAME = "127.0.0.1:12345"
PORTS = (15000, 17000)


@pytest.fixture
def server() -> Iterator[KVBootstrapServer]:
    made = KVBootstrapServer(0, "127.0.0.1")
    made.run()
    yield made
    made.close()


@pytest.fixture
def url(server: KVBootstrapServer) -> str:
    return f"http://127.0.0.1:{server.port}/metadata"


@pytest.fixture
def here(url: str) -> Iterator[TransferEngine]:
    engine = TransferEngine()
    assert engine.initialize("127.0.0.1:1", url, "tcp", "") == 0
    yield engine
    engine.get_engine().engine.close()


def place(url: str, name: str) -> dict:
    with urllib.request.urlopen(f"{url}?key=mooncake/rpc_meta/{name}", timeout=10) as answer:
        return json.load(answer)


def test_a_peer_is_reached_by_its_name_also_after_it_was_killed_and_started_on_another_port(
    here: TransferEngine, url: str
) -> None:
    peer = Peer(PORTS, 1 << 20, NAME, url)
    page = Memory(peer.size, b"page")
    assert place(url, NAME) == {"ip_or_host_name": "127.0.0.1", "rpc_port": peer.port}
    assert here.transfer_sync_write(NAME, page.address, peer.memory, page.size) == 0
    assert int(peer.ask("sum")) == zlib.crc32(page.bytes)
    assert here.get_first_buffer_address(NAME) == peer.memory
    peer.kill()
    assert here.send_probe(NAME) == -1

    again = Peer((peer.port + 1, PORTS[1]), 1 << 20, NAME, url)
    try:
        batch = here.batch_transfer_async_write(NAME, [page.address], [again.memory], [page.size])
        assert here.get_batch_transfer_status([batch]) == 0
        assert int(again.ask("sum")) == zlib.crc32(page.bytes)
        assert here.transfer_sync_read(again.address, page.address, again.memory, page.size) == 0, "by address too"
        assert here.send_probe(NAME) == 0
    finally:
        again.process.stdin.close()
        assert again.process.wait(30) == 0
        again.process.stdout.close()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        place(url, NAME)


def test_a_call_in_which_the_peer_turns_out_to_have_moved_is_done_where_it_is(here: TransferEngine, url: str) -> None:
    peer = Peer(PORTS, 1 << 20, NAME, url)
    page = Memory(peer.size, b"page")
    assert here.transfer_sync_write(NAME, page.address, peer.memory, page.size) == 0
    peer.kill()
    again = Peer((peer.port + 1, PORTS[1]), 1 << 20, NAME, url)
    assert here.transfer_sync_write(NAME, page.address, again.memory, page.size) == 0
    assert int(again.ask("sum")) == zlib.crc32(page.bytes)
    again.kill()


def test_two_engines_of_one_name_are_refused_while_the_first_lives(
    here: TransferEngine, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert TransferEngine().initialize("127.0.0.1:1", url, "tcp", "") == -1
    assert "give each engine a local_hostname of its own" in caplog.text
    second = TransferEngine()
    assert second.initialize_ext("127.0.0.1:2", url.removeprefix("http://"), "tcp", "", "http") == 0
    assert second.send_probe("127.0.0.1:1") == 0
    second.get_engine().engine.close()


def test_without_the_server_there_is_no_engine_and_known_peers_are_used_on(
    here: TransferEngine, server: KVBootstrapServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    peer = Peer(PORTS, 1 << 20, NAME, url)
    page = Memory(peer.size, b"page")
    assert here.transfer_sync_write(NAME, page.address, peer.memory, page.size) == 0
    server.close()
    assert here.transfer_sync_write(NAME, page.address, peer.memory, page.size) == 0
    assert here.transfer_sync_write(NAME, page.address, 1, page.size) == -1, "that is not the peer's memory"
    assert here.transfer_sync_write(NAME, page.address, peer.memory, page.size) == 0
    engine = TransferEngine()
    assert engine.initialize("127.0.0.1:3", url, "tcp", "") == -1
    assert "cannot be reached" in caplog.text
    assert engine.get_rpc_port() == -1
    peer.kill()


def test_the_command_serves_until_it_is_stopped() -> None:
    command = [sys.executable, "-m", "mooncake.http_metadata_server", "--host=127.0.0.1", "--port=0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        url = process.stderr.readline().split()[-1]
        engine = TransferEngine()
        assert engine.initialize("127.0.0.1:1", url, "tcp", "") == 0
        assert place(url, "127.0.0.1:1")["rpc_port"] == engine.get_rpc_port()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert time.monotonic() - began < 10
