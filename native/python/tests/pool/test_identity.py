# SPDX-License-Identifier: Apache-2.0
"""Engines with a ServiceAccount's token and no certificate: the client enrols by itself, and keeps its certificate new."""

import ctypes
import http.server
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from local_pool import START_SECONDS, free_ports
from token_issuer import TokenIssuer
from waiting import eventually

import kvpool
from kvpool.events import Directory, Subscription
from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore

POOL_ID = str(uuid.uuid4())
MEMORY = Path("/dev/shm")


class EnrollingPool:
    """A master that gives certificates for tokens, and a storage node; TLS is required."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.issuer = TokenIssuer(folder)
        self._processes: list[subprocess.Popen] = []
        self._segments = tempfile.TemporaryDirectory(prefix="kvpool-test-", dir=MEMORY)
        self.run("cert", "init", "--dir", folder / "ca", "--pool-id", POOL_ID)
        (folder / "keys").write_text(self.issuer.key_set())
        (folder / "rules").write_text("team-a/engine tenant default rw\nteam-b/reader tenant default ro\n")
        first = free_ports(6)
        self.masters = f"127.0.0.1:{first}"
        self.admin_port = first + 1  # for HTTPS
        try:
            self._start(
                *("master", "--pool-id", POOL_ID, "--name", "m-0", "--host", "127.0.0.1", "--port", first),
                *("--admin-port", first + 4, "--secure-admin-port", self.admin_port),
                *("--lease", (folder / "lease").as_uri(), "--expected-nodes", "n-0"),
                *("--tls-dir", self.issued("master/m-0"), "--ca-dir", folder / "ca"),
                *("--enrolment", folder / "rules", "--token-keys", folder / "keys"),
            )
            self._start(
                *("node", "--pool-id", POOL_ID, "--node-id", "n-0", "--masters", self.masters, "--host", "127.0.0.1"),
                *("--advertise-host", "127.0.0.1", "--port", first + 2, "--admin-port", first + 3),
                *("--secure-admin-port", first + 5),
                *("--data-dir", self._segments.name, "--segment-size", 64 << 20, "--tls-dir", self.issued("node/n-0")),
            )
            self._await_leader()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _environment() -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}

    def run(self, *arguments: object) -> None:
        command = [os.environ["KVDEV_BIN"], *map(str, arguments)]
        subprocess.run(command, env=self._environment(), check=True, stdout=subprocess.DEVNULL)

    def _start(self, *arguments: object) -> None:
        command = [os.environ["KVDEV_BIN"], *map(str, arguments)]
        with (self.folder / f"{arguments[0]}.log").open("w") as log:
            self._processes.append(
                subprocess.Popen(command, env=self._environment(), stdout=log, stderr=subprocess.STDOUT)
            )

    def issued(self, name: str) -> Path:
        """A directory with a certificate of this name."""
        out = self.folder / name.replace("/", "-")
        self.run("cert", "issue", "--ca-dir", self.folder / "ca", "--name", name, "--out", out)
        return out

    def _await_leader(self) -> None:
        context = ssl.create_default_context(cafile=self.folder / "ca/ca.crt")
        context.check_hostname = False

        def ready() -> bool:
            try:
                url = f"https://127.0.0.1:{self.admin_port}/readyz"
                with urllib.request.urlopen(url, timeout=5, context=context) as answer:
                    return answer.status == 200
            except OSError:
                assert self._processes[0].poll() is None, (self.folder / "master.log").read_text()
                return False

        eventually(ready, "the master is ready", START_SECONDS)

    def token(self, account: str = "team-a/engine", audience: str = f"kvpool.dev/{POOL_ID}", seconds: int = 600) -> str:
        return self.issuer.token(audience, *account.split("/"), seconds)

    def close(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(START_SECONDS)
        self._segments.cleanup()


@pytest.fixture(scope="module")
def enrolling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnrollingPool]:
    pool = EnrollingPool(tmp_path_factory.mktemp("enrolling"))
    yield pool
    pool.close()


@pytest.fixture
def identity(enrolling: EnrollingPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An identity directory as a pod has it, which KVPOOL_IDENTITY_DIR names."""
    directory = tmp_path / "identity"
    directory.mkdir()
    (directory / "token").write_text(enrolling.token() + "\n")
    (directory / "ca.crt").write_bytes((enrolling.folder / "ca/ca.crt").read_bytes())
    (directory / "admins").write_text(f"127.0.0.1:{enrolling.admin_port}\n")
    monkeypatch.setenv("KVPOOL_IDENTITY_DIR", str(directory))
    return directory


