# SPDX-License-Identifier: Apache-2.0
"""What a request of an engine says about its objects: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvpool_engines.settings import read_time

NAME, VERSION = "kvpool", "1"
"""Under which a request says it."""


@dataclass(frozen=True)
class RequestHint:
    """The objects of a request are retained for so many seconds; 0: they are as any other again."""

    retain: float


def read_hint(said: Any, at_most: float) -> RequestHint:
    """The hint of {"retain": "10m"}, which is cut to `at_most` seconds, or of {"release": true}.

    Raises:
        ValueError: it is neither.
    """
    match said:
        case {"retain": time, **others} if not others:
            return RequestHint(min(read_time(time), at_most))
        case {"release": True, **others} if not others:
            return RequestHint(0.0)
    raise ValueError('write {"retain": "10m"} or {"release": true}')
