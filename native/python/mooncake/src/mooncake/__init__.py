# SPDX-License-Identifier: Apache-2.0
"""The package name that inference engines import, provided by kvpool: see mooncake.store."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """BufferPool, without which `import mooncake` loads nothing of the library."""
    if name in ("BufferPool", "RegisteredBufferPool"):
        from mooncake.buffer_pool import BufferPool

        return BufferPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
