# SPDX-License-Identifier: Apache-2.0
"""`python -m mooncake.mooncake_store_service`: the store by HTTP."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from local_pool import START_SECONDS, free_ports
from waiting import eventually

from mooncake import mooncake_store_service


class Service:
    """A running service, ended with close()."""

    def __init__(self, masters):
        self._port = free_ports(1)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("KVPOOL_", "MOONCAKE_"))
        }
        self._process = subprocess.Popen(
            [
                *(
                    sys.executable,
                    "-m",
                    "mooncake.mooncake_store_service",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    str(self._port),
                ),
                *("-D", "global_segment_size=0", "-D", "local_buffer_size=16MB", "-D", "local_hostname=127.0.0.1"),
            ],
            env={**environment, "MOONCAKE_MASTER": masters},
        )
        eventually(lambda: self._health() == 200, "the service is healthy", START_SECONDS)

    def _health(self):
        try:
            return self.ask("GET", "/health")[0]
        except OSError:
            return 0

    def ask(self, method, path, body=None):
        """Status, content type and body of the answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", method=method, data=body)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers.get_content_type(), answer.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.headers.get_content_type(), refusal.read()

    def put(self, key, value):
        return self.ask("PUT", "/api/put", json.dumps({"key": key, "value": value}).encode())[0]

    def close(self):
        self._process.terminate()
        return self._process.wait(START_SECONDS)


@pytest.fixture(scope="module")
def service(pool):
    running = Service(pool.masters)
    yield running
    assert running.close() == 0


def test_put_get_exist_remove(service):
    assert service.put("rest-a", "wert ä") == 200
    assert service.ask("GET", "/api/get/rest-a") == (200, "application/octet-stream", "wert ä".encode())
    assert json.loads(service.ask("GET", "/api/exist/rest-a")[2]) == {"exists": True}
    eventually(lambda: service.ask("DELETE", "/api/remove/rest-a")[0] == 200, "its lease has ended")
    assert json.loads(service.ask("GET", "/api/exist/rest-a")[2]) == {"exists": False}
    assert service.ask("GET", "/api/get/rest-a")[::2] == (404, b'{"error": "Key not found"}')
    assert service.ask("DELETE", "/api/remove/rest-a")[0] == 404


def test_an_empty_value_is_a_value(service):
    assert service.put("rest-empty", "") == 200
    assert service.ask("GET", "/api/get/rest-empty") == (200, "application/octet-stream", b"")


def test_remove_all_says_how_many(service):
    assert service.put("rest-b", "b") == 200
    status, _, body = service.ask("DELETE", "/api/remove_all")
    assert status == 200
    assert json.loads(body)["status"].startswith("success removed ")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", "the body is no JSON"),
        (b"\xff\xfe", "the body is no JSON"),
        (b'{"key": "k", "value": ', "the body is no JSON"),
        (b"[1]", "the body is no JSON object"),
        (b'{"key": "", "value": "v"}', "Missing key or value"),
        (b'{"key": "k"}', "Missing key or value"),
        (b'{"key": 1, "value": "v"}', "key and value must be texts"),
        (b'{"key": "k", "value": 1}', "key and value must be texts"),
        (b'{"key": "k", "value": "\\ud800"}', "value must be text that UTF-8 can write"),
    ],
)
def test_a_wrong_body_is_the_clients_fault(service, body, expected):
    status, kind, answer = service.ask("PUT", "/api/put", body)

    assert (status, kind) == (400, "application/json")
    assert expected in json.loads(answer)["error"]


def test_memory_joins_the_pool_and_leaves_it(service):
    status, _, body = service.ask("POST", "/api/mount", b'{"size": 16777216}')
    mounted = json.loads(body)
    assert (status, mounted["status"], mounted["allocated_size"]) == (200, "success", 16 << 20)
    left = json.dumps({"segment_ids": mounted["segment_ids"]}).encode()
    assert service.ask("POST", "/api/unmount", left)[0] == 200
    status, _, body = service.ask("POST", "/api/unmount", left)
    refused = json.loads(body)
    assert (status, refused["code"]) == (500, -101)
    assert refused["reason"].startswith("SEGMENT_NOT_FOUND: ")
    assert "segment_ids that a mount answered with" in refused["remedy"]


