# SPDX-License-Identifier: Apache-2.0
"""kvpool.aio.Client: the calls of kvpool.Client at the same time in one thread, and what cancelling and closing do."""

import asyncio
import ctypes
import inspect
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Coroutine
from typing import Any

import pytest
from conftest import GET, PUT, Fake
from in_loop import in_loop, soon

import kvpool
import kvpool.aio
from kvpool import Status


async def connect(max_calls: int = 16) -> kvpool.aio.Client:
    return await kvpool.aio.Client.connect("h:1", max_calls=max_calls)


async def start(call: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Has the call run up to where it waits for a thread."""
    task = asyncio.create_task(call)
    await asyncio.sleep(0)
    return task


def is_held(memory: bytearray) -> bool:
    try:
        memory.append(0)
    except BufferError:
        return True
    memory.pop()
    return False


def is_closed(client: kvpool.Client) -> bool:
    try:
        client.explain()
    except kvpool.CallError:
        return True
    return False


def test_every_call_of_the_client_is_a_coroutine_with_its_arguments() -> None:
    calls = {name for name in vars(kvpool.Client) if not name.startswith("_")} - {"through_agent"}
    for name in calls:
        coroutine = getattr(kvpool.aio.Client, name)
        assert inspect.iscoroutinefunction(coroutine), name
        assert inspect.signature(coroutine).parameters == inspect.signature(getattr(kvpool.Client, name)).parameters
    assert calls == {name for name in vars(kvpool.aio.Client) if not name.startswith("_")} - {
        "connect",
        "through_agent",
    }


@in_loop
async def test_calls_answer_as_those_of_the_client(fake: Fake) -> None:
    async with await connect() as client:
        await client.put("key", b"value")
        assert await client.get("key") == b"value"
        assert await client.get("none") is None
        room = bytearray(8)
        assert await client.get_into("key", room) == 5
        assert room == b"value\0\0\0"
        assert (await client.size("key"), await client.exists("none")) == (5, False)
        assert await client.put_batch(["a", "b"], [b"1", b"22"]) == [Status.OK, Status.OK]
        assert await client.get_batch(["b", "none"]) == [b"22", Status.NOT_FOUND]
        assert await client.get_into_batch(["a"], [bytearray(1)]) == [1]
        assert await client.size_batch(["a", "none"]) == [1, Status.NOT_FOUND]
        assert await client.remove("a")
        assert await client.remove_batch(["a", "b"]) == [Status.NOT_FOUND, Status.OK]
        assert await client.remove_all() == 1
        assert await client.explain() == ""
        assert (await client.stats())["leader_known"] is True
    assert fake.state.clients == 0


@in_loop
async def test_memory_by_address(fake: Fake) -> None:
    memory = (ctypes.c_char * 64)(*b"hello")
    address = ctypes.addressof(memory)
    async with await connect() as client:
        assert await client.put_from(["k"], [address], [5]) == [Status.NOT_REGISTERED]
        await client.register(address, 64)
        assert await client.put_from(["k"], [address], [5]) == [Status.OK]
        assert await client.get_into_memory(["k"], [address + 8], [5]) == [5]
        assert await client.put_from_pieces(["p"], [[address, address + 8]], [[2, 2]]) == [Status.OK]
        assert await client.get_into_pieces(["p"], [[address + 16, address + 32]], [[3, 3]]) == [4]
        assert (memory.raw[8:13], memory.raw[16:19], memory.raw[32:33]) == (b"hello", b"heh", b"e")
        await client.unregister(address)
        with pytest.raises(kvpool.CallError):
            await client.unregister(address)


@in_loop
async def test_arguments_get_there(fake: Fake) -> None:
    client = await kvpool.aio.Client.connect(
        ["h:1", "g:2"],
        name="me",
        protocols=["tcp"],
        connect_timeout=1,
        transfer_timeout=2,
        ready_timeout=4,
        idle_timeout=5,
        tls_dir="/tls",
        payloads="encrypted",
    )
    assert fake.last_call == ["h:1,g:2", "me", "1", "1000", "2000", "4000", "0", "5000", "/tls", "1"]
    await client.put("key", b"v", replicas=2, preferred_node="n", timeout=7)
    assert fake.last_call[2:5] == ["0", "2", "n"]
    assert 0 < int(fake.last_call[5]) <= 7000, "what is left of the time"
    await client.close()
    agent = await kvpool.aio.Client.through_agent("/a.sock", name="me", staging_bytes=1 << 20, ready_timeout=3)
    assert fake.last_call == ["attach", "/a.sock", "me", "1048576", "3000"]
    await agent.close()


@in_loop
async def test_failures_are_the_exceptions_of_the_client(fake: Fake) -> None:
    fake.state.create_status, fake.state.sentence = Status.CONNECT_FAILED, b"h:1 refused"
    with pytest.raises(kvpool.PeerError, match="h:1 refused"):
        await connect()
    fake.state.create_status = Status.OK
    async with await connect() as client:
        fake.fail(PUT, Status.NO_SPACE, sentence="full")
        with pytest.raises(kvpool.NoSpaceError, match="full"):
            await client.put("key", b"v")
        fake.fail(GET, Status.TIMEOUT, sentence="late")
        with pytest.raises(kvpool.CallError, match="late"):
            await client.get("key")
        with pytest.raises(TypeError):
            await client.put("key", 7)
        with pytest.raises(ValueError, match="timeout"):
            await client.get("key", timeout=0)
        with pytest.raises(TypeError, match="replica_count"):
            await client.put("key", b"v", replica_count=2)


@in_loop
async def test_calls_of_one_loop_run_at_the_same_time(fake: Fake) -> None:
    async with await connect(max_calls=8) as client:
        fake.state.meeting = 8  # each waits in the library until all are there
        await asyncio.gather(*(client.put(f"k{i}", b"%d" % i) for i in range(8)))
        assert await client.get_batch(["k0", "k7"]) == [b"0", b"7"]


@in_loop
async def test_no_more_calls_than_the_limit_run_at_a_time(fake: Fake) -> None:
    async with await connect(max_calls=3) as client:
        fake.close_gate()
        puts = [await start(client.put(f"k{i}", b"v")) for i in range(10)]
        await soon(lambda: fake.state.batches == 3, "all threads are in the library")
        assert await client.explain() == "", "what does not wait needs no turn"
        fake.open_gate()
        await asyncio.gather(*puts)
        assert fake.state.most_batches == 3
        assert await client.remove_all() == 10


@pytest.mark.parametrize("max_calls", [0, -1])
@in_loop
async def test_a_wrong_limit_is_told_before_anything_is_connected(fake: Fake, max_calls: int) -> None:
    with pytest.raises(ValueError, match="max_calls"):
        await connect(max_calls)
    assert fake.last_call == [""]


@in_loop
async def test_a_cancelled_get_holds_its_memory_until_the_library_is_done_with_it(fake: Fake) -> None:
    async with await connect() as client:
        await client.put("key", b"value")
        room = bytearray(5)
        fake.close_gate()
        get = await start(client.get_into("key", room))
        await soon(lambda: fake.state.waiting, "the get is in the library")
        get.cancel()
        with pytest.raises(asyncio.CancelledError):
            await get
        assert is_held(room)
        fake.open_gate()
        await soon(lambda: not is_held(room), "the memory is free")
        assert room == b"value", "it was written to all the same"


@in_loop
async def test_a_cancelled_put_may_still_happen(fake: Fake) -> None:
    async with await connect() as client:
        value = bytearray(b"value")
        fake.close_gate()
        put = await start(client.put("key", value))
        await soon(lambda: fake.state.waiting, "the put is in the library")
        put.cancel()
        with pytest.raises(asyncio.CancelledError):
            await put
        fake.open_gate()
        await soon(lambda: not is_held(value), "the memory is free")
        assert await client.get("key") == b"value"


@in_loop
async def test_a_call_cancelled_before_its_turn_never_happens(fake: Fake) -> None:
    async with await connect(max_calls=1) as client:
        fake.close_gate()
        first = await start(client.put("first", b"v"))
        second = await start(client.put("second", b"v"))
        await soon(lambda: fake.state.waiting, "the first put is in the library")
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        fake.open_gate()
        await first
        assert await client.size_batch(["first", "second"]) == [1, Status.NOT_FOUND]


@in_loop
async def test_a_shielded_call_says_when_the_memory_is_free(fake: Fake) -> None:
    """The recipe of the class's documentation."""
    async with await connect() as client:
        await client.put("key", b"value")
        room = bytearray(5)
        fake.close_gate()
        call = asyncio.ensure_future(client.get_into("key", room))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(call), 0.01)
        fake.open_gate()
        assert await call == 5
        assert not is_held(room)


