# SPDX-License-Identifier: Apache-2.0
"""What a client gets in the place of a completion: pure."""

from __future__ import annotations

from typing import Any

_KINDS = {404: "not_found_error", 429: "rate_limit_error"}


class Refusal(Exception):
    """Ends a request. The message says what is wrong and how to fix it."""

    def __init__(self, status: int, message: str, retry_after: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.headers = {"Retry-After": retry_after} if retry_after else {}

    def as_json(self) -> dict[str, Any]:
        """OpenAI's shape of errors."""
        kind = _KINDS.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return {"error": {"message": str(self), "type": kind, "param": None, "code": self.status}}
