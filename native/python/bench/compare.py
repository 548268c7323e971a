# SPDX-License-Identifier: Apache-2.0
"""Measures kvpool and the reference in turn, in one run on one machine, through the same Python API; prints ratios.

    compare.py --kvpool BIN --ours PYTHON [--reference PYTHON] [--rounds 6]

PYTHON are interpreters that have the wheels kvpool-mooncake and mooncake-transfer-engine-non-cuda (which needs Debian's
libibverbs1). Without --reference only kvpool and the raw stream are measured. The raw stream is one loopback TCP
connection that moves 1 MiB pieces, measured in each round, because the machine may be noisy. Each pool has one storage
process of 4 GiB. All traffic is on 127.0.0.1 and the run ends by itself.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
SEGMENT_BYTES = 4 << 30
START_SECONDS = 30
LOWER_IS_BETTER = "us"
TCP, SHM = "kvpool tcp", "kvpool shm"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def raw_stream(total_bytes=1 << 30, piece=1 << 20):
    """GB/s of one loopback connection that moves total_bytes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def drain():
        connection, _ = listener.accept()
        room = bytearray(piece)
        while connection.recv_into(room):
            pass
        connection.close()

    reader = threading.Thread(target=drain)
    reader.start()
    data = bytes(piece)
    with socket.create_connection(listener.getsockname()) as sender:
        start = time.perf_counter()
        for _ in range(total_bytes // piece):
            sender.sendall(data)
    reader.join()
    seconds = time.perf_counter() - start
    listener.close()
    return total_bytes / seconds / 1e9


def start_and_wait(command, marker, **options):
    """Starts a process and returns it once a line of its output holds the marker."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    end = threading.Timer(START_SECONDS, process.kill)
    end.start()
    for line in process.stdout:
        if marker in line:
            end.cancel()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process
    end.cancel()
    raise SystemExit(f"{command[0]} did not print '{marker}' within {START_SECONDS} s")


class Ours:
    """A master and a node as processes of their own; over_tcp keeps the client from using shared memory."""

    def __init__(self, name, python, binary, over_tcp):
        self.name, self.python, port = name, python, free_port()
        self.master = f"127.0.0.1:{port}"
        self.directory = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="kvpool-bench-")
        pool = ["--pool-id", str(uuid.uuid4())]
        master = [binary, "master", *pool, "--name", "master-0", "--host", "127.0.0.1", "--port", str(port)]
        master += ["--admin-port", str(free_port()), "--expected-nodes", "node-0"]
        master += ["--lease", f"file://{self.directory.name}/lease.json"]
        node = [binary, "node", *pool, "--node-id", "node-0", "--masters", self.master, "--host", "127.0.0.1"]
        node += ["--port", str(free_port()), "--admin-port", str(free_port()), "--advertise-host", "127.0.0.1"]
        node += ["--data-dir", self.directory.name, "--segment-size", str(SEGMENT_BYTES)]
        node += ["--protocols", "tcp" if over_tcp else "shm,tcp"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes = [subprocess.Popen(command, **quiet) for command in (master, node)]
        time.sleep(START_SECONDS / 4)


class Reference:
    name = "reference"

    def __init__(self, python):
        self.python, port = python, free_port()
        self.master = f"127.0.0.1:{port}"
        command = [str(Path(python).with_name("mooncake_master")), f"--port={port}", f"--metrics_port={free_port()}"]
        master = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        serve = [python, str(WORKER), self.master, "serve", str(SEGMENT_BYTES)]
        self.processes = [start_and_wait(serve, "serving", stdin=subprocess.PIPE), master]


def measure(side, round_number):
    command = [side.python, str(WORKER), side.master, "measure", str(round_number)]
    # The reference logs to stdout and stderr; only its JSON lines count.
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "GLOG_minloglevel": "3"})
    if done.returncode != 0:
        raise SystemExit(f"{side.name}: {done.stderr[-2000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    return {line["case"]: (line["value"], line["unit"]) for line in lines}


def report(results, streams):
    print(f"\nraw stream: median {statistics.median(streams):.2f} GB/s ({min(streams):.2f} to {max(streams):.2f})")
    reference = results.get("reference")
    print(f"{'case':22}{'':12}{TCP:>12}{SHM:>12}{'reference':>12}   better by (tcp, shm)")
    for case, (_, unit) in results[TCP][0].items():
        tcp, shm = (statistics.median(run[case][0] for run in results[side]) for side in (TCP, SHM))
        row = f"{case:22}{unit:12}{tcp:12.2f}{shm:12.2f}"
        if reference:
            theirs = statistics.median(run[case][0] for run in reference)
            ratios = (theirs / ours if unit == LOWER_IS_BETTER else ours / theirs for ours in (tcp, shm))
            row += f"{theirs:12.2f}   " + ", ".join(f"{ratio:.2f} x" for ratio in ratios)
        print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--ours", required=True, help="python with the kvpool wheels")
    parser.add_argument("--reference", help="python with the reference's wheel")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    sides = [Ours(TCP, options.ours, options.kvpool, True), Ours(SHM, options.ours, options.kvpool, False)]
    if options.reference:
        sides.append(Reference(options.reference))
    results, streams = {side.name: [] for side in sides}, []
    try:
        for round_number in range(options.rounds):
            for side in sides:
                streams.append(raw_stream())
                results[side.name].append(measure(side, round_number))
            print(f"round {round_number + 1} of {options.rounds} done", file=sys.stderr)
    finally:
        for side in sides:
            for process in side.processes:
                process.send_signal(signal.SIGTERM)
            for process in side.processes:
                process.wait(20)
    report(results, streams)


if __name__ == "__main__":
    main()
