# SPDX-License-Identifier: Apache-2.0
"""Which devices are near which memory: read from a stand-in for /sys, from files, and printed."""

import json
from pathlib import Path

import pytest

from mooncake import transfer_engine_topology_dump
from mooncake.engine import TransferEngine
from mooncake.transfers import topology


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Two NUMA nodes with a device each, and one of which the kernel does not know where it is."""
    for node in (0, 1):
        (tmp_path / f"devices/system/node/node{node}").mkdir(parents=True)
    for name, node in (("mlx5_0", "0\n"), ("mlx5_1", "1\n"), ("mlx5_2", "-1\n"), ("broken", "?")):
        (tmp_path / f"class/infiniband/{name}/device").mkdir(parents=True)
        (tmp_path / f"class/infiniband/{name}/device/numa_node").write_text(node)
    return tmp_path


def test_devices_of_the_node_come_first(system: Path) -> None:
    assert topology.discover(system=system) == {
        "cpu:0": (["mlx5_0"], ["broken", "mlx5_1", "mlx5_2"]),
        "cpu:1": (["mlx5_1"], ["broken", "mlx5_0", "mlx5_2"]),
    }
    assert topology.discover(["mlx5_1", "none"], system) == {"cpu:0": ([], ["mlx5_1"]), "cpu:1": (["mlx5_1"], [])}


def test_a_machine_of_which_nothing_is_known_has_memory(tmp_path: Path) -> None:
    assert topology.discover(system=tmp_path) == {"cpu:0": ([], [])}
    assert json.loads(topology.text({"cpu:0": ([], [])})) == {"cpu:0": [[], []]}
    assert "cpu:0" in json.loads(TransferEngine().get_local_topology())


def test_the_command_prints_what_a_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"cpu:0": [["mlx5_0"], []], "cpu:1": [[], ["mlx5_0"]]}
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(given))
    for arguments in (["--custom-topo-json", str(path)], ["--use-custom-topo", "--backend=tent"]):
        monkeypatch.setenv("MC_CUSTOM_TOPO_JSON", str(path))
        assert transfer_engine_topology_dump.main(arguments) == 0
        head, _, printed = capsys.readouterr().out.partition(": ")
        assert head in (f"Local topology [te/custom ({path})]", f"Local topology [tent/custom ({path})]")
        assert json.loads(printed) == given
    monkeypatch.delenv("MC_CUSTOM_TOPO_JSON")
    assert transfer_engine_topology_dump.main(["--use-custom-topo"]) == 1
    assert "needs MC_CUSTOM_TOPO_JSON" in capsys.readouterr().err
    assert transfer_engine_topology_dump.main(["--device-name=none"]) == 0
    assert capsys.readouterr().out.startswith("Local topology [te/discover]: {")


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b'{"cpu:0": [["mlx5_0"]', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no topology"),
        (b'{"cpu:0": [["mlx5_0"]]}', "no topology"),
        (b'{"cpu:0": [[5], []]}', "no topology"),
        (b" " * (1 << 20) + b"{}", "more than"),
    ],
    ids=["empty", "bytes", "cut off", "deep", "list", "one list", "number", "huge"],
)
def test_what_is_no_topology(tmp_path: Path, content: bytes, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topology.json"
    path.write_bytes(content)
    assert transfer_engine_topology_dump.main([f"--custom-topo-json={path}"]) == 1
    assert wrong in capsys.readouterr().err
