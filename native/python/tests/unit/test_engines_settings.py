# SPDX-License-Identifier: Apache-2.0
"""kvpool_engines.settings: what a plugin's configuration may say."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from kvpool_engines.settings import Settings, WrongSettings, read_settings

MASTERS = {"masters": "m0:50051,m1:50051"}


def test_masters_are_all_that_is_needed() -> None:
    assert read_settings(MASTERS, {}, "here") == Settings("m0:50051,m1:50051")


def test_a_pools_config_map_is_enough() -> None:
    of_the_pool = {
        "MOONCAKE_MASTER": "m0:50051",
        "KVPOOL_PROTOCOLS": "tcp",
        "KVPOOL_CONNECT_TIMEOUT": "1s",
        "KVPOOL_TRANSFER_TIMEOUT": "2s",
        "KVPOOL_IDLE_TIMEOUT": "3m",
        "KVPOOL_TLS_DIR": "/tls",
        "KVPOOL_PAYLOADS": "encrypted",
    }
    times: dict[str, Any] = {
        "connect_timeout": 1.0,
        "transfer_timeout": 2.0,
        "idle_timeout": 180.0,
        "tls_dir": "/tls",
        "payloads": "encrypted",
    }

    assert read_settings({}, of_the_pool, "here") == Settings("m0:50051", ("tcp",), **times)
    given = {**MASTERS, "protocols": "shm", "idle_timeout": "5s"}
    assert read_settings(given, of_the_pool, "here") == Settings(
        MASTERS["masters"], ("shm",), **{**times, "idle_timeout": 5.0}
    )


def test_everything_can_be_said() -> None:
    given = {
        "masters": ["m0:1", "m1:2"],
        "protocols": ["ucx", "tcp"],
        "namespace": "team-a/",
        "replicas": 2,
        "start_timeout": "1m",
        "lookup_timeout": "50ms",
        "load_timeout": "2s",
        "store_timeout": "3s",
        "module_path": "of the engine",
    }

    settings = read_settings(given, {}, "here", others={"module_path"})

    assert settings == Settings("m0:1,m1:2", ("ucx", "tcp"), "team-a/", 2, 60.0, 0.05, 2.0, 3.0)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {},
            "masters is missing: name all masters of the pool, for example .* or set environment variable MOONCAKE_MASTER",
        ),
        ({"masters": "m0"}, "masters is 'm0': 'm0' is no HOST:PORT"),
        ({"masters": ""}, "masters is '': '' is no HOST:PORT"),
        ({"masters": []}, "masters is \\[\\]: name at least one master"),
        ({"masters": 7}, "masters is 7: write 'HOST:PORT,HOST:PORT' or a list"),
        ({**MASTERS, "protocols": "rdma"}, "protocols is 'rdma': write one or more of shm, ascend, ucx, tcp"),
        ({**MASTERS, "lookup_timeout": 5}, "lookup_timeout is 5: write a whole number with a unit ms, s or m"),
        ({**MASTERS, "load_timeout": "0s"}, "load_timeout is '0s': write"),
        ({**MASTERS, "replicas": True}, "replicas is True: write a number from 0"),
        ({**MASTERS, "replicas": 17}, "replicas is 17: write a number from 0"),
        ({**MASTERS, "namespace": "x" * 257}, "namespace is .*: write a text of at most 256 bytes"),
        ({**MASTERS, "lookup_timeot": "1s"}, "lookup_timeot is no setting: write lookup_timeout"),
        ({**MASTERS, "xyz": 1}, "xyz is no setting: there are masters, protocols"),
        (
            {"master": "m0:1", "replicas": -1},
            "master is no setting: write masters; replicas is -1: .*; masters is missing",
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(given: dict, expected: str) -> None:
    with pytest.raises(WrongSettings, match=f"^here: {expected}"):
        read_settings(given, {}, "here")


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(WrongSettings, match="environment variable KVPOOL_PROTOCOLS is 'rdma': write"):
        read_settings(MASTERS, {"KVPOOL_PROTOCOLS": "rdma"}, "here")


def test_the_page_has_every_setting() -> None:
    page = (Path(__file__).parents[4] / "docs/engines/plugins.md").read_text(encoding="utf-8")
    assert [field.name for field in fields(Settings) if f"| `{field.name}` |" not in page] == []
