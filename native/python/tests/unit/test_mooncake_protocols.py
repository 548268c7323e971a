# SPDX-License-Identifier: Apache-2.0
"""KVPOOL_PROTOCOL_OVERRIDE: engines that ask for what this build does not have run over tcp on purpose."""

import logging

import pytest
from conftest import Fake

import mooncake.engine
import mooncake.store
from mooncake.configuration.engine_settings import read_engine_settings
from mooncake.configuration.protocols import OverrideLog, read_override
from mooncake.configuration.settings import BadSettings, read_settings
from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore

BASE = {"local_hostname": "h", "metadata_server": "P2PHANDSHAKE", "master_server_addr": "m:1"}
OVERRIDE = {"KVPOOL_PROTOCOL_OVERRIDE": "tcp"}


@pytest.mark.parametrize(
    ("protocol", "instead_of"), [("ascend", "ascend"), ("rdma", "rdma"), ("tcp", None), ("", None), ("shm", None)]
)
def test_a_store_takes_the_protocol_of_the_environment(protocol: str, instead_of: str | None) -> None:
    assert read_settings({**BASE, "protocol": protocol}, OVERRIDE).instead_of == instead_of


@pytest.mark.parametrize(
    ("environment", "protocols", "instead_of"),
    [
        ({}, ("ascend",), None),
        ({"KVPOOL_PROTOCOLS": "shm,tcp"}, ("ascend",), None),
        ({"KVPOOL_PROTOCOLS": "shm,ascend,tcp"}, ("shm", "ascend", "tcp"), None),
        ({"KVPOOL_PROTOCOLS": "shm,ascend,tcp", **OVERRIDE}, ("shm", "ascend", "tcp"), None),
        ({"KVPOOL_PROTOCOLS": "tcp", **OVERRIDE}, ("tcp",), "ascend"),
    ],
)
def test_a_store_that_asks_for_ascend(
    environment: dict[str, str], protocols: tuple[str, ...], instead_of: str | None
) -> None:
    settings = read_settings({**BASE, "protocol": "ascend"}, environment)
    assert (settings.client.protocols, settings.instead_of) == (protocols, instead_of)


@pytest.mark.parametrize(
    ("protocol", "used", "instead_of"),
    [
        ("ascend", ("tcp",), "ascend"),
        ("rdma,efa", ("tcp",), "rdma,efa"),
        ("rdma,tcp", ("rdma", "tcp"), None),
        ("tcp", ("tcp",), None),
        ("", ("tcp",), None),
    ],
)
def test_a_transfer_engine_does_too(protocol: str, used: tuple[str, ...], instead_of: str | None) -> None:
    settings = read_engine_settings("h", "P2PHANDSHAKE", protocol, "", OVERRIDE)
    assert (settings.protocols, settings.instead_of) == (used, instead_of)


def test_a_transfer_engine_beside_a_pool_on_npus_uses_them() -> None:
    for protocols, used in (
        ("ascend,tcp", ("ascend", "tcp")),
        ("ascend", ("ascend",)),
        ("shm,tcp", ("tcp",)),
    ):
        settings = read_engine_settings("h", "P2PHANDSHAKE", "ascend", "", {**OVERRIDE, "KVPOOL_PROTOCOLS": protocols})
        assert settings.protocols == used
    settings = read_engine_settings("h", "P2PHANDSHAKE", "rdma", "", {**OVERRIDE, "KVPOOL_PROTOCOLS": "ascend,tcp"})
    assert (settings.protocols, settings.instead_of) == (("tcp",), "rdma")


@pytest.mark.parametrize("protocol", ["ascend", "tcp"])
@pytest.mark.parametrize("text", ["TCP", "shm", "rdma", " tcp", "tcp,rdma", "on"])
def test_what_is_no_override_is_a_problem_whatever_is_asked_for(text: str, protocol: str) -> None:
    for read in (
        lambda environment: read_settings({**BASE, "protocol": protocol}, environment),
        lambda environment: read_engine_settings("h", "P2PHANDSHAKE", protocol, "", environment),
    ):
        with pytest.raises(BadSettings) as caught:
            read({"KVPOOL_PROTOCOL_OVERRIDE": text})
        (problem,) = caught.value.problems
        assert f"KVPOOL_PROTOCOL_OVERRIDE is {text!r}, but may only be tcp, or not set" in problem


def test_an_empty_variable_is_none() -> None:
    assert read_override({"KVPOOL_PROTOCOL_OVERRIDE": ""}) is None
    assert read_override({}) is None


def test_what_is_not_here_is_refused_with_what_there_is_and_the_remedy(
    fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    assert TransferEngine().initialize("h", "P2PHANDSHAKE", "ascend", "") == -1
    assert MooncakeDistributedStore().setup({**BASE, "protocol": "rdma"}) == -600
    for_engine, for_store = caplog.messages
    assert "Transfer engines of this build of kvpool have ascend, where CANN and an NPU are, and tcp" in for_engine
    assert (
        "protocol is 'rdma', but this build of kvpool has tcp, ascend and, on one machine, shared memory" in for_store
    )
    for line in (for_engine, for_store):
        assert 'set it to "tcp"' in line and "KVPOOL_PROTOCOL_OVERRIDE=tcp" in line


def test_engine_and_store_run_over_tcp_and_say_so_once(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = OverrideLog()
    monkeypatch.setattr(mooncake.engine, "override_log", log)
    monkeypatch.setattr(mooncake.store, "override_log", log)
    monkeypatch.setenv("KVPOOL_PROTOCOL_OVERRIDE", "tcp")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            engine, store = TransferEngine(), MooncakeDistributedStore()
            assert engine.initialize("h", "P2PHANDSHAKE", "ascend", "") == 0
            assert store.setup({**BASE, "protocol": "ascend"}) == 0
            store.close()
    (line,) = caplog.messages
    assert line.startswith(
        "protocol 'ascend' is asked for, and tcp is used on purpose, as KVPOOL_PROTOCOL_OVERRIDE=tcp"
    )


def test_the_environment_of_a_dummy_is_not_asked_for_a_protocol(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOL_OVERRIDE", "tcp")
    store = MooncakeDistributedStore()
    assert store.setup_dummy(0, 0, "/run/kvpool") == 0
    assert caplog.text == ""
    store.close()
