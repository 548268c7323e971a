# SPDX-License-Identifier: Apache-2.0
"""mooncake.mooncake_config: settings from a file or from the environment."""

import json
from pathlib import Path

import pytest

from mooncake.mooncake_config import MooncakeConfig

REQUIRED = {"local_hostname": "h", "metadata_server": "P2PHANDSHAKE", "master_server_address": "m:1"}


def of_file(path: Path, **values: object) -> MooncakeConfig:
    path.write_text(json.dumps({**REQUIRED, **values}))
    return MooncakeConfig.from_file(str(path))


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mooncake.json"
    assert of_file(path) == MooncakeConfig("h", "P2PHANDSHAKE", 3355443200, 1073741824, "tcp", "", "m:1")
    config = of_file(
        path,
        global_segment_size="1.5gb",
        local_buffer_size=0,
        protocol="rdma",
        device_name=None,
        enable_ssd_offload="Yes",
        ssd_offload_path="/ssd",
        tenant_id=None,
        unknown=1,
    )
    assert config == MooncakeConfig("h", "P2PHANDSHAKE", 3 << 29, 0, "rdma", None, "m:1", True, "/ssd", "default")


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_what_is_missing_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mooncake.json"
    path.write_text(json.dumps({key: value for key, value in REQUIRED.items() if key != name}))
    with pytest.raises(ValueError, match=f"Missing required config field: {name}"):
        MooncakeConfig.from_file(str(path))


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mooncake.json"
    with pytest.raises(ValueError, match=r"global_segment_size is 'much'.*; enable_ssd_offload is 'perhaps'"):
        of_file(path, global_segment_size="much", enable_ssd_offload="perhaps")
    path.write_text("[]")
    with pytest.raises(ValueError, match="no JSON object"):
        MooncakeConfig.from_file(str(path))
    with pytest.raises(FileNotFoundError):
        MooncakeConfig.from_file(str(tmp_path / "none"))


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("MOONCAKE_CONFIG_PATH", raising=False)
    monkeypatch.delenv("MOONCAKE_MASTER", raising=False)
    return monkeypatch


def test_the_environment(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither MOONCAKE_CONFIG_PATH nor MOONCAKE_MASTER"):
        MooncakeConfig.load_from_env()
    environment.setenv("MOONCAKE_MASTER", "m:1")
    assert MooncakeConfig.load_from_env() == MooncakeConfig(
        "localhost", "P2PHANDSHAKE", 3355443200, 1073741824, "tcp", "", "m:1"
    )
    for name, value in {
        "LOCAL_HOSTNAME": "h",
        "TE_META_DATA_SERVER": "s",
        "GLOBAL_SEGMENT_SIZE": "10gb",
        "LOCAL_BUFFER_SIZE": "0",
        "PROTOCOL": "rdma",
        "DEVICE": "mlx5_0",
        "OFFLOAD_ENABLED": "1",
        "OFFLOAD_FILE_STORAGE_PATH": "/ssd",
        "TENANT_ID": "t",
        "ENABLE_CLIENT_HTTP_SERVER": "true",
        "CLIENT_HTTP_PORT": "9301",
    }.items():
        environment.setenv(f"MOONCAKE_{name}", value)
    assert MooncakeConfig.load_from_env() == MooncakeConfig(
        "h", "s", 10 << 30, 0, "rdma", "mlx5_0", "m:1", True, "/ssd", "t", True, 9301
    )
    environment.setenv("MOONCAKE_CLIENT_HTTP_PORT", "a")
    with pytest.raises(ValueError, match="MOONCAKE_CLIENT_HTTP_PORT is 'a', but must be a port"):
        MooncakeConfig.load_from_env()
    environment.setenv("MOONCAKE_CONFIG_PATH", str(tmp_path / "f"))
    assert of_file(tmp_path / "f") == MooncakeConfig.load_from_env(), "a file goes before"
