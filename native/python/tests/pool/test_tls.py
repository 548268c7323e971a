# SPDX-License-Identifier: Apache-2.0
"""A pool that requires TLS: engines name a directory of certificates, and nothing else changes for them."""

import random
from collections.abc import Iterator

import pytest
from conftest import open_store
from local_pool import LocalPool

from mooncake.store import MooncakeDistributedStore

COUNT = 400


@pytest.fixture(scope="module")
def secure_pool() -> Iterator[LocalPool]:
    pool = LocalPool(masters=2, tls=True)
    yield pool
    pool.close()


def value_of(key: str) -> bytes:
    return random.Random(key).randbytes(random.Random(key).randrange(20_000))


@pytest.mark.usefixtures("impatient")
def test_without_a_certificate_there_is_no_pool(secure_pool: LocalPool) -> None:
    store = MooncakeDistributedStore()
    assert store.setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", secure_pool.masters) != 0


def test_nothing_is_lost_with_the_leader(secure_pool: LocalPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPOOL_TLS_DIR", str(secure_pool.tls_directory))
    store = open_store(secure_pool)
    keys = [f"tls/{i}" for i in range(COUNT)]
    assert store.put_batch(keys, [value_of(key) for key in keys]) == 0
    secure_pool.kill(secure_pool.leader())
    assert store.put("after", b"v") == 0, "a put waits for the next leader"
    assert store.get_batch(keys) == [value_of(key) for key in keys]
    assert store.get("after") == b"v"
    store.close()
