# SPDX-License-Identifier: Apache-2.0
"""setup_dummy(): what names an agent, what does not, and the memory it gives out."""

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Fake

import kvpool
from kvpool import Status
from mooncake.configuration import agent_settings
from mooncake.configuration.agent_settings import parse_server_address, read_agent_settings
from mooncake.configuration.settings import BadSettings
from mooncake.memory.mem_pool import MemPool
from mooncake.store import MooncakeDistributedStore


@pytest.fixture
def store(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    made = MooncakeDistributedStore()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/run/kvpool", "/run/kvpool/agent.sock"),
        ("/run/kvpool/", "/run/kvpool/agent.sock"),
        ("/run/kvpool/other.sock", "/run/kvpool/other.sock"),
        ("unix:/run/kvpool", "/run/kvpool/agent.sock"),
        ("unix:///run/kvpool/agent.sock", "/run/kvpool/agent.sock"),
        (" /run/kvpool ", "/run/kvpool/agent.sock"),
        ("127.0.0.1:50052", "/shared/agent.sock"),
        ("[::1]:50052", "/shared/agent.sock"),
        ("agent:1", "/shared/agent.sock"),
    ],
)
def test_what_names_an_agent(address: str, path: str) -> None:
    assert parse_server_address(address, {"KVPOOL_SOCKET_DIR": "/shared/"}) == path


@pytest.mark.parametrize(
    "address", ["", "host", "host:", ":1", "run/kvpool", "unix:run", "unix:", "host:port", "@abstract"]
)
def test_what_does_not(address: str) -> None:
    with pytest.raises(ValueError, match="but "):
        parse_server_address(address, {"KVPOOL_SOCKET_DIR": "/shared"})


@pytest.mark.parametrize("environment", [{}, {"KVPOOL_SOCKET_DIR": ""}, {"KVPOOL_SOCKET_DIR": "relative"}])
def test_host_and_port_need_a_directory(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="set KVPOOL_SOCKET_DIR"):
        parse_server_address("127.0.0.1:50052", environment)


def test_host_and_port_of_this_machine_are_those_of_mooncake_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(agent_settings, "service_directory", lambda port: str(tmp_path))
    for host in ("127.0.0.1", "[::1]", "localhost", socket.gethostname(), socket.gethostbyname(socket.gethostname())):
        assert parse_server_address(f"{host}:50052", {}) == f"{tmp_path}/agent.sock"
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(ValueError, match="set KVPOOL_SOCKET_DIR"):
            parse_server_address(f"{host}:50052", {})


def test_containers_of_a_pod_find_it_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = f"mooncake_client_{os.getpid()}.sock"
    monkeypatch.setattr(agent_settings, "service_directory", lambda port: str(tmp_path / "of another container"))
    monkeypatch.setattr(agent_settings, "service_socket", lambda port: name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(f"\0{name}")
        with pytest.raises(ValueError, match="no `mooncake_client` of it runs here"):
            parse_server_address("127.0.0.1:50052", {})
        listener.listen()
        assert parse_server_address("127.0.0.1:50052", {}) == f"@{name}"
        with pytest.raises(ValueError, match="set KVPOOL_SOCKET_DIR"):
            parse_server_address("192.0.2.1:50052", {})
        monkeypatch.setattr(os, "getuid", lambda: 1 << 20)
        own = 0 if os.geteuid() == 0 else None
        assert agent_settings.is_served(name) is (own == 0), "another user's, unless that is root"


def test_who_listens_and_takes_no_connections_holds_nobody_up() -> None:
    name = f"mooncake_client_{os.getpid()}.full.sock"
    with contextlib.ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(f"\0{name}")
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                waiting.setblocking(False)
                waiting.connect(f"\0{name}")
        assert not agent_settings.is_served(name)


def test_payloads_are_not_this_process_to_choose() -> None:
    with pytest.raises(BadSettings, match="the agent connects to storage nodes"):
        read_agent_settings(0, 0, "/run/kvpool", {"KVPOOL_PAYLOADS": "encrypted"})


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(BadSettings) as caught:
        read_agent_settings(-1, "lots", "nowhere", {"KVPOOL_RETRY_DEADLINE": "soon"})
    text = "\n".join(caught.value.problems)
    for part in (
        "mem_pool_size is -1",
        "local_buffer_size is 'lots'",
        "server_address is 'nowhere'",
        "KVPOOL_RETRY_DEADLINE",
    ):
        assert part in text


def test_the_store_goes_through_the_agent(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup_dummy(1 << 20, 16 << 20, "unix:/run/kvpool") == 0
    assert fake.last_call == ["attach", "/run/kvpool/agent.sock", "", str(16 << 20), "20000"]
    assert store.put("key", b"value") == 0
    assert store.get("key") == b"value"
    assert store.health_check() == 0
    assert store.get_hostname() != ""
    assert store.setup_dummy(0, 0, "/run/kvpool") == -600, "set up already"
    assert store.close() == 0
    assert (fake.state.clients, store.health_check()) == (0, 1)


def test_failures_are_codes(store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    assert store.setup_dummy(0, 0, "nowhere") == -600
    assert 'must be "unix:/PATH"' in caplog.text
    fake.state.create_status = Status.CONNECT_FAILED
    fake.state.sentence = b"nobody there"
    assert store.setup_dummy(0, 0, "/run/kvpool") == -900
    assert "agent at /run/kvpool/agent.sock" in caplog.text and "nobody there" in caplog.text
    fake.state.create_status = Status.TOO_LARGE
    assert store.setup_dummy(0, 0, "/run/kvpool") == -200
    assert store.alloc_from_mem_pool(1) == 0, "not set up"


def test_memory_is_given_out_until_there_is_none(store: MooncakeDistributedStore) -> None:
    assert store.setup_dummy(3 * 4096, 0, "/run/kvpool") == 0
    one, two = store.alloc_from_mem_pool(1), store.alloc_from_mem_pool(4097)
    assert one % 4096 == 0 and two == one + 4096
    ctypes.memmove(two, b"x" * 4097, 4097)
    assert ctypes.string_at(one, 1) == b"\0"
    assert store.alloc_from_mem_pool(1) == 0
    assert store.alloc_from_mem_pool(0) == 0
    assert store.alloc_from_mem_pool(-1) == 0


def test_a_pool_of_nothing_gives_nothing() -> None:
    assert (MemPool(0).take(1), MemPool(0).left) == (0, 0)


def test_a_client_through_an_agent(fake: Fake) -> None:
    with kvpool.Client.through_agent("/run/agent.sock", name="me", staging_bytes=5, ready_timeout=1.5) as client:
        assert fake.last_call == ["attach", "/run/agent.sock", "me", "5", "1500"]
        client.put("key", b"v")
        assert client.get("key") == b"v"
    with pytest.raises(kvpool.KvpoolError) as caught:
        client.get("key")
    assert caught.value.status == Status.CLOSED
    with pytest.raises(ValueError, match="staging_bytes"):
        kvpool.Client.through_agent("/run/agent.sock", staging_bytes=-1)
    with pytest.raises(ValueError, match="timeout"):
        kvpool.Client.through_agent("/run/agent.sock", timeout=0)
    fake.state.create_status = Status.CONNECT_FAILED
    with pytest.raises(kvpool.KvpoolError):
        kvpool.Client.through_agent("/run/agent.sock")
