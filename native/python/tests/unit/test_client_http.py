# SPDX-License-Identifier: Apache-2.0
"""setup(enable_client_http_server=True): health and counters of a store by HTTP."""

import contextlib
import logging
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from conftest import Fake

from mooncake.connection.client_http import ClientHttp
from mooncake.store import MooncakeDistributedStore

SETTINGS = {
    "local_hostname": "h",
    "metadata_server": "P2PHANDSHAKE",
    "global_segment_size": 0,
    "master_server_addr": "m:1",
    "enable_client_http_server": "true",
}


def ask(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


@pytest.fixture
def store(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    opened = MooncakeDistributedStore()
    assert opened.setup({**SETTINGS, "client_http_port": 0}) == 0
    yield opened
    opened.close()


def port_of(store: MooncakeDistributedStore) -> int:
    pool = store._pool
    assert pool is not None
    assert pool.http is not None
    return pool.http.port


def test_health_follows_the_leader(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert ask(port_of(store), "/health") == (200, "OK\n")
    fake.state.leaderless = 1
    status, body = ask(port_of(store), "/health")
    assert status == 503
    assert "no leader is connected" in body


def test_counters_are_served_by_our_names_and_the_references(store: MooncakeDistributedStore) -> None:
    status, body = ask(port_of(store), "/metrics?x=1")
    assert status == 200
    for line in ("kvpool_client_puts_total 0", "kvpool_client_leader_known 1", "mooncake_transfer_read_bytes 0"):
        assert f"\n{line}\n" in f"\n{body}"
    assert ask(port_of(store), "/metrics/summary")[0] == 200
    assert ask(port_of(store), "/nothing")[0] == 404


def test_durations_are_served_as_the_reference_names_them(store: MooncakeDistributedStore) -> None:
    lines = ask(port_of(store), "/metrics")[1].splitlines()
    put = "mooncake_transfer_batch_put_latency"
    for line in (
        f'{put}_bucket{{le="100"}} 2',
        f'{put}_bucket{{le="1000"}} 3',
        f'{put}_bucket{{le="1000000"}} 3',
        f'{put}_bucket{{le="+Inf"}} 7',
        f"{put}_sum 1200",
        f"{put}_count 7",
        'mooncake_transfer_get_latency_bucket{le="100"} 3',
        "mooncake_transfer_get_latency_sum 70",
        "mooncake_transfer_put_latency_count 0",
        'mooncake_client_rpc_count{rpc_name="BatchGetReplicaList"} 7',
        'mooncake_client_rpc_count{rpc_name="BatchPutStart"} 0',
        'mooncake_client_rpc_latency_bucket{rpc_name="BatchGetReplicaList",le="10000"} 6',
        'mooncake_client_rpc_latency_sum{rpc_name="BatchGetReplicaList"} 16000',
        'mooncake_client_rpc_latency_count{rpc_name="BatchGetReplicaList"} 7',
    ):
        assert line in lines
    assert not [line for line in lines if line.startswith("mooncake_client_rpc_latency") and 'le="1000"' in line], (
        "too fine"
    )


def test_it_ends_with_the_store(store: MooncakeDistributedStore) -> None:
    port = port_of(store)
    store.close()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def handlers() -> int:
    return len([it for it in threading.enumerate() if "process_request_thread" in it.name])


def test_connections_that_say_nothing_keep_no_probe_out(store: MooncakeDistributedStore) -> None:
    with contextlib.ExitStack() as silent:
        for _ in range(40):
            silent.enter_context(socket.create_connection(("127.0.0.1", port_of(store))))
        assert ask(port_of(store), "/health") == (200, "OK\n")
        end = time.monotonic() + 10  # a connection that gave way ends its thread a moment later
        while handlers() > 16 and time.monotonic() < end:
            time.sleep(0.01)
        assert handlers() <= 16


def test_a_port_that_is_taken_is_said_and_the_store_works(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    first = ClientHttp(0, dict, dict, logging.getLogger("test"))
    second = MooncakeDistributedStore()
    assert second.setup({**SETTINGS, "client_http_port": str(first.port)}) == 0
    assert f"client_http_port {first.port} cannot be listened on" in caplog.text
    assert "a client_http_port of its own" in caplog.text
    assert second.health_check() == 0
    second.close()
    first.close()


def test_without_asking_nothing_is_served(fake: Fake) -> None:
    quiet = MooncakeDistributedStore()
    assert quiet.setup({**SETTINGS, "enable_client_http_server": False}) == 0
    assert quiet._pool is not None
    assert quiet._pool.http is None
    quiet.close()
