# SPDX-License-Identifier: Apache-2.0
"""Tables of embeddings, over the fake library."""

import random
from typing import Any

import numpy
import pytest
from conftest import PUT, Fake

from kvpool import Status
from mooncake.store import EngramStore, EngramStoreConfig, MooncakeDistributedStore


def config_of(*sizes: int, width: int = 4) -> EngramStoreConfig:
    config = EngramStoreConfig()
    config.embedding_dim, config.table_vocab_sizes = width, list(sizes)
    return config


def tables_of(*sizes: int, width: int = 4) -> list[numpy.ndarray]:
    return [
        1000 * head + numpy.arange(size * width, dtype="float32").reshape(size, width)
        for head, size in enumerate(sizes)
    ]


def test_rows_of_all_tables(store: MooncakeDistributedStore) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = numpy.random.default_rng(seed)
    tables = tables_of(3, 50, 7)
    engram = EngramStore(7, config_of(3, 50, 7), store)
    engram.populate([tables[0].astype("float64"), numpy.asfortranarray(tables[1]), tables[2]])
    assert engram.get_store_keys() == ["engram:l7:h0", "engram:l7:h1", "engram:l7:h2"]
    assert (engram.get_num_heads(), engram.get_embedding_dim(), engram.get_table_vocab_sizes()) == (3, 4, [3, 50, 7])
    assert store.get("engram:l7:h2") == tables[2].tobytes()
    ids = numpy.stack([chance.integers(0, size, (5, 6)) for size in (3, 50, 7)], axis=-1)
    for given in (ids, ids.tolist(), ids.astype("int32"), ids.astype("float64")):
        found = engram.lookup(given)
        assert (found.dtype, found.shape) == (numpy.float32, (5, 6, 3, 4))
        for head in range(3):
            assert (found[:, :, head] == tables[head][ids[:, :, head]]).all()
    assert EngramStore(7, config_of(3, 50, 7), store).remove_from_store(force=True) == 3
    assert engram.remove_from_store() == 0
    with pytest.raises(RuntimeError, match="were not read: -704"):
        engram.lookup(ids)


