# SPDX-License-Identifier: Apache-2.0
"""A proxy with engines, and a client of it."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
from fake_engines import KINDS, PARTS, Engine, Fabric, started
from in_loop import soon

from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.instances.description import Description, Role
from kvpool_engines.proxy.schemes import SCHEMES
from kvpool_engines.proxy.service.proxy import Configuration, running

_SECONDS_MAX = 60


class Deployment:
    """What a test has: engines by role, and the two ports of the proxy."""

    def __init__(self, scheme: str, stack: AsyncExitStack) -> None:
        self.scheme, self._stack = scheme, stack
        self.fabric = Fabric()
        self.prefill: list[Engine] = []
        self.decode: list[Engine] = []
        self.client: aiohttp.ClientSession
        self.url = self.admin = ""

    async def engine(self, role: str) -> Engine:
        """One more, of which the proxy does not know."""
        engine = await self._stack.enter_async_context(started(KINDS[self.scheme](self.fabric, role)))
        getattr(self, role).append(engine)
        return engine

    async def instances(self) -> dict[str, dict[str, Any]]:
        """GET /instances, by URL."""
        async with self.client.get(f"{self.admin}/instances") as answer:
            return {one["url"]: one for one in (await answer.json())["instances"]}

    async def instance(self, engine: Engine) -> dict[str, Any]:
        return (await self.instances())[engine.url]

    async def add(self, engine: Engine) -> None:
        async with self.client.post(f"{self.admin}/instances", json=described(engine)) as answer:
            assert answer.status == 200, await answer.text()
        await self.until(engine, state="ready")

    async def until(self, engine: Engine, **wanted: Any) -> None:
        """Waits until GET /instances says this of an engine."""
        await self.eventually(lambda listed: wanted.items() <= listed.get(engine.url, {}).items(), str(wanted))

    async def eventually(self, condition: Any, what: str) -> None:
        """Waits until a condition on instances() holds."""
        try:
            async with asyncio.timeout(_SECONDS_MAX):
                while not condition(await self.instances()):
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"did not happen within {_SECONDS_MAX} s: {what}: {await self.instances()}") from None

    async def metrics(self) -> dict[str, float]:
        async with self.client.get(f"{self.admin}/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    async def calm(self) -> None:
        """Every request has ended, and no load is left behind."""
        no_load = {"running": 0, "tokens": 0}
        await self.eventually(
            lambda listed: all(no_load.items() <= one.items() for one in listed.values()), "no load is left"
        )
        await soon(lambda: all(engine.running == 0 for engine in self.prefill + self.decode), "engines have ended")

    async def ask(
        self, prompt: str = "hello", stream: bool = False, chat: bool = False, **fields: Any
    ) -> tuple[int, Any]:
        """Status, and the text of the answer or the error. A stream must end with [DONE]."""
        async with self.client.post(
            f"{self.url}{path_of(chat)}", json=body_of(prompt, stream, chat, **fields)
        ) as answer:
            content = await answer.read()
            if answer.content_type != "text/event-stream":
                given = json.loads(content)
                return answer.status, given["choices"][0]["text"] if answer.status == 200 else given["error"]
        return answer.status, text_of_stream(content)


def path_of(chat: bool) -> str:
    return "/v1/chat/completions" if chat else "/v1/completions"


def body_of(prompt: str, stream: bool, chat: bool, **fields: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": prompt}]} if chat else {"prompt": prompt}
    return {"model": "m", "max_tokens": 20, **asked, **({"stream": True} if stream else {}), **fields}


def text_of_stream(content: bytes) -> Any:
    """The text, or the error that an event has."""
    events = [event.removeprefix("data: ") for event in content.decode().split("\n\n") if event]
    assert events[-1] == "[DONE]", events
    parts = [json.loads(event) for event in events[:-1] if event.startswith("{")]
    errors = [part["error"] for part in parts if "error" in part]
    return errors[0] if errors else "".join(part["choices"][0]["text"] for part in parts)


def answer_to(prompt: str) -> str:
    return f"{prompt} " * PARTS


def described(engine: Engine) -> dict[str, Any]:
    return {"url": engine.url, "role": engine.role, "bootstrap_port": engine.bootstrap_port}


@asynccontextmanager
async def deployed(
    scheme: str, prefill: int = 1, decode: int = 1, limits: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Deployment]:
    """A proxy that has seen all of its engines well. At the end nothing was asked of an engine that a real one refuses."""
    async with AsyncExitStack() as stack:
        deployment = Deployment(scheme, stack)
        for role, count in (("prefill", prefill), ("decode", decode)):
            for _ in range(count):
                await deployment.engine(role)
        engines = deployment.prefill + deployment.decode
        configuration = Configuration(
            scheme=SCHEMES[scheme],
            host="127.0.0.1",
            port=0,
            admin_port=0,
            instances=tuple(Description(it.url, Role(it.role), it.bootstrap_port) for it in engines),
            health_interval=0.05,
            refresh=0.02,
            stop_timeout=1,
            limits=dataclasses.replace(Limits(), **(limits or {})),
        )
        configuration = dataclasses.replace(configuration, **settings)
        proxy = await stack.enter_async_context(running(configuration))
        deployment.url = f"http://127.0.0.1:{proxy.port}"
        deployment.admin = f"http://127.0.0.1:{proxy.admin_port}"
        deployment.client = await stack.enter_async_context(aiohttp.ClientSession())
        for engine in engines:
            await deployment.until(engine, state="ready")
        yield deployment
        assert deployment.fabric.violations == []
