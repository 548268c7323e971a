# SPDX-License-Identifier: Apache-2.0
"""Threads, signals, fork, exit and memory: what a C extension gets wrong."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections.abc import Callable

import pytest
from conftest import Fake
from waiting import eventually

import kvpool
from kvpool import Client, Status


def _start(call: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    answers: list[object] = []

    def run() -> None:
        try:
            answers.append(call())
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, answers


def _in_call(fake: Fake) -> bool:
    return bool(fake.state.waiting)


@pytest.mark.parametrize("method", ["put", "get", "get_into", "exists", "remove"])
def test_other_threads_run_while_a_call_blocks(client: Client, fake: Fake, method: str) -> None:
    """With the GIL held, this thread could not open the gate, and the test would hang."""
    arguments = {"put": ("key", b"v"), "get_into": ("key", bytearray(9))}.get(method, ("key",))
    fake.close_gate()
    thread, answers = _start(lambda: getattr(client, method)(*arguments))
    eventually(lambda: _in_call(fake), "the call is in the library")
    fake.open_gate()
    thread.join()
    assert answers == [{"put": None, "get": None, "get_into": None, "exists": False, "remove": False}[method]]


def test_connecting_does_not_hold_the_gil(fake: Fake) -> None:
    fake.close_gate()
    thread, answers = _start(lambda: Client("h:1"))
    eventually(lambda: _in_call(fake), "the constructor is in the library")
    fake.open_gate()
    thread.join()
    assert isinstance(answers[0], Client)


def test_close_waits_for_running_calls_and_refuses_new_ones(fake: Fake) -> None:
    client = Client("h:1")
    fake.close_gate()
    put, put_answers = _start(lambda: client.put("key", b"v"))
    eventually(lambda: _in_call(fake), "the put is in the library")
    close, _ = _start(client.close)

    def refused() -> bool:
        try:
            client.explain()
        except kvpool.CallError:
            return True
        return False

    eventually(refused, "a new call is refused")
    assert close.is_alive() and put.is_alive() and fake.state.clients == 1
    fake.open_gate()
    put.join()
    close.join()
    assert put_answers == [None]
    assert fake.state.clients == 0


def test_many_threads_share_a_client(client: Client) -> None:
    def work(name: int) -> None:
        for i in range(300):
            value = f"{name}:{i}".encode() * (i + 1)
            client.put(f"{name}/{i}", value)
            assert client.get(f"{name}/{i}") == value
            assert client.size_batch([f"{name}/{i}", "none"]) == [len(value), Status.NOT_FOUND]

    threads = [_start(lambda name=name: work(name)) for name in range(8)]
    for thread, answers in threads:
        thread.join()
        assert answers == [None]


def test_the_table_outlives_what_the_caller_does_to_its_lists(client: Client, fake: Fake) -> None:
    keys, values = [f"k{i}" for i in range(64)], [bytearray(b"%d" % i) for i in range(64)]
    fake.close_gate()
    thread, answers = _start(lambda: client.put_batch(keys, values))
    eventually(lambda: _in_call(fake), "the batch is in the library")
    locked = values[0]
    keys.clear()
    values.clear()
    gc.collect()
    with pytest.raises(BufferError):
        locked.extend(b"would move the memory")
    fake.open_gate()
    thread.join()
    assert answers == [[Status.OK] * 64]
    assert client.get("k63") == b"63"
    locked.extend(b"is free again")


def test_ctrl_c_is_raised_once_the_memory_is_free(client: Client, fake: Fake) -> None:
    interrupted_while_closed = []

    def interrupt() -> None:
        eventually(lambda: _in_call(fake), "the get is in the library")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        eventually(lambda: fake.state.waiting > 3, "the call went on waiting")
        interrupted_while_closed.append(fake.state.gate_closed)
        fake.open_gate()

    # A shell starts its background jobs with the signal ignored, and then Python does not listen for it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    fake.close_gate()
    thread, _ = _start(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            client.get_into("key", bytearray(16))
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
    assert interrupted_while_closed == [1]
    client.put("key", b"still usable")


def test_a_signal_handler_may_close_the_client(fake: Fake) -> None:
    client = Client("h:1")
    previous = signal.signal(signal.SIGUSR1, lambda *_: (client.close(), fake.open_gate()))
    fake.close_gate()
    thread, _ = _start(
        lambda: (
            eventually(lambda: _in_call(fake), "the put is in the library"),
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1),
        )
    )
    try:
        client.put("key", b"v")
    finally:
        signal.signal(signal.SIGUSR1, previous)
        thread.join()
    assert fake.state.clients == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told(client: Client) -> None:
    node = kvpool.StorageNode("h:1", 16 << 20, advertise_host="h")
    client.put("key", b"v")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            client.get("key")
        except kvpool.CallError as error:
            code = 0 if "fork" in str(error) and error.status is Status.CLOSED else 2
        client.close()
        node.close()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert client.get("key") == b"v"
    node.close()


def _run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_exit_closes_what_was_left_open() -> None:
    done = _run(
        """
        import atexit, ctypes
        from kvpool import _kvpool
        library = ctypes.CDLL(_kvpool.library_path)
        alive = lambda: [ctypes.c_int32.in_dll(library, "fake").value]
        import kvpool.lifetime
        client = kvpool.Client("h:1"); node = kvpool.StorageNode("h:1", 16 << 20, advertise_host="h")
        counts = (ctypes.c_int32 * 13).in_dll(library, "fake")
        assert list(counts[11:13]) == [1, 1], list(counts)
        atexit.unregister(kvpool.lifetime._close_all)
        atexit.register(lambda: print("after", list(counts[11:13])))
        atexit.register(kvpool.lifetime._close_all)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "after [0, 0]\n", "")


