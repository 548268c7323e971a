# SPDX-License-Identifier: Apache-2.0
"""The part of the build that pyproject.toml cannot say: the extension and the library it is linked with.

Environment: KVPOOL_LIBRARY, the path of libkvpool.so, which has libkvpool.cdx.json beside it; KVPOOL_INCLUDE, the
directory that holds kvpool/kvpool.h (default: that of this source tree). `../build-wheels` sets both.
"""

import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
LIMITED_API = "0x030B0000"  # python 3.11


def library() -> Path:
    path = os.environ.get("KVPOOL_LIBRARY", "")
    if not path or not Path(path).is_file():
        raise SystemExit(
            f"kvpool: KVPOOL_LIBRARY is {path!r}, but must name libkvpool.so; build it first (see native/README.md)"
        )
    return Path(path).resolve()


class BuildExtension(build_ext):
    """Puts the library beside the extension, where $ORIGIN finds it."""

    def run(self) -> None:
        super().run()
        module = Path(self.get_ext_fullpath("kvpool._kvpool"))
        shutil.copyfile(library(), module.parent / "libkvpool.so")


class BuildWheel(bdist_wheel):
    """Says in the wheel what is linked into the library, where scanners look for it (PEP 770)."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        super().egg2dist(egginfo_path, distinfo_path)
        sboms = Path(distinfo_path) / "sboms"
        sboms.mkdir()
        shutil.copyfile(library().with_suffix(".cdx.json"), sboms / "libkvpool.cdx.json")


EXTENSION = Extension(
    "kvpool._kvpool",
    sources=sorted(str(source.relative_to(HERE)) for source in (HERE / "ext").glob("*.cc")),
    depends=sorted(str(header.relative_to(HERE)) for header in (HERE / "ext").glob("*.h")),
    include_dirs=[os.environ.get("KVPOOL_INCLUDE", str(HERE.parent.parent / "include")), "ext"],
    define_macros=[("Py_LIMITED_API", LIMITED_API)],
    py_limited_api=True,
    language="c++",
    extra_compile_args=[
        "-std=c++20",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wshadow",
        "-Wconversion",
        "-Werror",
    ],
    # Slim images have no libstdc++, so it is part of the module.
    extra_link_args=[
        "-static-libstdc++",
        "-Wl,--exclude-libs,ALL,--gc-sections",  # what is not used of it may need a newer libc than images have
        "-Wl,--strip-all",  # debug information would carry the build directory's name
        "-Wl,-rpath,$ORIGIN",
        f"-L{library().parent}",
        "-l:libkvpool.so",
    ],
)

setup(
    ext_modules=[EXTENSION],
    cmdclass={"build_ext": BuildExtension, "bdist_wheel": BuildWheel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
