# SPDX-License-Identifier: Apache-2.0
"""A pool of real processes whose every connection between two of them goes through a link that can break."""

import random
import uuid
from dataclasses import dataclass
from pathlib import Path

from kvchaos.lease_file import LeaseFile
from kvchaos.processes import Spec, Supervisor, plain_environment
from kvchaos.proxy import Link, Proxy
from kvchaos.sockets import free_ports

_HOST = "127.0.0.1"
_CLIENTS = 0  # the first side of the links of clients, and of nodes that copy from each other
_MASTER_JVM = "-Xmx160m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@dataclass(frozen=True)
class Shape:
    """What the pool is made of."""

    masters: int = 2
    nodes: int = 2
    replicas: int = 1
    segment_bytes: int = 32 << 20
    object_lease_seconds: float = 1.0


class Pool:
    """Started by start(), ended by the supervisor and proxy that it is given."""

    def __init__(
        self,
        binary: Path,
        data: Path,
        logs: Path,
        shape: Shape,
        supervisor: Supervisor,
        proxy: Proxy,
        random_: random.Random,
    ) -> None:
        """`data`: an existing directory on tmpfs."""
        self.shape = shape
        self.supervisor = supervisor
        self.proxy = proxy
        self.data = data
        self.logs = logs
        self.lease = LeaseFile(self.data / "lease.json")
        self.masters = [f"master-{k}" for k in range(shape.masters)]
        self.nodes = [f"node-{k}" for k in range(shape.nodes)]
        self._binary = str(binary)
        self._pool_id = str(uuid.UUID(int=random_.getrandbits(128), version=4))
        first = free_ports(2 * (shape.masters + shape.nodes), random_)
        names = self.masters + self.nodes
        self._port = {name: first + i for i, name in enumerate(names)}
        self.admin_port = {name: first + len(names) + i for i, name in enumerate(names)}

    def start(self) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        for node in self.nodes:
            (self.data / node).mkdir(parents=True, exist_ok=True)
        for to in self.masters:
            self._add_link(_CLIENTS, "clients", to)
            for i, node in enumerate(self.nodes):
                self._add_link(1 + i, node, to)
        for to in self.nodes:
            self._add_link(_CLIENTS, "clients", to)
        for name in self.masters:
            self.supervisor.add(self._spec(name, self._master(name), {"JAVA_OPTS": _MASTER_JVM}))
        for i, name in enumerate(self.nodes):
            self.supervisor.add(self._spec(name, self._node(i, name), {}))

    def master_list(self) -> str:
        """For clients: through their links."""
        return self._master_list(_CLIENTS)

    def eviction_log(self, master: str) -> Path:
        """Beside the other logs: the file system of the segments is filled by a fault."""
        return self.logs / f"{master}.evictions"

    def segment(self, node: str) -> Path:
        return self.data / node / "segment-0.kvs"

    def links(self, from_: str | None = None, to: str | None = None) -> list[Link]:
        """Those from and to a process, "clients" for all clients."""
        named = ((link.name.split(" > "), link) for link in self.proxy.links.values())
        return [link for (start, end), link in named if from_ in (None, start) and to in (None, end)]

    def _add_link(self, side: int, from_: str, to: str) -> None:
        self.proxy.add(f"{from_} > {to}", (self._link_host(side, to), self._port[to]), (_HOST, self._port[to]))

    def _link_host(self, side: int, to: str) -> str:
        """A node tells clients its host and its own port, so a link needs the same port on another address."""
        return f"127.0.{10 + side}.{1 + (self.masters + self.nodes).index(to)}"

    def _master_list(self, side: int) -> str:
        return ",".join(f"{self._link_host(side, name)}:{self._port[name]}" for name in self.masters)

    def _master(self, name: str) -> list[str]:
        lease = self.data / "lease.json"
        return [
            *("master", "--pool-id", self._pool_id, "--name", name, "--host", _HOST),
            *("--port", str(self._port[name]), "--admin-port", str(self.admin_port[name])),
            *("--lease", f"file://{lease}", "--expected-nodes", ",".join(self.nodes)),
            *(
                "--replicas",
                str(self.shape.replicas),
                "--object-lease",
                f"{self.shape.object_lease_seconds * 1000:.0f}ms",
            ),
            *("--eviction-log", str(self.eviction_log(name))),
            # Short, so that copies are made anew, and are too many later, within one fault.
            *("--repair-delay", "3s"),
        ]

    def _node(self, i: int, name: str) -> list[str]:
        return [
            *("node", "--pool-id", self._pool_id, "--node-id", name, "--masters", self._master_list(1 + i)),
            *("--host", _HOST, "--port", str(self._port[name]), "--admin-port", str(self.admin_port[name])),
            *("--advertise-host", self._link_host(_CLIENTS, name), "--data-dir", str(self.data / name)),
            *("--segment-size", str(self.shape.segment_bytes)),
        ]

    def _spec(self, name: str, arguments: list[str], more: dict[str, str]) -> Spec:
        return Spec(name, [self._binary, *arguments], self.logs / f"{name}.log", plain_environment() | more)
