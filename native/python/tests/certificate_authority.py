# SPDX-License-Identifier: Apache-2.0
"""Certificates of pools that only the tests know."""

import subprocess
import uuid
from pathlib import Path


class Authority:
    """Signs certificates, by the command openssl."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._openssl("ca", "-subj", "/CN=ca")

    def _openssl(self, name: str, *arguments: object) -> None:
        key, certificate = self._folder / f"{name}.key", self._folder / f"{name}.crt"
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "1",
        ]
        command += ["-keyout", str(key), "-out", str(certificate), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True)

    def directory(self, uri: str, trusted: "Authority | None" = None) -> Path:
        """As `kvpool cert issue` makes one, with the roots of another authority if need be."""
        name = uri.replace("/", "-")
        ca = ("-CA", self._folder / "ca.crt", "-CAkey", self._folder / "ca.key")
        extensions = ("-addext", f"subjectAltName=URI:{uri}", "-addext", "basicConstraints=critical,CA:FALSE")
        self._openssl(name, *ca, *extensions, "-subj", "/CN=x")
        directory = self._folder / f"{name}-{uuid.uuid4()}"
        directory.mkdir()
        for ending in ("key", "crt"):
            (self._folder / f"{name}.{ending}").rename(directory / f"tls.{ending}")
        (directory / "ca.crt").write_text(((trusted or self)._folder / "ca.crt").read_text())
        return directory
