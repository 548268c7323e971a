# SPDX-License-Identifier: Apache-2.0
"""`transfer_engine_topology_dump`: prints which RDMA devices are near which memory of this machine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mooncake.transfers import topology

PROGRAM = "transfer_engine_topology_dump"
_VARIABLE = "MC_CUSTOM_TOPO_JSON"


def main(arguments: Sequence[str] | None = None) -> int:
    """0, 1 when a file of a topology cannot be had, 2 for a wrong command line."""
    parser = argparse.ArgumentParser(
        PROGRAM, description="Prints which RDMA devices are near which memory of this machine, as JSON."
    )
    parser.add_argument("--device-name", default="", help="only these devices, separated by commas (default: all)")
    parser.add_argument(
        "--backend",
        choices=("auto", "te", "tent"),
        default="auto",
        help="named in the output; both print the same here (default: auto, which is te)",
    )
    parser.add_argument(
        "--use-custom-topo", action="store_true", help=f"print the file that the environment variable {_VARIABLE} names"
    )
    parser.add_argument("--custom-topo-json", default=None, help="print this file, after it was checked")
    given = parser.parse_args(arguments)
    path = given.custom_topo_json
    if path is None and given.use_custom_topo:
        path = os.environ.get(_VARIABLE, "")
        if not path:
            print(f"{PROGRAM}: --use-custom-topo needs {_VARIABLE} to name a file", file=sys.stderr)
            return 1
    try:
        found = topology.read(path) if path is not None else topology.discover(_devices(given.device_name))
    except (OSError, topology.BadTopology) as problem:
        print(f"{PROGRAM}: {problem}", file=sys.stderr)
        return 1
    mode = "discover" if path is None else f"custom ({path})"
    backend = "te" if given.backend == "auto" else given.backend
    print(f"Local topology [{backend}/{mode}]: {topology.text(found)}")
    return 0


def _devices(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    sys.exit(main())
