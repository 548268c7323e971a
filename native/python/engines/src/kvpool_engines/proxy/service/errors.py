# SPDX-License-Identifier: Apache-2.0
"""Every error of every endpoint in OpenAI's shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from kvpool_engines.proxy.instances.description import WrongInstances
from kvpool_engines.proxy.refusal import Refusal

# How long a body may be, for the text of its refusal.
BODY_BYTES = web.AppKey("body_bytes", int)

_logger = logging.getLogger("kvpool_engines.proxy")


@web.middleware
async def errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return _answer(refusal)
    except WrongInstances as problem:
        return _answer(Refusal(400, str(problem)))
    except web.HTTPRequestEntityTooLarge:
        bound = request.app[BODY_BYTES]
        return _answer(
            Refusal(413, f"the body has more than {bound} bytes: send less, or start the proxy with --max-body-bytes")
        )
    except web.HTTPMethodNotAllowed as wrong:
        return _answer(
            Refusal(405, f"{request.path} takes {', '.join(sorted(wrong.allowed_methods))}, not {request.method}")
        )
    except web.HTTPNotFound:
        here = sorted({resource.canonical for resource in request.app.router.resources()})
        return _answer(Refusal(404, f"there is no {request.path} on this port: there are {', '.join(here)}"))
    except web.HTTPException as other:
        return _answer(Refusal(other.status, other.reason))
    except ConnectionResetError:
        raise
    except Exception:
        _logger.exception("%s %s failed", request.method, request.path)
        return _answer(Refusal(500, "a defect of kvpool-proxy; its log has it"))


def _answer(refusal: Refusal) -> web.Response:
    return web.json_response(refusal.as_json(), status=refusal.status, headers=refusal.headers)
