# SPDX-License-Identifier: Apache-2.0
"""Transfer engines in two real processes, over the real library."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import freeze

import kvpool

SIZE = 8 << 20


class Memory:
    """Bytes with an address."""

    def __init__(self, size: int, fill: bytes = b"") -> None:
        self.bytes = (ctypes.c_char * size)()
        self.address = ctypes.addressof(self.bytes)
        self.size = size
        if fill:
            self.bytes[:] = (fill * (size // len(fill) + 1))[:size]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Memory) and bytes(self.bytes) == bytes(other.bytes)

    __hash__ = None


class Peer:
    """The process of peer.py."""

    def __init__(self, ports: tuple[int, int] = (15000, 17000)) -> None:
        command = [sys.executable, str(Path(__file__).with_name("peer.py")), *map(str, ports), str(SIZE)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port, self.memory = map(int, self.process.stdout.readline().split())
        self.port = port
        self.address = f"127.0.0.1:{port}"

    def ask(self, command: str) -> str:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def freeze(self) -> None:
        freeze(self.process)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    started = Peer()
    yield started
    started.kill()


@pytest.fixture
def engine() -> Iterator[kvpool.TransferEngine]:
    with kvpool.TransferEngine("here", listen_host="127.0.0.1") as made:
        yield made
