# SPDX-License-Identifier: Apache-2.0
"""Wall clocks of single processes that are off."""

import shutil
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).parents[1] / "clock_offset.c"


def build_offset_library(directory: Path) -> Path | None:
    """To be preloaded into processes; None where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    library = directory / "clock_offset.so"
    command = [compiler, "-std=gnu11", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", str(_SOURCE)]
    subprocess.run([*command, "-o", str(library)], check=True)
    return library


def offset_environment(library: Path, seconds: int) -> dict[str, str]:
    return {"LD_PRELOAD": str(library), "KVCHAOS_CLOCK_OFFSET": str(seconds)}