@pytest.fixture
def shared_file():
    path = Path("/dev/shm") / f"kvpool-rest-{os.getpid()}"
    path.write_bytes(bytes(16 << 20))
    yield path
    path.unlink()


def test_a_file_of_shared_memory_joins_the_pool_and_leaves_it(service, shared_file):
    asked = json.dumps({"name": f"/{shared_file.name}", "size": 16 << 20}).encode()
    status, _, body = service.ask("POST", "/api/mount_shm", asked)
    mounted = json.loads(body)
    assert (status, mounted["status"], len(mounted["segment_ids"])) == (200, "success", 1)

    left = json.dumps({"segment_ids": [*mounted["segment_ids"], "none"]}).encode()
    status, _, body = service.ask("POST", "/api/unmount_shm", left)
    assert (status, json.loads(body)["failed_segment_ids"]) == (500, ["none"])
    status, _, body = service.ask("POST", "/api/unmount_shm", left)
    assert json.loads(body)["failed_segment_ids"] == [*mounted["segment_ids"], "none"], "it left at the first call"


def test_a_file_that_is_too_small_is_refused_with_a_remedy(service, shared_file):
    asked = json.dumps({"name": shared_file.name, "size": 17 << 20}).encode()
    status, _, body = service.ask("POST", "/api/mount_shm", asked)
    assert (status, json.loads(body)["code"]) == (500, -1)
    assert "a file must be on tmpfs or hugetlbfs and hold offset + size" in json.loads(body)["remedy"]


def test_there_is_no_local_disk_to_take_back(service):
    status, _, body = service.ask("POST", "/api/unmount_local_disk", b'{"grace_period_seconds": 1}')
    assert (status, json.loads(body)["code"]) == (500, -101)
    assert "SSDs belong to storage nodes" in json.loads(body)["remedy"]


def test_modes_give_memory_and_take_it_back(pool, service, shared_file):
    half = 16 << 20
    shared_file.write_bytes(bytes(2 * half))

    def reconfigure(**fields):
        status, _, body = service.ask("POST", "/api/reconfigure", json.dumps(fields).encode())
        return status, json.loads(body)

    def nodes():
        return {node["id"] for node in pool.view()["nodes"]}

    def decode(offset, size=half):
        return reconfigure(mode="Decode", path=str(shared_file), size=size, offset=offset)

    before = nodes()
    status, answer = decode(0)
    assert (status, answer["mode"], len(answer["segment_ids"])) == (200, "decode", 1)
    assert decode(0) == (200, answer), "it has that already"
    segments = [answer["segment_ids"]]
    for offset, size in ((half, half), (0, 2 * half)):
        status, answer = decode(offset, size)
        assert (status, len(answer["segment_ids"])) == (200, 1)
        segments.append(answer["segment_ids"])
        eventually(lambda: nodes() - before == set(segments[-1]), "the new part took the place of the one before")
    status, answer = reconfigure(mode="decode", path=f"{shared_file}-none", size=half)
    assert (status, answer["mode"]) == (500, "decode"), "what is lent stays"
    assert nodes() - before == set(segments[-1])
    assert reconfigure(mode="prefill") == (200, {"status": "success", "mode": "prefill"})
    eventually(lambda: nodes() == before, "the memory has left the pool")
    [segment] = decode(0)[1]["segment_ids"]
    assert service.ask("POST", "/api/unmount_shm", json.dumps({"segment_ids": [segment]}).encode())[0] == 200
    assert reconfigure(mode="prefill")[0] == 200, "it was taken back by another route"


