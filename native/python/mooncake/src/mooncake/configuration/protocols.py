# SPDX-License-Identifier: Apache-2.0
"""What moves the bytes: what an engine asks for, or what the environment says instead."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

OVERRIDE = "KVPOOL_PROTOCOL_OVERRIDE"
_OVERRIDES = ("tcp",)

# The remedy of every refusal: some engines can ask for nothing but what this build does not have.
REMEDY = (
    f'set it to "tcp"; where the engine knows no other (vllm-ascend: "ascend"), set the environment variable {OVERRIDE}=tcp, '
    "and it runs over tcp on purpose"
)


def read_override(environment: Mapping[str, str]) -> str | None:
    """The protocol to use whatever an engine asks for; None when the environment leaves it to the engine. ValueError."""
    text = environment.get(OVERRIDE, "")
    if text and text not in _OVERRIDES:
        raise ValueError(
            f"environment variable {OVERRIDE} is {text!r}, but may only be tcp, or not set: it names what this build has "
            "for engines that ask for something else"
        )
    return text or None


class OverrideLog:
    """Says once for each protocol that was asked for that the environment has another one used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: set[str] = set()

    def write(self, logger: logging.Logger, asked: str, used: str) -> None:
        with self._lock:
            if asked in self._said:
                return
            self._said.add(asked)
        logger.warning(
            "protocol %r is asked for, and %s is used on purpose, as %s=%s says: bytes go through the processor and its "
            "network, not through an NPU or RDMA card",
            asked,
            used,
            OVERRIDE,
            used,
        )


# Of the process: its store and its transfer engine are told the same.
override_log = OverrideLog()
