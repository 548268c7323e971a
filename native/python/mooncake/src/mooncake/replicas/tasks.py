# SPDX-License-Identifier: Apache-2.0
"""What tells of a copy or a move that was asked for by name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum

from kvpool import Status, Task, TaskState


class TaskType(IntEnum):
    REPLICA_COPY = 0
    REPLICA_MOVE = 1


class TaskStatus(IntEnum):
    PENDING = 0
    PROCESSING = 1
    FAILED = 2
    SUCCESS = 3


@dataclass(frozen=True, slots=True)
class QueryTaskResponse:
    """A task as it was when the leader was asked. Its storage nodes do it: no client is assigned."""

    id: tuple[int, int] = (0, 0)
    type: TaskType = TaskType.REPLICA_COPY
    status: TaskStatus = TaskStatus.PENDING
    created_at_ms_epoch: int = 0
    last_updated_at_ms_epoch: int = 0
    assigned_client: tuple[int, int] = (0, 0)
    message: str = ""


def response_of(task_id: tuple[int, int], task: Task) -> QueryTaskResponse:
    now = time.time()
    return QueryTaskResponse(
        task_id,
        TaskType.REPLICA_MOVE if task.moves else TaskType.REPLICA_COPY,
        TaskStatus[TaskState(task.state).name],
        int((now - task.age_seconds) * 1000),
        int((now - task.rest_seconds) * 1000),
        message="" if task.why == Status.OK else task.why.name,
    )
