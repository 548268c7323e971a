# SPDX-License-Identifier: Apache-2.0
"""The links over real sockets, with an echo as their target."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from kvchaos.proxy import Link, Proxy
from kvchaos.sockets import listening

SECONDS = 20


class Echo:
    """Answers what it gets. Ended like a process that dies: nothing listens and its connections are reset."""

    def __init__(self, port: int = 0) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self.address = self._listener.getsockname()
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    @staticmethod
    def _serve(connection: socket.socket) -> None:
        try:
            while data := connection.recv(65536):
                connection.sendall(data)
        except OSError:
            pass
        connection.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept(), which would keep the socket open
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


def eventually(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.01)


@pytest.fixture
def echo() -> Iterator[Echo]:
    started = Echo()
    yield started
    started.close()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    started = Proxy()
    yield started
    started.close()


@pytest.fixture
def link(proxy: Proxy, echo: Echo) -> Link:
    added = proxy.add("a > b", ("127.0.10.1", echo.address[1]), echo.address)
    eventually(lambda: added.near in listening())
    return added


def dial(link: Link) -> socket.socket:
    return socket.create_connection(link.near, SECONDS)


def receive(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count and (piece := connection.recv(count - len(found))):
        found += piece
    return found


def test_it_forwards_both_ways(link: Link) -> None:
    data = bytes(range(256)) * 4096
    with dial(link) as connection:
        threading.Thread(target=connection.sendall, args=(data,), daemon=True).start()
        assert receive(connection, len(data)) == data
    assert link.forwarded == 2 * len(data)


def test_an_end_is_passed_on(link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    eventually(lambda: not link.connections)


def test_reset(proxy: Proxy, link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        assert proxy.reset(link) == 1
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    with dial(link) as connection:
        connection.sendall(b"y")
        assert receive(connection, 1) == b"y", "the next one is whole"


def test_refuse_and_heal(proxy: Proxy, link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        proxy.refuse(link)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    with pytest.raises(ConnectionRefusedError):
        dial(link)
    proxy.heal(link)
    eventually(lambda: link.near in listening())
    dial(link).close()


def test_a_cut_lets_half_of_a_piece_through(proxy: Proxy, link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        proxy.cut(link)
        connection.sendall(b"0123456789")
        with pytest.raises(ConnectionResetError):
            while connection.recv(10):
                pass
    assert link.forwarded < 2 + 10, "the piece did not get through whole"
    assert link.is_whole(), "one piece was asked for"


def test_a_stalled_link_says_nothing_and_forgets_nothing(proxy: Proxy, link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        proxy.stall(link)
        connection.sendall(b"y")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        with dial(link) as another:
            another.sendall(b"z")
            proxy.heal(link)
            connection.settimeout(SECONDS)
            assert connection.recv(1) == b"y"
            assert another.recv(1) == b"z"


def test_delay_and_throttle_change_no_byte(proxy: Proxy, link: Link) -> None:
    data = bytes(range(256)) * 64
    proxy.delay(link, 0.01)
    proxy.throttle(link, 1 << 20)
    assert not link.is_whole()
    with dial(link) as connection:
        connection.sendall(data)
        assert receive(connection, len(data)) == data
    proxy.heal(link)
    assert link.is_whole()


def test_a_dead_target_refuses_through_its_link(proxy: Proxy, echo: Echo, link: Link) -> None:
    """Who loses its connection and dials again at once must be refused: that is how a crash is told from a reset."""
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        echo.close()
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            dial(link)
    again = Echo(echo.address[1])
    try:
        eventually(lambda: link.near in listening())
        with dial(link) as connection:
            connection.sendall(b"y")
            assert receive(connection, 1) == b"y"
    finally:
        again.close()


def test_close_ends_everything(proxy: Proxy, link: Link) -> None:
    with dial(link) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        proxy.close()
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    with pytest.raises(ConnectionRefusedError):
        dial(link)
