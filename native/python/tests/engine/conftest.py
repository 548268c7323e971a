# SPDX-License-Identifier: Apache-2.0
"""Transfer engines in two real processes, over the real library."""

import ctypes
import os
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
            ctypes.memmove(self.address, fill * (size // len(fill) + 1), size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Memory) and bytes(self.bytes) == bytes(other.bytes)

    __hash__ = None


class Peer:
    """The process of peer.py. Without `name` its address is what it is known by."""

    def __init__(
        self,
        ports: tuple[int, int] = (15000, 17000),
        size: int = SIZE,
        name: str = "127.0.0.1",
        *further: str,
        environment: dict[str, str] | None = None,
    ) -> None:
        command = [sys.executable, str(Path(__file__).with_name("peer.py")), str(size), name, *further]
        first, last = map(str, ports)
        of_process = {
            **os.environ,
            "MC_MIN_RPC_PORT": first,
            "MC_MAX_RPC_PORT": last,
            "MC_TCP_BIND_ADDRESS": "127.0.0.1",
            **(environment or {}),
        }
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=of_process
        )
        self.size = size
        if "PEER_WAITS" in of_process:
            self.process.stdout.readline()
        else:
            self.meet()

    def meet(self) -> None:
        """Learns where it is."""
        self.port, self.memory = map(int, self.process.stdout.readline().split())
        self.address = f"127.0.0.1:{self.port}"

    def tell(self, command: str) -> None:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command: str) -> str:
        self.tell(command)
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
