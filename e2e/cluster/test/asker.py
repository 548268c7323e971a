# SPDX-License-Identifier: Apache-2.0
"""Runs in a pod of the smoke test: reaches the API by its ClusterIP name, a Service, and each pod by its own name."""

import json
import ssl
import sys
import time
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PEERS = ["peer-0", "peer-1"]
SERVICE_SECONDS = 30


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
        return answer.read().decode().strip()


def main() -> int:
    pods = ask_api("/api/v1/namespaces/default/pods")["items"]
    names = sorted(pod["metadata"]["name"] for pod in pods)
    if names != ["asker", *PEERS]:
        print("unexpected pods:", names)
        return 1
    for peer in PEERS:
        answer = fetch(f"http://{peer}.peers:8000/name")
        if answer != peer:
            print(f"{peer} called itself {answer!r}")
            return 1
    # The Service picks a pod at random, and learns of one that is ready a moment later than we do.
    answers, until = set(), time.monotonic() + SERVICE_SECONDS
    while answers != set(PEERS) and time.monotonic() < until:
        answers.add(fetch("http://peer.default.svc.cluster.local/name"))
    if answers != set(PEERS):
        print("the Service led to", answers)
        return 1
    print("reached", ", ".join(names))
    return 0


sys.exit(main())
