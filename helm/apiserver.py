# SPDX-License-Identifier: Apache-2.0
"""An API server with its etcd, for what Helm does to a cluster. Nothing else runs there: objects stay as they are made."""

import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READY_WITHIN_S = 120
TOKEN = "chart-tests"


def binaries():
    """The folder with etcd, kube-apiserver and kubectl, made when it is not there."""
    folder = os.environ.get("KUBE_API_TEST_DIR")
    made = subprocess.run(
        [ROOT / "e2e/cluster/cluster", "apiserver-binaries", *([folder] if folder else [])],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Path(made.stdout.strip().splitlines()[-1])


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for it in sockets:
        it.bind(("127.0.0.1", 0))
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


class ApiServer:
    """Lives in a scratch folder as long as the `with` statement."""

    def __init__(self, scratch):
        self.scratch = Path(scratch)
        self.bin = binaries()
        self.processes = []
        self.port = 0

    def __enter__(self):
        client, peer, self.port = free_ports(3)
        self._start_etcd(client, peer)
        self._start_apiserver(client)
        self._await_ready()
        (self.scratch / "kubeconfig").write_text(json.dumps(self._kubeconfig()))
        return self

    def __exit__(self, *_):
        # Nothing of theirs is needed any more, and an API server that is asked to stop may wait long for an etcd that is gone.
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    @property
    def environment(self):
        own = {"KUBECONFIG": str(self.scratch / "kubeconfig"), "HOME": str(self.scratch)}
        return {**os.environ, **own}

    def kubectl(self, *arguments, stdin=None):
        return subprocess.run(
            [self.bin / "kubectl", *arguments], capture_output=True, text=True, env=self.environment, input=stdin
        )

    def _start(self, program, *options):
        log = (self.scratch / f"{program}.log").open("wb")
        self.processes.append(subprocess.Popen([self.bin / program, *options], stdout=log, stderr=log))

    def _start_etcd(self, client, peer):
        self._start(
            "etcd",
            f"--data-dir={self.scratch}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--unsafe-no-fsync",
        )

    def _start_apiserver(self, etcd):
        key = self.scratch / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        (self.scratch / "tokens.csv").write_text(f"{TOKEN},tests,tests,system:masters\n")
        self._start(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--cert-dir={self.scratch}/certificates",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--token-auth-file={self.scratch}/tokens.csv",
            "--authorization-mode=RBAC",
        )

    def _await_ready(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}/readyz", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        until = time.monotonic() + READY_WITHIN_S
        while True:
            try:
                with urllib.request.urlopen(request, context=context, timeout=5):
                    return
            except (urllib.error.URLError, OSError) as problem:
                ended = [it.args[0] for it in self.processes if it.poll() is not None]
                if ended or time.monotonic() > until:
                    self.__exit__()
                    logs = "".join(
                        (self.scratch / f"{name}.log").read_text()[-2000:] for name in ("etcd", "kube-apiserver")
                    )
                    raise AssertionError(f"no API server ({ended or problem}):\n{logs}") from problem
                time.sleep(0.3)

    def _kubeconfig(self):
        cluster = {"server": f"https://127.0.0.1:{self.port}", "insecure-skip-tls-verify": True}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "tests", "cluster": cluster}],
            "users": [{"name": "tests", "user": {"token": TOKEN}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
            "current-context": "tests",
        }
