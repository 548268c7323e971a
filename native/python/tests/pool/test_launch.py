# SPDX-License-Identifier: Apache-2.0
"""`mooncake_master` and `mooncake_client` as scripts of the reference start them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from local_pool import START_SECONDS, LocalPool, free_ports
from waiting import eventually

from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore

VALUE = b"value" * 1000


@contextlib.contextmanager
def running(program, *arguments, **variables):
    """The console script, which ends as Kubernetes ends it. It has these variables of kvpool's alone."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    environment |= {"KVPOOL_COMMAND": os.environ["KVDEV_BIN"], **variables}
    process = subprocess.Popen([Path(sys.executable).parent / program, *arguments], env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def is_refused(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def answer_of(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=START_SECONDS) as answer:
        return answer.status


def connected(masters, setup):
    stores = []

    def attempt():
        store = MooncakeDistributedStore()
        if setup(store) != 0:
            store.close()
            return False
        stores.append(store)
        return True

    eventually(attempt, f"a client is connected to {masters}", START_SECONDS)
    return stores[0]


def test_what_engines_hold_outlives_a_master_that_is_started_elsewhere_and_clients_of_the_service_read_it():
    port = free_ports(5)
    masters = f"127.0.0.1:{port}"
    metadata = ["--enable_http_metadata_server=true", f"--http_metadata_server_port={port + 3}"]
    master = [f"--rpc_port={port}", f"--metrics_port={port + 1}", *metadata]
    client = [
        f"--master_server_address={masters}",
        "--global_segment_size=64MB",
        f"--port={port + 2}",
        "--host=127.0.0.1",
        f"--http_port={port + 4}",
    ]
    with running("mooncake_master", *master) as first, running("mooncake_client", *client) as service:
        store = connected(masters, lambda it: it.setup("127.0.0.1", "P2PHANDSHAKE", 0, 16 << 20, "tcp", "", masters))
        eventually(lambda: store.put("kept", VALUE) == 0, "the memory of mooncake_client is in the pool", START_SECONDS)
        first.send_signal(signal.SIGKILL)
        first.wait()
        # The pool dies with the command, a moment after it.
        eventually(lambda: is_refused(port), "the first master is gone", START_SECONDS)
        with running("mooncake_master", *master) as second:
            eventually(lambda: store.get("kept") == VALUE, "the other master shows it", START_SECONDS)
            dummy = connected(masters, lambda it: it.setup_dummy(16 << 20, 16 << 20, f"127.0.0.1:{port + 2}"))
            eventually(lambda: dummy.get("kept") == VALUE, "a client of mooncake_client reads it", START_SECONDS)
            dummy.close()
            # As in another container of the same pod, which has a /tmp of its own.
            hidden = Path(f"/tmp/mooncake_client_{port + 2}")
            hidden.rename(f"{hidden}.hidden")
            named = connected(masters, lambda it: it.setup_dummy(16 << 20, 16 << 20, f"127.0.0.1:{port + 2}"))
            eventually(lambda: named.get("kept") == VALUE, "a client finds it by its name", START_SECONDS)
            named.close()
            Path(f"{hidden}.hidden").rename(hidden)
            store.close()
            assert answer_of(port + 4, "/health") == 200
            assert answer_of(port + 4, "/metrics") == 200
            assert answer_of(port + 4, "/metrics/summary") == 200
            engine = TransferEngine()
            assert engine.initialize("127.0.0.1:1", f"http://127.0.0.1:{port + 3}/metadata", "tcp", "") == 0
            service.terminate()
            assert service.wait(START_SECONDS) == 0
            second.terminate()
            assert second.wait(START_SECONDS) == 0


def test_mooncake_client_is_a_member_of_a_pool_that_requires_tls(tmp_path):
    pool = LocalPool(nodes=0, tls=True)
    port = free_ports(2)
    client = [
        f"--master_server_address={pool.masters}",
        "--global_segment_size=64MB",
        f"--port={port}",
        "--host=127.0.0.1",
        f"--http_port={port + 1}",
    ]
    tls = tmp_path / "tls"
    command = [os.environ["KVDEV_BIN"], "cert", "issue", "--ca-dir", pool.tls_directory.parent / "ca"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    try:
        subprocess.run([*command, "--name", "agent/a", "--out", tls], env=environment, check=True)
        with running("mooncake_client", *client, KVPOOL_TLS_DIR=str(tls)) as service:
            dummy = connected(pool.masters, lambda it: it.setup_dummy(16 << 20, 16 << 20, f"127.0.0.1:{port}"))
            eventually(lambda: dummy.put("k", VALUE) == 0, "its memory is in the pool", START_SECONDS)
            assert dummy.get("k") == VALUE
            dummy.close()
            assert answer_of(port + 1, "/health") == 200
            service.terminate()
            assert service.wait(START_SECONDS) == 0
    finally:
        pool.close()
