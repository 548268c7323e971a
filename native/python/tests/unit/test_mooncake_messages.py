# SPDX-License-Identifier: Apache-2.0
"""RpcInterface of mooncake.engine: what one sends the other's callback gets, or the sender is told that it did not."""

import asyncio
import contextlib
import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from types import ModuleType

import pytest
from local_pool import free_ports
from torch_stand_in import tensor_of
from waiting import eventually

from mooncake.engine import ReceivedData, ReceivedTensor, RpcInterface, create_rpc_client, create_rpc_server
from mooncake.messages import frames, inbox

LARGE = bytes(range(256)) * 20_000


class Server:
    def __init__(self, **options: int) -> None:
        self.port = free_ports(1)
        self.address = f"127.0.0.1:{self.port}"
        self.data: list[dict] = []
        self.tensors: list[ReceivedTensor] = []
        self.rpc = RpcInterface()
        assert self.rpc.initialize_server(self.address, **options)
        self.rpc.set_data_receive_callback(self.data.append)
        self.rpc.set_tensor_receive_callback(self.tensors.append)
        assert self.rpc.start_server_async()


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.rpc.stop_server()


@pytest.fixture
def client() -> RpcInterface:
    made = RpcInterface()
    assert made.initialize_client(timeout_seconds=60)
    return made


def test_bytes_arrive_in_order_over_one_connection(server: Server, client: RpcInterface) -> None:
    sent = [b"", b"hello", bytearray(b"array"), memoryview(LARGE)]

    assert [client.send_data(server.address, data) for data in sent] == [0] * 4

    assert [it["data"] for it in server.data] == [bytes(data) for data in sent]
    [source] = {it["source"] for it in server.data}
    assert source.startswith("127.0.0.1:") and source != server.address


def test_a_tensor_arrives_as_it_is(server: Server, client: RpcInterface, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "float32", (2, 3))

    assert client.send_tensor(server.address, tensor) == 0

    [got] = server.tensors
    assert (got.shape, got.dtype, got.total_bytes, got.get_data_size()) == ([2, 3], "float32", 24, 24)
    assert got.get_data_as_bytes() == bytes(got.get_memory_view()) == bytes(tensor.memory)
    assert not server.data
    assert client.send_tensor(server.address, "no tensor") == -1


def test_bytes_that_look_like_a_tensor_are_bytes(server: Server, client: RpcInterface) -> None:
    like_one = struct.pack("<ii4q", 1, 1, 4, 0, 0, 0) + bytes(64)

    assert client.send_data(server.address, like_one) == 0

    assert server.data[0]["data"] == like_one and not server.tensors


def test_the_sender_is_told_what_was_not_taken(
    server: Server, client: RpcInterface, caplog: pytest.LogCaptureFixture
) -> None:
    def raises(_: dict) -> None:
        raise RuntimeError("the reason")

    server.rpc.set_data_receive_callback(raises)
    assert client.send_data(server.address, b"x") == -1
    assert "was not taken: the reason" in caplog.text
    server.rpc.set_data_receive_callback(server.data.append)
    assert client.send_data(server.address, b"x") == 0
    lonely = Server()
    lonely.rpc.set_data_receive_callback(None)
    assert client.send_data(lonely.address, b"x") == -1
    assert "there is no callback for it" in caplog.text
    lonely.rpc.stop_server()


def test_a_peer_that_started_again_is_sent_to(client: RpcInterface) -> None:
    first = Server()
    assert client.send_data(first.address, b"1") == 0
    first.rpc.stop_server()
    assert client.send_data(first.address, b"2") == -1
    assert first.rpc.start_server_async()
    assert client.send_data(first.address, b"3") == 0
    first.rpc.stop_server()
    assert [it["data"] for it in first.data] == [b"1", b"3"]


def test_a_peer_that_answers_nothing_is_a_failure_in_time(caplog: pytest.LogCaptureFixture) -> None:
    client = RpcInterface()
    assert client.initialize_client(timeout_seconds=1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        assert client.send_data(f"127.0.0.1:{mute.getsockname()[1]}", b"x") == -1
        assert 0.9 < time.monotonic() - began < 30


def test_no_more_callbacks_run_at_a_time_than_threads(client: RpcInterface) -> None:
    server = Server(thread_count=2)
    running, most, go = [], [], threading.Event()

    def callback(received: dict) -> None:
        running.append(received)
        most.append(len(running))
        go.wait(30)
        running.remove(received)

    server.rpc.set_data_receive_callback(callback)
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: codes.append(client.send_data(server.address, b"%d" % n))) for n in range(6)
    ]
    for thread in threads:
        thread.start()
    eventually(lambda: len(running) == 2, "two callbacks run")
    go.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 6 and max(most) == 2
    server.rpc.stop_server()


