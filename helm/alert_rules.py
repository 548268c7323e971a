# SPDX-License-Identifier: Apache-2.0
"""The chart's alerts, evaluated by promtool on made-up series: what each fires on, when and with which words.

Series are of a pool `demo` in namespace `team` with two masters and two storage nodes, scraped once a minute for three hours.
"""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

MINUTES = 180
FAILS_AT = 10
OUTPUT_CHARS_MAX = 10_000
POOL = {"namespace": "team", "kvpool_dev_pool": "demo"}
OPERATOR = {"namespace": "kvpool-system", "controller_name": "kvcachepool"}
LEADER = "demo-master-0"
STANDBY = "demo-master-1"
NODE = "demo-a-0"


def series(name, pod, **labels):
    pairs = {**POOL, "pod": pod, **labels}
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in pairs.items()) + "}"


def always(value):
    return f"{value}+0x{MINUTES}"


def then(before, after, at=FAILS_AT):
    """One value, and from a minute on another one."""
    return f"{before}+0x{at - 1} {after}+0x{MINUTES - at}"


def grows(by, at=FAILS_AT):
    """A counter that begins to grow."""
    return f"0+0x{at - 1} 0+{by}x{MINUTES - at}"


def gone(values):
    """A series that stood still, and whose process has ended."""
    return f"{values.split('+')[0]}+0x{FAILS_AT - 1} stale"


def of_master(pod, leads):
    """What a healthy master exports; a standby may be late, so what it says of nodes and objects is of no interest."""
    late = 0 if leads else 1
    return {
        series("kvpool_master_leader", pod): always(int(leads)),
        series("kvpool_master_ready", pod): always(1),
        series("kvpool_master_takeovers_total", pod): always(int(leads)),
        series("kvpool_master_nodes_expected", pod): always(2),
        series("kvpool_master_nodes_ready", pod): always(2 - late),
        series("kvpool_master_nodes_set_apart", pod): always(0),
        series("kvpool_master_index_bytes", pod): always(800),
        series("kvpool_master_index_max_bytes", pod): always(1000),
        series("kvpool_master_objects_unavailable", pod): always(late),
        series("kvpool_master_objects_under_replicated", pod): always(late),
        series("kvpool_master_drains_active", pod): always(late),
        series("kvpool_master_copies_total", pod, reason="failed"): always(3),
        series("kvpool_master_copies_total", pod, reason="done"): grows(7),
        series("kvpool_master_puts_total", pod, reason="no_space"): always(2),
        series("kvpool_master_puts_total", pod, reason="published"): grows(100),
        series("kvpool_master_connections_refused_total", pod, reason="wire_version"): always(4),
        series("kvpool_master_connections_refused_total", pod, reason="pool_id"): grows(1),
        series("kvpool_certificate_not_after_seconds", pod, kind="leaf"): always(86_400),
        series("kvpool_certificate_not_after_seconds", pod, kind="ca"): always(31_536_000),
        series("kvpool_plaintext_connections", pod, peer="client"): always(0),
        series("kvpool_auth_refusals_total", pod, reason="name"): always(3),
    }


def of_operator(name, controller="kvcachepool"):
    pairs = {"namespace": "kvpool-system", "pod": "kvpool-x", "controller_name": controller}
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in pairs.items()) + "}"


