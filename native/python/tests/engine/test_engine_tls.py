# SPDX-License-Identifier: Apache-2.0
"""mooncake.engine.TransferEngine with certificates, between processes."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import cann_stand_in
import pytest
from certificate_authority import Authority
from conftest import SIZE, Memory, Peer

import kvpool
from mooncake.engine import TransferEngine

POOL = uuid.uuid4()
HERE = "127.0.0.1"
RPC_PORTS = (17101, 17200)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "ca")


def certificate(authority: Authority, tenant: str, name: str) -> str:
    return str(authority.directory(f"spiffe://{POOL}/tenant/{tenant}/rw/{name}"))


@pytest.fixture
def start() -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def begin(*further: str, **environment: str) -> Peer:
        started.append(Peer(RPC_PORTS, SIZE, HERE, *further, environment=environment))
        return started[-1]

    yield begin
    for each in started:
        each.kill()


@pytest.fixture
def open_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], TransferEngine]]:
    opened: list[TransferEngine] = []

    def begin(tls_dir: str) -> TransferEngine:
        monkeypatch.setenv("KVPOOL_TLS_DIR", tls_dir)
        opened.append(TransferEngine())
        assert opened[-1].initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
        return opened[-1]

    yield begin
    for engine in opened:
        engine.get_engine().engine.close()


def test_processes_of_one_tenant_transfer_both_ways(
    authority: Authority, start: Callable[..., Peer], open_engine: Callable[[str], TransferEngine]
) -> None:
    peer = start(KVPOOL_TLS_DIR=certificate(authority, "chat", "there"))
    engine = open_engine(certificate(authority, "chat", "here"))
    sent, got = Memory(SIZE, b"some bytes"), Memory(SIZE)
    assert engine.send_probe(peer.address) == 0
    assert engine.transfer_sync_write(peer.address, sent.address, peer.memory, SIZE) == 0
    assert engine.transfer_sync_read(peer.address, got.address, peer.memory, SIZE) == 0
    assert got == sent
    assert engine.get_first_buffer_address(peer.address) == peer.memory


@pytest.mark.parametrize("tenant", ["search", None])
def test_others_are_refused_and_see_nothing(
    authority: Authority, start: Callable[..., Peer], open_engine: Callable[[str], TransferEngine], tenant: str | None
) -> None:
    """Also in the other direction."""
    peer = start(**({} if tenant is None else {"KVPOOL_TLS_DIR": certificate(authority, tenant, "there")}))
    engine = open_engine(certificate(authority, "chat", "here"))
    local = Memory(SIZE)
    assert engine.register_memory(local.address, SIZE) == 0
    assert engine.send_probe(peer.address) == -1
    assert engine.get_first_buffer_address(peer.address) == 0
    assert engine.transfer_sync_write(peer.address, local.address, peer.memory, SIZE) == -1
    assert peer.ask("stats served_writes") == "0"
    peer.ask("fill 1")
    assert peer.ask(f"write {HERE}:{engine.get_rpc_port()} {local.address}") == "-1"
    assert local == Memory(SIZE)


def test_payloads_are_a_choice_of_both_sides(authority: Authority) -> None:
    tls_dir = certificate(authority, "chat", "here")
    memory, sent = Memory(SIZE), Memory(SIZE, b"some bytes")
    options = {"listen_host": HERE, "tls_dir": tls_dir, "payloads": "authenticated"}
    with kvpool.TransferEngine(**options) as there, kvpool.TransferEngine(**options) as here:
        there.register([memory.address], [SIZE])
        assert here.write(f"{HERE}:{there.port}", [sent.address], [memory.address], [SIZE]) == [kvpool.Status.OK]
        assert memory == sent
        there.unregister([memory.address])
    with pytest.raises(ValueError, match="'encrypted', the default, or 'authenticated'"):
        kvpool.TransferEngine(payloads="none")
    with pytest.raises(kvpool.KvpoolError, match="without TLS"):
        kvpool.TransferEngine(payloads="authenticated")


@pytest.mark.parametrize(
    ("variable", "text", "remedy"),
    [
        ("KVPOOL_TLS_DIR", "tls", "must be the absolute path of a directory"),
        ("KVPOOL_TLS_DIR", "/nowhere", "/nowhere/tls.crt"),
        ("KVPOOL_IDENTITY_DIR", "/nowhere", "/nowhere/token"),
        ("KVPOOL_ENGINE_PAYLOADS", "bare", "must be encrypted or authenticated"),
        ("KVPOOL_TRUSTED_FABRIC", "yes", "must be true or false"),
        ("KVPOOL_ENGINE_SAME_MACHINE", "no", "must be true or false"),
    ],
)
def test_no_engine_is_plain_by_mistake(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, variable: str, text: str, remedy: str
) -> None:
    monkeypatch.setenv(variable, text)
    assert TransferEngine().initialize(HERE, "P2PHANDSHAKE", "tcp", "") == -1
    assert remedy in caplog.text


def test_ascend_beside_a_certificate_is_for_trusted_networks(
    authority: Authority, start: Callable[..., Peer], tmp_path: Path
) -> None:
    variables = {**cann_stand_in.variables(tmp_path / "ledger"), "KVPOOL_TLS_DIR": certificate(authority, "chat", "x")}
    careful = start("P2PHANDSHAKE", "ascend,tcp", **variables)
    assert "ascend: not used, this process has a certificate" in careful.ask("transports")
    assert "KVPOOL_TRUSTED_FABRIC=true" in careful.ask("transports")
    trusting = [start("P2PHANDSHAKE", "ascend,tcp", KVPOOL_TRUSTED_FABRIC="true", **variables) for _ in range(2)]
    for peer in trusting:
        assert "ascend: used" in peer.ask("transports")
    here, there = trusting
    here.ask("scramble 1")
    assert here.ask(f"write {there.address} {there.memory}") == "0"
    assert here.ask("sum") == there.ask("sum")
    assert there.ask("stats served_writes") == "0", "nothing went by tcp"
