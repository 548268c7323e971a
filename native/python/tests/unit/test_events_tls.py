# SPDX-License-Identifier: Apache-2.0
"""kvpool.events by HTTPS, with certificates that the tests make: who is believed to be a master, and what else is said."""

import http.server
import json
import ssl
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from certificate_authority import Authority

from kvpool import KvpoolError, Status
from kvpool.events import Event, Subscription

POOL, OTHER_POOL = str(uuid.uuid4()), str(uuid.uuid4())
LINES = [{"event": "snapshot-begin", "at": "1.a.5", "nodes": ["n0"]}, {"event": "snapshot-end", "at": "1.a.5"}]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "ca")


@contextmanager
def server(directory: Path | None, shown: list[str], status: int = 200) -> Iterator[str]:
    """Tells LINES, or refuses; asks for a certificate, whose names are in `shown`, where it has one itself."""

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if directory is not None:
                shown.extend(value for _, value in self.connection.getpeercert()["subjectAltName"])
            self.send_response(status)
            self.end_headers()
            for line in LINES:
                self.wfile.write(json.dumps(line).encode() + b"\n")

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # clients that end the connection are what is tested

    listening = Server(("127.0.0.1", 0), Handler)
    if directory is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
        context.load_verify_locations(directory / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        listening.socket = context.wrap_socket(listening.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{listening.server_address[1]}"
    listening.shutdown()
    listening.server_close()


def first_events(admin: str, tls_dir: Path | None, timeout: float = 60) -> list[Event]:
    with Subscription(admin, tls_dir=str(tls_dir) if tls_dir else None, timeout=timeout) as events:
        iterator = iter(events)
        return [next(iterator), next(iterator)]


def refusal(admin: str, tls_dir: Path | None) -> str:
    with pytest.raises(KvpoolError) as raised:
        first_events(admin, tls_dir)
    return str(raised.value)


def test_a_master_of_the_pool_is_shown_the_certificate_and_believed(authority: Authority) -> None:
    client, shown = authority.directory(f"spiffe://{POOL}/tenant/one/ro/router"), []
    with server(authority.directory(f"spiffe://{POOL}/master/m-0"), shown) as master:
        assert [it.kind for it in first_events(master, client)] == ["snapshot-begin", "snapshot-end"]
    assert shown[0] == f"spiffe://{POOL}/tenant/one/ro/router"


@pytest.mark.parametrize(
    ("role", "asked", "tenant"),
    [("tenant/one/ro/router", "", "one"), ("admin/a", "two", "two"), ("admin/a", "", "default")],
)
def test_a_subscription_knows_whose_objects_are_without_a_tenant(
    authority: Authority, role: str, asked: str, tenant: str
) -> None:
    directory = authority.directory(f"spiffe://{POOL}/{role}")
    with (
        server(authority.directory(f"spiffe://{POOL}/master/m-0"), []) as master,
        Subscription(master, tls_dir=str(directory), timeout=60, tenant=asked) as events,
    ):
        next(iter(events))
        assert events.tenant == tenant


def test_a_certificate_that_was_replaced_is_shown_by_the_next_connection(authority: Authority) -> None:
    client, shown = authority.directory(f"spiffe://{POOL}/admin/first"), []
    newer = authority.directory(f"spiffe://{POOL}/admin/second")
    with (
        server(authority.directory(f"spiffe://{POOL}/master/m-0"), shown) as master,
        Subscription(master, tls_dir=str(client)) as events,
    ):
        iterator = iter(events)
        next(iterator)
        for name in ("tls.key", "tls.crt"):
            (newer / name).replace(client / name)
        for _ in range(3):
            next(iterator)
    assert shown[:2] == [f"spiffe://{POOL}/admin/first", f"spiffe://{POOL}/admin/second"]


@pytest.mark.parametrize(
    "name", [f"{POOL}/node/n-0", f"{POOL}/tenant/one/rw/a", f"{POOL}/admin/a", f"{OTHER_POOL}/master/m-0"]
)
def test_another_one_with_the_same_roots_is_asked_nothing(authority: Authority, name: str) -> None:
    shown: list[str] = []
    with server(authority.directory(f"spiffe://{name}"), shown) as impostor:
        said = refusal(impostor, authority.directory(f"spiffe://{POOL}/admin/a"))
    assert (
        f"of pool {OTHER_POOL}, and this process is of pool {POOL}" if "master" in name else "not of a master"
    ) in said
    assert "address" in said
    assert shown == []


def test_wrong_roots_are_said_by_the_side_that_has_them(authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other")
    with server(authority.directory(f"spiffe://{POOL}/master/m-0"), []) as master:
        assert "does not lead to ca.crt" in refusal(master, other.directory(f"spiffe://{POOL}/admin/a"))
        said = refusal(master, other.directory(f"spiffe://{POOL}/admin/a", trusted=authority))
    assert "does not take the certificate of this process" in said


def test_the_wrong_kind_of_port_is_said(authority: Authority) -> None:
    client = authority.directory(f"spiffe://{POOL}/admin/a")
    with server(None, []) as plain:
        assert "does not speak TLS there" in refusal(plain, client)
        assert "admin must name the port of admin HTTPS" in refusal(plain, client)
    with (
        server(authority.directory(f"spiffe://{POOL}/master/m-0"), []) as secure,
        pytest.raises(TimeoutError, match=f"{secure}: "),
    ):
        first_events(secure, None, timeout=0.1)


def test_a_right_that_is_missing_is_said(authority: Authority) -> None:
    with (
        server(authority.directory(f"spiffe://{POOL}/master/m-0"), [], status=403) as master,
        pytest.raises(KvpoolError, match="answered 403") as raised,
    ):
        first_events(master, authority.directory(f"spiffe://{POOL}/monitor"))
    assert raised.value.status is Status.NOT_PERMITTED
