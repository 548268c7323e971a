# SPDX-License-Identifier: Apache-2.0
"""What `oci-archive` makes of archives as engines save them."""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

OCI_ARCHIVE = Path(__file__).parent.parent / "oci-archive"
INDEX = "application/vnd.oci.image.index.v1+json"
AMD64 = {"architecture": "amd64", "os": "linux"}
ARM64 = {"architecture": "arm64", "os": "linux"}


def saved(images: dict[str, dict], layer: bytes = b"a layer") -> bytes:
    """As `docker save` of Docker 20 writes images, each with a platform, that share a layer."""
    files = {"layer.tar": layer}
    manifest = []
    for number, (tag, platform) in enumerate(images.items()):
        files[f"{number}.json"] = json.dumps({**platform, "config": {}}).encode()
        manifest.append({"Config": f"{number}.json", "RepoTags": [tag], "Layers": ["layer.tar"]})
    files["manifest.json"] = json.dumps(manifest).encode()
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def convert(out: Path, content: bytes, *options: str) -> tuple[int, str]:
    done = subprocess.run([OCI_ARCHIVE, *options, out], input=content, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode()


def read(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def blob(files: dict[str, bytes], descriptor: dict) -> bytes:
    """What a descriptor names, which has to have the digest and the size it says."""
    content = files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
    assert hashlib.sha256(content).hexdigest() == descriptor["digest"].removeprefix("sha256:")
    assert len(content) == descriptor["size"]
    return content


def test_images_of_two_platforms_are_one_index(tmp_path):
    images = {"kvpool:1-arm64": ARM64, "kvpool:1": AMD64}
    assert convert(tmp_path / "out.tar", saved(images), "--index", "kvpool:1") == (0, "")

    files = read(tmp_path / "out.tar")
    (named,) = json.loads(files["index.json"])["manifests"]
    assert named["mediaType"] == INDEX
    assert named["annotations"] == {
        "io.containerd.image.name": "docker.io/library/kvpool:1",
        "org.opencontainers.image.ref.name": "1",
    }
    manifests = json.loads(blob(files, named))["manifests"]
    assert [manifest["platform"] for manifest in manifests] == [AMD64, ARM64]
    for manifest in manifests:
        image = json.loads(blob(files, manifest))
        assert json.loads(blob(files, image["config"]))["architecture"] == manifest["platform"]["architecture"]
        assert gzip.decompress(blob(files, image["layers"][0])) == b"a layer"
    # Which knows no index.
    assert [image["RepoTags"] for image in json.loads(files["manifest.json"])] == [["kvpool:1"], ["kvpool:1-arm64"]]


def test_the_same_images_give_the_same_bytes_in_any_order(tmp_path):
    for out, images in [("a.tar", {"k:1": AMD64, "k:1-arm64": ARM64}), ("b.tar", {"k:1-arm64": ARM64, "k:1": AMD64})]:
        assert convert(tmp_path / out, saved(images), "--index", "k:1") == (0, "")
    first, second = (read(tmp_path / out) for out in ("a.tar", "b.tar"))
    assert first == second


def test_an_index_of_one_platform_twice_is_refused(tmp_path):
    code, said = convert(tmp_path / "out.tar", saved({"k:1": AMD64, "k:2": AMD64}), "--index", "k:1")
    assert code == 1
    assert "different platforms" in said


def test_without_an_index_each_image_has_its_name(tmp_path):
    assert convert(tmp_path / "out.tar", saved({"k:1": AMD64, "k:2": AMD64})) == (0, "")
    named = json.loads(read(tmp_path / "out.tar")["index.json"])["manifests"]
    assert [manifest["annotations"]["org.opencontainers.image.ref.name"] for manifest in named] == ["1", "2"]


@pytest.mark.parametrize("layer", [b"a layer", gzip.compress(b"a layer")])
def test_a_layer_is_packed_once(tmp_path, layer):
    assert convert(tmp_path / "out.tar", saved({"k:1": AMD64}, layer)) == (0, "")
    files = read(tmp_path / "out.tar")
    (named,) = json.loads(files["index.json"])["manifests"]
    assert gzip.decompress(blob(files, json.loads(blob(files, named))["layers"][0])) == b"a layer"
