# SPDX-License-Identifier: Apache-2.0
"""Which RDMA devices are near which memory, as the kernel says it, or as a file does: the topology that the reference prints.

kvpool's transfer engines do not choose a device by it: tcp takes the route of the machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

# Of each kind of memory, "cpu:N": the devices to prefer, and the others.
Topology = dict[str, tuple[list[str], list[str]]]

_SYSTEM = Path("/sys")
_FILE_BYTES_MAX = 1 << 20


class BadTopology(ValueError):
    """The text says what is wrong with a file of a topology."""


def discover(devices: Sequence[str] = (), system: Path = _SYSTEM) -> Topology:
    """The devices of this machine; only those named, when any are. A machine without any has "cpu:0" without devices."""
    nodes = sorted(
        int(match[1])
        for path in system.glob("devices/system/node/node*")
        if (match := re.fullmatch(r"node(\d+)", path.name))
    ) or [0]
    of_device = {
        path.name: _numa_node(path / "device/numa_node")
        for path in sorted(system.glob("class/infiniband/*"))
        if not devices or path.name in devices
    }
    return {
        f"cpu:{node}": (
            [name for name, of in of_device.items() if of == node],
            [name for name, of in of_device.items() if of != node],
        )
        for node in nodes
    }


def read(path: str) -> Topology:
    """A file of the form of text(). Raises BadTopology for what is none, OSError for what cannot be read."""
    with open(path, "rb") as file:
        content = file.read(_FILE_BYTES_MAX + 1)
    if len(content) > _FILE_BYTES_MAX:
        raise BadTopology(f"{path} has more than {_FILE_BYTES_MAX} bytes")
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise BadTopology(f"{path} is no JSON: {problem}") from problem
    if not isinstance(given, Mapping) or not all(map(_is_entry, given.values())):
        raise BadTopology(
            f'{path} is no topology: it must be an object such as {{"cpu:0": [["mlx5_0"], ["mlx5_1"]]}}, with the devices '
            f"to prefer and the others for each kind of memory"
        )
    return {memory: (entry[0], entry[1]) for memory, entry in given.items()}


def text(topology: Topology) -> str:
    """JSON, one kind of memory a line."""
    lines = (f"{json.dumps(memory)}: {json.dumps(list(lists))}" for memory, lists in topology.items())
    return "{\n" + "".join(f"  {line},\n" for line in lines).removesuffix(",\n") + "\n}\n"


def _numa_node(path: Path) -> int:
    """-1, also where the kernel does not know it."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return -1


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(part, list) and all(isinstance(name, str) for name in part) for part in value)
    )
