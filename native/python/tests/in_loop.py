# SPDX-License-Identifier: Apache-2.0
"""Tests that are coroutines."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

from waiting import eventually


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test in an event loop of its own; its arguments are fixtures as ever."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


async def soon(condition: Callable[[], object], what: str) -> None:
    """eventually(), while the event loop goes on."""
    await asyncio.to_thread(eventually, condition, what)