@in_loop
async def test_close_waits_for_the_running_call_and_refuses_the_others(fake: Fake) -> None:
    blocking = kvpool.Client("h:1")
    client = kvpool.aio.Client(blocking, max_calls=1)
    fake.close_gate()
    running = await start(client.put("running", b"v"))
    queued = await start(client.put("queued", b"v"))
    await soon(lambda: fake.state.waiting, "the first put is in the library")
    closing = await start(client.close())
    with pytest.raises(kvpool.CallError) as new:
        await client.put("new", b"v")
    assert new.value.status is Status.CLOSED
    await soon(lambda: is_closed(blocking), "the client takes no more calls")
    assert not closing.done() and not running.done() and fake.state.clients == 1
    fake.open_gate()
    await running
    with pytest.raises(kvpool.CallError) as refused:
        await queued
    assert refused.value.status is Status.CLOSED
    await closing
    await client.close()
    assert fake.state.clients == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("kvpool-call")]
    for call in (client.get("running"), client.stats(), client.put_batch([], [])):
        with pytest.raises(kvpool.CallError):
            await call


@in_loop
async def test_a_cancelled_close_is_still_done(fake: Fake) -> None:
    client = await connect()
    fake.close_gate()
    put = await start(client.put("key", b"v"))
    await soon(lambda: fake.state.waiting, "the put is in the library")
    closing = await start(client.close())
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    fake.open_gate()
    await put
    await soon(lambda: fake.state.clients == 0, "the client is closed")


