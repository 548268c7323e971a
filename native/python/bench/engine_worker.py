# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison of transfer engines: two processes of `mooncake.engine`, one of which moves bytes from and
to memory that the other has registered. Prints a JSON line per case, as worker.py does; both sides run this very file.

    engine_worker.py measure     starts the other process itself
    engine_worker.py target      registers memory, says where it is, and waits for standard input to end
"""

import ctypes
import json
import mmap
import subprocess
import sys
import threading
import time

from mooncake.engine import TransferEngine

BATCH, LARGE, SMALL = 32, 1 << 20, 4096
BATCHES, SINGLES = 16, 1000
BYTES = BATCH * LARGE
START_SECONDS = 60


def engine_with_memory():
    """An engine, its registered memory as a view, and the address of that."""
    engine = TransferEngine()
    if engine.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") != 0:
        raise SystemExit("initialize failed")
    memory = mmap.mmap(-1, BYTES)
    memory[:] = bytes(BYTES)  # its pages are made here, not in the first transfer
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if engine.register_memory(base, BYTES) != 0:
        raise SystemExit("register_memory failed")
    return engine, memory, base


def emit(case, value, unit):
    print(json.dumps({"case": case, "value": value, "unit": unit}), flush=True)


def start_target():
    """The other process, its name for transfers, and the address of its memory."""
    command = [sys.executable, __file__, "target"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, **pipes)
    end = threading.Timer(START_SECONDS, process.kill)
    end.start()
    for line in process.stdout:  # the reference logs there, too
        if line.startswith('{"target"'):
            end.cancel()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            told = json.loads(line)
            return process, told["target"], told["base"]
    end.cancel()
    raise SystemExit("the other engine did not start")


def check(code, what):
    if code != 0:
        raise SystemExit(f"{what} gave {code}")


def bulk(engine, memory, base, target, remote):
    here = [base + i * LARGE for i in range(BATCH)]
    there = [remote + i * LARGE for i in range(BATCH)]
    lengths = [LARGE] * BATCH
    pattern = bytes(range(256)) * (BYTES // 256)
    memory[:] = pattern
    work = (("write", engine.batch_transfer_sync_write), ("read", engine.batch_transfer_sync_read))
    for verb, call in work:
        check(call(target, here, there, lengths), f"{verb} to warm up")
        start = time.perf_counter()
        for _ in range(BATCHES):
            check(call(target, here, there, lengths), verb)
        emit(f"engine {verb} 1MiB x32", BATCHES * BYTES / (time.perf_counter() - start) / 1e9, "GB/s")
        if verb == "write":
            memory[:] = bytes(BYTES)
    if memory[:] != pattern:
        raise SystemExit("the engine read other bytes than were written")


def singles(engine, base, target, remote):
    for verb, call in (("write", engine.transfer_sync_write), ("read", engine.transfer_sync_read)):
        times = []
        for _ in range(SINGLES):
            start = time.perf_counter_ns()
            check(call(target, base, remote, SMALL), verb)
            times.append(time.perf_counter_ns() - start)
        times.sort()
        emit(f"engine {verb} 4KiB p50", times[len(times) // 2] / 1e3, "us")


def main():
    engine, memory, base = engine_with_memory()
    if sys.argv[1] == "target":
        print(json.dumps({"target": f"127.0.0.1:{engine.get_rpc_port()}", "base": base}), flush=True)
        sys.stdin.read()
        return
    process, target, remote = start_target()
    try:
        bulk(engine, memory, base, target, remote)
        singles(engine, base, target, remote)
    finally:
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


if __name__ == "__main__":
    main()
