# SPDX-License-Identifier: Apache-2.0
"""One attempt of one request: a prefill instance, a decode instance, in the order of the scheme."""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from typing import Any, TypeVar

from kvpool_engines.proxy.exchange.metaserver import Metaserver
from kvpool_engines.proxy.exchange.upstream import EngineFailed, Reply, Upstream
from kvpool_engines.proxy.instances.description import Role
from kvpool_engines.proxy.instances.instance import Claim, Instance
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.schemes.ascend_layerwise import posted_id
from kvpool_engines.proxy.schemes.asked import Asked
from kvpool_engines.proxy.schemes.scheme import Handoff, Order, Scheme
from kvpool_engines.proxy.schemes.vllm_mooncake import bootstrap_address

_T = TypeVar("_T")
_ROOMS = 1 << 62


class Attempts:
    """Makes attempts. `metaserver_url` is what decode instances post to."""

    def __init__(self, scheme: Scheme, registry: Registry, upstream: Upstream, metaserver: Metaserver) -> None:
        self.scheme, self.registry, self.upstream, self.metaserver = scheme, registry, upstream, metaserver
        self.metaserver_url = ""
        self.computed_twice = 0  # prompts that decode instances computed since the prefill instance handed nothing over

    @contextlib.asynccontextmanager
    async def opened(
        self, asked: Asked, headers: Mapping[str, str], avoid: Collection[Instance]
    ) -> AsyncIterator[Reply]:
        """The decode instance's answer from its first byte on, when it has the blocks. EngineFailed may be retried."""
        attempt = _Attempt(self, asked, dict(headers), avoid)
        orders = {
            Order.PREFILL_FIRST: attempt.prefill_first,
            Order.TOGETHER: attempt.together,
            Order.DECODE_FIRST: attempt.decode_first,
        }
        async with contextlib.AsyncExitStack() as stack:
            # Behind the connections: the counts must show the requests ended when the load goes.
            stack.callback(self.registry.forget_drained)
            stack.callback(attempt.end)
            reply = await orders[self.scheme.order](stack)
            yield reply
            attempt.decoded(reply)


class _Attempt:
    """The state of one attempt."""

    def __init__(self, owner: Attempts, asked: Asked, headers: dict[str, str], avoid: Collection[Instance]) -> None:
        self._owner, self._asked, self._avoid = owner, asked, avoid
        self._id = uuid.uuid4().hex
        self._headers = {**headers, "X-Request-Id": self._id}
        self._claims: dict[Role, Claim] = {}

    # Orders

    async def prefill_first(self, stack: contextlib.AsyncExitStack) -> Reply:
        prefill = self._claim(Role.PREFILL)
        handoff = Handoff(self._id)
        answer = await self._prefill(prefill, handoff, {}, self._headers)
        given = answer.get("kv_transfer_params")
        if not isinstance(given, dict) or not given:
            given = {}
            self._owner.computed_twice += 1
        return await self._open(stack, self._claim(Role.DECODE), handoff, given)

    async def together(self, stack: contextlib.AsyncExitStack) -> Reply:
        prefill, decode = self._claim(Role.PREFILL), self._claim(Role.DECODE)
        handoff, headers = await self._meeting(prefill.instance)
        prefilling = await stack.enter_async_context(_task(self._prefill(prefill, handoff, {}, headers)))
        opening = await stack.enter_async_context(_task(self._open(stack, decode, handoff, {})))
        await asyncio.wait((prefilling, opening), return_when=asyncio.FIRST_COMPLETED)
        if prefilling.done() and not opening.done():
            # Its failure ends the attempt: the decode instance would wait for blocks that are not written.
            prefilling.result()
        return await opening

    async def decode_first(self, stack: contextlib.AsyncExitStack) -> Reply:
        decode = self._claim(Role.DECODE)
        handoff = Handoff(self._id, metaserver=self._owner.metaserver_url)
        failed: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

        async def prefill(given: Mapping[str, Any]) -> None:
            try:
                await self._prefill(self._claim(Role.PREFILL), handoff, given, self._headers)
            except Exception as problem:
                if not failed.done():
                    failed.set_result(problem)
                raise

        stack.enter_context(self._owner.metaserver.expecting(posted_id(self._asked.path, self._id), prefill))
        opening = await stack.enter_async_context(_task(self._open(stack, decode, handoff, {})))
        await asyncio.wait((failed, opening), return_when=asyncio.FIRST_COMPLETED)
        if failed.done() and not opening.done():
            raise failed.result()
        return await opening

    # Parts of orders

    async def _prefill(
        self, claim: Claim, handoff: Handoff, given: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        body = self._owner.scheme.prefill_body(self._asked.body, handoff, given)
        try:
            answer = await self._owner.upstream.ask(claim.instance, self._asked.path, body, headers)
        except EngineFailed:
            claim.failed()
            raise
        claim.answered()
        return answer

    async def _open(
        self, stack: contextlib.AsyncExitStack, claim: Claim, handoff: Handoff, given: Mapping[str, Any]
    ) -> Reply:
        body = self._owner.scheme.decode_body(self._asked.body, handoff, given)
        opened = self._owner.upstream.opened(claim.instance, self._asked.path, body, self._headers)
        try:
            reply = await stack.enter_async_context(opened)
        except EngineFailed:
            claim.failed()
            raise
        # The first byte comes after the prompt, so its blocks are here: only now is the prefill instance done.
        if Role.PREFILL in self._claims:
            self._claims[Role.PREFILL].done()
        return reply

    async def _meeting(self, prefill: Instance) -> tuple[Handoff, dict[str, str]]:
        """Where the two find each other, and the headers of the prefill request."""
        scheme = self._owner.scheme
        port = prefill.description.bootstrap_port or scheme.bootstrap_port
        handoff = Handoff(self._id, random.randrange(_ROOMS), prefill.description.host, port)
        if not scheme.asks_for_engine_id:
            return handoff, self._headers
        # Asked each time: a prefill instance that was started again has another id.
        url = bootstrap_address(handoff.prefill_host, port) + "/query"
        try:
            ranks = await self._owner.upstream.fetch(prefill, url)
            rank = random.choice(sorted(ranks))
            engine_id = ranks[rank]["engine_id"]
        except EngineFailed:
            self._claims[Role.PREFILL].failed()
            raise
        except (LookupError, TypeError):
            self._claims[Role.PREFILL].failed()
            raise EngineFailed(prefill, f"GET {url} names no engine_id: its workers have not registered yet") from None
        headers = {**self._headers, "X-data-parallel-rank": rank} if len(ranks) > 1 else self._headers
        return Handoff(self._id, handoff.room, handoff.prefill_host, port, engine_id), headers

    # Load

    def _claim(self, role: Role) -> Claim:
        claim = self._claims[role] = self._owner.registry.claim(role, self._asked.tokens, self._avoid)
        return claim

    def decoded(self, reply: Reply) -> None:
        """The answer has ended."""
        claim = self._claims[Role.DECODE]
        if reply.broken:
            claim.failed()
        else:
            claim.done()

    def end(self) -> None:
        """Whatever is not over ends without a word about the instance."""
        for claim in self._claims.values():
            claim.given_up()


@contextlib.asynccontextmanager
async def _task(work: Coroutine[Any, Any, _T]) -> AsyncIterator[asyncio.Task[_T]]:
    """A task that ends with the block, and whose failure is then ignored."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