HEALTHY = {
    of_operator("reconciliations_queue"): always(0),
    of_operator("reconciliations_success_total"): grows(6),
    of_operator("reconciliations_failure_total"): always(2),
    **of_master(LEADER, True),
    **of_master(STANDBY, False),
    series("kvpool_node_capacity_bytes", NODE, kvpool_dev_ucx="wanted"): always(1000),
    series("kvpool_node_damaged_objects_total", NODE, kvpool_dev_ucx="wanted"): always(1),
    series("kvpool_node_serves_ucx", NODE, kvpool_dev_ucx="wanted"): always(1),
    series("kvpool_node_files_set_aside", NODE, reason="damaged"): always(0),
    series("kvpool_node_files_set_aside", NODE, reason="foreign"): always(0),
    series("kvpool_node_capacity_bytes", "demo-a-1"): always(1000),
    series("kvpool_node_serves_ucx", "demo-a-1"): always(0),
    # Its certificates live for one hour, and are renewed after half of it.
    series("kvpool_certificate_not_after_seconds", "demo-a-1", kind="leaf"): " ".join(
        f"{3600 + renewal * 1800}+0x29" for renewal in range(MINUTES // 30 + 1)
    ),
    # A pool without TLS: all its peers are plain, and its processes have no certificate.
    series("kvpool_plaintext_connections", "old-master-0", peer="client", kvpool_dev_pool="old"): always(7),
    series("kvpool_certificate_not_after_seconds", "old-master-0", kind="leaf", kvpool_dev_pool="old"): always(0),
    series("kvpool_certificate_not_after_seconds", "old-master-0", kind="ca", kvpool_dev_pool="old"): always(0),
}

NEW_LEADER = {
    **of_master(STANDBY, True),
    series("kvpool_master_leader", STANDBY): then(0, 1),
    series("kvpool_master_takeovers_total", STANDBY): then(0, 1),
}

# The leader is stopped and the other one takes over; for one scrape both say that they lead.
HANDOVER = {**NEW_LEADER, series("kvpool_master_leader", LEADER): then(1, 0, FAILS_AT + 1)}

# The leader's pod is gone for good.
DEATH = {**{key: gone(value) for key, value in of_master(LEADER, True).items()}, **NEW_LEADER}


@dataclass
class Failure:
    """Series that differ from a healthy pool's, and what follows."""

    alert: str
    what: str
    changed: dict
    silent_at: int
    fires_at: int
    severity: str
    summary: str
    labels: dict = field(default_factory=dict)
    about: dict = field(default_factory=lambda: POOL)


FAILURES = [
    Failure(
        "KvpoolNoLeader",
        "no master leads",
        {series("kvpool_master_leader", LEADER): then(1, 0)},
        10,
        12,
        "critical",
        "Pool team/demo has no serving leader",
    ),
    Failure(
        "KvpoolNoLeader",
        "all masters are gone",
        {key: gone(value) for key, value in {**of_master(LEADER, True), **of_master(STANDBY, False)}.items()},
        10,
        12,
        "critical",
        "Pool team/demo has no serving leader",
    ),
    Failure(
        "KvpoolSeveralLeaders",
        "both masters lead",
        {series("kvpool_master_leader", STANDBY): then(0, 1)},
        10,
        12,
        "warning",
        "Several masters of pool team/demo say that they lead",
    ),
    Failure(
        "KvpoolLeaderChangesOften",
        "a takeover every five minutes",
        {series("kvpool_master_takeovers_total", LEADER): grows(0.2)},
        12,
        60,
        "warning",
        "Pool team/demo has changed its leader 6 times in 30 minutes",
    ),
    Failure(
        "KvpoolMasterNotCaughtUp",
        "a standby does not catch up",
        {series("kvpool_master_ready", STANDBY): then(1, 0)},
        19,
        21,
        "warning",
        "Master team/demo-master-1 cannot catch up with the storage nodes",
        {"pod": STANDBY},
    ),
    Failure(
        "KvpoolStorageNodesMissing",
        "a storage node is away",
        {series("kvpool_master_nodes_ready", LEADER): then(2, 1)},
        14,
        16,
        "warning",
        "Pool team/demo misses 1 storage nodes",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolNodeSetApart",
        "a standby cannot follow a storage node",
        {series("kvpool_master_nodes_set_apart", STANDBY): then(0, 1)},
        14,
        16,
        "warning",
        "Master team/demo-master-1 leaves out 1 storage nodes",
        {"pod": STANDBY},
    ),
    Failure(
        "KvpoolIndexNearlyFull",
        "more objects than the masters have memory for",
        {series("kvpool_master_index_bytes", LEADER): then(800, 920)},
        39,
        41,
        "warning",
        "The index of master team/demo-master-0 is 92% full",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolObjectsUnavailable",
        "objects have no ready node",
        {series("kvpool_master_objects_unavailable", LEADER): then(0, 5)},
        14,
        16,
        "warning",
        "5 objects of pool team/demo cannot be read",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolUnderReplicated",
        "repair does not get on",
        {series("kvpool_master_objects_under_replicated", LEADER): then(0, 7)},
        69,
        71,
        "warning",
        "7 objects of pool team/demo have had too few copies for an hour",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolCopiesFail",
        "copies keep failing",
        {series("kvpool_master_copies_total", LEADER, reason="failed"): grows(1)},
        20,
        30,
        "warning",
        "Copies between storage nodes of pool team/demo fail",
    ),
    Failure(
        "KvpoolPutsFindNoSpace",
        "puts find no room",
        {series("kvpool_master_puts_total", LEADER, reason="no_space"): grows(1)},
        20,
        30,
        "warning",
        "Pool team/demo has had no room for puts for 15 minutes",
    ),
    Failure(
        "KvpoolVersionsRefuseEachOther",
        "a client of another wire version tries again and again",
        {series("kvpool_master_connections_refused_total", LEADER, reason="wire_version"): grows(2)},
        9,
        12,
        "warning",
        "Masters of pool team/demo refuse connections (wire_version)",
        {"reason": "wire_version"},
    ),
    Failure(
        "KvpoolVersionsRefuseEachOther",
        "a storage node of another layout",
        {series("kvpool_master_connections_refused_total", STANDBY, reason="layout_version"): grows(1)},
        9,
        12,
        "warning",
        "Masters of pool team/demo refuse connections (layout_version)",
        {"reason": "layout_version"},
    ),
    Failure(
        "KvpoolDamagedObjects",
        "wrong bytes",
        {series("kvpool_node_damaged_objects_total", NODE, kvpool_dev_ucx="wanted"): then(0, 3)},
        9,
        65,
        "critical",
        "Storage node team/demo-a-0 found 3 objects with wrong bytes",
        {"pod": NODE},
    ),
    Failure(
        "KvpoolDrainTakesLong",
        "a drain that does not end",
        {series("kvpool_master_drains_active", LEADER): then(0, 1)},
        129,
        131,
        "info",
        "A storage node of pool team/demo has been emptied for two hours",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolUcxNotServed",
        "a node that shall serve ucx and cannot",
        {series("kvpool_node_serves_ucx", NODE, kvpool_dev_ucx="wanted"): then(1, 0)},
        14,
        16,
        "info",
        "Storage node team/demo-a-0 does not serve ucx, though its transfer engine asks for it",
        {"pod": NODE, "kvpool_dev_ucx": "wanted"},
    ),
    Failure(
        "KvpoolAscendNotServed",
        "a node that shall serve ascend and cannot",
        {series("kvpool_node_serves_ascend", NODE, kvpool_dev_ascend="wanted"): then(1, 0)},
        14,
        16,
        "info",
        "Storage node team/demo-a-0 does not serve ascend, though its transfer engine asks for it",
        {"pod": NODE, "kvpool_dev_ascend": "wanted"},
    ),
    Failure(
        "KvpoolFilesSetAside",
        "a node has found a damaged segment, and another pool's",
        {
            series("kvpool_node_files_set_aside", NODE, reason="damaged"): then(0, 1),
            series("kvpool_node_files_set_aside", NODE, reason="foreign"): then(0, 1),
        },
        14,
        16,
        "info",
        "Storage node team/demo-a-0 has 2 files set aside",
        {"pod": NODE},
    ),
    Failure(
        "KvpoolCertificateEnds",
        "a certificate is not renewed",
        {series("kvpool_certificate_not_after_seconds", LEADER, kind="leaf"): then(86_400, 6 * 3600 + 1200)},
        24,
        26,
        "warning",
        "The certificate of team/demo-master-0 is not renewed",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolCertificateEnds",
        "a certificate of one hour is not renewed",
        {series("kvpool_certificate_not_after_seconds", LEADER, kind="leaf"): always(3600)},
        50,
        52,
        "warning",
        "The certificate of team/demo-master-0 is not renewed",
        {"pod": LEADER},
    ),
    Failure(
        "KvpoolAuthorityEnds",
        "an authority has less than seven days left",
        {series("kvpool_certificate_not_after_seconds", STANDBY, kind="ca"): then(31_536_000, 600_000)},
        69,
        71,
        "warning",
        "A certificate authority that pool team/demo trusts ends within 7 days",
    ),
    Failure(
        "KvpoolPeersRefused",
        "an engine's name is refused again and again",
        {series("kvpool_auth_refusals_total", LEADER, reason="name"): grows(2)},
        28,
        40,
        "info",
        "Processes of pool team/demo keep refusing peers (name)",
        {"reason": "name"},
    ),
    Failure(
        "KvpoolPlainPeers",
        "plain peers of a pool that has certificates",
        {series("kvpool_plaintext_connections", LEADER, peer="client"): then(0, 2)},
        129,
        131,
        "info",
        "Pool team/demo has had peers without TLS for two hours",
    ),
    Failure(
        "KvpoolOperatorDown",
        "the operator is gone",
        {of_operator("reconciliations_queue"): gone(always(0))},
        19,
        21,
        "warning",
        "There are pools, and no kvpool operator has been seen for 10 minutes",
        about={},
    ),
    Failure(
        "KvpoolOperatorStuck",
        "a queue that does not move",
        {
            of_operator("reconciliations_queue"): then(0, 3),
            of_operator("reconciliations_success_total"): always(50),
        },
        19,
        21,
        "warning",
        "Controller kvcachepool of the kvpool operator finishes nothing, and 3 resources wait",
        about=OPERATOR,
    ),
    Failure(
        "KvpoolOperatorFails",
        "every reconciliation fails",
        {of_operator("reconciliations_failure_total"): grows(2)},
        20,
        30,
        "warning",
        "Controller kvcachepool of the kvpool operator keeps failing",
        about=OPERATOR,
    ),
]


def case(name, changed, expectations):
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": value} for key, value in {**HEALTHY, **changed}.items()],
        "alert_rule_test": expectations,
    }


