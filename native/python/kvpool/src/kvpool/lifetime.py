# SPDX-License-Identifier: Apache-2.0
"""Closes at exit what the program left open.

The library's threads must not run while the process takes the library down around them.
"""

import atexit
import weakref
from typing import Protocol


class Closeable(Protocol):
    def close(self) -> None: ...


_open: "weakref.WeakSet[Closeable]" = weakref.WeakSet()


def close_at_exit(handle: Closeable) -> None:
    _open.add(handle)


@atexit.register
def _close_all() -> None:
    for handle in list(_open):
        handle.close()
