# SPDX-License-Identifier: Apache-2.0
"""A pool of `kvpool local` for measurements: started, watched, its processes killed by name, ended."""

import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

START_SECONDS = 90


def free_ports(count):
    """The first of `count` neighbouring ports that no process listens on, below those that the kernel hands out."""
    for _ in range(200):
        first = random.randrange(15_000, 30_000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise SystemExit(f"no {count} neighbouring free ports found")


class LocalPool:
    """Its processes come back by themselves after they were killed, unless `restart` is False; wait_whole() says when."""

    def __init__(self, binary, masters, nodes, segment, *more, tls=False, restart=True):
        """With `tls` the pool requires it, and `tls_directory` has a client's certificate."""
        first = free_ports(3 * (masters + nodes))
        secure = first + 2 * (masters + nodes)
        # The command refuses variables of its prefix that are no settings.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
        command = [binary, "local", "--masters", str(masters), "--storage-nodes", str(nodes), "--segment-size", segment]
        command += ["--master-port", str(first), "--admin-port", str(first + masters)]
        command += ["--node-port", str(first + 2 * masters), "--node-admin-port", str(first + 2 * masters + nodes)]
        command += ["--ready-timeout", f"{START_SECONDS}s", *(["--restart"] if restart else []), *more]
        if tls:
            command += ["--tls", "required", "--secure-admin-port", str(secure)]
            command += ["--node-secure-admin-port", str(secure + masters)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True
        )
        self._admin = {f"master-{i}": (secure if tls else first + masters) + i for i in range(masters)}
        self._ready = threading.Event()
        self._tls = tls
        self.pids, self.masters, self.tls_directory, self.output = {}, "", None, []
        self.nodes = [f"127.0.0.1:{first + 2 * masters + i}" for i in range(nodes)]
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(START_SECONDS) or not self.masters:
            self.close()
            raise SystemExit("kvpool local did not get ready:\n" + "".join(self.output[-30:]))

    def __enter__(self):
        # Who ends the benchmark ends its pool, too: by default this signal leaves no time for that.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        for line in self._process.stdout:
            self.output.append(line)
            if started := re.match(r"started (\S+) pid=(\d+)", line):
                self.pids[started[1]] = int(started[2])
            if ready := re.match(r"ready masters=(\S+)", line):
                self.masters = ready[1]
            if directory := re.match(r"KVPOOL_TLS_DIR=(\S+)", line):
                self.tls_directory = Path(directory[1])
            if self.masters and (self.tls_directory or not self._tls):
                self._ready.set()
        self._ready.set()

    def ask(self, master, path):
        """Status and text of an answer of a master's admin endpoint; (0, "") when there is none."""
        url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self._admin[master]}{path}"
        try:
            with urllib.request.urlopen(url, timeout=2, context=self._admin_context()) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, ""
        except OSError:
            return 0, ""

    def _admin_context(self):
        if not self._tls:
            return None
        admin = self.tls_directory.parent / "admin"
        context = ssl.create_default_context(cafile=admin / "ca.crt")
        context.check_hostname = False  # a master is who its certificate says, wherever it is
        context.load_cert_chain(admin / "tls.crt", admin / "tls.key")
        return context

    def leader(self):
        """The name of the master that leads and serves, or None."""
        return next((name for name in self._admin if self.ask(name, "/role") == (200, "leader")), None)

    def wait_whole(self, seconds=START_SECONDS):
        """Until one master leads and every master has caught up with every node; answers who leads."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            leader = self.leader()
            if leader and all(self._knows_every_node(name) for name in self._admin):
                return leader
            time.sleep(0.02)
        raise SystemExit(f"the pool is not whole after {seconds} s:\n" + "".join(self.output[-30:]))

    def _knows_every_node(self, master):
        status, text = self.ask(master, "/api/v1/pool")
        pool = json.loads(text) if status == 200 else {}
        return pool.get("readyNodes", 0) == pool.get("expectedNodes") and pool["state"] in ("serving", "standby")

    def wait_at_rest(self, seconds=START_SECONDS):
        """Until its masters have compiled what they rehearse after their start: for a second they take a tenth of a processor."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = self._masters_seconds()
            time.sleep(1)
            if self._masters_seconds() - before < 0.1:
                return
        raise SystemExit(f"the masters are not at rest after {seconds} s")

    def _masters_seconds(self):
        """Processor time of all masters."""
        stats = [Path(f"/proc/{self.pids[name]}/stat").read_text() for name in self._admin]
        ticks = [sum(map(int, stat.rpartition(")")[2].split()[11:13])) for stat in stats]
        return sum(ticks) / os.sysconf("SC_CLK_TCK")

    def kill(self, *names):
        """SIGKILL, all at once as far as that goes."""
        for name in names:
            os.kill(self.pids[name], signal.SIGKILL)

    def signal(self, name, number):
        os.kill(self.pids[name], number)

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(5)
