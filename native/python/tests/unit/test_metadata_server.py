# SPDX-License-Identifier: Apache-2.0
"""The metadata server, and names of engines in it."""

import gc
import http.client
import json
import socket
import urllib.parse
from collections.abc import Iterator

import pytest
from waiting import eventually

from mooncake import http_metadata_server
from mooncake.http_metadata_server import KEY_BYTES_MAX, VALUE_BYTES_MAX, KVBootstrapServer, KVPoll
from mooncake.transfers import peer_names
from mooncake.transfers.metadata_server import MetadataServer, MetadataServerError
from mooncake.transfers.peer_names import Directory, NameTaken, Publication, reachable_host

KEY = "mooncake/rpc_meta/a:1"


class Owner:
    """Something that ends when it is forgotten."""


@pytest.fixture
def served() -> Iterator[KVBootstrapServer]:
    server = KVBootstrapServer(0, "127.0.0.1")
    server.run()
    yield server
    server.close()


@pytest.fixture
def server(served: KVBootstrapServer) -> MetadataServer:
    return MetadataServer(url(served))


@pytest.fixture
def directory(server: MetadataServer, monkeypatch: pytest.MonkeyPatch) -> Directory:
    monkeypatch.setattr(peer_names, "_REPUBLISH_SECONDS", 0.02)
    return Directory(server, "mooncake/")


def url(served: KVBootstrapServer) -> str:
    return f"http://127.0.0.1:{served.port}/metadata"


def place(port: int, host: str = "127.0.0.1") -> bytes:
    return json.dumps({"ip_or_host_name": host, "rpc_port": port}).encode()


