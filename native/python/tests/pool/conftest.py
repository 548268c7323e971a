# SPDX-License-Identifier: Apache-2.0
"""These tests run against real pools: `kvpool local` of the command that KVDEV_BIN names."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from local_pool import START_SECONDS, LocalPool
from waiting import eventually, freeze

import kvpool
from mooncake.store import MooncakeDistributedStore


class Agent:
    """A running `kvpool agent`, ended with close(); start() begins another one at the same socket."""

    def __init__(self, masters: str) -> None:
        self._masters = masters
        self._directory = tempfile.TemporaryDirectory(prefix="kvpool-agent-")
        self.address = f"unix:{self._directory.name}"
        self.output: list[str] = []
        self.start()

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
        self._process = subprocess.Popen(
            [
                os.environ["KVDEV_BIN"],
                "agent",
                *("--masters", self._masters, "--socket-dir", self._directory.name),
                *("--host", "127.0.0.1", "--admin-port", "0", "--staging-size", "1GiB"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
        )
        serves = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, serves), daemon=True)
        self._reader.start()
        if not serves.wait(START_SECONDS) or self._process.poll() is not None:
            self.close()
            raise AssertionError("kvpool agent did not get ready:\n" + "".join(self.output[-40:]))

    def _read(self, output: IO[str], serves: threading.Event) -> None:
        with output as lines:
            for line in lines:
                self.output.append(line)
                if "agent serves at" in line:
                    serves.set()
        serves.set()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def pause(self) -> None:
        freeze(self._process)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def terminate(self) -> int:
        """The exit code."""
        self._process.terminate()
        code = self._process.wait(START_SECONDS)
        self._reader.join()
        return code

    def close(self) -> None:
        self.kill()
        self._directory.cleanup()


@pytest.fixture(scope="session")
def pool() -> Iterator[LocalPool]:
    """One pool for all tests that leave it whole; each takes keys of its own."""
    started = LocalPool()
    yield started
    started.close()


@pytest.fixture(scope="session")
def agent(pool: LocalPool) -> Iterator[Agent]:
    """One agent of that pool for all tests that leave it running."""
    started = Agent(pool.masters)
    yield started
    started.close()


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name}/{os.getpid()}"


def open_store(pool: LocalPool, segment_bytes: int = 0) -> MooncakeDistributedStore:
    store = MooncakeDistributedStore()
    assert store.setup("127.0.0.1", "P2PHANDSHAKE", segment_bytes, 64 << 20, "tcp", "", pool.masters) == 0
    return store


def open_lending_store(pool: LocalPool) -> MooncakeDistributedStore:
    """One that gives 16 MiB, to which puts go already."""
    store = open_store(pool, 16 << 20)

    def states() -> list[str]:
        ours = store.get_hostname() + "-"
        return [node["state"] for node in pool.view()["nodes"] if node["id"].startswith(ours)]

    eventually(lambda: states() == ["ready"], "the store's memory takes part")
    return store


def open_dummy(agent: Agent, buffer_bytes: int = 0) -> MooncakeDistributedStore:
    store = MooncakeDistributedStore()
    assert store.setup_dummy(64 << 20, buffer_bytes, agent.address) == 0
    return store


@pytest.fixture(params=["setup", "setup_dummy"])
def store(request: pytest.FixtureRequest, pool: LocalPool) -> Iterator[MooncakeDistributedStore]:
    """What an engine may do, it may do both ways."""
    opened = open_store(pool) if request.param == "setup" else open_dummy(request.getfixturevalue("agent"))
    yield opened
    opened.remove_all(force=True)
    opened.close()


class _Impatient(kvpool.Client):
    def __init__(self, masters: str, **options: Any) -> None:
        super().__init__(masters, ready_timeout=0.5, **options)

    @classmethod
    def through_agent(cls, socket_path: str, **options: Any) -> kvpool.Client:
        return kvpool.Client.through_agent(socket_path, ready_timeout=0.5, **options)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores wait half a second for a pool that is not there, and not ten."""
    monkeypatch.setattr("mooncake.connection.pool.Client", _Impatient)


ROOT = Path(__file__).parents[4]
