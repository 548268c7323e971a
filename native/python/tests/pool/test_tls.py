# SPDX-License-Identifier: Apache-2.0
"""A pool that requires TLS: engines name a directory of certificates, and nothing else changes for them."""

import os
import random
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import open_store
from local_pool import START_SECONDS, LocalPool
from waiting import eventually

from kvpool import Client, KvpoolError
from kvpool.events import Directory, Subscription
from mooncake.store import MooncakeDistributedStore

COUNT = 400
LEADER_KILLS = 3


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


def some(wire: socket.socket) -> bytes:
    received = wire.recv(65536)
    assert received, "the storage node closed the connection"
    return received


def dial(address: str, tls_dir: Path, *offer: str, seconds: float = 1) -> tuple[str | None, bool]:
    """What a storage node chooses of an offer, and whether it leaves TLS within the time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # names are URIs
    context.load_verify_locations(tls_dir / "ca.crt")
    context.load_cert_chain(tls_dir / "tls.crt", tls_dir / "tls.key")
    context.set_alpn_protocols(list(offer))
    host, port = address.split(":")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(incoming, outgoing)
    with socket.create_connection((host, int(port)), timeout=START_SECONDS) as wire:
        while True:
            try:
                connection.do_handshake()
                break
            except ssl.SSLWantReadError:
                wire.sendall(outgoing.read())
                incoming.write(some(wire))
        wire.sendall(outgoing.read())
        wire.settimeout(seconds)
        try:
            while True:
                try:
                    assert connection.read(1) == b"", "nothing but the end of TLS comes unasked"
                    return connection.selected_alpn_protocol(), True
                except ssl.SSLWantReadError:
                    incoming.write(some(wire))
        except TimeoutError:
            return connection.selected_alpn_protocol(), False


def test_storage_nodes_leave_tls_where_they_are_set_to(secure_pool: LocalPool) -> None:
    pool = LocalPool(tls=True, protocols="tcp", payloads="authenticated")
    assert pool.tls_directory is not None
    assert secure_pool.tls_directory is not None
    tls_dir = str(pool.tls_directory)
    try:
        for node in pool.nodes:
            chosen = dial(node, pool.tls_directory, "kvpool-raw", "kvpool", seconds=START_SECONDS)
            assert chosen == ("kvpool-raw", True)
            assert dial(node, pool.tls_directory, "kvpool") == (None, False)
        for node in secure_pool.nodes:
            assert dial(node, secure_pool.tls_directory, "kvpool-raw", "kvpool") == ("kvpool", False)
        keys = [f"key-{i}" for i in range(COUNT)]
        values = [value_of(key) for key in keys]
        with (
            Client(pool.masters, tls_dir=tls_dir, protocols=("tcp",)) as follower,
            Client(pool.masters, tls_dir=tls_dir, protocols=("tcp",), payloads="encrypted") as strict,
        ):
            follower.put_batch(keys[::2], values[::2])
            strict.put_batch(keys[1::2], values[1::2])
            assert follower.get_batch(keys) == values
            assert strict.get_batch(keys) == values

            # Storage nodes copy what the first one has to the other.
            assert pool.post("/api/v1/drain", node="node-0")[0] < 300
            eventually(lambda: '"drained"' in pool.admin("/api/v1/drains"), "node-0 is drained")
            assert follower.get_batch(keys) == values
            assert strict.get_batch(keys) == values
    finally:
        pool.close()


def issue(*arguments: object) -> None:
    """`kvpool cert`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    subprocess.run([os.environ["KVDEV_BIN"], "cert", *map(str, arguments)], env=environment, check=True)


def directory_of(pool: LocalPool, tls_dir: Path, key_awaited: str, tenant: str = "") -> set[str]:
    """What a new subscriber knows once it knows this key."""
    directory = Directory()
    with Subscription(pool.admin_addresses, tls_dir=str(tls_dir), tenant=tenant, timeout=START_SECONDS) as events:
        for event in events:
            directory.apply(event)
            if directory.exact and key_awaited in directory.objects:
                break
    return {str(key) for key in directory.objects}


def test_a_subscriber_sees_its_own_tenants_objects_whichever_master_leads(tmp_path: Path) -> None:
    pool = LocalPool(masters=2, tls=True, restart=True)
    certificates = pool.tls_directory.parent
    for tenant in ("one", "two"):
        issue("issue", "--ca-dir", certificates / "ca", "--name", f"tenant/{tenant}/rw/a", "--out", tmp_path / tenant)
    directories = {tenant: Directory() for tenant in ("one", "two")}
    lock = threading.Lock()
    subscriptions = {
        tenant: Subscription(pool.admin_addresses, tls_dir=str(tmp_path / tenant), timeout=START_SECONDS)
        for tenant in directories
    }

    def follow(tenant: str) -> None:
        for event in subscriptions[tenant]:
            with lock:
                directories[tenant].apply(event)

    threads = [threading.Thread(target=follow, args=(tenant,)) for tenant in directories]
    clients = {
        tenant: Client(pool.masters, tls_dir=str(tmp_path / tenant), protocols=("tcp",)) for tenant in directories
    }
    try:
        for thread in threads:
            thread.start()
        expected: dict[str, set[str]] = {tenant: set() for tenant in directories}
        for kill in range(LEADER_KILLS):
            for tenant, client in clients.items():
                keys = [f"{kill}/{i}" for i in range(10)] + [f"{kill}/of-{tenant}"]  # all but one are the other's too
                client.put_batch(keys, [b"v"] * len(keys))
                assert client.remove(keys[0], force=True)
                expected[tenant] |= set(keys[1:])
            if kill < LEADER_KILLS - 1:
                pool.kill_and_await_restart(pool.leader())
        for tenant, directory in directories.items():
            with lock:
                others = {f"{kill}/of-{other}" for kill in range(LEADER_KILLS) for other in clients if other != tenant}
                assert not others & set(directory.objects)
            eventually(
                lambda it=directory, want=expected[tenant]: it.exact and set(it.objects) == want, f"{tenant} is exact"
            )
        admin = certificates / "admin"
        for tenant in clients:
            assert directory_of(pool, admin, f"0/of-{tenant}", tenant) == expected[tenant]
        with pytest.raises(KvpoolError, match="answered 403: a certificate of tenant one is good for that tenant only"):
            directory_of(pool, tmp_path / "one", "0/of-two", "two")
    finally:
        for subscription in subscriptions.values():
            subscription.close()
        for thread in threads:
            thread.join()
        for client in clients.values():
            client.close()
        pool.close()
