# SPDX-License-Identifier: Apache-2.0
"""mooncake.engine.TransferEngine with the shapes and return codes that engines rely on."""

import ctypes
import logging
import threading

import pytest
from conftest import SIZE, Memory, Peer
from unreadable import Unreadable

from mooncake.configuration.engine_settings import read_engine_settings
from mooncake.configuration.settings import BadSettings
from mooncake.engine import TransferEngine, TransferNotify, TransferOpcode

HERE = "127.0.0.1"


@pytest.fixture
def here() -> TransferEngine:
    engine = TransferEngine()
    assert engine.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    return engine


@pytest.fixture
def there() -> TransferEngine:
    engine = TransferEngine()
    assert engine.initialize(f"{HERE}:12345", "P2PHANDSHAKE", "tcp", "") == 0
    return engine


def name(engine: TransferEngine) -> str:
    return f"{HERE}:{engine.get_rpc_port()}"


def test_what_vllm_does(here: TransferEngine, there: TransferEngine) -> None:
    assert 15000 <= there.get_rpc_port() <= 17000
    blocks = [Memory(65536) for _ in range(8)]
    assert there.batch_register_memory([b.address for b in blocks], [b.size for b in blocks]) == 0
    sent = [Memory(65536, bytes([i + 1])) for i in range(8)]
    assert (
        here.batch_transfer_sync_write(name(there), [s.address for s in sent], [b.address for b in blocks], [65536] * 8)
        == 0
    )
    assert blocks == sent
    assert there.batch_unregister_memory([b.address for b in blocks]) == 0
    assert here.transfer_sync_write(name(there), sent[0].address, blocks[0].address, 65536) == -1


def test_what_vllm_ascend_does(here: TransferEngine, there: TransferEngine) -> None:
    memory = Memory(65536, b"kv")
    assert there.register_memory(memory.address, memory.size) == 0
    got = Memory(65536)
    assert here.batch_transfer_sync_read(name(there), [got.address], [memory.address], [65536]) == 0
    assert got == memory
    assert here.batch_transfer_sync_read(name(there), [got.address], [memory.address + 1], [65536]) < 0


def test_sync_calls_of_both_directions(here: TransferEngine, there: TransferEngine) -> None:
    memory, sent, got = Memory(4096), Memory(4096, b"ab"), Memory(4096)
    assert there.register_memory(memory.address, 4096, "cpu:0") == 0
    assert here.transfer_sync(name(there), sent.address, memory.address, 4096, TransferOpcode.Write) == 0
    assert here.transfer_sync_read(name(there), got.address, memory.address, 4096) == 0
    assert got == sent
    opcode = TransferEngine.TransferOpcode.Read
    assert here.batch_transfer_sync(name(there), [got.address], [memory.address], [4096], opcode) == 0
    assert there.unregister_memory(memory.address) == 0
    assert there.unregister_memory(memory.address) == -1


def test_async_calls(here: TransferEngine, there: TransferEngine) -> None:
    memory, sent, got = Memory(SIZE), Memory(SIZE, b"abc"), Memory(SIZE)
    assert there.register_memory(memory.address, SIZE) == 0
    batch = here.batch_transfer_async_write(name(there), [sent.address], [memory.address], [SIZE])
    assert batch > 0
    assert here.get_batch_transfer_status([batch]) == 0
    assert memory == sent
    batches = [here.batch_transfer_async_read(name(there), [got.address], [memory.address], [SIZE]) for _ in range(3)]
    assert here.get_batch_transfer_status(batches) == 0
    assert got == sent
    assert here.get_batch_transfer_status([batch]) == -1, "its end was told already"
    last = here.batch_transfer_async_read(name(there), [got.address], [memory.address], [SIZE])
    assert here.get_batch_transfer_status([batch, last]) == -1
    assert here.transfer_check_status(last) == -1, "it was waited for nevertheless, so that its memory is free"
    single = here.transfer_submit_write(name(there), sent.address, memory.address, SIZE)
    while (status := here.transfer_check_status(single)) == 0:
        pass
    assert status == 1
    wrong = here.transfer_submit_write(name(there), sent.address, memory.address + 1, SIZE)
    while (status := here.transfer_check_status(wrong)) == 0:
        pass
    assert status == -1
    assert here.batch_transfer_async_write(name(there), [1], [1, 2], [1]) == 0, "lists of different lengths"