def silent(alert, minute):
    return {"alertname": alert, "eval_time": f"{minute}m", "exp_alerts": []}


def fires(failure, rule, runbooks):
    expected = {
        "exp_labels": {**failure.about, "severity": failure.severity, **failure.labels},
        "exp_annotations": {
            "summary": failure.summary,
            "description": rule["description"],
            "runbook_url": f"{runbooks}#{failure.alert.lower()}",
        },
    }
    return {"alertname": failure.alert, "eval_time": f"{failure.fires_at}m", "exp_alerts": [expected]}


def cases(rules, runbooks):
    """`rules`: the one-line fields of each rule by its name."""
    yield from (
        case(what, changed, [silent(alert, minute) for alert in rules for minute in range(FAILS_AT - 1, MINUTES, 10)])
        for what, changed in (("a healthy pool", {}), ("a handover", HANDOVER), ("a death", DEATH))
    )
    yield from (
        case(
            f"{failure.alert}: {failure.what}",
            failure.changed,
            [silent(failure.alert, failure.silent_at), fires(failure, rules[failure.alert], runbooks)],
        )
        for failure in FAILURES
    )


def find_promtool():
    cache = Path(os.environ.get("KVDEV_CACHE") or Path.home() / ".cache/kvpool")
    found = shutil.which("promtool") or shutil.which(cache / "prometheus/promtool")
    assert found, "no promtool: run .ci/prerequisites --install, or put the one of Prometheus on the PATH"
    return found


def problems(rendered, rules, runbooks, scratch):
    """What promtool finds wrong, empty when nothing. `rendered`: the PrometheusRule as `helm template` makes it."""
    spec = rendered.split("\nspec:\n")[1]
    (scratch / "rules.yaml").write_text("\n".join(line.removeprefix("  ") for line in spec.splitlines()) + "\n")
    tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": list(cases(rules, runbooks))}
    (scratch / "tests.json").write_text(json.dumps(tests, indent=1))
    ran = subprocess.run([find_promtool(), "test", "rules", scratch / "tests.json"], capture_output=True, text=True)
    return "" if ran.returncode == 0 else (ran.stdout + ran.stderr)[:OUTPUT_CHARS_MAX]
