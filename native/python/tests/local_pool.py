# SPDX-License-Identifier: Apache-2.0
"""Real pools: `kvpool local` of the command that KVDEV_BIN names."""

import http.client
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from waiting import eventually

START_SECONDS = 60
SEGMENT_BYTES = 128 << 20
OBJECT_LEASE_SECONDS = 1


def _own_ports() -> range:
    """Those of this process of pytest-xdist, above those of transfer engines and below those that the kernel hands out."""
    share = 12_000 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    first = 18_000 + share * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return range(first, first + share)


def free_ports(count: int) -> int:
    """The first of `count` neighbouring ports that no process listens on, and that no other process of these tests takes."""
    own = _own_ports()
    for _ in range(200):
        first = random.randrange(own.start, own.stop - count)
        try:
            for port in range(first, first + count):
                with socket.socket(socket.AF_INET6) as probe:
                    probe.bind(("::", port))
        except OSError:
            continue
        return first
    raise RuntimeError(f"no {count} neighbouring free ports found")


class LocalPool:
    """A running `kvpool local`, ended with close()."""

    def __init__(
        self,
        masters: int = 1,
        nodes: int = 2,
        segment_bytes: int = SEGMENT_BYTES,
        restart: bool = False,
        tls: bool = False,
        protocols: str = "shm,tcp",
        payloads: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
        flags: Sequence[str] = (),
    ) -> None:
        """With `tls` connections without a certificate are refused; that of clients is in `tls_directory`. `payloads` is the word
        of --payloads, if it is to be given. The pool's processes have `variables` beside those of this one, and the
        command has `flags` beside these."""
        first = free_ports(3 * masters + 3 * nodes)
        secure = first + 2 * masters + 2 * nodes
        # The command refuses variables of its prefix that are no settings, such as the one that names it here.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
        environment |= variables
        self._process = subprocess.Popen(
            [
                os.environ["KVDEV_BIN"],
                "local",
                *("--masters", str(masters), "--storage-nodes", str(nodes), "--segment-size", str(segment_bytes)),
                *("--master-port", str(first), "--admin-port", str(first + masters)),
                *("--node-port", str(first + 2 * masters), "--node-admin-port", str(first + 2 * masters + nodes)),
                *("--object-lease", f"{OBJECT_LEASE_SECONDS}s", "--protocols", protocols),
                *(["--restart"] if restart else []),
                *(["--payloads", payloads] if payloads else []),
                *(["--tls", "required", "--secure-admin-port", str(secure)] if tls else []),
                *flags,
                *(["--node-secure-admin-port", str(secure + masters)] if tls else []),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
        )
        self._admin_ports = [(secure if tls else first + masters) + i for i in range(masters)]
        self.nodes = [f"127.0.0.1:{first + 2 * masters + i}" for i in range(nodes)]
        self.admin_addresses = ",".join(f"127.0.0.1:{port}" for port in self._admin_ports)
        first_of_nodes = secure + masters if tls else first + 2 * masters + nodes
        self._node_admin_ports = [first_of_nodes + i for i in range(nodes)]
        self.capacity_bytes = nodes * segment_bytes
        self.pids: dict[str, int] = {}
        self.masters = ""
        self.tls_directory: Path | None = None
        self._requires_tls = tls
        self.output: list[str] = []
        self._started: list[subprocess.Popen] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(START_SECONDS) or not self.masters:
            self.close()
            raise AssertionError("kvpool local did not get ready:\n" + "".join(self.output[-40:]))

    def _read(self) -> None:
        with self._process.stdout as lines:
            for line in lines:
                self.output.append(line)
                if started := re.match(r"started (\S+) pid=(\d+) port=(\d+)", line):
                    self.pids[started[1]] = int(started[2])
                if ready := re.match(r"ready masters=(\S+)", line):
                    self.masters = ready[1]
                if directory := re.match(r"KVPOOL_TLS_DIR=(\S+)", line):
                    self.tls_directory = Path(directory[1])
                if self.masters and (self.tls_directory or not self._requires_tls):
                    self._ready.set()
        self._ready.set()

    def admin(self, path: str) -> str:
        """What the leader's admin endpoint answers, once there is one that says so: a new leader may serve a moment before."""
        answers: list[str] = []
        eventually(lambda: answers.extend(self._answers_of_leaders(path)) or answers, "a master says that it leads")
        return answers[0]

    def post(self, path: str, **parameters: str) -> tuple[int, object]:
        """Status and document of the first master's answer, for pools of one; None when it is no document."""
        request = self._request(self._admin_ports[0], f"{path}?{urllib.parse.urlencode(parameters)}", "POST")
        try:
            with self._open(request, 40) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, None

    def _request(self, port: int, path: str, method: str = "GET") -> urllib.request.Request:
        scheme = "https" if self._requires_tls else "http"
        return urllib.request.Request(f"{scheme}://127.0.0.1:{port}{path}", method=method)

    def _open(self, request: urllib.request.Request, timeout: float = 5) -> http.client.HTTPResponse:
        """As an admin, where that has to be shown."""
        if self.tls_directory is None:
            return urllib.request.urlopen(request, timeout=timeout)
        admin = self.tls_directory.parent / "admin"
        context = ssl.create_default_context(cafile=admin / "ca.crt")
        context.check_hostname = False  # a master is who its certificate says, wherever it is
        context.load_cert_chain(admin / "tls.crt", admin / "tls.key")
        return urllib.request.urlopen(request, timeout=timeout, context=context)

    def _answers_of_leaders(self, path: str) -> Iterator[str]:
        """A master that does not answer is passed over."""
        for port in self._admin_ports:
            try:
                with self._open(self._request(port, "/role")) as answer:
                    role = answer.read()
                if role == b"leader":
                    with self._open(self._request(port, path)) as answer:
                        yield answer.read().decode()
            except OSError:
                continue

    def node_metric(self, name: str) -> float:
        """The sum of kvpool_node_NAME over the storage nodes."""
        total = 0.0
        for port in self._node_admin_ports:
            with self._open(self._request(port, "/metrics")) as answer:
                [value] = re.findall(
                    rf"^kvpool_node_{name}(?:{{[^}}]*}})? (\S+)$", answer.read().decode(), re.MULTILINE
                )
                total += float(value)
        return total

    def view(self) -> dict:
        return json.loads(self.admin("/api/v1/pool"))

    def leader(self) -> str:
        return self.view()["leader"]["name"]

    def kill(self, name: str) -> None:
        os.kill(self.pids[name], signal.SIGKILL)

    def kill_for_a_while(self, name: str) -> Callable[[], None]:
        """Kills a process that the pool does not start again. What it returns starts one of the same command and variables."""
        started = Path(f"/proc/{self.pids[name]}")
        command = [os.fsdecode(word) for word in (started / "cmdline").read_bytes().split(b"\0")[:-1]]
        variables = dict(os.fsdecode(one).split("=", 1) for one in (started / "environ").read_bytes().split(b"\0")[:-1])
        directory = (started / "cwd").readlink()
        self.kill(name)

        def again() -> None:
            # It stops when its standard input ends, as that of `kvpool local` would.
            process = subprocess.Popen(
                command, cwd=directory, env=variables, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )
            self._started.append(process)
            self.pids[name] = process.pid

        return again

    def kill_and_await_restart(self, name: str) -> None:
        pid = self.pids[name]
        self.kill(name)
        eventually(lambda: self.pids[name] != pid, f"{name} is started again")

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
