# SPDX-License-Identifier: Apache-2.0
"""A directory on tmpfs for the files of a pool: on a file system of its own where that may be mounted."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PARENT = Path("/dev/shm")
_PREFIX = "kvchaos-"


@dataclass(frozen=True)
class Memory:
    path: Path
    mounted: bool  # it can be filled without harm to anybody else


@contextmanager
def memory(size: int) -> Iterator[Memory]:
    """`size`: bytes of the file system, if there may be one. What runs that were killed left behind is removed first."""
    for left in _PARENT.glob(f"{_PREFIX}*-*"):
        if not Path(f"/proc/{left.name.split('-')[1]}").exists():
            _remove(left)
    path = Path(tempfile.mkdtemp(dir=_PARENT, prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        options = f"size={size},mode=700"
        mount = ["mount", "-t", "tmpfs", "-o", options, "kvchaos", str(path)]
        yield Memory(path, subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode == 0)
    finally:
        _remove(path)


def _remove(path: Path) -> None:
    if os.path.ismount(path):
        subprocess.run(["umount", "--lazy", str(path)], check=False)
    shutil.rmtree(path, ignore_errors=True)
