# SPDX-License-Identifier: Apache-2.0
"""Where decode instances that are asked first say where blocks shall be written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from kvpool_engines.proxy.refusal import Refusal

Prefill = Callable[[Mapping[str, Any]], Awaitable[None]]


class Metaserver:
    """Requests that wait for the post of their decode instance, by the id that it posts. A second post starts nothing again."""

    def __init__(self) -> None:
        self._waiting: dict[str, Prefill] = {}
        self._started: dict[str, asyncio.Task[Exception | None]] = {}

    @contextlib.contextmanager
    def expecting(self, request_id: str, prefill: Prefill) -> Iterator[None]:
        """While it lasts, a post of this id runs `prefill` with what is posted."""
        self._waiting[request_id] = prefill
        try:
            yield
        finally:
            del self._waiting[request_id]
            task = self._started.pop(request_id, None)
            if task is not None:
                task.cancel()

    async def posted(self, given: Mapping[str, Any]) -> None:
        """Ends when the prompt is computed; Refusal 404 when nothing waits for this id, 502 when the prefill instance failed."""
        request_id = given.get("request_id")
        prefill = self._waiting.get(request_id) if isinstance(request_id, str) else None
        if prefill is None or not isinstance(request_id, str):
            raise Refusal(404, f"no request waits for request_id {request_id!r}: it ended, or another proxy has it")
        task = self._started.get(request_id)
        if task is None:
            task = self._started[request_id] = asyncio.create_task(_run(prefill, given))
        try:
            # The one who posts may go away and post again; the prefill instance is asked once.
            problem = await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise Refusal(404, f"the request {request_id!r} has ended") from None
            raise
        if problem is not None:
            raise Refusal(502, f"the prompt was not computed: {problem}")


async def _run(prefill: Prefill, given: Mapping[str, Any]) -> Exception | None:
    """A result, since there may be no caller left who would hear of an exception."""
    try:
        await prefill(given)
    except Exception as problem:
        return problem
    return None
