# SPDX-License-Identifier: Apache-2.0
"""Values that the schema of the chart must refuse, and what the answer must name."""

REFUSED = [
    ("replicas=0", "replicas"),
    ("replicas=6", "replicas"),
    ("replicas=two", "replicas"),
    ("image.repository=UPPER", "repository"),
    ("image.tag=with blank", "tag"),
    ("image.pullPolicy=Sometimes", "pullPolicy"),
    ("image.digest=sha256:0", "digest"),
    ("poolImage.registry=http://registry", "registry"),
    ("watchNamespaces={Not_A_Name}", "watchNamespaces"),
    ("watchNamespaces={a,a}", "watchNamespaces"),
    ("logLevel=LOUD", "logLevel"),
    ("crds.install=maybe", "install"),
    ("crds.keep=maybe", "keep"),
    ("monitors.enabled=perhaps", "enabled"),
    ("monitors.interval=often", "interval"),
    ("alerts.enabled=perhaps", "enabled"),
    ("alerts.runbooks=somewhere", "runbooks"),
    ("dashboard.enabled=perhaps", "enabled"),
    ("networkPolicy.enabled=perhaps", "enabled"),
    ("networkPolicy.fromNamespaces={Not_A_Name}", "fromNamespaces"),
    ("networkPolicy.egress.enabled=perhaps", "enabled"),
    ("networkPolicy.egress.apiServerPorts={0}", "apiServerPorts"),
    ("networkPolicy.egress.apiServerPorts=null", "apiServerPorts"),
    ("replica=1", "replica"),
]