def request(served: KVBootstrapServer, method: str, path: str, body: bytes | None = None, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", served.port)
    connection.request(method, path, body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_values_are_put_read_and_removed(server: MetadataServer) -> None:
    assert server.get("mooncake/ram/a b&c") is None
    assert server.put("mooncake/ram/a b&c", b"one")
    assert server.put("mooncake/ram/a b&c", b"two")
    assert server.get("mooncake/ram/a b&c") == b"two"
    assert server.delete("mooncake/ram/a b&c")
    assert not server.delete("mooncake/ram/a b&c")


def test_the_place_of_an_engine_is_not_replaced_by_another(server: MetadataServer) -> None:
    assert server.put(KEY, place(1))
    assert server.put(KEY, place(1)), "the same again is no other"
    assert not server.put(KEY, place(2))
    assert server.get(KEY) == place(1)


def test_bad_requests_have_answers_and_bounds(served: KVBootstrapServer) -> None:
    long_key = urllib.parse.quote("k" * (KEY_BYTES_MAX + 1))
    assert request(served, "GET", "/health") == 200
    assert request(served, "GET", "/metadata") == 400
    assert request(served, "GET", f"/metadata?key={long_key}") == 400
    assert request(served, "GET", "/elsewhere?key=a") == 404
    assert request(served, "PUT", "/metadata?key=a", b"1", **{"Content-Length": str(VALUE_BYTES_MAX + 1)}) == 413
    assert request(served, "PUT", "/metadata?key=a", b"1", **{"Content-Length": "x"}) == 413
    assert request(served, "POST", "/metadata?key=a", b"1") == 501
    assert request(served, "GET", "/metadata?key=a") == 404, "none of it was kept"


def test_connections_are_bounded_and_their_room_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_metadata_server, "CONNECTIONS_MAX", 2)
    served = KVBootstrapServer(0, "127.0.0.1")
    served.run()
    silent = [socket.create_connection(("127.0.0.1", served.port), timeout=10) for _ in range(3)]
    assert silent[2].recv(1) == b"", "one too many is closed"
    for connection in silent:
        connection.close()

    def answers() -> bool:
        try:
            return request(served, "GET", "/health") == 200
        except (OSError, http.client.HTTPException):
            return False

    eventually(answers, "it serves again")
    served.close()


def test_a_server_says_how_it_is_and_may_be_closed_again() -> None:
    server = KVBootstrapServer(0, "127.0.0.1")
    assert server.poll() is KVPoll.Failed
    server.run()
    assert server.poll() is KVPoll.Success
    with pytest.raises(OSError, match="in use"):
        KVBootstrapServer(server.port, "127.0.0.1").run()
    server.close()
    server.close()
    assert server.poll() is KVPoll.Failed


def test_a_server_that_cannot_be_reached_or_is_none_is_named(served: KVBootstrapServer) -> None:
    with pytest.raises(MetadataServerError, match=r"http://127.0.0.1:1/metadata cannot be reached: .*refused"):
        MetadataServer("http://127.0.0.1:1/metadata").get("a")
    with pytest.raises(MetadataServerError, match="answered PUT a with 404"):
        MetadataServer(f"http://127.0.0.1:{served.port}/elsewhere").put("a", b"")


def test_targets_are_names_or_addresses(directory: Directory, server: MetadataServer) -> None:
    server.put("mooncake/rpc_meta/prefill:12345", place(15001))
    server.put("mooncake/rpc_meta/six", place(15002, "fd00::1"))
    server.put("mooncake/rpc_meta/broken", b"{}")
    assert directory.address_of("prefill:12345") == "127.0.0.1:15001"
    assert directory.address_of("six") == "[fd00::1]:15002"
    assert directory.address_of("10.0.0.9:15003") == "10.0.0.9:15003"
    with pytest.raises(MetadataServerError, match="no place of an engine at 'broken'"):
        directory.address_of("broken")
    with pytest.raises(MetadataServerError, match="has no engine 'nobody'; a target is the local_hostname"):
        directory.address_of("nobody")


def test_a_target_that_moved_is_found_and_one_that_did_not_is_not_tried_again(
    directory: Directory, server: MetadataServer
) -> None:
    server.put(KEY, place(1))
    assert directory.address_of("a:1") == "127.0.0.1:1"
    assert directory.moved("a:1") is None
    server.delete(KEY)
    server.put(KEY, place(2))
    assert directory.address_of("a:1") == "127.0.0.1:1", "it was asked a moment ago"
    assert directory.moved("a:1") == "127.0.0.1:2"
    assert directory.address_of("a:1") == "127.0.0.1:2"


def test_known_targets_are_used_on_without_the_server(
    directory: Directory, served: KVBootstrapServer, server: MetadataServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_names, "_KNOWN_SECONDS", 0.0)
    server.put(KEY, place(1))
    assert directory.address_of("a:1") == "127.0.0.1:1"
    server.delete(KEY)
    assert directory.address_of("a:1") == "127.0.0.1:1", "a server that started again knows nothing"
    served.close()
    assert directory.address_of("a:1") == "127.0.0.1:1"
    with pytest.raises(MetadataServerError, match="cannot be reached"):
        directory.address_of("b:1")


class Asked(MetadataServer):
    """Counts what it is asked for."""

    count = 0

    def get(self, key: str) -> bytes | None:
        self.count += 1
        return super().get(key)


def test_a_server_that_does_not_answer_is_not_asked_by_each_call_for_known_targets(
    served: KVBootstrapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_names, "_KNOWN_SECONDS", 0.0)
    server = Asked(url(served))
    directory = Directory(server, "mooncake/")
    for name in ("a:1", "b"):
        server.put(f"mooncake/rpc_meta/{name}", place(1))
        assert directory.address_of(name) == "127.0.0.1:1"
    served.close()
    before = server.count
    for _ in range(5):
        assert directory.address_of("a:1") == directory.address_of("b") == "127.0.0.1:1"
        assert directory.moved("a:1") is None
    assert server.count == before + 1
    monkeypatch.setattr(directory, "_away_until", 0.0)
    again = KVBootstrapServer(served.port, "127.0.0.1")
    again.run()
    server.put("mooncake/rpc_meta/b", place(2))
    assert directory.address_of("b") == "127.0.0.1:2"
    again.close()


@pytest.mark.parametrize("name", ["a:1", "b"])
def test_a_failed_transfer_does_not_forget_a_target_that_the_server_has_lost(
    name: str, directory: Directory, server: MetadataServer
) -> None:
    server.put(f"mooncake/rpc_meta/{name}", place(15001))
    assert directory.address_of(name) == "127.0.0.1:15001"
    server.delete(f"mooncake/rpc_meta/{name}")
    assert directory.moved(name) is None
    assert directory.address_of(name) == "127.0.0.1:15001"
    server.put(f"mooncake/rpc_meta/{name}", place(15002))
    assert directory.moved(name) == "127.0.0.1:15002"


def test_a_failed_transfer_does_not_forget_a_target_whose_place_cannot_be_asked_for(
    directory: Directory, served: KVBootstrapServer, server: MetadataServer
) -> None:
    server.put(KEY, place(1))
    assert directory.address_of("a:1") == "127.0.0.1:1"
    served.close()
    assert directory.moved("a:1") is None
    assert directory.address_of("a:1") == "127.0.0.1:1"


def test_an_engine_takes_its_name_from_one_that_is_gone_and_not_from_one_that_answers(
    directory: Directory, server: MetadataServer
) -> None:
    server.put(KEY, place(7, "10.0.0.1"))
    ours = Publication(server, directory, "a:1", 15000)
    with pytest.raises(NameTaken, match=r"an engine of the name 'a:1' is at 10.0.0.1:7"):
        ours.publish(lambda address: address == "10.0.0.1:7")
    ours.publish(lambda address: False)
    assert directory.look_up("a:1") == f"{reachable_host('a:1', server.url)}:15000"


def test_an_entry_comes_again_after_the_server_lost_it_and_goes_with_its_engine(
    directory: Directory, served: KVBootstrapServer, server: MetadataServer
) -> None:
    owner = Owner()
    ours = Publication(server, directory, "127.0.0.1:9", 15000)
    ours.publish(lambda _: False)
    ours.keep(owner)
    served.close()
    again = KVBootstrapServer(served.port, "127.0.0.1")
    again.run()
    eventually(lambda: directory.look_up("127.0.0.1:9") == "127.0.0.1:15000", "the entry is there again")
    del owner
    gc.collect()
    assert directory.look_up("127.0.0.1:9") is None
    again.close()


def test_an_entry_that_another_engine_has_by_now_stays(directory: Directory, server: MetadataServer) -> None:
    ours = Publication(server, directory, "127.0.0.1:9", 15000)
    ours.publish(lambda _: False)
    server.delete("mooncake/rpc_meta/127.0.0.1:9")
    server.put("mooncake/rpc_meta/127.0.0.1:9", place(15001))
    ours.withdraw()
    assert directory.look_up("127.0.0.1:9") == "127.0.0.1:15001"


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:12345", "127.0.0.1"),
        ("[::1]:12345", "::1"),
        ("::1", "::1"),
        ("localhost:1", "localhost"),
        ("no such host:1", "127.0.0.1"),
    ],
)
def test_the_host_that_is_published_is_that_of_the_name(name: str, host: str) -> None:
    assert reachable_host(name, "http://127.0.0.1:8080/metadata") == host
