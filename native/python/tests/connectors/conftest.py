# SPDX-License-Identifier: Apache-2.0
"""Engines' own connector code in processes of its own, against a pool that `kvpool local` runs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from local_pool import LocalPool
from sources import ENGINES, unpack

from manifests import SMALLEST, EngineProcess, engine_process

ENGINE_SIDE = Path(__file__).with_name("engine_side")
PROCESS_SECONDS = 60


class EngineFailed(Exception):
    """The process ended with an error; the text is what it printed."""


class Engine:
    """What a manifest starts: each run() is a process of its own, as after a restart of the pod."""

    def __init__(self, module: str, sources: list[Path], process: EngineProcess, scratch: Path, sockets: str) -> None:
        self._module, self._sources, self._scratch, self._sockets = module, sources, scratch, sockets
        self.process = process
        self.log = ""

    def run(self, *steps: tuple[str, dict[str, Any]]) -> list[Any]:
        answers = self._scratch / "answers.json"
        answers.unlink(missing_ok=True)
        request = {"engine": self._module, "arguments": self.process.arguments, "steps": steps, "answers": str(answers)}
        # Nothing of the tests' own environment reaches the engine but what every process needs.
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment["TMPDIR"] = self._sockets
        environment |= self.process.environment
        environment["PYTHONPATH"] = os.pathsep.join(map(str, self._sources))
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(ENGINE_SIDE / "run.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=self._scratch,
            text=True,
        )
        late = threading.Timer(PROCESS_SECONDS, process.send_signal, [signal.SIGABRT])  # faulthandler says where it was
        late.start()
        self.log, _ = process.communicate(json.dumps(request))
        late.cancel()
        if process.returncode != 0:
            raise EngineFailed(self.log)
        return json.loads(answers.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def pool() -> Iterator[LocalPool]:
    started = LocalPool()
    yield started
    started.close()


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where the modules of an engine are, fetched and unpacked once."""
    unpacked: dict[str, Path] = {}

    def of(engine: str) -> Path:
        if engine not in unpacked:
            unpacked[engine] = tmp_path_factory.mktemp(engine)
            unpack(engine, unpacked[engine])
        return unpacked[engine]

    return of


@pytest.fixture
def start_engine(sources: Callable[[str], Path], tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    """start_engine(MANIFEST, masters): the engine that manifests/engines/MANIFEST.yaml starts, or another `part` of it, beside a
    pool like that of `golden`. `release` is another entry of engines.toml than the manifest's."""
    with contextlib.ExitStack() as at_end:

        def start(manifest: str, masters: str, part: str = "", golden: str = SMALLEST, release: str = "") -> Engine:
            scratch = tmp_path / manifest
            scratch.mkdir()
            process = engine_process(manifest, masters, scratch / "root", golden)
            # Sockets have short paths.
            sockets = at_end.enter_context(tempfile.TemporaryDirectory(prefix="engine-"))
            release = release or manifest
            trees = [sources(name) for name in (release, *ENGINES[release].get("beside", []))]
            return Engine(f"{part or manifest.replace('-', '_')}_engine", trees, process, scratch, sockets)

        yield start
