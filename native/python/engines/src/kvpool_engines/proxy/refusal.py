# SPDX-License-Identifier: Apache-2.0
"""What a client gets in the place of a completion: pure."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """Ends a request. The message says what is wrong and how to fix it."""

    def __init__(self, status: int, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind or ("invalid_request_error" if status < 500 else "server_error")

    def as_json(self) -> dict[str, Any]:
        """OpenAI's shape of errors."""
        return {"error": {"message": str(self), "type": self.kind, "param": None, "code": self.status}}
