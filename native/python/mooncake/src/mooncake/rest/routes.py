# SPDX-License-Identifier: Apache-2.0
"""Routes of the REST service: text in, bytes out, over a store that is set up."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from aiohttp import web

from mooncake.answers.error_code import ErrorCode
from mooncake.store import MooncakeDistributedStore

_logger = logging.getLogger("mooncake.rest")
_T = TypeVar("_T")

BODY_BYTES_MAX = 100 << 20
CALLS_MAX = 16

_GRACE_SECONDS_MAX = 3600
_NOT_SERVED = (
    "/api/mount_shm",
    "/api/unmount_shm",
    "/api/unmount_local_disk",
    "/api/reconfigure",
)
_REMEDY = "memory is given to the pool by /api/mount, global_segment_size or mooncake_client"


class Routes:
    """Handlers. Calls of the store block, so each has a thread; at most CALLS_MAX run, and the others wait their turn."""

    def __init__(self, store: MooncakeDistributedStore) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="mooncake-rest")

    def application(self) -> web.Application:
        """The application, with a bound for bodies and JSON for every error."""
        application = web.Application(client_max_size=BODY_BYTES_MAX, middlewares=[_errors_as_json])
        application.add_routes(
            [
                web.get("/health", self.health),
                web.put("/api/put", self.put),
                web.get("/api/get/{key}", self.get),
                web.get("/api/exist/{key}", self.exist),
                web.delete("/api/remove/{key}", self.remove),
                web.delete("/api/remove_all", self.remove_all),
                web.post("/api/mount", self.mount),
                web.post("/api/unmount", self.unmount),
                *(web.post(path, self.not_served) for path in _NOT_SERVED),
            ]
        )
        application.on_cleanup.append(self._close)
        return application

    async def health(self, _request: web.Request) -> web.Response:
        code = await self._call(self._store.health_check)
        return _answer({"status": "ok"}) if code == 0 else _error(503, f"the store is not healthy: {code}")

    async def put(self, request: web.Request) -> web.Response:
        given = await _fields(request)
        key, value = given.get("key"), given.get("value")
        if not key or value is None:
            return _error(400, "Missing key or value")
        if not isinstance(key, str) or not isinstance(value, str):
            return _error(400, "key and value must be texts")
        try:
            content = value.encode()
        except UnicodeEncodeError:
            return _error(400, "value must be text that UTF-8 can write")
        code = await self._call(lambda: self._store.put(key, content))
        return _answer({"status": "success"}) if code == 0 else _error(500, f"PUT operation failed: {code}")

    async def get(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        value = await self._call(lambda: self._store.get_buffer(key))
        if value is not None:
            return web.Response(body=bytes(memoryview(value)), content_type="application/octet-stream")
        code = await self._call(lambda: self._store.is_exist(key))
        return _error(404, "Key not found") if code == 0 else _error(500, f"GET operation failed: {code}")

    async def exist(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        code = await self._call(lambda: self._store.is_exist(key))
        return _answer({"exists": code > 0}) if code >= 0 else _error(500, f"Exist check failed: {code}")

    async def remove(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        code = await self._call(lambda: self._store.remove(key))
        if code == 0:
            return _answer({"status": "success"})
        absent = code == ErrorCode.OBJECT_NOT_FOUND
        return _error(404, "Key not found") if absent else _error(500, f"Remove operation failed: {code}")

    async def remove_all(self, _request: web.Request) -> web.Response:
        code = await self._call(self._store.remove_all)
        if code < 0:
            return _error(500, f"RemoveAll operation failed: {code}")
        return _answer({"status": f"success removed {code} keys"})

    async def mount(self, request: web.Request) -> web.Response:
        given = await _fields(request)
        size, protocol, location = given.get("size"), given.get("protocol", "tcp"), given.get("location", "")
        if type(size) is not int or not 0 < size < 1 << 63:
            return _error(400, "Invalid size, must be a positive integer")
        if not isinstance(protocol, str) or not isinstance(location, str):
            return _error(400, "protocol and location must be texts")
        result = await self._call(lambda: self._store.allocate_and_mount_segment(size, protocol, location))
        if result["ret"] != 0:
            return _error(500, f"Allocate and mount failed, ret={result['ret']}")
        mounted = {"segment_ids": result["segment_ids"], "allocated_size": result["allocated_size"]}
        return _answer({"status": "success", **mounted})

    async def unmount(self, request: web.Request) -> web.Response:
        given = await _fields(request)
        ids, grace = given.get("segment_ids"), given.get("grace_period_seconds", 0)
        ids = [ids] if isinstance(ids, str) else ids
        if not isinstance(ids, list) or not ids or not all(isinstance(one, str) for one in ids):
            return _error(400, "Missing segment_ids")
        if type(grace) is not int or not 0 <= grace <= _GRACE_SECONDS_MAX:
            return _error(400, f"grace_period_seconds must be 0 to {_GRACE_SECONDS_MAX}")
        code = await self._call(lambda: self._store.unmount_and_free_segment(ids, grace))
        return _answer({"status": "success"}) if code == 0 else _error(500, f"Unmount and free failed, ret={code}")

    async def not_served(self, request: web.Request) -> web.Response:
        return _error(501, f"{request.path} is not served: {_REMEDY}")

    async def _call(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def _close(self, _application: web.Application) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _BadBody(Exception):
    """What is wrong with the body of a request."""


async def _fields(request: web.Request) -> dict[str, Any]:
    try:
        given = json.loads(await request.read())
    except ValueError as problem:
        raise _BadBody(f"the body is no JSON: {problem}") from None
    if not isinstance(given, dict):
        raise _BadBody("the body is no JSON object")
    return given


def _answer(content: dict[str, object]) -> web.Response:
    return web.json_response(content)


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)


@web.middleware
async def _errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except _BadBody as problem:
        return _error(400, str(problem))
    except web.HTTPException as refusal:
        return _error(refusal.status, refusal.reason)
    except Exception:
        _logger.exception("%s %s failed", request.method, request.path)
        return _error(500, "a defect of kvpool; the log of mooncake.rest has it")
