# SPDX-License-Identifier: Apache-2.0
"""The kinds of faults there are."""

from collections.abc import Callable
from dataclasses import dataclass

from kvchaos import connection_faults, process_faults, surrounding_faults
from kvchaos.stage import Stage


@dataclass(frozen=True)
class Kind:
    """A kind of fault. hides: a storage node may be out of the leader's sight from its begin until the pool is whole."""

    name: str
    strike: Callable[[Stage], None]
    hides: bool = False
    needs_mount: bool = False
    needs_compiler: bool = False
    needs_standby: bool = False


KINDS = (
    Kind("kill leader", process_faults.kill_leader, needs_standby=True),
    Kind("kill standby", process_faults.kill_standby, needs_standby=True),
    Kind("kill all masters", process_faults.kill_all_masters),
    Kind("terminate leader", process_faults.terminate_leader, needs_standby=True),
    Kind("terminate standby", process_faults.terminate_standby, needs_standby=True),
    Kind("freeze leader", process_faults.freeze_leader),
    Kind("freeze standby", process_faults.freeze_standby, needs_standby=True),
    Kind("kill node", process_faults.kill_node, hides=True),
    Kind("kill all nodes", process_faults.kill_all_nodes, hides=True),
    Kind("keep node down", process_faults.keep_node_down, hides=True),
    Kind("terminate node", process_faults.terminate_node, hides=True),
    Kind("freeze node", process_faults.freeze_node, hides=True),
    Kind("kill node and leader", process_faults.kill_node_and_leader, hides=True),
    Kind("set clock off", process_faults.set_clock_off, hides=True, needs_compiler=True),
    Kind("truncate segment", process_faults.truncate_segment, hides=True),
    Kind("reset connections", connection_faults.reset_connections, hides=True),
    Kind("cut in frames", connection_faults.cut_in_frames, hides=True),
    Kind("refuse connections", connection_faults.refuse_link, hides=True),
    Kind("delay connections", connection_faults.delay_links, hides=True),
    Kind("slow connections", connection_faults.slow_links_to_nodes),
    Kind("part node from masters", connection_faults.part_node_from_masters, hides=True),
    Kind("part leader from nodes", connection_faults.part_leader_from_nodes, hides=True),
    Kind("part clients from leader", connection_faults.part_clients_from_leader),
    Kind("delete Lease", surrounding_faults.delete_lease),
    Kind("steal Lease", surrounding_faults.steal_lease),
    Kind("freeze client", surrounding_faults.freeze_client),
    Kind("kill client", surrounding_faults.kill_client),
    Kind("transient node", surrounding_faults.transient_node),
    Kind("fill file system", surrounding_faults.fill_file_system, hides=True, needs_mount=True),
)

NAMES = [kind.name for kind in KINDS]


def possible(stage: Stage, names: list[str] | None = None) -> list[Kind]:
    """Kinds that can be had here, of those named."""
    return [
        kind
        for kind in KINDS
        if (names is None or kind.name in names)
        and (stage.mounted or not kind.needs_mount)
        and (stage.clock_library is not None or not kind.needs_compiler)
        and (len(stage.pool.masters) > 1 or not kind.needs_standby)
    ]
