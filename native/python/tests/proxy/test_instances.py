# SPDX-License-Identifier: Apache-2.0
"""Instances: how they are described, found among pods, counted and chosen."""

import json
from pathlib import Path

import pytest

from kvpool_engines.proxy.instances.description import Description, Role, WrongInstances, read_descriptions
from kvpool_engines.proxy.instances.file_source import FileSource
from kvpool_engines.proxy.instances.instance import Claim, Instance
from kvpool_engines.proxy.instances.kubernetes_source import NoCluster, cluster_of
from kvpool_engines.proxy.instances.pods import instances_of
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.refusal import Refusal

P, D = Role.PREFILL, Role.DECODE


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"url": "http://h:1", "role": "prefill"}', [Description("http://h:1", P)]),
        ('[{"url": "http://H:1/", "role": "decode", "bootstrap_port": 8998}]', [Description("http://h:1", D, 8998)]),
        ('{"instances": []}', []),
        ('{"instances": [{"url": "https://[fd00::1]:1", "role": "decode"}]}', [Description("https://[fd00::1]:1", D)]),
        (
            '[{"url": "http://h:1", "role": "decode"}, {"url": "http://h:1", "role": "decode"}]',
            [Description("http://h:1", D)],
        ),
    ],
)
def test_a_description_is_read(text: str, read: list[Description]) -> None:
    assert read_descriptions(text) == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("7", "7 is no instance"),
        ('{"url": "http://h:1"}', "role is None: write 'prefill' or 'decode'"),
        ('{"url": "http://h:1", "role": "both"}', "role is 'both'"),
        ('{"url": "http://h:1", "role": "decode", "port": 1}', "port is no key"),
        ('{"url": "http://h:1", "role": "decode", "bootstrap_port": "1"}', "bootstrap_port is '1'"),
        *(
            (json.dumps({"url": url, "role": "decode"}), "write 'http://HOST:PORT'")
            for url in (
                None,
                "h:1",
                "http://h",
                "http://h:x",
                "http://h:1/v1",
                "http://u@h:1",
                "ftp://h:1",
                "http://h:1?a",
            )
        ),
        (json.dumps([{"url": f"http://h:{port}", "role": "decode"} for port in range(1, 1026)]), "at most 1024"),
    ],
)
def test_a_wrong_description_is_refused(text: str, message: str) -> None:
    with pytest.raises(WrongInstances, match=message.replace("(", r"\(")):
        read_descriptions(text)


