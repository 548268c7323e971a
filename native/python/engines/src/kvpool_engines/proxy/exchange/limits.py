# SPDX-License-Identifier: Apache-2.0
"""How long and how large: the bounds of an exchange."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds, each of them a flag of the command.

    Args:
        connect: seconds to connect to an engine.
        gone: seconds without a word of an engine's machine, after which its connections fail.
        prefill: seconds for the answer of a prefill instance.
        first_byte: seconds for the first byte of a decode instance, its wait for the prompt included.
        idle: seconds between two parts of an answer.
        retries: attempts after the first.
        recomputes: how often decode instances may end a request to have it computed again.
        requests: requests at a time; more are refused.
        body_bytes: of a request.
        bodies_bytes: of all requests that are under way; more are refused.
        answer_bytes: of an answer that is not streamed.
    """

    connect: float = 3.0
    gone: float = 15.0
    prefill: float = 300.0
    first_byte: float = 600.0
    idle: float = 300.0
    retries: int = 2
    recomputes: int = 8
    requests: int = 4096
    body_bytes: int = 64 << 20
    bodies_bytes: int = 256 << 20
    answer_bytes: int = 64 << 20
