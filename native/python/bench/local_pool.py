# SPDX-License-Identifier: Apache-2.0
"""A pool of `kvpool local` for measurements: started, watched, its processes killed by name, ended."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

START_SECONDS = 90


def free_ports(count):
    """The first of `count` neighbouring ports that nobody listens on, below those that the kernel hands out."""
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
    """Masters come back by themselves after they were killed; wait_whole() says when."""

    def __init__(self, binary, masters, nodes, segment, *more):
        first = free_ports(2 * (masters + nodes))
        # The command refuses variables of its prefix that are no settings.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
        command = [binary, "local", "--masters", str(masters), "--storage-nodes", str(nodes), "--segment-size", segment]
        command += ["--master-port", str(first), "--admin-port", str(first + masters)]
        command += ["--node-port", str(first + 2 * masters), "--node-admin-port", str(first + 2 * masters + nodes)]
        command += ["--ready-timeout", f"{START_SECONDS}s", "--restart", *more]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True
        )
        self._admin = {f"master-{i}": first + masters + i for i in range(masters)}
        self._ready = threading.Event()
        self.pids, self.masters, self.output = {}, "", []
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
                self._ready.set()
        self._ready.set()

    def ask(self, master, path):
        """Status and text of an answer of a master's admin endpoint; (0, "") when there is none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._admin[master]}{path}", timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, ""
        except OSError:
            return 0, ""

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