def test_only_the_rows_that_are_wanted_are_read(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    engram = EngramStore(1, config_of(100, 200), store)
    engram.populate(tables_of(100, 200))
    asked: list[Any] = []
    ranges = store.get_into_ranges
    monkeypatch.setattr(store, "get_into_ranges", lambda *lists: asked.append(lists[2:]) or ranges(*lists))
    engram.lookup([[[99, 0], [5, 199]]])
    assert asked == [([[[0, 32], [16, 48]]], [[[1584, 80], [0, 3184]]], [[[16, 16], [16, 16]]])]


def test_of_two_that_populate_one_does(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes when the first has seen that there is nothing."""
    first, second = EngramStore(1, config_of(2, 3), store), EngramStore(1, config_of(2, 3), store)
    others = [table + 1 for table in tables_of(2, 3)]
    exist = store.batch_is_exist
    told: list[str] = []

    def exist_and_second_comes(keys: list[str]) -> list[int]:
        found = exist(keys)
        monkeypatch.setattr(store, "batch_is_exist", exist)
        try:
            second.populate(others)
        except RuntimeError as problem:
            told.append(str(problem))
        return found

    for put_h1_fails in (True, False):
        told.clear()
        monkeypatch.setattr(store, "batch_is_exist", exist_and_second_comes)
        with monkeypatch.context() as of_first:
            if put_h1_fails:
                put = store.put
                of_first.setattr(
                    store, "put", lambda key, *value, put=put: put(key, *value) if key[-1] != "1" else -200
                )
                with pytest.raises(RuntimeError, match="'engram:l1:h1' was not stored"):
                    first.populate(tables_of(2, 3))
            else:
                first.populate(tables_of(2, 3))
        assert len(told) == 1 and "another populates the layer" in told[0]
    assert [store.get(key) for key in first.get_store_keys()] == [table.tobytes() for table in tables_of(2, 3)]
    assert first.remove_from_store() == 2
    assert store.remove_all() == 0, "no claim stays"


def test_a_claim_that_was_left_and_one_that_was_lost(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    engram = EngramStore(1, config_of(2, 3), store)
    assert store.put("engram:l1:claim", b"of a process that ended") == 0
    with pytest.raises(RuntimeError, match=r"'engram:l1:claim'.*remove_from_store"):
        engram.populate(tables_of(2, 3))
    assert engram.remove_from_store() == 0
    put = store.put

    def put_and_lose(key: str, *value: Any) -> int:
        if key == "engram:l1:h1":
            store.remove("engram:l1:claim", True)
            put("engram:l1:claim", b"of another")
        return put(key, *value)

    monkeypatch.setattr(store, "put", put_and_lose)
    with pytest.raises(RuntimeError, match=r"'engram:l1:claim' was lost.*remove_from_store"):
        engram.populate(tables_of(2, 3))
    assert store.get("engram:l1:claim") == b"of another"
    monkeypatch.setattr(store, "put", put)
    assert engram.remove_from_store() == 2
    engram.populate(tables_of(2, 3))
    assert engram.remove_from_store() == 2


def test_what_is_there_stays(store: MooncakeDistributedStore, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    engram = EngramStore(1, config_of(2, 3), store)
    engram.populate(tables_of(2, 3))
    with pytest.raises(RuntimeError, match="remove_from_store"):
        engram.populate(tables_of(2, 3))
    assert store.get("engram:l1:h1") == tables_of(2, 3)[1].tobytes()
    fake.fail(PUT, Status.NO_SPACE)
    with pytest.raises(RuntimeError, match=r"'engram:l2:claim' was not stored: -200"):
        EngramStore(2, config_of(2, 3), store).populate(tables_of(2, 3))
    put = store.put
    monkeypatch.setattr(store, "put", lambda key, *value: -200 if key == "engram:l2:h1" else put(key, *value))
    with pytest.raises(RuntimeError, match=r"'engram:l2:h1' was not stored: -200"):
        EngramStore(2, config_of(2, 3), store).populate(tables_of(2, 3))
    assert store.batch_is_exist(["engram:l2:h0", "engram:l2:h1", "engram:l2:claim", "engram:l1:claim"]) == [0] * 4
    fake.fail(PUT, Status.OK, lines=0)
    fake.state.leases = 1
    engram.lookup([[[0, 0]]])
    with pytest.raises(RuntimeError, match="2 of 2 tables were not removed: -706"):
        engram.remove_from_store()


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        *(
            ([[0, 0]], "shape"),
            ([[[0]]], "shape"),
            (numpy.zeros((0, 1, 2)), "shape"),
            ([[["a", "b"]]], "."),
            (None, "shape"),
        ),
        *(([[[2, 0]]], "numbers of rows"), ([[[0, -1]]], "numbers of rows"), ([[[0.5, 0]]], "numbers of rows")),
        ([[[float("inf"), 0]]], "numbers of rows"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_row_ids_that_are_none(store: MooncakeDistributedStore, ids: Any, problem: str) -> None:
    engram = EngramStore(1, config_of(2, 3), store)
    engram.populate(tables_of(2, 3))
    with pytest.raises((RuntimeError, ValueError), match=problem):
        engram.lookup(ids)


def test_what_cannot_be(store: MooncakeDistributedStore) -> None:
    default = EngramStoreConfig()
    assert (default.embedding_dim, default.table_vocab_sizes) == (64, [1024])
    for wrong in (config_of(), config_of(0), config_of(2, -1), config_of(2, width=0)):
        with pytest.raises(ValueError, match="must be positive"):
            EngramStore(1, wrong)
    for name, value in (("embedding_dim", "4"), ("table_vocab_sizes", "4"), ("table_vocab_sizes", 4)):
        with pytest.raises(TypeError):
            setattr(default, name, value)
    with pytest.raises(RuntimeError, match="int is no store"):
        EngramStore(1, default, 5)
    without = EngramStore(1, config_of(2))
    for call in (lambda: without.lookup([[[0]]]), lambda: without.populate(tables_of(2)), without.remove_from_store):
        with pytest.raises(RuntimeError, match="needs a store"):
            call()
    engram = EngramStore(1, config_of(2), store)
    for tables in (
        [],
        tables_of(3),
        tables_of(2)[0].tolist(),
        [tables_of(2)[0].tolist()],
        [numpy.array([["a"] * 4] * 2)],
    ):
        with pytest.raises(RuntimeError, match=r"table"):
            engram.populate(tables)
    assert store.remove_all() == 0
