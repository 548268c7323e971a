# SPDX-License-Identifier: Apache-2.0
"""What `check` finds in archives made for it: layers of files, as images have them."""

import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

CHECK = Path(__file__).parent.parent / "check"
ELF = b"\x7fELF"
PROGRAM = ("opt/kvpool/bin/kvpool", ELF, 0o755)
LICENCE = ("licenses/LICENSE", b"text")


def add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644, link: str = "") -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    if link:
        entry.type, entry.linkname = tarfile.SYMTYPE, link
    archive.addfile(entry, io.BytesIO(content))


def layer(files: list[tuple]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for file in files:
            add(archive, *file)
    return written.getvalue()


def image(path: Path, *layers: list[tuple], licence: bool = True, **config: object) -> Path:
    """An image whose entry point is kvpool's, found by PATH, unless `config` says otherwise."""
    names = [f"layer-{number}.tar" for number in range(len(layers))]
    settings = {"Env": ["PATH=/opt/kvpool/bin:/usr/bin"], "Entrypoint": ["kvpool"], "User": "65532:65532"} | config
    with tarfile.open(path, "w") as archive:
        add(archive, "manifest.json", json.dumps([{"Config": "config.json", "Layers": names}]).encode())
        add(archive, "config.json", json.dumps({"config": settings}).encode())
        for name, files in zip(names, layers, strict=True):
            add(archive, name, layer([LICENCE, *files] if licence else files))
    return path


def check(*archives: Path) -> tuple[int, str]:
    done = subprocess.run([CHECK, *archives], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_an_image_of_what_it_runs_passes(tmp_path):
    files = [
        PROGRAM,
        ("usr/lib/libc.so.6", ELF),
        ("usr/bin/java", b"", 0o777, "/opt/jre/bin/java"),
        ("opt/jre/bin/java", ELF, 0o755),
    ]
    assert check(image(tmp_path / "good.tar", files)) == (0, "")


@pytest.mark.parametrize(
    "file, fault",
    [
        (("bin/sh", ELF, 0o755), "/bin/sh is a program that it does not need"),
        (("usr/bin/sh", b"", 0o777, "dash"), "/usr/bin/sh is a program that it does not need"),
        (("usr/bin/dpkg", ELF, 0o755), "/usr/bin/dpkg is a program that it does not need"),
        (("opt/tools/curl", ELF, 0o755), "/opt/tools/curl is a program that it does not need"),
        (("opt/start", b"#!/bin/sh\n", 0o755), "/opt/start is a script"),
        (("opt/any", ELF, 0o4755), "/opt/any runs with the rights of its owner or group"),
        (("opt/any", ELF, 0o2755), "/opt/any runs with the rights of its owner or group"),
        (("opt/any", b"text", 0o666), "/opt/any can be changed by everybody"),
    ],
)
def test_what_an_intruder_would_use_is_named(tmp_path, file, fault):
    code, said = check(image(tmp_path / "bad.tar", [PROGRAM, file]))
    assert code == 1
    assert said.count("\n") == 1
    assert fault in said


@pytest.mark.parametrize(
    "config, fault",
    [
        ({"Entrypoint": ["missing"]}, "the entry point ['missing'] is no program in the image"),
        ({"Entrypoint": None}, "the entry point [] is no program in the image"),
        ({"Entrypoint": ["/etc/text"]}, "the entry point ['/etc/text'] is no program in the image"),
        ({"Entrypoint": ["/etc/odd"]}, "/etc/odd, the entry point, is no ELF program"),
        ({"User": ""}, "it runs as root"),
        ({"User": "0:0"}, "it runs as root"),
    ],
)
def test_what_would_not_start_or_starts_as_root_is_named(tmp_path, config, fault):
    files = [PROGRAM, ("etc/text", b"text"), ("etc/odd", b"text", 0o755)]
    code, said = check(image(tmp_path / "bad.tar", files, **config))
    assert code == 1
    assert fault in said


def test_an_image_says_what_is_linked_in_and_has_the_licence(tmp_path):
    library, bom = (f"opt/kvpool/lib/native/linux-x86-64/libkvpool.{end}" for end in ("so", "cdx.json"))
    code, said = check(image(tmp_path / "bad.tar", [PROGRAM, (library, ELF)], licence=False))
    assert code == 1
    assert "there is no /licenses/LICENSE" in said
    assert f"there is no /{bom}" in said
    assert check(image(tmp_path / "good.tar", [PROGRAM, (library, ELF), (bom, b"{}")])) == (0, "")


def test_what_a_later_layer_removes_is_gone(tmp_path):
    below = [PROGRAM, ("bin/sh", ELF, 0o755), ("usr/sbin/dpkg", ELF, 0o755), ("usr/sbin/chroot", ELF, 0o755)]
    removed = [("bin/.wh.sh", b""), ("usr/sbin/.wh..wh..opq", b"")]
    assert check(image(tmp_path / "good.tar", below, removed)) == (0, "")


def test_what_a_later_layer_brings_back_is_there(tmp_path):
    shell = ("bin/sh", ELF, 0o755)
    code, said = check(image(tmp_path / "bad.tar", [PROGRAM, shell], [("bin/.wh.sh", b"")], [shell]))
    assert code == 1
    assert "/bin/sh is a program" in said


def test_one_bad_image_of_two_fails(tmp_path):
    good = image(tmp_path / "good.tar", [PROGRAM])
    bad = image(tmp_path / "bad.tar", [PROGRAM, ("bin/sh", ELF, 0o755)])
    code, said = check(good, bad)
    assert code == 1
    assert "good.tar" not in said


def test_each_image_of_an_archive_is_looked_at(tmp_path):
    good = image(tmp_path / "good.tar", [PROGRAM])
    both = tmp_path / "both.tar"
    with tarfile.open(good) as source, tarfile.open(both, "w") as target:
        for name in ("config.json", "layer-0.tar"):
            add(target, name, source.extractfile(name).read())
        add(target, "layer-1.tar", layer([LICENCE, PROGRAM, ("bin/sh", ELF, 0o755)]))
        manifests = [{"Config": "config.json", "Layers": [name]} for name in ("layer-0.tar", "layer-1.tar")]
        add(target, "manifest.json", json.dumps(manifests).encode())
    code, said = check(both)
    assert code == 1
    assert "/bin/sh is a program" in said
