# SPDX-License-Identifier: Apache-2.0
"""Routes of the REST service: text in, bytes out, over a store that is set up."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from mooncake.answers.error_code import ErrorCode
from mooncake.rest.failures import failure
from mooncake.store import MooncakeDistributedStore

_logger = logging.getLogger("mooncake.rest")
_T = TypeVar("_T")

BODY_BYTES_MAX = 100 << 20
CALLS_MAX = 16

_GRACE_SECONDS_MAX = 3600
_SHARED = "/dev/shm"
_LENT_FROM = (f"{_SHARED}/", "/dev/hugepages/")


class Routes:
    """Handlers. Calls of the store block, so each has a thread; at most CALLS_MAX run, and the others wait their turn."""

    def __init__(self, store: MooncakeDistributedStore) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="mooncake-rest")
        self._mode = asyncio.Lock()  # held while it changes
        self._lent: dict[str, _Region] = {}  # by segment: what mode decode gives to the pool

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
                web.post("/api/mount_shm", self.mount_shared),
                web.post("/api/unmount_shm", self.unmount_shared),
                web.post("/api/unmount_local_disk", self.unmount_local_disk),
                web.post("/api/reconfigure", self.reconfigure),
            ]
        )
        application.on_cleanup.append(self._close)
        return application

    async def health(self, _request: web.Request) -> web.Response:
        code = await self._call(self._store.health_check)
        return _answer({"status": "ok"}) if code == 0 else _unhealthy(code)

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
        return _answer({"status": "success"}) if code == 0 else _failed("PUT operation failed", code)

    async def get(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        value = await self._call(lambda: self._store.get_buffer(key))
        if value is not None:
            return web.Response(body=bytes(memoryview(value)), content_type="application/octet-stream")
        code = await self._call(lambda: self._store.is_exist(key))
        return _error(404, "Key not found") if code == 0 else _failed("GET operation failed", code)

    async def exist(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        code = await self._call(lambda: self._store.is_exist(key))
        return _answer({"exists": code > 0}) if code >= 0 else _failed("Exist check failed", code)

    async def remove(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        code = await self._call(lambda: self._store.remove(key))
        if code == 0:
            return _answer({"status": "success"})
        absent = code == ErrorCode.OBJECT_NOT_FOUND
        return _error(404, "Key not found") if absent else _failed("Remove operation failed", code)

    async def remove_all(self, _request: web.Request) -> web.Response:
        code = await self._call(self._store.remove_all)
        if code < 0:
            return _failed("RemoveAll operation failed", code)
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
            return _failed("Allocate and mount failed", result["ret"])
        mounted = {"segment_ids": result["segment_ids"], "allocated_size": result["allocated_size"]}
        return _answer({"status": "success", **mounted})

    async def unmount(self, request: web.Request) -> web.Response:
        given = await _fields(request)
        ids, grace = _segments(given), _grace(given)
        code = await self._call(lambda: self._store.unmount_and_free_segment(ids, grace))
        for one in ids if code == 0 else ():
            self._leaves(one, grace)
        return _answer({"status": "success"}) if code == 0 else _failed("Unmount and free failed", code)

    async def mount_shared(self, request: web.Request) -> web.Response:
        """A part of a file in /dev/shm."""
        given = await _fields(request)
        name, size, offset = given.get("name"), given.get("size"), given.get("offset", 0)
        protocol, location = given.get("protocol", "tcp"), given.get("location", "")
        file = name.removeprefix("/") if isinstance(name, str) else ""
        if not file or "/" in file or "\0" in file or file in (".", "..") or type(size) is not int:
            return _error(400, f"Missing or invalid name or size: name is that of a file in {_SHARED}, size its bytes")
        if not 0 < size < 1 << 63 or type(offset) is not int or not 0 <= offset < 1 << 63:
            return _error(400, "Invalid size or offset: size must be 1 byte or more, offset 0 or more")
        if not isinstance(protocol, str) or not isinstance(location, str):
            return _error(400, "protocol and location must be texts")
        path = f"{_SHARED}/{file}"
        result = await self._call(lambda: self._store.mount_segment(path, size, offset, protocol, location))
        if result["ret"] != 0:
            return _failed("Mount failed", result["ret"])
        return _answer({"status": "success", "segment_ids": result["segment_ids"]})

    async def unmount_shared(self, request: web.Request) -> web.Response:
        given = await _fields(request)
        ids, grace = _segments(given), _grace(given)
        left = await self._unmount(ids, grace)
        return _left(left) if left else _answer({"status": "success"})

    async def reconfigure(self, request: web.Request) -> web.Response:
        """Mode decode gives a part of a file to the pool, in the place of what it gave before; mode prefill takes it back."""
        given = await _fields(request)
        mode = str(given.get("mode", "")).lower()
        if mode not in ("decode", "prefill"):
            return _error(400, "Invalid mode. Use 'decode' or 'prefill'")
        protocol, location = given.get("protocol", "tcp"), given.get("location", "")
        if not isinstance(protocol, str) or not isinstance(location, str):
            return _error(400, "protocol and location must be texts")
        region = await self._region(given) if mode == "decode" else None
        async with self._mode:
            if region is not None:
                return await self._decode(region, protocol, location)
            left = await self._take_back(list(self._lent))
            return _left(left) if left else _answer({"status": "success", "mode": "prefill"})

    async def _region(self, given: dict[str, Any]) -> _Region:
        path, size, offset = given.get("path"), given.get("size"), given.get("offset", 0)
        if not path or size is None:
            raise _BadBody("Missing path or size for decode mode")
        # As it is written first: nothing else is looked at, since a file system that does not answer holds a thread for good.
        lent = isinstance(path, str) and path.startswith(_LENT_FROM) and "/../" not in path
        try:
            path = await self._call(partial(os.path.realpath, path)) if lent else ""
        except (OSError, ValueError):
            path = ""  # no name of a file
        if not path.startswith(_LENT_FROM):
            raise _BadBody(f"Invalid path, must be a file below {' or '.join(_LENT_FROM)}")
        if type(size) is not int or not 0 < size < 1 << 63 or type(offset) is not int or not 0 <= offset < 1 << 63:
            raise _BadBody("Invalid size or offset: size must be 1 byte or more, offset 0 or more")
        return _Region(path, offset, size)

    async def _decode(self, region: _Region, protocol: str, location: str) -> web.Response:
        if list(self._lent.values()) != [region]:
            # Two segments over the same bytes would overwrite each other's values. Any other goes once there is the new one.
            left = await self._take_back([one for one, lent in self._lent.items() if lent.overlaps(region)])
            if left:
                return _left(left)
            mount = partial(self._store.mount_segment, region.path, region.size, region.offset, protocol, location)
            result = await self._call(mount)
            if result["ret"] != 0:
                body = {**failure("Mount failed", result["ret"]), "mode": "decode" if self._lent else "prefill"}
                return web.json_response(body, status=500)
            before = list(self._lent)
            self._lent.update(dict.fromkeys(result["segment_ids"], region))
            await self._take_back(before)  # what is left of it is tried again with the next change
        return _answer({"status": "success", "mode": "decode", "segment_ids": list(self._lent)})

    async def _take_back(self, ids: list[str]) -> dict[str, int]:
        """Codes of those that are still lent: others may have been unmounted by another route."""
        left = await self._unmount(ids, 0)
        return {one: code for one, code in left.items() if one in self._lent}

    async def _unmount(self, ids: list[str], grace: int) -> dict[str, int]:
        """Codes of those that were not unmounted."""
        left = {}
        for one in ids:
            code = await self._call(partial(self._store.unmount_segment, [one], grace))
            if code == ErrorCode.SEGMENT_NOT_FOUND:
                self._leaves(one, 0)
            elif code == 0:
                self._leaves(one, grace)
            if code != 0:
                left[one] = code
        return left

    def _leaves(self, segment: str, grace: int) -> None:
        if grace == 0:
            self._lent.pop(segment, None)
        elif segment in self._lent:
            self._lent[segment] = replace(self._lent[segment], leaving=True)

    async def unmount_local_disk(self, request: web.Request) -> web.Response:
        grace = _grace(await _fields(request))
        code = await self._call(lambda: self._store.unmount_local_disk_segment(grace))
        return _answer({"status": "success"}) if code == 0 else _failed("Unmount local disk failed", code)

    async def _call(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def _close(self, _application: web.Application) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Region:
    """A part of a file."""

    path: str
    offset: int
    size: int
    leaving: bool = (
        False  # soon: it is not what a caller asks for, and must be taken back before its bytes are lent again
    )

    def overlaps(self, other: _Region) -> bool:
        same = self.path == other.path
        return same and self.offset < other.offset + other.size and other.offset < self.offset + self.size


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


def _left(codes: dict[str, int]) -> web.Response:
    body = failure("Unmount failed for one or more segments", next(iter(codes.values())))
    return web.json_response({**body, "failed_segment_ids": [*codes]}, status=500)


def _segments(given: dict[str, Any]) -> list[str]:
    ids = given.get("segment_ids")
    ids = [ids] if isinstance(ids, str) else ids
    if not isinstance(ids, list) or not ids or not all(isinstance(one, str) for one in ids):
        raise _BadBody("Missing segment_ids")
    return ids


def _grace(given: dict[str, Any]) -> int:
    grace = given.get("grace_period_seconds", 0)
    if type(grace) is not int or not 0 <= grace <= _GRACE_SECONDS_MAX:
        raise _BadBody(f"grace_period_seconds must be 0 to {_GRACE_SECONDS_MAX}")
    return grace


def _unhealthy(code: int) -> web.Response:
    why = "no leader is connected" if code == 2 else "the store does not work any more"
    remedy = "see whether the pool has a leader and can be reached from here" if code == 2 else "restart this service"
    body = {"error": f"the store is not healthy: {code}", "code": code, "reason": why, "remedy": remedy}
    return web.json_response(body, status=503)


def _failed(what: str, code: int) -> web.Response:
    return web.json_response(failure(what, code), status=500)


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
