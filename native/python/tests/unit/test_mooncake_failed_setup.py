# SPDX-License-Identifier: Apache-2.0
"""A setup() that failed: an engine that does not look at its result (LMCache) goes on with the store all the same."""

import logging

import pytest
from conftest import Fake

from kvpool import Status
from mooncake.answers.error_code import ErrorCode
from mooncake.answers.failure_log import FailureLog
from mooncake.answers.setup_failure import sentence
from mooncake.store import MooncakeDistributedStore

CONFIG = {"local_hostname": "h", "metadata_server": "P2PHANDSHAKE", "master_server_address": "m0:50051"}


@pytest.fixture
def store(fake: Fake, caplog: pytest.LogCaptureFixture) -> MooncakeDistributedStore:
    """One whose setup() has failed."""
    fake.state.create_status, fake.state.sentence = Status.CONNECT_FAILED, b"m0:50051: connection refused"
    made = MooncakeDistributedStore()
    assert made.setup(CONFIG) == -900
    fake.state.create_status = 0
    return made


def test_the_error_has_cause_consequence_and_remedy(
    store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture
) -> None:
    (record,) = caplog.get_records("setup")
    assert record.levelno == logging.ERROR
    for part in (
        "setup failed with -900 RPC_FAIL: masters m0:50051: m0:50051: connection refused",
        "RUNS WITHOUT THE KV CACHE POOL",
        'Remedy: check that these are the pool\'s masters (argument "master_server_addr", key "master_server_address"',
    ):
        assert part in record.getMessage()


def test_each_failure_is_told_even_if_the_last_one_was_just_now(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    fake.state.create_status = Status.TIMEOUT
    store = MooncakeDistributedStore()
    assert [store.setup(CONFIG) for _ in range(3)] == [-901] * 3
    assert caplog.text.count("no leader that serves") == 3


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_sentence(code: ErrorCode) -> None:
    text = sentence("setup", code, "reason")
    assert f"{int(code)} {code.name}: reason" in text and "Remedy: " in text


def test_each_later_call_fails_for_each_key(store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture) -> None:
    """With codes and shapes that make LMCache 0.5.6 report each chunk: "Buffer registration failed: error=-600",
    "batch_get_into failed for key ... (code=-600)", "Buffer 0 is None for key ..."."""
    caplog.clear()
    assert store.register_buffer(1, 1) == store.unregister_buffer(1) == -600
    assert (store.is_exist("k"), store.batch_is_exist(["k", "l"])) == (-600, [-600, -600])
    assert store.batch_get_into(["k", "l"], [1, 1], [1, 1]) == [-600, -600]
    assert store.batch_get_buffer(["k", "l"]) == [None, None]
    assert store.put_parts("k", b"1", b"2") == store.put_from("k", 1, 1) == -600
    assert store.batch_put_from(["k", "l"], [1, 1], [1, 1]) == [-600, -600]
    assert (store.get_hostname(), store.health_check(), store.close()) == ("", 1, 0)
    (line,) = caplog.messages
    assert line == (
        "register_buffer: the store is not set up: -600 INVALID_PARAMS: setup failed with -900 RPC_FAIL: masters "
        "m0:50051: m0:50051: connection refused (CONNECT_FAILED)"
    )


def test_all_methods_share_a_line_each_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = FailureLog(logging.getLogger("test"), lambda: now, quiet_seconds=10.0, by_method=False)
    for now in (0.0, 5.0, 9.9, 10.0, 10.1):
        log.write("is_exist" if now < 8 else "put_from", -600, "no pool", "reason")
    assert caplog.messages == [
        "is_exist: no pool: -600 INVALID_PARAMS: reason",
        "put_from: no pool: -600 INVALID_PARAMS: reason (2 more of these in between)",
    ]


def test_a_later_setup_ends_it(store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture) -> None:
    assert store.setup(CONFIG) == store.put("k", b"v") == 0
    store.close()
    caplog.clear()
    assert store.put("k", b"v") == -600
    assert caplog.messages == ["put: the store is not set up: -600 INVALID_PARAMS: it is closed"]


def test_a_wrong_argument_is_such_a_failure_too(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    store = MooncakeDistributedStore()
    assert store.setup({**CONFIG, "protocol": "rdma", "global_segment_size": "many"}) == -600
    (record,) = caplog.records
    assert "global_segment_size is 'many'" in record.getMessage() and "protocol is 'rdma'" in record.getMessage()
    assert store.is_exist("k") == -600
    assert "protocol is 'rdma'" in caplog.messages[1]
