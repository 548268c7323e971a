# SPDX-License-Identifier: Apache-2.0
"""Kills the first process of a container with SIGKILL, from a pod that sees the node's processes (hostPID).

A signal from inside the container does not do: the kernel keeps KILL away from the first process of a process namespace
when it comes from within. Used by the scenarios and by the demo; takes the container's id.
"""

import os
import pathlib
import signal
import sys


def first_process(container_id: str) -> int:
    """Returns the node's number of the process that is number 1 in the container."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if container_id not in (process / "cgroup").read_text():
                continue
            status = (process / "status").read_text()
        except OSError:
            continue  # It ended while we looked.
        numbers = next(line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
        if len(numbers) > 1 and numbers[-1] == "1":
            return int(process.name)
    sys.exit(f"no process of the container {container_id} on this node")


if __name__ == "__main__":
    if len(sys.argv) != 2 or len(sys.argv[1]) < 32:
        sys.exit("usage: kill_container.py CONTAINER_ID, without the runtime's prefix")
    victim = first_process(sys.argv[1])
    os.kill(victim, signal.SIGKILL)
    print(f"killed process {victim}")
