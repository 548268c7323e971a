# SPDX-License-Identifier: Apache-2.0
"""Instances of a file, such as a mounted ConfigMap."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from kvpool_engines.proxy.instances.description import WrongInstances, read_descriptions
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.quiet_log import QuietLog

_logger = logging.getLogger("kvpool_engines.proxy")
_BYTES_MAX = 1 << 20


class FileSource:
    """Reads the file every `interval` seconds: a ConfigMap's files are replaced as links, of which their folder tells nothing."""

    def __init__(self, registry: Registry, path: Path, interval: float) -> None:
        self._registry, self._path, self._interval = registry, path, interval
        self._last: bytes | None = None
        self._log = QuietLog(_logger)

    def read(self) -> None:
        """Raises WrongInstances; what the file listed before stays."""
        try:
            with self._path.open("rb") as file:
                content = file.read(_BYTES_MAX + 1)
        except OSError as problem:
            raise WrongInstances(f"{self._path}: {problem.strerror}") from None
        if content == self._last:
            return
        if len(content) > _BYTES_MAX:
            raise WrongInstances(f"{self._path} has more than {_BYTES_MAX} bytes")
        try:
            self._registry.replace("file", read_descriptions(content))
        except WrongInstances as problem:
            raise WrongInstances(f"{self._path}: {problem}") from None
        self._last = content

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            try:
                self.read()
            except WrongInstances as problem:
                self._log.warn("file", f"instances stay as they were: {problem}")
