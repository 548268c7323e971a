# SPDX-License-Identifier: Apache-2.0
"""`transfer_engine_bench`: how fast two processes transfer with mooncake.engine. One lends memory, the other uses it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from mooncake.engine import TransferEngine, TransferOpcode
from mooncake.launch import command_line, process
from mooncake.launch.bench_flags import FLAGS, UNITS
from mooncake.launch.command_line import BadCommandLine

PROGRAM = "transfer_engine_bench"
_SUMMARY = (
    "Measures transfers between two processes: start one with --mode=target, and one that names it as --segment_id."
)
_DIGITS_MAX = 9
_MEMORY_MAX = 1 << 46


class Failed(Exception):
    """What could not be done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """A target runs until it is stopped. 0, 1 when a transfer failed or could not begin, 2 for a wrong command line."""
    try:
        line = command_line.read(sys.argv[1:] if arguments is None else arguments, FLAGS)
    except BadCommandLine as refused:
        return process.refuse(PROGRAM, refused.problems)
    if line.help:
        print(command_line.usage(PROGRAM, _SUMMARY, FLAGS))
        return 0
    if wrong := problems(line.values):
        return process.refuse(PROGRAM, wrong)
    for warning in line.warnings:
        process.say(PROGRAM, warning)
    try:
        _lend(line.values) if line.values["mode"] == "target" else _transfer(line.values)
    except Failed as failure:
        process.say(PROGRAM, str(failure))
        return 1
    return 0


def problems(values: Mapping[str, Any]) -> list[str]:
    """What is wrong with flags that are right each."""
    found = []
    needed = values["block_size"] * values["batch_size"] * values["threads"]
    if values["buffer_size"] > _MEMORY_MAX:
        found.append(f"--buffer_size is {values['buffer_size']}, but must be {_MEMORY_MAX} at most")
    if values["report_precision"] > _DIGITS_MAX:
        found.append(f"--report_precision is {values['report_precision']}, but must be {_DIGITS_MAX} at most")
    if values["mode"] == "initiator":
        if not values["segment_id"]:
            found.append("--segment_id is missing: give what the target said when it started")
        if needed > values["buffer_size"]:
            found.append(
                f"--block_size * --batch_size * --threads are {needed} bytes, but --buffer_size is {values['buffer_size']}"
            )
    return found


def report(seconds: float, batches: int, batch_bytes: int, unit: str, digits: int) -> str:
    """The last line, in the words of the reference."""
    speed = batches * batch_bytes / seconds / UNITS[unit]
    return f"Test completed: duration {seconds:.2f}, batch count {batches}, throughput {speed:.{digits}f} {unit}/s"


def _opened(values: Mapping[str, Any]) -> tuple[TransferEngine, int]:
    """An engine, and registered memory of it."""
    engine = TransferEngine()
    name, server, protocol = values["local_server_name"], values["metadata_server"], values["protocol"]
    if engine.initialize(name, server, protocol, "") != 0:
        raise Failed("the transfer engine cannot be started; the lines above say why")
    address = engine.allocate_managed_buffer(values["buffer_size"])
    if address == 0:
        raise Failed(
            f"{values['buffer_size']} bytes cannot be had: choose a smaller --buffer_size, here and at the target"
        )
    return engine, address


def _lend(values: Mapping[str, Any]) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    engine, address = _opened(values)
    host, _, _ = values["local_server_name"].partition(":")
    place = (
        f"{host}:{engine.get_rpc_port()}"
        if values["metadata_server"] == "P2PHANDSHAKE"
        else values["local_server_name"]
    )
    print(f"{PROGRAM}: lends {values['buffer_size']} bytes; initiators name it by --segment_id={place}", flush=True)
    stop.wait()
    engine.free_managed_buffer(address, values["buffer_size"])


def _transfer(values: Mapping[str, Any]) -> None:
    engine, address = _opened(values)
    target, block, lines = values["segment_id"], values["block_size"], values["batch_size"]
    theirs = engine.get_first_buffer_address(target)
    if theirs == 0:
        raise Failed(f"{target} cannot be reached, or lends no memory; the lines above say why")
    opcode = TransferOpcode.Write if values["operation"] == "write" else TransferOpcode.Read
    counts = [0] * values["threads"]
    failed = threading.Event()
    begin = time.monotonic()

    def work(number: int) -> None:
        offsets = [(number * lines + one) * block for one in range(lines)]
        here, there, sizes = [address + at for at in offsets], [theirs + at for at in offsets], [block] * lines
        while not failed.is_set() and time.monotonic() - begin < values["duration"]:
            if engine.batch_transfer_sync(target, here, there, sizes, opcode) != 0:
                failed.set()
                return
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    engine.free_managed_buffer(address, values["buffer_size"])
    if failed.is_set():
        raise Failed(f"a transfer with {target} failed after {sum(counts)} batches; the lines above say why")
    print(report(seconds, sum(counts), block * lines, values["report_unit"], values["report_precision"]))


if __name__ == "__main__":
    sys.exit(main())
