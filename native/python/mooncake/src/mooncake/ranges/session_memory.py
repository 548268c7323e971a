# SPDX-License-Identifier: Apache-2.0
"""The bound on values that sessions hold in this process."""

from __future__ import annotations

import threading

from mooncake.answers.error_code import ErrorCode, Refusal

SESSION_BYTES_MAX = 4 << 30  # of the values of all sessions of a store


class SessionMemory:
    def __init__(self, bytes_max: int) -> None:
        self._max = bytes_max
        self._lock = threading.Lock()
        self._taken = 0

    def take(self, size: int) -> Refusal | None:
        """None when there was room."""
        with self._lock:
            if self._taken + size > self._max:
                why = f"sessions hold {self._taken} of {self._max} bytes, and {size} more are too many: end some first"
                return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, why)
            self._taken += size
            return None

    def give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size
