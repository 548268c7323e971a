# SPDX-License-Identifier: Apache-2.0
"""Failures in the log: with their reason, and bounded while a pool is away."""

import logging
import threading
import time
from collections.abc import Callable

from mooncake.answers.error_code import ErrorCode

_QUIET_SECONDS = 1.0


class FailureLog:
    """One line a second for each method and code; the next line says how many there were between. With `by_method` False
    all methods share theirs.

    A return code alone tells an operator nothing, so each line carries the sentence of the library. An engine that
    asks for every block of every request would fill the disk with them.
    """

    def __init__(
        self,
        logger: logging.Logger,
        clock: Callable[[], float] = time.monotonic,
        *,
        quiet_seconds: float = _QUIET_SECONDS,
        by_method: bool = True,
    ) -> None:
        self._logger = logger
        self._clock = clock
        self._quiet_seconds = quiet_seconds
        self._by_method = by_method
        self._lock = threading.Lock()
        self._last: dict[tuple[str, int], float] = {}
        self._left_out: dict[tuple[str, int], int] = {}

    def write(self, method: str, code: int, what: str, reason: str) -> None:
        left_out = self._admit(method, code)
        if left_out is None:
            return
        more = f" ({left_out} more of these in between)" if left_out else ""
        name = ErrorCode(code).name
        self._logger.error("%s: %s: %d %s: %s%s", method, what, code, name, reason or "no further reason", more)

    def _admit(self, method: str, code: int) -> int | None:
        """How many lines were left out before this one, or None when this one is left out too."""
        kind = (method if self._by_method else "", code)
        with self._lock:
            now = self._clock()
            if now - self._last.get(kind, float("-inf")) < self._quiet_seconds:
                self._left_out[kind] = self._left_out.get(kind, 0) + 1
                return None
            self._last[kind] = now
            return self._left_out.pop(kind, 0)
