# SPDX-License-Identifier: Apache-2.0
"""Bodies of requests, and how many bytes of them there may be at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from aiohttp import web

from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.refusal import Refusal


class Bodies:
    """Of all requests that are under way. What is made of a body is several times as large, and stays as long."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.bytes = 0

    @contextlib.contextmanager
    def one(self) -> Iterator[Body]:
        """That of a request, until this request ends."""
        body = Body(self)
        try:
            yield body
        finally:
            self.bytes -= body.counted

    def check(self, size: int) -> None:
        """Raises HTTPRequestEntityTooLarge."""
        if size > self._limits.body_bytes:
            raise web.HTTPRequestEntityTooLarge(self._limits.body_bytes, size)

    def count(self, more: int) -> None:
        """Raises Refusal."""
        if self.bytes + more > self._limits.bodies_bytes:
            raise Refusal(
                429,
                f"requests that are under way have {self.bytes} bytes: come back later, or start the proxy with"
                " --max-bodies-bytes and more memory",
            )
        self.bytes += more


class Body:
    """Counts as what has come of it: with what requests say of their length, few that send nothing would shut out all others."""

    def __init__(self, owner: Bodies) -> None:
        self._owner = owner
        self.counted = 0

    async def read(self, request: web.Request) -> bytes:
        self._owner.check(request.content_length or 0)
        content = bytearray()
        async for part in request.content.iter_any():
            self._owner.check(self.counted + len(part))
            self._owner.count(len(part))
            self.counted += len(part)
            content += part
        return bytes(content)
