# SPDX-License-Identifier: Apache-2.0
"""Runs in a pod of the smoke test: reaches the API by its ClusterIP name, a Service, and each pod by its own name."""

import json
import ssl
import sys
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def ask_api(path: str) -> dict:
    with open(f"{ACCOUNT}/token", encoding="utf-8") as token:
        request = urllib.request.Request(
            f"https://kubernetes.default.svc{path}",
            headers={"Authorization": f"Bearer {token.read()}"},
        )
    trust = ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt")
    with urllib.request.urlopen(request, timeout=10, context=trust) as answer:
        return json.load(answer)


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def main() -> int:
    pods = ask_api("/api/v1/namespaces/default/pods")["items"]
    names = sorted(pod["metadata"]["name"] for pod in pods)
    if names != ["asker", "peer-0", "peer-1"]:
        print("unexpected pods:", names)
        return 1
    listing = fetch("http://peer.default.svc.cluster.local")
    for pod in ("peer-0", "peer-1"):
        # Both pods share one folder of the node, so each of them can hand out the file of the other.
        if f"name-{pod}" not in listing:
            print("not in the shared folder:", pod, listing)
            return 1
        for server in ("peer-0", "peer-1"):
            answer = fetch(f"http://{server}.peers:8000/name-{pod}").strip()
            if answer != pod:
                print("wrong answer:", server, pod, answer)
                return 1
    print("reached", ", ".join(names))
    return 0


sys.exit(main())