def test_notifications(here: TransferEngine, there: TransferEngine) -> None:
    memory, sent = Memory(4096), Memory(4096, b"x")
    assert there.register_memory(memory.address, 4096) == 0
    notify = TransferNotify("request", "ready")
    assert here.transfer_sync(name(there), sent.address, memory.address, 4096, TransferOpcode.Write, notify) == 0
    assert there.get_notifies() == [notify]
    assert there.get_notifies() == []


def test_probe_and_first_buffer(here: TransferEngine, there: TransferEngine) -> None:
    assert here.send_probe(name(there)) == 0
    assert here.send_probe(f"{HERE}:1") == -1
    assert here.get_first_buffer_address(name(there)) == 0
    memory = Memory(4096)
    assert there.register_memory(memory.address, 4096) == 0
    assert here.get_first_buffer_address(name(there)) == memory.address
    assert here.get_first_buffer_address(f"{HERE}:1") == 0


def test_managed_buffers(here: TransferEngine, there: TransferEngine) -> None:
    mine, theirs = here.allocate_managed_buffer(1000), there.allocate_managed_buffer(1000)
    assert mine > 0 and theirs > 0
    assert here.write_bytes_to_buffer(mine, b"hello" * 200, 1000) == 0
    assert here.write_bytes_to_buffer(mine, b"short", 1000) == -1
    assert here.transfer_sync_write(name(there), mine, theirs, 1000) == 0
    assert there.read_bytes_from_buffer(theirs, 1000) == b"hello" * 200
    assert there.free_managed_buffer(theirs, 1000) == 0
    assert there.free_managed_buffer(theirs, 1000) == -1
    assert here.transfer_sync_write(name(there), mine, theirs, 1000) == -1
    assert here.allocate_managed_buffer(0) == 0
    assert here.unregister_memory(mine) == 0
    assert here.free_managed_buffer(mine, 1000) == 0, "also when peers may not use it any more"
    with pytest.raises(ValueError, match="-1 bytes"):
        there.read_bytes_from_buffer(Memory(8).address, -1)