def test_no_more_messages_are_in_memory_at_a_time_than_threads(client: RpcInterface) -> None:
    """One that is half here holds the only thread, until it ends."""
    server = Server(thread_count=1)
    half = socket.create_connection(("127.0.0.1", server.port))
    half.sendall(struct.pack("<4sIQ", b"kvm1", 1, 2) + b"a")
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(client.send_data(server.address, b"x")))
    eventually(
        lambda: len(server.rpc._inbox._connections) == 1 and server.rpc._inbox._taking._value == 0, "it holds it"
    )
    thread.start()
    eventually(lambda: len(server.rpc._inbox._connections) == 2, "another has come")
    assert not codes and not server.data
    half.close()
    thread.join()
    assert codes == [0] and [it["data"] for it in server.data] == [b"x"]
    server.rpc.stop_server()


@pytest.mark.parametrize(
    "head", [b"GET / HTTP/1.1\r\n\r\n", struct.pack("<4sIQ", b"kvm1", 3, 1), struct.pack("<4sIQ", b"kvm1", 1, 1 << 40)]
)
def test_what_is_no_message_ends_its_connection_only(
    head: bytes, server: Server, client: RpcInterface, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head)
        connection.settimeout(30)
        with contextlib.suppress(ConnectionResetError):  # of what was not read
            assert connection.recv(1) == b""
    assert client.send_data(server.address, b"x") == 0
    assert [it["data"] for it in server.data] == [b"x"]
    assert "is closed: " in caplog.text


def test_bounds(server: Server, client: RpcInterface, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooncake.messages.rpc_interface.MESSAGE_BYTES_MAX", 4)
    assert client.send_data(server.address, b"12345") == -1
    monkeypatch.setattr(inbox, "CONNECTIONS_MAX", 0)
    assert client.send_data(server.address, b"x") == -1
    assert not server.data
    assert frames.MESSAGE_BYTES_MAX == 1 << 30


def test_in_an_event_loop(server: Server, client: RpcInterface, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "int8", (8,))

    async def send() -> list[int]:
        loop = asyncio.get_running_loop()
        sent = (
            client.send_data_async(server.address, b"x", loop),
            client.send_tensor_async(server.address, tensor, loop),
        )
        return [*await asyncio.gather(*sent), await client.send_data_async("127.0.0.1:1", b"x", loop)]

    assert asyncio.run(send()) == [0, 0, -1]
    assert server.data[0]["data"] == b"x" and server.tensors[0].shape == [8]


def test_start_server_serves_until_it_is_stopped(client: RpcInterface) -> None:
    rpc, address = RpcInterface(), f"127.0.0.1:{free_ports(1)}"
    got: list[dict] = []
    assert rpc.initialize_server(address)
    rpc.set_data_receive_callback(got.append)
    ended: list[bool] = []
    thread = threading.Thread(target=lambda: ended.append(rpc.start_server()))
    thread.start()
    eventually(lambda: client.send_data(address, b"x") == 0, "it serves")
    assert not ended
    rpc.stop_server()
    thread.join(30)
    assert ended == [True] and len(got) == 1


def test_what_cannot_be_is_false_or_negative(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    new = RpcInterface()
    assert new.send_data(server.address, b"x") == -1
    assert not new.start_server_async()
    assert not new.initialize("nowhere") and not new.initialize(timeout_seconds=0)
    rpc = RpcInterface()
    assert rpc.initialize_server(server.address)
    assert not rpc.start_server_async() and "Address already in use" in caplog.text
    assert not rpc.start_server()
    assert rpc.send_data("no address", b"x") == -1
    with pytest.raises(TypeError):
        rpc.send_data(server.address, "text")
    rpc.stop_server()


def test_makers_and_what_callbacks_are_given() -> None:
    assert create_rpc_client(1, 2).send_data("127.0.0.1:1", b"x") == -1
    assert isinstance(create_rpc_server(), RpcInterface)
    assert ReceivedData().get_bytes() == b"" and ReceivedData("a:1", b"xy").data_size == 2
    assert bytes(ReceivedData("a:1", b"xy").get_memory_view()) == b"xy"


def test_a_callback_may_stop_its_server(client: RpcInterface, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    server = Server()
    server.rpc.set_data_receive_callback(lambda _: server.rpc.stop_server())
    assert client.send_data(server.address, b"x") in (0, -1)
    assert client.send_data(server.address, b"x") == -1
