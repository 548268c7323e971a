# SPDX-License-Identifier: Apache-2.0
"""Warnings that do not fill a disk while a pool is away."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_QUIET_SECONDS = 10.0


class QuietLog:
    """One line in ten seconds for each kind of warning; the next line says how many there were in between."""

    def __init__(self, logger: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._logger, self._clock = logger, clock
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def warn(self, kind: str, text: str) -> None:
        with self._lock:
            now = self._clock()
            if now - self._last.get(kind, float("-inf")) < _QUIET_SECONDS:
                self._left_out[kind] = self._left_out.get(kind, 0) + 1
                return
            self._last[kind] = now
            left_out = self._left_out.pop(kind, 0)
        self._logger.warning("%s%s", text, f" ({left_out} more of these in between)" if left_out else "")