def directories() -> set[Path]:
    return set(MEMORY.glob("kvpool-identity-*"))


def failure(enrolling: EnrollingPool, ready_timeout: float = 0.1) -> kvpool.KvpoolError:
    with pytest.raises(kvpool.KvpoolError) as raised:
        kvpool.Client(enrolling.masters, ready_timeout=ready_timeout)
    return raised.value


def test_a_store_needs_no_more_than_the_variable(enrolling: EnrollingPool, identity: Path) -> None:
    store = MooncakeDistributedStore()
    assert store.setup("127.0.0.1", "P2PHANDSHAKE", 16 << 20, 64 << 20, "tcp", "", enrolling.masters) == 0
    assert store.put("identity/a", b"value") == 0
    assert store.get("identity/a") == b"value"
    store.close()


def test_a_router_needs_no_more_to_follow_the_events_of_its_tenant(enrolling: EnrollingPool, identity: Path) -> None:
    with kvpool.Client(enrolling.masters) as client:
        client.put("identity/followed", b"v")
        directory = Directory()
        with Subscription(timeout=START_SECONDS) as events:
            for event in events:
                directory.apply(event)
                if "identity/followed" in directory.objects:
                    break
        assert directory.exact


def test_clients_of_a_process_share_one_certificate_that_others_may_not_read(
    enrolling: EnrollingPool, identity: Path
) -> None:
    before = directories()
    with kvpool.Client(enrolling.masters) as first, kvpool.Client(enrolling.masters) as second:
        first.put("identity/shared", b"v")
        assert second.get("identity/shared") == b"v"
        [made] = directories() - before
        assert made.stat().st_mode & 0o777 == 0o700
        assert (made / "tls.key").stat().st_mode & 0o777 == 0o600


def test_who_reads_only_reads_only(enrolling: EnrollingPool, identity: Path) -> None:
    (identity / "token").write_text(enrolling.token("team-b/reader"))
    with kvpool.Client(enrolling.masters) as client, pytest.raises(kvpool.KvpoolError) as refused:
        client.put("identity/reader", b"v")
    assert refused.value.status is kvpool.Status.NOT_PERMITTED