def test_memory_that_cannot_be_read_is_refused_and_ends_no_process(
    here: TransferEngine, there: TransferEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """As that of an accelerator, which engines register by its address."""
    host = Memory(1 << 20, b"host")
    assert there.register_memory(host.address, host.size) == 0
    with Unreadable(1 << 20) as device:
        assert here.register_memory(device.address, 4096) == -1
        assert here.batch_register_memory([host.address, device.address + 4096], [4096, 4096]) == -1
        assert "are no memory that this process can read" in caplog.text
        for call in (here.transfer_sync_write, here.transfer_sync_read):
            assert call(name(there), device.address + 4095, host.address, 10) == -1
        assert here.batch_transfer_async_write(name(there), [device.address], [host.address], [4096]) == 0
        assert here.transfer_sync_write(name(there), host.address, host.address, 4096) == 0
        device.make_readable()
        assert here.register_memory(device.address, device.size) == 0
        assert here.transfer_sync_read(name(there), device.address, host.address, device.size) == 0
        assert ctypes.string_at(device.address, 4) == b"host"
        assert here.unregister_memory(device.address) == 0


def test_before_initialize_and_twice(caplog: pytest.LogCaptureFixture) -> None:
    engine = TransferEngine()
    assert engine.get_rpc_port() == -1
    assert engine.register_memory(1, 1) == -1
    assert engine.transfer_sync_write("a:1", 1, 1, 1) == -1
    assert engine.batch_transfer_async_write("a:1", [1], [1], [1]) == 0
    assert engine.get_notifies() == []
    with pytest.raises(RuntimeError, match="not initialized"):
        engine.get_engine()
    assert engine.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    assert engine.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == -1
    assert "initialized already" in caplog.text


@pytest.mark.parametrize(
    ("metadata", "protocol", "reason"),
    [
        ("http://127.0.0.1:1/metadata", "tcp", "http://127.0.0.1:1/metadata cannot be reached"),
        ("http://", "tcp", 'give "P2PHANDSHAKE"'),
        ("10.0.0.1:2379", "tcp", '"http://HOST:PORT/metadata"'),
        ("P2PHANDSHAKE", "rdma", "transfer engines do not use that yet"),
        ("P2PHANDSHAKE", "ascend", "/usr/local/Ascend/driver/lib64/driver/libascendcl.so: cannot open"),
        ("P2PHANDSHAKE", "ascend", "have ascend, where CANN and an NPU are, and tcp"),
        ("P2PHANDSHAKE", "ascend", "KVPOOL_PROTOCOL_OVERRIDE=tcp"),
        ("P2PHANDSHAKE", "tcp,,", "empty name"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_way_out(
    metadata: str, protocol: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert TransferEngine().initialize(HERE, metadata, protocol, "") == -1
    assert reason in caplog.text


def test_tcp_instead_of_rdma_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    assert TransferEngine().initialize(HERE, "P2PHANDSHAKE", "rdma,tcp", "mlx5_0") == 0
    warning = next(record for record in caplog.records if record.levelno == logging.WARNING)
    assert "rdma: not installed" in warning.getMessage() and "tcp: used" in warning.getMessage()


def test_tcp_instead_of_ascend_where_the_environment_says_so(
    there: TransferEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOL_OVERRIDE", "tcp")
    here, memory, got = TransferEngine(), Memory(4096, b"kv"), Memory(4096)
    assert here.initialize(HERE, "P2PHANDSHAKE", "ascend", "") == there.register_memory(memory.address, 4096) == 0
    assert here.batch_transfer_sync_read(name(there), [got.address], [memory.address], [4096]) == 0
    assert got == memory


def test_settings_name_every_problem() -> None:
    environment = {"MC_MIN_RPC_PORT": "0", "MC_MAX_RPC_PORT": "many", "MC_TRANSFER_TIMEOUT": "soon"}
    with pytest.raises(BadSettings) as caught:
        read_engine_settings("", "10.0.0.1:2379", "tcp", "etcd", environment)
    assert len(caught.value.problems) == 5
    assert "etcd://10.0.0.1:2379" in str(caught.value)
    given = {"MC_MIN_RPC_PORT": "16000", "MC_MAX_RPC_PORT": "16100", "MC_TRANSFER_TIMEOUT": "1"}
    settings = read_engine_settings("h:1", "P2PHANDSHAKE", "rdma, tcp", "", given)
    assert (settings.ports, settings.timeout, settings.protocols) == ((16000, 16100), 5.0, ("rdma", "tcp"))
    assert (settings.metadata_url, settings.metadata_prefix) == (None, "mooncake/")
    named = read_engine_settings("h", "10.0.0.1:8080/metadata", "tcp", "http", {"MC_METADATA_CLUSTER_ID": "blue"})
    assert (named.metadata_url, named.metadata_prefix) == ("http://10.0.0.1:8080/metadata", "mooncake/blue/")


def test_a_peer_killed_meanwhile_is_a_failure_long_before_the_time_is_up(
    peer: Peer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MC_TRANSFER_TIMEOUT", "600")
    here = TransferEngine()
    assert here.initialize(HERE, "P2PHANDSHAKE", "tcp", "") == 0
    memory = Memory(4096, b"x")
    assert here.transfer_sync_write(peer.address, memory.address, peer.memory, 4096) == 0
    peer.kill()
    assert here.transfer_sync_write(peer.address, memory.address, peer.memory, 4096) == -1
    assert "first with CONNECT_FAILED" in caplog.text
    assert here.send_probe(peer.address) == -1
    assert here.transfer_submit_write(peer.address, memory.address, peer.memory, 4096) == 0


def test_an_async_call_to_a_peer_that_cannot_be_reached_gives_no_number(
    here: TransferEngine, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(4096)
    for nobody in (f"{HERE}:1", "no address"):
        assert here.transfer_submit_write(nobody, memory.address, 1, 4096) == 0
        assert here.batch_transfer_async_write(nobody, [memory.address], [1], [4096]) == 0
        assert here.batch_transfer_async_read(nobody, [memory.address], [1], [4096]) == 0
    assert "cannot reach the transfer engine" in caplog.text
    assert here.get_engine() is not None


def test_many_threads(here: TransferEngine, there: TransferEngine) -> None:
    memories = [Memory(100_000) for _ in range(6)]
    assert there.batch_register_memory([m.address for m in memories], [m.size for m in memories]) == 0
    failures: list[int] = []

    def run(index: int) -> None:
        for turn in range(20):
            sent, got = Memory(100_000, bytes([turn + 1, index])), Memory(100_000)
            if here.transfer_sync_write(name(there), sent.address, memories[index].address, 100_000) != 0:
                failures.append(index)
            if here.transfer_sync_read(name(there), got.address, memories[index].address, 100_000) != 0 or got != sent:
                failures.append(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