def test_exit_while_a_daemon_thread_is_in_the_library() -> None:
    """The thread comes back while the interpreter shuts down: it must neither crash the process nor hold it up."""
    done = _run(
        """
        import ctypes, sys, threading, time, kvpool
        library = ctypes.CDLL(kvpool._kvpool.library_path)
        library.fake_gate(1)
        state = (ctypes.c_int32 * 14).in_dll(library, "fake")
        threading.Thread(target=lambda: kvpool.Client("h:1"), daemon=True).start()
        while not state[13]: time.sleep(0.01)

        class Late:
            # Runs during finalisation. ctypes and sleep let the GIL go, so the other thread tries to take it.
            def __del__(self, gate=library.fake_gate, sleep=time.sleep):
                gate(0)
                sleep(0.5)

        sys.late = Late()  # the last module to be cleared
        print("end")
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_an_abi_that_does_not_fit_is_an_import_error() -> None:
    done = _run("import kvpool", FAKE_KVPOOL_ABI="7")
    assert done.returncode == 1
    assert "ImportError: kvpool was built for C ABI 1 of libkvpool, but /" in done.stderr
    assert "libkvpool.so speaks 7; reinstall the wheel" in done.stderr


def test_imports_without_numpy_and_torch() -> None:
    done = _run(
        """
        import sys
        sys.modules["numpy"] = sys.modules["torch"] = None
        import kvpool, mooncake.store
        print(mooncake.store.MooncakeDistributedStore().get_hostname() == "")
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_nothing_leaks(client: Client) -> None:
    """References exactly, and memory that twenty thousand calls do not add to."""
    key, value, room, missing = "key/" + "x" * 20, b"v" * 5000, bytearray(5000), "none"
    wrong: object = 7
    client.put(key, value)

    def calls(times: int) -> None:
        for _ in range(times):
            client.put_batch([key], [value])
            client.get_batch([key, missing])
            client.get_into_batch([key], [room])
            client.size_batch([key, "\ud800"])
            client.remove_batch([missing])
            for bad in (lambda: client.get_batch([key, wrong]), lambda: client.put_batch([key, key], [value])):
                with contextlib.suppress(TypeError, ValueError):
                    bad()

    calls(100)
    objects = (key, value, room, missing, wrong, None)
    before = [sys.getrefcount(thing) for thing in objects[:4]]
    tracemalloc.start()
    calls(1000)
    gc.collect()
    first = tracemalloc.get_traced_memory()[0]
    calls(3_000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert [sys.getrefcount(thing) for thing in objects[:4]] == before
    assert grown < 10_000


def test_clients_and_nodes_end_with_their_last_reference(fake: Fake) -> None:
    for _ in range(1000):
        kvpool.Client("h:1")
        kvpool.StorageNode("h:1", 16 << 20, advertise_host="h")
    gc.collect()
    assert (fake.state.clients, fake.state.nodes) == (0, 0)
