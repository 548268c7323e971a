# SPDX-License-Identifier: Apache-2.0
"""These tests run over the fake library of ../fake, which stands in for libkvpool at its C border."""

import ctypes
import gc
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from torch_stand_in import stand_in_torch

import kvpool
from kvpool import _kvpool
from mooncake.store import MooncakeDistributedStore


class State(ctypes.Structure):
    """fake_state of ../fake/fake.h."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("fail_op", "fail_status", "fail_lines", "submit_status")),
        *((name, ctypes.c_int32) for name in ("create_status", "node_status", "node_failures", "leases")),
        *((name, ctypes.c_int32) for name in ("gate_closed", "not_fenced", "leaderless")),
        *((name, ctypes.c_int32) for name in ("clients", "nodes", "waiting", "batches", "most_batches", "meeting")),
        ("engines", ctypes.c_int32),
        ("sentence", ctypes.c_char * 512),
        ("last_call", ctypes.c_char * 1024),
    ]


PUT, GET, EXISTS, REMOVE = 1, 2, 3, 4
PUT_START, PUT_PARTS, PUT_END, PUT_REVOKE = 8, 9, 10, 11


class Fake:
    def __init__(self) -> None:
        self._library = ctypes.CDLL(_kvpool.library_path)
        if not hasattr(self._library, "fake_reset"):
            pytest.exit("unit tests need the fake library under kvpool: run them through native/python/test", 2)
        self.state = State.in_dll(self._library, "fake")

    def reset(self) -> None:
        self._library.fake_gate(0)
        self._library.fake_reset()

    def fail(self, op: int, status: int, lines: int = 1, sentence: str = "") -> None:
        """The next lines of this operation end with this status."""
        self.state.fail_op, self.state.fail_status, self.state.fail_lines = op, status, lines
        self.state.sentence = sentence.encode()

    def close_gate(self) -> None:
        """From now on calls block."""
        self._library.fake_gate(1)

    def open_gate(self) -> None:
        self._library.fake_gate(0)

    @property
    def last_call(self) -> list[str]:
        return self.state.last_call.decode().split("|")


_fake = Fake()


@pytest.fixture(scope="session", autouse=True)
def only_garbage_of_tests_is_looked_for() -> None:
    """What pytest and the modules hold is left out: each test ends with a collection, which took most of its time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def fake() -> Iterator[Fake]:
    _fake.reset()
    yield _fake
    _fake.reset()
    gc.collect()
    state = _fake.state
    assert (state.clients, state.nodes, state.engines) == (0, 0, 0), "the test left handles of the library behind"


@pytest.fixture
def client(fake: Fake) -> Iterator[kvpool.Client]:
    with kvpool.Client("127.0.0.1:1") as opened:
        yield opened


# A store over the fake library, with memory for values that are not registered.
SETUP = ("10.0.0.5", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", "m:1")


@pytest.fixture
def setup_arguments() -> tuple[object, ...]:
    """What `store` is set up with; a module with other needs has its own."""
    return SETUP


@pytest.fixture
def store(fake: Fake, setup_arguments: tuple[object, ...]) -> Iterator[MooncakeDistributedStore]:
    opened = MooncakeDistributedStore()
    assert opened.setup(*setup_arguments) == 0
    yield opened
    opened.close()


@pytest.fixture
def dummy(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    """A store that goes through an agent."""
    opened = MooncakeDistributedStore()
    assert opened.setup_dummy(0, 64 << 20, "unix:/run/kvpool") == 0
    yield opened
    opened.close()


@pytest.fixture(params=["store", "dummy"])
def either(request: pytest.FixtureRequest) -> MooncakeDistributedStore:
    """`store`, then `dummy`."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """torch is the stand-in."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    yield stand_in_torch()
    sys.modules.pop("torch", None)