def pod(name: str, role: str | None, ip: str = "10.0.0.1", ready: str = "True", **metadata: object) -> dict:
    labels = {} if role is None else {"kvpool.dev/pd-role": role}
    status = {"podIP": ip, "conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {"name": name, "labels": labels, **metadata}, "status": status}


def test_pods_that_are_ready_and_stay_are_instances() -> None:
    ports = {"kvpool.dev/pd-port": "9000", "kvpool.dev/pd-bootstrap-port": "7000"}
    pods = [
        pod("a", "prefill"),
        pod("b", "decode", "fd00::1", annotations=ports),
        pod("starting", "decode", ready="False"),
        pod("without-address", "decode", ""),
        pod("leaving", "decode", deletionTimestamp="2026-01-01T00:00:00Z"),
        pod("mistyped", "decoder"),
        pod("far", "decode", annotations={"kvpool.dev/pd-port": "99999"}),
        {"metadata": {"name": "new"}, "status": {}},
    ]
    found, problems = instances_of(pods, 8000)
    assert found == [Description("http://10.0.0.1:8000", P), Description("http://[fd00::1]:9000", D, 7000)]
    assert [problem.split(":")[0] for problem in problems] == ["pod mistyped", "pod far"]


def test_where_the_api_server_is(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("ns\n")
    (tmp_path / "ca.crt").write_text("x")
    cluster = cluster_of({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}, "", "", tmp_path)
    assert (cluster.api, cluster.namespace, cluster.authority) == ("https://[fd00::1]:6443", "ns", tmp_path / "ca.crt")
    assert cluster_of({}, "http://a:1", "other", tmp_path).namespace == "other"
    with pytest.raises(NoCluster, match="--kubernetes-api"):
        cluster_of({}, "", "ns", tmp_path)
    with pytest.raises(NoCluster, match="--kubernetes-namespace"):
        cluster_of({}, "http://a:1", "", tmp_path / "nowhere")


def registry(*urls: str) -> tuple[Registry, list[Instance]]:
    """With prefill instances that are well, and those that went."""
    gone: list[Instance] = []
    made = Registry(lambda _added: None, gone.append)
    for url in urls:
        made.add("request", Description(url, P)).healthy = True
    return made, gone


def test_the_one_with_the_least_to_do_is_chosen() -> None:
    made, _ = registry("http://a:1", "http://b:1")
    a, b = made
    assert [made.claim(P, 100, ()).instance for _ in range(2)] == [a, b]
    third = made.claim(P, 100, ())
    other = b if third.instance is a else a
    assert made.claim(P, 10, ()).instance is other
    third.answered()
    # 100 + 0.3 * 100 is more than 100 + 10.
    assert made.claim(P, 1, ()).instance is other
    assert made.claim(P, 1, {other}).instance is third.instance
    assert made.claim(P, 1, {a, b}).instance in (a, b), "to avoid all is to avoid none"


def test_those_without_load_take_turns() -> None:
    made, _ = registry("http://a:1", "http://b:1", "http://c:1")
    chosen = []
    for _ in range(6):
        claim = made.claim(P, 100, ())
        claim.done()
        chosen.append(claim.instance)
    assert chosen == [*made, *made]


def test_a_claim_ends_once() -> None:
    made, _ = registry("http://a:1")
    [instance] = made
    claim = Claim(instance, 10)
    claim.answered()
    claim.answered()
    assert (instance.running, instance.computing, instance.held) == (1, 0, 10)
    claim.done()
    claim.failed()
    claim.given_up()
    claim.answered()
    assert (instance.running, instance.computing, instance.held, instance.done, instance.failed) == (0, 0, 0, 1, 0)


def test_an_instance_goes_when_its_last_request_has_ended() -> None:
    made, gone = registry("http://a:1")
    [instance] = made
    claim = made.claim(P, 1, ())
    made.remove("request", instance)
    assert list(made) == [instance] and instance.as_json()["state"] == "draining"
    with pytest.raises(Refusal, match="is being removed"):
        made.claim(P, 1, ())
    claim.done()
    made.forget_drained()
    assert list(made) == [] and gone == [instance]
    with pytest.raises(Refusal, match="POST /instances"):
        made.claim(P, 1, ())


def test_one_that_is_added_again_while_it_drains_stays() -> None:
    made, gone = registry("http://a:1")
    [instance] = made
    claim = made.claim(P, 1, ())
    made.remove("request", instance)
    assert made.add("request", Description("http://a:1", P, 5)) is instance
    claim.done()
    made.forget_drained()
    assert list(made) == [instance] and gone == [] and instance.ready and instance.description.bootstrap_port == 5


def test_an_instance_stays_while_another_source_lists_it() -> None:
    made, gone = registry("http://a:1")
    made.replace("file", [Description("http://a:1", P), Description("http://a:1", D)])
    assert len(list(made)) == 2, "a pod may change its role: both are instances until the old one is idle"
    made.replace("file", [])
    assert [one.description.role for one in made] == [P] and [one.description.role for one in gone] == [D]


def test_a_list_beyond_the_most_changes_nothing() -> None:
    instances, gone = registry("http://o:1")
    instances.replace("file", [Description("http://a:1", D), Description("http://b:1", D)])
    full = [Description(f"http://h:{port}", D) for port in range(1, 1025)]

    for change in (instances.replace, instances.add_all):
        with pytest.raises(WrongInstances, match="may be 1024"):
            change("file", full)
        assert [one.url for one in instances if not one.draining] == ["http://o:1", "http://a:1", "http://b:1"]
    assert gone == []

    instances.replace("file", full[:1023])
    assert len(list(instances)) == 1024 and len(gone) == 2


def test_a_file_that_became_wrong_changes_nothing(tmp_path: Path) -> None:
    made, _ = registry()
    path = tmp_path / "instances.json"
    source = FileSource(made, path, 1)
    with pytest.raises(WrongInstances, match="No such file"):
        source.read()
    path.write_text('[{"url": "http://a:1", "role": "decode"}]')
    source.read()
    for wrong in ("{", '[{"url": "http://b:1", "role": "none"}]', " " * (2 << 20)):
        path.write_text(wrong)
        with pytest.raises(WrongInstances, match=str(path)):
            source.read()
        assert [one.url for one in made] == ["http://a:1"]
    path.write_text('[{"url": "http://b:1", "role": "decode"}]')
    source.read()
    assert [one.url for one in made] == ["http://b:1"]
