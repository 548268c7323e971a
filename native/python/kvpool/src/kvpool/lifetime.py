# SPDX-License-Identifier: Apache-2.0
"""Closes at exit what the program left open.

The library's threads must not run while the process takes the library down around them.
"""

import atexit
import weakref
from collections.abc import Callable
from typing import Protocol


class Closeable(Protocol):
    def close(self) -> None: ...


_open: "weakref.WeakSet[Closeable]" = weakref.WeakSet()
_afterwards: dict[Callable[[], None], None] = {}


def close_at_exit(handle: Closeable) -> None:
    _open.add(handle)


def call_after_closing(call: Callable[[], None]) -> None:
    """At exit, once, when everything that close_at_exit() knows is closed."""
    _afterwards[call] = None


@atexit.register
def _close_all() -> None:
    for handle in list(_open):
        handle.close()
    for call in _afterwards:
        call()
