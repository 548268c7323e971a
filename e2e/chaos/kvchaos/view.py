# SPDX-License-Identifier: Apache-2.0
"""What the masters say about their pool, over HTTP."""

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_SECONDS_MAX = 2.0
_EVICTED = re.compile(r"^kvpool_master_evicted_total (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class PoolView:
    """What one leader sees."""

    leader: str
    epoch: int
    ready_nodes: int
    expected_nodes: int
    transient_nodes: int
    unavailable_objects: int
    under_replicated_objects: int
    over_replicated_objects: int
    objects: int
    used_bytes: int
    capacity_bytes: int

    @property
    def wrong_copies(self) -> str:
        """What is wrong with the number of copies; empty when nothing is."""
        wrong = {"too few": self.under_replicated_objects, "too many": self.over_replicated_objects}
        return " and ".join(f"{count} objects with {what} copies" for what, count in wrong.items() if count)

    @property
    def is_whole(self) -> bool:
        return self.ready_nodes == self.expected_nodes and self.unavailable_objects == 0


class Masters:
    """Asks masters by their admin ports, on this machine and past all links."""

    def __init__(self, admin_ports: Mapping[str, int]) -> None:
        self._ports = dict(admin_ports)
        self.count = len(self._ports)

    def leader(self) -> PoolView | None:
        """None when nobody says that it leads, or more than one does."""
        leaders = [view for view in (self._view(name) for name in self._ports) if view is not None]
        return leaders[0] if len(leaders) == 1 else None

    def ready(self) -> list[str]:
        """Masters that are caught up, leader or standby."""
        return [name for name in self._ports if (self._get(name, "/readyz") or (0, ""))[0] == 200]

    def evicted(self) -> dict[str, int]:
        """Objects evicted in the present life of each master that answers."""
        found = {name: _EVICTED.search((self._get(name, "/metrics") or (0, ""))[1]) for name in self._ports}
        return {name: int(float(match[1])) for name, match in found.items() if match}

    def _view(self, name: str) -> PoolView | None:
        status, text = self._get(name, "/api/v1/pool") or (0, "")
        if status != 200:
            return None
        document = json.loads(text)
        if document["role"] != "leader":
            return None
        nodes = document["nodes"]
        return PoolView(
            name,
            document["epoch"],
            sum(node["state"] == "ready" and not node["transient"] for node in nodes),
            document["expectedNodes"],
            sum(node["transient"] for node in nodes),
            document["unavailableObjects"],
            document["underReplicatedObjects"],
            document["overReplicatedObjects"],
            document["objects"],
            document["usedBytes"],
            document["capacityBytes"],
        )

    def _get(self, name: str, path: str) -> tuple[int, str] | None:
        connection = http.client.HTTPConnection("127.0.0.1", self._ports[name], timeout=_SECONDS_MAX)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
