# SPDX-License-Identifier: Apache-2.0
"""Asks each instance whether it is well."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import aiohttp

from kvpool_engines.proxy.instances.instance import Instance

_logger = logging.getLogger("kvpool_engines.proxy")
_TIMES_OF_BACKOFF_MAX = 6


class HealthChecks:
    """GET /health of each instance every `interval` seconds; of one that is not well less and less often, up to 6 times that."""

    def __init__(self, session: aiohttp.ClientSession, interval: float, timeout: float) -> None:
        self._session, self._interval, self._timeout = session, interval, timeout
        self._tasks: dict[Instance, asyncio.Task[None]] = {}

    def start(self, instance: Instance) -> None:
        self._tasks[instance] = asyncio.create_task(self._watch(instance))

    def stop(self, instance: Instance) -> None:
        self._tasks.pop(instance).cancel()

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, instance: Instance) -> None:
        wait = self._interval
        while True:
            instance.recheck.clear()
            problem = await self._problem(instance)
            # What failed while the check was under way is newer than its answer.
            if not instance.recheck.is_set():
                if problem is None and not instance.healthy:
                    _logger.info("%s %s is healthy", instance.description.role.value, instance.url)
                if problem is not None and instance.healthy:
                    _logger.warning("%s %s is not healthy: %s", instance.description.role.value, instance.url, problem)
                instance.healthy, instance.problem = problem is None, problem or ""
            wait = self._interval if problem is None else min(2 * wait, _TIMES_OF_BACKOFF_MAX * self._interval)
            with contextlib.suppress(TimeoutError):
                # One that just failed is asked again at once, but not in a circle when it says that it is well.
                async with asyncio.timeout(wait):
                    await instance.recheck.wait()

    async def _problem(self, instance: Instance) -> str | None:
        try:
            async with asyncio.timeout(self._timeout), self._session.get(f"{instance.url}/health") as answer:
                return None if answer.status == 200 else f"GET /health answers {answer.status}"
        except TimeoutError:
            return f"GET /health has no answer after {self._timeout:g} s"
        except (aiohttp.ClientError, OSError) as problem:
            return f"GET /health fails: {problem or type(problem).__name__}"