@pytest.mark.parametrize("path", ["unmount", "unmount_shm"])
@pytest.mark.parametrize("grace", [0, 3600])
def test_memory_is_given_again_that_another_route_took_back(pool, service, shared_file, path, grace):
    shared_file.write_bytes(bytes(16 << 20))

    def ask(route, **fields):
        status, _, body = service.ask("POST", f"/api/{route}", json.dumps(fields).encode())
        assert status == 200, body
        return json.loads(body)

    def decode():
        return ask("reconfigure", mode="decode", path=str(shared_file), size=16 << 20)["segment_ids"]

    before = decode()
    ask(path, segment_ids=before, grace_period_seconds=grace)

    given = decode()

    assert len(given) == 1 and given != before
    eventually(lambda: set(given) <= {node["id"] for node in pool.view()["nodes"]}, "it is there")
    assert decode() == given
    ask("reconfigure", mode="prefill")
    eventually(lambda: not {node["id"] for node in pool.view()["nodes"]} & {*given, *before}, "all has left")


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("mount", b"{}", "Invalid size"),
        ("mount", b'{"size": true}', "Invalid size"),
        ("mount", b'{"size": -1}', "Invalid size"),
        ("mount", b'{"size": 9223372036854775808}', "Invalid size"),
        ("mount", b'{"size": 1, "location": 2}', "must be texts"),
        ("mount_shm", b"{}", "Missing or invalid name or size"),
        ("mount_shm", b'{"name": "../etc", "size": 1}', "Missing or invalid name or size"),
        ("mount_shm", b'{"name": "a", "size": 0}', "Invalid size or offset"),
        ("mount_shm", b'{"name": "a", "size": 1, "offset": -1}', "Invalid size or offset"),
        ("unmount_shm", b'{"segment_ids": []}', "Missing segment_ids"),
        ("unmount_local_disk", b'{"grace_period_seconds": 3601}', "grace_period_seconds must be 0 to 3600"),
        ("reconfigure", b'{"mode": "both"}', "Invalid mode"),
        ("reconfigure", b'{"mode": "decode", "size": 1}', "Missing path or size"),
        ("reconfigure", b'{"mode": "decode", "path": "/dev/shm/../../etc/hosts", "size": 1}', "Invalid path"),
        ("reconfigure", b'{"mode": "decode", "path": "/dev/shm/\\ud800", "size": 1}', "Invalid path"),
        ("reconfigure", b'{"mode": "decode", "path": "/dev/shm/a\\u0000", "size": 1}', "Invalid path"),
        ("reconfigure", b'{"mode": "decode", "path": "/proc/self/root/dev/shm/a", "size": 1}', "Invalid path"),
        ("reconfigure", b'{"mode": "decode", "path": "/dev/shm/a", "size": 0}', "Invalid size or offset"),
        ("unmount", b"{}", "Missing segment_ids"),
        ("unmount", b'{"segment_ids": [1]}', "Missing segment_ids"),
        ("unmount", b'{"segment_ids": ["a"], "grace_period_seconds": 3601}', "grace_period_seconds must be 0 to 3600"),
    ],
)
def test_wrong_wishes_for_memory_are_the_clients_fault(service, path, body, expected):
    status, _, answer = service.ask("POST", f"/api/{path}", body)

    assert status == 400
    assert expected in json.loads(answer)["error"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("POST", "/api/put", 405), ("POST", "/api/reconfigure", 400)],
)
def test_other_routes(service, method, path, status):
    answer = service.ask(method, path, b"{}" if method == "POST" else None)

    assert answer[0] == status
    assert json.loads(answer[2])["error"]


def run(*arguments, **environment):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("KVPOOL_", "MOONCAKE_"))}
    return subprocess.run(
        [sys.executable, "-m", "mooncake.mooncake_store_service", *arguments],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "MOONCAKE_MASTER"),
        (["--config", "/nowhere"], "/nowhere"),
        (["-D", "nonsense=1"], "-D nonsense=1: must be NAME=VALUE"),
    ],
)
def test_wrong_settings_are_named(arguments, expected):
    environment = {"MOONCAKE_MASTER": "127.0.0.1:1"} if "-D" in arguments else {}
    ended = run(*arguments, **environment)

    assert ended.returncode == 2
    assert expected in ended.stderr


def test_without_a_master_it_gives_up(impatient, monkeypatch, caplog):
    monkeypatch.setenv("MOONCAKE_MASTER", f"127.0.0.1:{free_ports(1)}")
    monkeypatch.setenv("KVPOOL_RETRY_DEADLINE", "1s")

    assert mooncake_store_service.main(["--max-wait-time", "0", "-D", "global_segment_size=0"]) == 1
    assert "no store within 0 s" in caplog.text