def test_transfer_engines_need_no_more_either(
    enrolling: EnrollingPool, identity: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by the token of its own ServiceAccount, of which one may only read."""
    memory, local = (ctypes.create_string_buffer(text, 4096) for text in (b"of the writer", b"of the reader"))
    writer, reader = TransferEngine(), TransferEngine()
    assert writer.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    shutil.copytree(identity, tmp_path / "reader")
    (tmp_path / "reader/token").write_text(enrolling.token("team-b/reader"))
    monkeypatch.setenv("KVPOOL_IDENTITY_DIR", str(tmp_path / "reader"))
    assert reader.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    monkeypatch.delenv("KVPOOL_IDENTITY_DIR")
    plain = TransferEngine()
    assert plain.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    try:
        assert writer.register_memory(ctypes.addressof(memory), 4096) == 0
        target = f"127.0.0.1:{writer.get_rpc_port()}"
        there = (target, ctypes.addressof(local), ctypes.addressof(memory), 4096)
        assert plain.transfer_sync_read(*there) == -1
        assert reader.transfer_sync_write(*there) == -1
        assert memory.value == b"of the writer"
        assert reader.transfer_sync_read(*there) == 0
        assert local.value == b"of the writer"
    finally:
        for engine in (plain, reader, writer):
            engine.get_engine().engine.close()


def test_a_master_that_is_away_is_passed_over(enrolling: EnrollingPool, identity: Path) -> None:
    (identity / "admins").write_text(f"127.0.0.1:1,\n127.0.0.1:{enrolling.admin_port}\n")
    with kvpool.Client(enrolling.masters) as client:
        assert client.get("identity/nothing") is None


@pytest.mark.parametrize(
    ("file", "content", "parts"),
    [
        (
            "token",
            None,
            ["cannot read", "/token: No such file", "KVPOOL_IDENTITY_DIR must name a directory with token"],
        ),
        ("token", b"", ["/token is empty", "mount the volume"]),
        ("token", b"\xff\xfe", ["/token is empty", "is no text"]),
        ("token", b"hello", ["/token is no token of a ServiceAccount", "serviceAccountToken"]),
        ("token", b"a.b.c", ["/token is no token of a ServiceAccount"]),
        ("token", b"x" * 300_000, ["more than 256 KiB"]),
        ("ca.crt", None, ["/ca.crt: No such file"]),
        ("ca.crt", b"hello", ["/ca.crt has no certificate in PEM", "POOL-trust"]),
        ("ca.crt", b"-----BEGIN CERTIFICATE-----\nAAAA", ["ca.crt has a certificate that cannot be read"]),
        ("admins", None, ["/admins: No such file"]),
        ("admins", b",", ["/admins has ''", "write HOST:PORT"]),
        ("admins", b"m-0", ["/admins has 'm-0'", "write HOST:PORT"]),
        ("admins", b"m-0:99999", ["/admins has 'm-0:99999'"]),
        ("admins", b"127.0.0.1:1", ["127.0.0.1:1: ", "Connection refused"]),
    ],
    ids=range(14),
)
def test_files_that_do_not_do_are_named_with_what_to_do(
    enrolling: EnrollingPool, identity: Path, file: str, content: bytes | None, parts: list[str]
) -> None:
    if content is None:
        (identity / file).unlink()
    else:
        (identity / file).write_bytes(content)
    before = directories()
    error = failure(enrolling)
    for part in parts:
        assert part in str(error)
    assert directories() == before


def test_what_the_master_says_of_the_token_is_told(enrolling: EnrollingPool, identity: Path) -> None:
    (identity / "token").write_text(enrolling.token("team-c/stranger"))
    error = failure(enrolling, ready_timeout=60)  # waiting would not help
    assert error.status is kvpool.Status.NOT_PERMITTED
    assert "answered 403" in str(error)
    assert "ServiceAccount team-c/stranger has no part in this pool" in str(error)

    (identity / "token").write_text(enrolling.token(seconds=-600))
    error = failure(enrolling, ready_timeout=60)
    assert "answered 401" in str(error)
    assert "the token expired at" in str(error)

    (identity / "token").write_text(enrolling.token(audience="https://kubernetes.default.svc"))
    assert "is for https://kubernetes.default.svc, and not for a pool" in str(failure(enrolling))

    other = str(uuid.uuid4())
    (identity / "token").write_text(enrolling.token(audience=f"kvpool.dev/{other}"))
    error = failure(enrolling)
    assert error.status is kvpool.Status.IDENTITY_MISMATCH
    assert f"it is a master of pool {POOL_ID}, and the token is for pool {other}" in str(error)


def test_a_relative_path_is_refused(enrolling: EnrollingPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPOOL_IDENTITY_DIR", "identity")
    assert "must be the absolute path of a directory" in str(failure(enrolling))


class Relay:
    """A server with a certificate of this name, that asks the true master and may change what is answered."""

    def __init__(self, enrolling: EnrollingPool, name: str, change: Callable[[int, bytes], tuple[int, bytes]]) -> None:
        self.tokens: list[str | None] = []
        relay = self
        context = ssl.create_default_context(cafile=enrolling.folder / "ca/ca.crt")
        context.check_hostname = False

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                token = self.headers.get("X-Kvpool-Token")
                relay.tokens.append(token)
                url = f"https://127.0.0.1:{enrolling.admin_port}{self.path}"
                request = urllib.request.Request(url, method="POST", headers={"X-Kvpool-Token": token or ""})
                with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                    status, body = change(answer.status, answer.read())
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate = enrolling.issued(name)
        shown.load_cert_chain(certificate / "tls.crt", certificate / "tls.key")
        self._server.socket = shown.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def as_it_is(status: int, body: bytes) -> tuple[int, bytes]:
    return status, body


def ends_soon(status: int, body: bytes) -> tuple[int, bytes]:
    """What is signed lives for an hour; the client is told two seconds."""
    soon = datetime.now(UTC) + timedelta(seconds=2)
    return status, json.dumps({**json.loads(body), "notAfter": soon.isoformat()}).encode()


def test_a_storage_node_is_not_shown_the_token(enrolling: EnrollingPool, identity: Path) -> None:
    with Relay(enrolling, "node/n-1", as_it_is) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        error = failure(enrolling, ready_timeout=60)
    assert relay.tokens == []
    assert f"its certificate is that of spiffe://{POOL_ID}/node/n-1, not of a master; the token was not sent" in str(
        error
    )


def test_a_master_of_another_ca_is_not_shown_the_token(
    enrolling: EnrollingPool, identity: Path, tmp_path: Path
) -> None:
    enrolling.run("cert", "init", "--dir", tmp_path / "other", "--pool-id", POOL_ID)
    (identity / "ca.crt").write_bytes((tmp_path / "other/ca.crt").read_bytes())
    with Relay(enrolling, "master/m-1", as_it_is) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        error = failure(enrolling, ready_timeout=60)
    assert relay.tokens == []
    assert "its certificate does not lead to ca.crt" in str(error)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"notAfter":1}', b"\xff" * 10, b"[" * 100_000], ids=range(6))
def test_an_answer_without_a_certificate_is_said(enrolling: EnrollingPool, identity: Path, body: bytes) -> None:
    with Relay(enrolling, "master/m-2", lambda *_: (200, body)) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        assert "its answer has no certificate" in str(failure(enrolling, ready_timeout=60))


def test_an_answer_for_another_key_is_refused(enrolling: EnrollingPool, identity: Path) -> None:
    other = (enrolling.issued("tenant/default/rw/other") / "tls.crt").read_text()
    before = directories()
    with Relay(
        enrolling, "master/m-3", lambda _, body: (200, json.dumps({**json.loads(body), "certificate": other}).encode())
    ) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        assert "has a certificate that cannot be used" in str(failure(enrolling, ready_timeout=60))
    assert directories() == before


def test_a_master_that_is_busy_is_asked_again(enrolling: EnrollingPool, identity: Path) -> None:
    answers = iter([(429, b"more than 20 a second from one address"), (503, b"keys are not known")])
    with Relay(enrolling, "master/m-4", lambda status, body: next(answers, (status, body))) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        with kvpool.Client(enrolling.masters) as client:
            assert client.get("identity/nothing") is None
        assert len(relay.tokens) == 3


def test_the_certificate_is_renewed_at_half_its_life_with_the_token_of_that_moment(
    enrolling: EnrollingPool, identity: Path
) -> None:
    before = directories()
    with Relay(enrolling, "master/m-5", ends_soon) as relay:
        (identity / "admins").write_text(f"127.0.0.1:{relay.port}")
        with kvpool.Client(enrolling.masters) as client:
            [made] = directories() - before
            first = (made / "tls.crt").read_bytes()
            newer = enrolling.token(seconds=500)
            (identity / "token").write_text(newer)
            eventually(lambda: (made / "tls.crt").read_bytes() != first, "another certificate")
            assert relay.tokens[-1] == newer
            (identity / "token").write_text("")  # as while somebody writes it
            count = len(relay.tokens)
            time.sleep(1.5)
            (identity / "token").write_text(newer)
            eventually(lambda: len(relay.tokens) > count, "asked again after a failure")
            client.put("identity/renewed", b"v")


CHILD = """
import os, sys, kvpool
from pathlib import Path
MEMORY = Path("/dev/shm")
client = kvpool.Client(sys.argv[1])
client.put("identity/child", b"v")
mine = set(MEMORY.glob("kvpool-identity-*")) - set(map(Path, sys.argv[2:]))
assert len(mine) == 1, mine
child = os.fork()
if child == 0:
    other = kvpool.Client(sys.argv[1])
    assert other.get("identity/child") == b"v"
    theirs = set(MEMORY.glob("kvpool-identity-*")) - set(map(Path, sys.argv[2:]))
    assert len(theirs) == 2, theirs
    sys.exit(7)  # with everything that an exit does
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
left = set(MEMORY.glob("kvpool-identity-*")) - set(map(Path, sys.argv[2:]))
assert left == mine, left
assert (mine.pop() / "tls.key").exists()
client.put("identity/child2", b"v")
print("done", flush=True)
if os.environ.get("STAY"):
    sys.stdin.read()
"""


def test_a_forked_child_enrols_for_itself_and_each_removes_its_own(enrolling: EnrollingPool, identity: Path) -> None:
    before = directories()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, enrolling.masters, *map(str, before)],
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"done\n"
    assert directories() == before


def test_what_a_killed_process_leaves_the_next_one_removes(enrolling: EnrollingPool, identity: Path) -> None:
    before = directories()
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CHILD, enrolling.masters, *map(str, before)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "STAY": "yes"},
    )
    assert process.stdout.readline() == b"done\n"
    [left] = directories() - before
    with kvpool.Client(enrolling.masters):
        assert left.exists(), "its process lives"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert left.exists()
    subprocess.run(
        [sys.executable, "-c", "import sys, kvpool; kvpool.Client(sys.argv[1])", enrolling.masters], check=True
    )
    assert not left.exists()
