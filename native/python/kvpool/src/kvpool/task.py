# SPDX-License-Identifier: Apache-2.0
"""Copies that were asked for by name."""

from dataclasses import dataclass
from enum import IntEnum

from kvpool.status import Status


class TaskState(IntEnum):
    PENDING = 1
    PROCESSING = 2
    FAILED = 3
    SUCCESS = 4


@dataclass(frozen=True, slots=True)
class Task:
    """How far a copy is. `why` is the reason of one that failed, or what one waits for; `moves`: its source gives
    its own copy up; the times are since it was asked for, and since its state changed."""

    state: TaskState
    why: Status
    moves: bool
    age_seconds: float
    rest_seconds: float
