# SPDX-License-Identifier: Apache-2.0
"""What Helm's install, upgrade and uninstall do to the custom resources of a cluster, on a real API server."""

import contextlib
import json
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

from apiserver import ApiServer

NAMESPACE = "kvpool-system"
CRD = "kvcachepools.kvpool.dev"
DEMO = "namespaces/default/kvcachepools/demo"

# A field that the chart of before did not have.
NEW_FIELD = "onDataLoss"


def pool(name, **spec):
    document = {
        "apiVersion": "kvpool.dev/v1alpha1",
        "kind": "KvCachePool",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"storage": [{"name": "a", "capacity": "1Gi"}], **spec},
    }
    return json.dumps(document)


def without(text, field):
    """YAML text without a field, which stands in it once."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip() == f"{field}:"]
    assert len(starts) == 1, f"{field} stands in the text {len(starts)} times"
    depth = len(lines[starts[0]]) - len(lines[starts[0]].lstrip())
    end = starts[0] + 1
    while len(lines[end]) - len(lines[end].lstrip()) > depth:
        end += 1
    return "\n".join(lines[: starts[0]] + lines[end:]) + "\n"


class Releases:
    """One release on an API server of its own, of the chart as it is and of one as it was before."""

    def __init__(self, helm, chart, scratch):
        self.helm_program = helm
        self.chart = chart
        self.earlier = Path(scratch) / "earlier"
        shutil.copytree(chart, self.earlier)
        schema = self.earlier / f"crd-files/{CRD}.yaml"
        schema.write_text(without(schema.read_text(), NEW_FIELD))
        self.api = ApiServer(scratch)

    def helm(self, *arguments):
        command = [self.helm_program, *arguments, "--namespace", NAMESPACE]
        return subprocess.run(command, capture_output=True, text=True, env=self.api.environment)

    def install(self, chart, *options):
        self._must(self.helm("install", "kvpool", str(chart), "--create-namespace", *options))

    def upgrade(self, chart, *options):
        self._must(self.helm("upgrade", "kvpool", str(chart), *options))

    def uninstall(self):
        self._must(self.helm("uninstall", "kvpool", "--wait", "--timeout", "60s"))

    def replace_definitions(self, chart):
        """The way that a refused install names."""
        # A cluster is not asked, and a Helm that was not released does not know for which Kubernetes it is.
        only = ("--show-only", "templates/crds.yaml", "--kube-version", "1.33.0")
        made = self._must(self.helm("template", "kvpool", str(chart), *only))
        self._must(self.api.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=made))

    def make(self, document):
        self._must(self._create(document))

    def refuses(self, document):
        answer = self._create(document)
        assert answer.returncode != 0, "the API server took it"
        return answer.stderr

    def knows(self, field):
        self._must(self.api.kubectl("wait", "--for=condition=Established", f"crd/{CRD}", "--timeout=60s"))
        return f'"{field}"' in self._must(self.api.kubectl("get", "crd", CRD, "-o", "json"))

    def notes(self):
        return self._must(self.helm("get", "notes", "kvpool"))

    def kubectl(self, *arguments):
        return self._must(self.api.kubectl(*arguments))

    def get(self, *what):
        return json.loads(self._must(self.api.kubectl("get", *what, "-o", "json")))

    def missing(self, *what):
        return "NotFound" in self.api.kubectl("get", *what).stderr

    def _create(self, document):
        return self.api.kubectl("create", "--validate=strict", "-f", "-", stdin=document)

    @staticmethod
    def _must(ran):
        assert ran.returncode == 0, f"{' '.join(map(str, ran.args))}: {ran.stdout}{ran.stderr}"
        return ran.stdout


@contextlib.contextmanager
def releases(helm, chart):
    with tempfile.TemporaryDirectory() as scratch:
        it = Releases(helm, chart, scratch)
        with it.api:
            yield it


def check_upgrade_brings_fields(it):
    """A pool that is there stays, and the fields of the new chart can be used."""
    it.install(it.earlier)
    assert not it.knows(NEW_FIELD), "the earlier chart is not earlier"
    it.make(pool("before"))
    assert NEW_FIELD in it.refuses(pool("after", **{NEW_FIELD: "Replace"}))
    uid = it.get("kvp", "before")["metadata"]["uid"]

    it.upgrade(it.chart)

    assert it.knows(NEW_FIELD), "the upgrade left the CRD of before"
    it.make(pool("after", **{NEW_FIELD: "Replace"}))
    assert it.get("kvp", "after")["spec"][NEW_FIELD] == "Replace"
    assert it.get("kvp", "before")["metadata"]["uid"] == uid


def check_uninstall_keeps_pools(it):
    """Neither a pool goes nor what an operator has made for it."""
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "before-pool", "namespace": "default"}}
    owner = it.get("kvp", "before")
    child["metadata"]["ownerReferences"] = [
        {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "before", "uid": owner["metadata"]["uid"]}
    ]
    it.make(json.dumps(child))

    it.uninstall()

    assert it.missing("deployment", "kvpool", "--namespace", NAMESPACE), "the operator is still there"
    kept = it.get("kvp", "before")["metadata"]
    assert kept["uid"] == owner["metadata"]["uid"] and "deletionTimestamp" not in kept
    it.get("configmap", "before-pool")


def check_a_second_install_takes_over(it):
    """What an uninstall has kept belongs to the next release of the same name."""
    it.install(it.chart, "--set", "networkPolicy.enabled=true", "--set", "networkPolicy.egress.enabled=true")
    it.get("deployment", "kvpool", "--namespace", NAMESPACE)
    it.get("networkpolicy", "kvpool", "--namespace", NAMESPACE)
    it.get("kvp", "before")
    it.uninstall()


def check_definitions_of_another_chart_are_not_left_as_they_are(it):
    """An install that would leave them is refused, and says what to do; that done, it works and no pool has changed."""
    uid = it.get("kvp", "before")["metadata"]["uid"]
    it.replace_definitions(it.earlier)
    assert not it.knows(NEW_FIELD)

    refused = it.helm("install", "kvpool", str(it.chart))
    assert refused.returncode != 0, "the install left the CRD of before"
    assert "--show-only templates/crds.yaml | kubectl apply --server-side --force-conflicts" in refused.stderr, (
        refused.stderr
    )

    it.replace_definitions(it.chart)
    it.install(it.chart)
    assert it.knows(NEW_FIELD)
    assert it.get("kvp", "before")["metadata"]["uid"] == uid


def check_the_pool_of_the_notes_scales(it):
    """As its reader types it: what stands between the two POOL, and the line with `kubectl scale`."""
    notes = it.notes()
    it.make(textwrap.dedent(notes.split("<<POOL\n")[1].split("  POOL\n")[0]))
    before = it.get("kvp", "demo")["spec"]["replicas"]

    command = next(line.split() for line in notes.splitlines() if line.strip().startswith("kubectl scale "))
    it.kubectl(*command[1:])

    after = it.get("kvp", "demo")["spec"]["replicas"]
    assert f"--replicas={after}" in command and after != before, f"{before} -> {after} by {' '.join(command)}"
    scale = json.loads(it.kubectl("get", "--raw", f"/apis/kvpool.dev/v1alpha1/{DEMO}/scale"))
    assert scale["spec"] == {"replicas": after}, scale


def check_uninstall_removes_pools_when_told_to(it):
    it.upgrade(it.chart, "--set", "crds.keep=false")
    it.get("kvp", "before")
    it.uninstall()
    assert it.missing("crd", CRD), "the definition is still there"
