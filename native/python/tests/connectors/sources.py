# SPDX-License-Identifier: Apache-2.0
"""The engines' own code: fetched by pip at the versions and hashes of engines.toml, kept by hash below KVDEV_CACHE."""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ENGINES = tomllib.loads((HERE / "engines.toml").read_text(encoding="utf-8"))


def unpack(engine: str, into: Path) -> None:
    """Leaves the modules of an engine that engines.toml lists in `into`, byte for byte; nothing is installed or built."""
    wanted = {*_modules(engine), *ENGINES[engine].get("options", [])}
    archive = fetch(engine)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wanted & set(wheel.namelist()):
                wheel.extract(name, into)
    else:
        _unpack_sdist(archive, wanted, into)
    missing = sorted(name for name in wanted if not (into / name).is_file())
    assert not missing, f"{archive.name} has no {', '.join(missing)}"


def _modules(engine: str) -> list[str]:
    """With those of the release that it is `like`."""
    pinned = ENGINES[engine]
    return [*pinned.get("modules", []), *(_modules(pinned["like"]) if "like" in pinned else [])]


def _unpack_sdist(archive: Path, wanted: set[str], into: Path) -> None:
    with tarfile.open(archive) as sdist:
        for member in sdist:
            name = member.name.partition("/")[2]  # below the folder NAME-VERSION
            if name in wanted and (content := sdist.extractfile(member)):
                target = into / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())


def fetch(engine: str) -> Path:
    """The archive, whose hash is checked each time."""
    pinned = ENGINES[engine]["sha256"]
    cache = Path(os.environ.get("KVDEV_CACHE") or Path.home() / ".cache/kvpool", "engines", pinned)
    for archive in cache.glob("*"):
        if hashlib.sha256(archive.read_bytes()).hexdigest() == pinned:
            return archive
        archive.unlink()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent) as scratch:
        _download(engine, Path(scratch))
        [archive] = Path(scratch, "archive").iterdir()
        return archive.rename(cache / archive.name)


def _download(engine: str, scratch: Path) -> None:
    pinned = ENGINES[engine]
    requirements = scratch / "requirements.txt"
    distribution = pinned.get("distribution", engine)
    requirement = f"{distribution}=={pinned['version']} --hash=sha256:{pinned['sha256']}\n"
    requirements.write_text(requirement, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps", "--require-hashes"]
    command += ["--dest", str(scratch / "archive"), "--requirement", str(requirements)]
    if wheel := pinned.get("wheel"):
        command += ["--only-binary", ":all:", "--platform", wheel["platform"], "--python-version", wheel["python"]]
    else:
        command += ["--no-binary", ":all:", "--no-build-isolation"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(HERE / "sdist_metadata")}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"pip could not download {engine} {pinned['version']}:\n{done.stdout}{done.stderr}"
