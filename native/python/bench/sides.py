# SPDX-License-Identifier: Apache-2.0
"""The pools that are compared: kvpool's and the reference's, each a master and storage processes on 127.0.0.1."""

import argparse
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
import uuid
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
ENGINE_WORKER = Path(__file__).with_name("engine_worker.py")
SEGMENT_BYTES = 4 << 30
START_SECONDS = 60
WORKER_SECONDS = 600


def arguments(description, rounds):
    """A parser that knows what every comparison is told: where the sides are, and how often each is measured."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--ours", required=True, help="python with the kvpool wheels")
    parser.add_argument("--reference", help="python with the reference's wheel")
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def torch_environment(root):
    """What a process needs in order to import torch from Debian's packages, unpacked below `root`: every folder with
    libraries, since links and settings that the packages' scripts make are not there."""
    folders = {path.parent for path in Path(root, "usr/lib").rglob("lib*.so.*")}
    return {
        "PYTHONPATH": str(Path(root, "usr/lib/python3/dist-packages")),
        "LD_LIBRARY_PATH": ":".join(map(str, sorted(folders))),
    }


class Side:
    """A running pool; `processes` serve it, `python` has the wheels of its client."""

    name, python, master = "", "", ""
    processes: tuple | list = ()

    def environment(self):
        """Of a worker of this side."""
        return {**os.environ, "GLOG_minloglevel": "3"}

    def measure(self, round_number, torch=None):
        """{case: (value, unit)} of one run of the workers: of the store, of tensors where the folder of torch is given, and
        of the transfer engine beside it."""
        servers = ",".join(str(process.pid) for process in self.processes)
        found = self._run([self.python, str(WORKER), self.master, "measure", str(round_number), servers])
        if torch:
            command = [self.python, str(WORKER), self.master, "tensors", str(round_number)]
            found.update(self._run(command, torch_environment(torch)))
        return {**found, **self._run([self.python, str(ENGINE_WORKER), "measure"])}

    def begin(self, start):
        """The same of the first small batches after a start; afterwards the pool is warm. To be asked once it serves."""
        return self._run([self.python, str(WORKER), self.master, "begin", str(start)])

    def _run(self, command, more=None):
        # The reference logs to stdout and stderr; only the worker's JSON lines count.
        environment = {**self.environment(), "KVPOOL_REUSE": "on", **(more or {})}
        done = subprocess.run(command, capture_output=True, text=True, timeout=WORKER_SECONDS, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: {done.stderr[-2000:]}")
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
        return {line["case"]: (line["value"], line["unit"]) for line in lines}

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def prefaulted(node):
    progress = json.loads(node)["prefault"]
    return progress["doneBytes"] == progress["bytes"]


class Ours(Side):
    """`protocols` are those of the node: "tcp" keeps the client from using shared memory, and engines from copying from
    memory to memory."""

    def __init__(self, name, python, binary, protocols, nodes=1, segment_bytes=SEGMENT_BYTES):
        self.name, self.python = name, python
        self.same_machine = protocols != "tcp"
        port, admin = free_port(), free_port()
        self.master = f"127.0.0.1:{port}"
        self.directory = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="kvpool-bench-")
        pool = ["--pool-id", str(uuid.uuid4())]
        names = [f"node-{i}" for i in range(nodes)]
        master = [binary, "master", *pool, "--name", "master-0", "--host", "127.0.0.1", "--port", str(port)]
        master += ["--admin-port", str(admin), "--expected-nodes", ",".join(names)]
        master += ["--lease", f"file://{self.directory.name}/lease.json"]
        commands = [master]
        node_admins = [free_port() for _ in names]
        for node_id, node_admin in zip(names, node_admins, strict=True):
            node = [binary, "node", *pool, "--node-id", node_id, "--masters", self.master, "--host", "127.0.0.1"]
            node += ["--port", str(free_port()), "--admin-port", str(node_admin), "--advertise-host", "127.0.0.1"]
            data = Path(self.directory.name, node_id)
            data.mkdir()
            node += ["--data-dir", str(data), "--segment-size", str(segment_bytes)]
            commands.append([*node, "--protocols", protocols])
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes = [subprocess.Popen(command, **quiet) for command in commands]
        self._await(f"http://127.0.0.1:{admin}/role", lambda role: role == b"leader", "no master leads")
        # A node makes the pages of its memory beside serving, which takes half of the processors as long as it lasts.
        for node_admin in node_admins:
            self._await(f"http://127.0.0.1:{node_admin}/api/v1/node", prefaulted, "memory is not prefaulted")

    def environment(self):
        return {**super().environment(), "KVPOOL_ENGINE_SAME_MACHINE": "true" if self.same_machine else "false"}

    def _await(self, url, wanted, complaint):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(url, timeout=2) as answer:
                    if wanted(answer.read()):
                        return
            except OSError:
                pass
            time.sleep(0.1)
        self.end()
        raise SystemExit(f"{self.name}: {complaint} after {START_SECONDS} s")


class Reference(Side):
    name = "reference"

    def __init__(self, python, nodes=1, segment_bytes=SEGMENT_BYTES):
        self.python, port = python, free_port()
        self.master = f"127.0.0.1:{port}"
        command = [str(Path(python).with_name("mooncake_master")), f"--port={port}", f"--metrics_port={free_port()}"]
        master = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes = [master]
        time.sleep(2)
        for _ in range(nodes):
            self.processes.append(self._serve([python, str(WORKER), self.master, "serve", str(segment_bytes)]))

    def _serve(self, command):
        """A process once it says that it serves."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, text=True, **options)
        end = threading.Timer(START_SECONDS, process.kill)
        end.start()
        for line in process.stdout:
            if "serving" in line:
                end.cancel()
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return process
        end.cancel()
        self.end()
        raise SystemExit(f"{self.name}: the storage process did not serve within {START_SECONDS} s")
