# SPDX-License-Identifier: Apache-2.0
"""A store that was given a transfer engine takes the memory that is registered there."""

import ctypes
import gc
import weakref
from collections.abc import Iterator

import pytest
from conftest import Fake

import kvpool
from kvpool import Status
from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore

SEVEN = ("10.0.0.5", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", "m:1")


@pytest.fixture
def engine(fake: Fake) -> Iterator[TransferEngine]:
    made = TransferEngine()
    assert made.initialize("h", "P2PHANDSHAKE", "tcp", "") == 0
    yield made
    made.get_engine().engine.close()


@pytest.fixture
def store(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    made = MooncakeDistributedStore()
    yield made
    made.close()


MEMORY = (ctypes.c_char * 64)(*b"hello")
AT = ctypes.addressof(MEMORY)


@pytest.mark.parametrize("form", ["positional", "keyword", "dict"])
def test_before_and_after_setup_by_every_form(
    store: MooncakeDistributedStore, engine: TransferEngine, form: str
) -> None:
    assert engine.register_memory(AT, 32) == 0
    inner = engine.get_engine()
    if form == "positional":
        assert store.setup(*SEVEN, inner) == 0
    elif form == "keyword":
        assert store.setup(*SEVEN, engine=inner) == 0
    else:
        names = ("local_hostname", "metadata_server", "global_segment_size", "local_buffer_size", "protocol")
        config = dict(zip(names, SEVEN, strict=False))
        assert store.setup({**config, "master_server_addr": "m:1", "engine": inner}) == 0
    assert store.batch_put_from_multi_buffers(["k", "l"], [[AT], [AT + 32]], [[5], [5]]) == [0, -600]
    assert engine.batch_register_memory([AT + 32], [32]) == 0
    assert store.batch_get_into_multi_buffers(["k"], [[AT + 32]], [[5]]) == [5]
    assert MEMORY.raw[32:37] == b"hello"
    assert store.put_from("m", AT + 32, 5) == store.put_from("n", AT, 5) == 0
    assert engine.unregister_memory(AT) == 0
    assert store.batch_put_from(["o", "p"], [AT, AT + 32], [5, 5]) == [-600, 0]
    assert engine.batch_unregister_memory([AT + 32]) == 0
    assert store.get_into("k", AT + 32, 9) == -600


def test_a_managed_buffer_is_registered_memory(store: MooncakeDistributedStore, engine: TransferEngine) -> None:
    assert store.setup(*SEVEN, engine=engine.get_engine()) == 0
    buffer = engine.allocate_managed_buffer(4096)
    assert engine.write_bytes_to_buffer(buffer, b"value", 5) == 0
    assert (store.put_from("k", buffer, 5), store.get("k")) == (0, b"value")
    assert engine.free_managed_buffer(buffer, 4096) == 0
    assert store.put_from("l", buffer, 5) == -600


def test_registered_with_both(store: MooncakeDistributedStore, engine: TransferEngine) -> None:
    assert engine.register_memory(AT, 64) == store.setup(*SEVEN, engine=engine.get_engine()) == 0
    assert store.register_buffer(AT, 64) == engine.unregister_memory(AT) == store.put_from("k", AT, 5) == 0
    assert store.unregister_buffer(AT) == 0
    assert store.put_from("l", AT, 5) == -600


def test_a_store_without_the_engine_does_not_know_its_memory(
    store: MooncakeDistributedStore, engine: TransferEngine
) -> None:
    assert engine.register_memory(AT, 64) == store.setup(*SEVEN) == 0
    assert store.put_from("k", AT, 5) == -600


def test_a_store_keeps_its_engine_open_until_it_is_closed(store: MooncakeDistributedStore, fake: Fake) -> None:
    engine = TransferEngine()
    assert engine.initialize("h", "P2PHANDSHAKE", "tcp", "") == engine.register_memory(AT, 64) == 0
    assert store.setup(*SEVEN, engine=engine.get_engine()) == 0
    gone = weakref.ref(engine)
    del engine
    gc.collect()
    assert (gone(), fake.state.engines, store.put_from("k", AT, 5)) == (None, 1, 0)
    store.close()
    gc.collect()
    assert fake.state.engines == 0


def test_the_store_may_be_closed_first_and_set_up_again(
    store: MooncakeDistributedStore, engine: TransferEngine
) -> None:
    assert engine.register_memory(AT, 64) == 0
    for key in ("k", "l"):
        assert store.setup(*SEVEN, engine=engine.get_engine()) == store.put_from(key, AT, 5) == store.close() == 0
    assert engine.unregister_memory(AT) == 0


def test_an_engine_that_is_closed_first_lets_go(store: MooncakeDistributedStore, engine: TransferEngine) -> None:
    assert engine.register_memory(AT, 64) == store.setup(*SEVEN, engine=engine.get_engine()) == 0
    engine.get_engine().engine.close()
    assert store.put_from("k", AT, 5) == -600
    assert store.put("k", b"value") == 0, "the store goes on"


def test_what_is_no_engine_is_refused(
    store: MooncakeDistributedStore, engine: TransferEngine, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    for wrong in (object(), engine, "engine"):
        assert store.setup(*SEVEN, engine=wrong) == -600
    assert (
        "engine is of type TransferEngine, but must be what get_engine() of a mooncake.engine.TransferEngine"
        in caplog.text
    )
    closed = engine.get_engine()
    closed.engine.close()
    assert store.setup(*SEVEN, engine=closed) == -600
    assert "the transfer engine is closed" in caplog.text
    assert fake.state.clients == 0


def test_the_client_beneath(fake: Fake) -> None:
    client, engine = kvpool.Client("h:1"), kvpool.TransferEngine()
    client.use_engine_memory(engine)
    engine.register([AT], [64])
    assert client.put_from(["k"], [AT], [5]) == [Status.OK]
    with pytest.raises(TypeError):
        client._raw.use_engine_memory(client._raw)
    engine.close()
    assert client.put_from(["k"], [AT], [5]) == [Status.NOT_REGISTERED]
    for other in (engine, kvpool.TransferEngine()):
        client.close()
        with pytest.raises(kvpool.CallError):
            client.use_engine_memory(other)
        other.close()
