# SPDX-License-Identifier: Apache-2.0
"""Requests to engines."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from kvpool_engines.proxy.exchange.events import Events
from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.instances.instance import Instance

# Answers that another instance may not give.
BUSY = 429
_STATUSES_TO_RETRY = (408, BUSY)
_PROBLEM_BYTES = 1 << 20
_FETCHED_BYTES = 4 << 20
_ERROR_EVENT = b'data: {"error"'


class EngineFailed(Exception):
    """An engine did not do its part, which another may do. `status` is that of its answer, where there was one."""

    def __init__(self, instance: Instance, problem: str, status: int = 0, retry_after: str = "") -> None:
        super().__init__(f"{instance.description.role.value} {instance.url}: {problem}")
        self.instance, self.status, self.retry_after = instance, status, retry_after


class EngineLate(EngineFailed):
    """An engine that has the request did not answer in time. Where it has too much to do, so have the others."""


class EngineGone(EngineFailed):
    """The connection ended while the engine had the request, which may be why: another engine might end as well."""


class EngineRefused(Exception):
    """The engine says that the request is wrong: its answer is for the client."""

    def __init__(self, instance: Instance, status: int, content_type: str, content: bytes) -> None:
        super().__init__(f"{instance.url} answers {status}")
        self.instance, self.status, self.content_type, self.content = instance, status, content_type, content


class Reply:
    """An answer that has begun: `first` has come, `rest` follows and may end with EngineFailed."""

    def __init__(
        self, instance: Instance, streamed: bool, content_type: str, first: bytes, rest: AsyncIterator[bytes]
    ) -> None:
        self.instance, self.streamed, self.content_type = instance, streamed, content_type
        self.first, self._rest = first, rest
        self.broken = False

    async def rest(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._rest:
                yield part
        except EngineFailed:
            self.broken = True
            raise


class Upstream:
    """Sends requests. An exception or a cancelled task closes the connection, and the engine aborts the request."""

    def __init__(self, session: aiohttp.ClientSession, limits: Limits) -> None:
        self._session, self._limits = session, limits

    async def ask(
        self, instance: Instance, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """The whole answer of a prefill instance."""
        async with self._request("POST", instance, path, self._limits.prefill, body, headers) as answer:
            return await self._object(instance, answer, self._limits.answer_bytes, self._limits.prefill, EngineLate)

    async def fetch(
        self, instance: Instance, url: str, headers: Mapping[str, str] | None = None, for_client: bool = False
    ) -> dict[str, Any]:
        """What an instance says of itself. EngineRefused only where the client asks for it."""
        async with self._request("GET", instance, url, self._limits.connect, None, headers, for_client) as answer:
            return await self._object(instance, answer, _FETCHED_BYTES, self._limits.connect, EngineFailed)

    @contextlib.asynccontextmanager
    async def opened(
        self, instance: Instance, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[Reply]:
        """The answer of a decode instance, from its first byte on; one that is not streamed is whole then."""
        async with self._request("POST", instance, path, self._limits.first_byte, body, headers) as answer:
            streamed = answer.content_type == "text/event-stream"
            rest = self._events(instance, answer) if streamed else _nothing()
            async with self._failures(instance, self._limits.first_byte, EngineLate):
                first = await anext(rest, b"") if streamed else await self._whole(instance, answer)
            if not first:
                raise EngineFailed(instance, "its answer ends before the first byte")
            if streamed and first.startswith(_ERROR_EVENT):
                raise EngineFailed(instance, f"it answers {first[:500].decode(errors='replace').strip()}")
            yield Reply(instance, streamed, answer.headers.get("Content-Type", "application/json"), first, rest)

    async def _events(self, instance: Instance, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        events = Events()
        begun = False
        while True:
            # The wait for the first byte has a limit of its own.
            async with self._failures(instance, self._limits.idle if begun else self._limits.first_byte, EngineLate):
                part = await answer.content.readany()
            if not part:
                break
            whole = events.take(part)
            if whole:
                begun = True
                yield whole
        last = events.last()
        if last is None:
            raise EngineFailed(instance, "its stream ends without [DONE]")
        if last:
            yield last

    @contextlib.asynccontextmanager
    async def _request(
        self,
        method: str,
        instance: Instance,
        path: str,
        seconds: float,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        for_client: bool = True,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = path if "://" in path else instance.url + path
        async with self._failures(instance, seconds, EngineFailed if body is None else EngineLate):
            answer = await self._session.request(method, url, json=body, headers=headers, allow_redirects=False)
        try:
            if answer.status != 200:
                async with self._failures(instance, self._limits.idle):
                    content = (await self._read(answer, _PROBLEM_BYTES))[:_PROBLEM_BYTES]
                if 400 <= answer.status < 500 and answer.status not in _STATUSES_TO_RETRY and for_client:
                    raise EngineRefused(instance, answer.status, answer.content_type, content)
                text = content[:500].decode(errors="replace").strip()
                problem = f"{method} {url} answers {answer.status} {text}"
                raise EngineFailed(instance, problem, answer.status, answer.headers.get("Retry-After", ""))
            yield answer
        finally:
            # An answer that was read to its end has given its connection back; any other ends with it, so that the engine stops.
            answer.close()

    async def _object(
        self,
        instance: Instance,
        answer: aiohttp.ClientResponse,
        most: int,
        seconds: float,
        late: type[EngineFailed],
    ) -> dict[str, Any]:
        async with self._failures(instance, seconds, late):
            content = await self._bounded(instance, answer, most)
        try:
            given = json.loads(content)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise EngineFailed(instance, f"its answer is no JSON object: {content[:200].decode(errors='replace')}")
        return given

    async def _whole(self, instance: Instance, answer: aiohttp.ClientResponse) -> bytes:
        return await self._bounded(instance, answer, self._limits.answer_bytes)

    async def _bounded(self, instance: Instance, answer: aiohttp.ClientResponse, most: int) -> bytes:
        content = await self._read(answer, most)
        if len(content) > most:
            raise EngineFailed(instance, f"its answer has more than {most} bytes (--max-answer-bytes)")
        return content

    async def _read(self, answer: aiohttp.ClientResponse, most: int) -> bytes:
        """All of it, or more than `most` bytes."""
        content = bytearray()
        async for part in answer.content.iter_any():
            content += part
            if len(content) > most:
                break
        return bytes(content)

    @contextlib.asynccontextmanager
    async def _failures(
        self, instance: Instance, seconds: float, late: type[EngineFailed] = EngineFailed
    ) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError) as problem:
            instance.suspect(str(problem))
            raise EngineFailed(instance, f"cannot be reached: {problem}") from None
        except TimeoutError:
            raise late(instance, f"no answer after {seconds:g} s") from None
        except (aiohttp.ClientError, OSError) as problem:
            raise EngineGone(instance, f"the connection failed: {problem or type(problem).__name__}") from None


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