@in_loop
async def test_a_cancelled_connect_leaves_no_client(fake: Fake) -> None:
    fake.close_gate()
    connecting = await start(connect())
    await soon(lambda: fake.state.waiting, "the constructor is in the library")
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    (connector,) = (thread for thread in threading.enumerate() if thread.name == "kvpool-aside")
    fake.open_gate()
    await asyncio.to_thread(connector.join)
    assert fake.state.clients == 0


def test_several_event_loops_share_a_client(fake: Fake) -> None:
    client = asyncio.run(connect())
    answers: list[object] = []

    async def work(name: str) -> None:
        await client.put(name, name.encode())
        answers.append(await client.get(name))

    fake.state.meeting = 2  # the puts of both loops are in the library at a time
    threads = [threading.Thread(target=lambda name=name: asyncio.run(work(name))) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [b"a", b"b"]
    asyncio.run(client.close())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told(fake: Fake) -> None:
    client = asyncio.run(connect(max_calls=1))
    asyncio.run(client.put("key", b"v"))  # so there is the one thread, which the child does not have
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(client.get("key"))
        except kvpool.CallError as error:
            code = 0 if "fork" in str(error) and error.status is Status.CLOSED else 2
        asyncio.run(client.close())
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asyncio.run(client.get("key")) == b"v"
    asyncio.run(client.close())


def test_exit_with_a_client_left_open() -> None:
    program = """
        import asyncio, kvpool.aio
        async def main():
            client = await kvpool.aio.Client.connect("h:1")
            await client.put("key", b"v")
            print(await client.get("key"))
            return client
        client = asyncio.run(main())
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "b'v'\n", "")
