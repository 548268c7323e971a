# SPDX-License-Identifier: Apache-2.0
"""Endpoints, sources of instances, the command."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from deployment import answer_to, deployed, described, path_of
from in_loop import in_loop
from waiting import eventually

from kvpool_engines.proxy.instances.kubernetes_source import Cluster
from kvpool_engines.proxy.instances.pods import ROLE_LABEL
from kvpool_engines.proxy.service.command import read_command


@in_loop
async def test_instances_are_added_once_and_removed() -> None:
    async with deployed("vllm-nixl", decode=0) as it:
        engine = await it.engine("decode")
        for _ in range(2):
            await it.add(engine)
        assert list(await it.instances()) == [it.prefill[0].url, engine.url]
        assert await it.ask() == (200, answer_to("hello"))
        url = f"{it.admin}/instances"
        for method, given, status, message in (
            ("POST", {"url": "h", "role": "decode"}, 400, "write 'http://HOST:PORT'"),
            ("POST", {"url": engine.url}, 400, "write 'prefill' or 'decode'"),
            ("DELETE", {"url": "http://127.0.0.1:1"}, 404, "GET /instances shows all"),
            ("DELETE", {}, 400, "write 'http://HOST:PORT'"),
            ("PUT", {}, 405, "takes DELETE, GET, HEAD, POST"),
        ):
            async with it.client.request(method, url, json=given) as answer:
                error = (await answer.json())["error"]
                assert answer.status == status == error["code"] and message in error["message"]
        async with it.client.delete(url, json={"url": engine.url}) as answer:
            assert answer.status == 200
        assert list(await it.instances()) == [it.prefill[0].url]


@in_loop
async def test_a_url_of_both_roles_is_removed_wholly_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "instances.json"
    file.write_text("[]")
    async with deployed("vllm-nixl", file=file) as it:
        engine = it.decode[0]
        both = [{"url": engine.url, "role": role} for role in ("prefill", "decode")]
        file.write_text(json.dumps(both[0]))
        async with it.client.post(f"{it.admin}/instances", json=both) as answer:
            assert answer.status == 200
        await it.eventually(lambda listed: "file" in listed[engine.url]["sources"], "the file is read")

        async with it.client.delete(f"{it.admin}/instances", json={"url": engine.url}) as answer:
            assert answer.status == 409
        async with it.client.get(f"{it.admin}/instances") as answer:
            listed = (await answer.json())["instances"]
        assert [one["role"] for one in listed if one["url"] == engine.url and one["sources"]] == ["decode", "prefill"]


@in_loop
async def test_errors_say_what_to_do() -> None:
    async with deployed("vllm-nixl", decode=0, limits={"body_bytes": 1000}) as it:
        url = f"{it.url}{path_of(False)}"
        for method, path, content, status, message in (
            ("POST", url, b"{", 400, "no JSON"),
            ("POST", url, b'{"prompt": "a", "n": 2}', 400, "send one request for each"),
            ("POST", url, b'{"prompt": "a"}', 503, "there is no decode instance: add one by POST /instances"),
            ("POST", url, b" " * 1001, 413, "--max-body-bytes"),
            ("GET", url, b"", 405, "takes POST, not GET"),
            ("GET", f"{it.url}/v1/embeddings", b"", 404, "there are /health, /readyz, /v1/chat/completions"),
            ("GET", f"{it.url}/instances", b"", 404, "no /instances on this port"),
            ("GET", f"{it.url}/readyz", b"", 503, "there is no decode instance"),
            ("GET", f"{it.url}/v1/models", b"", 503, "there is no decode instance"),
        ):
            async with it.client.request(method, path, data=content) as answer:
                error = (await answer.json())["error"]
                assert answer.status == status == error["code"] and message in error["message"]
                assert set(error) == {"message", "type", "param", "code"}


@in_loop
async def test_ready_once_both_roles_are() -> None:
    async with deployed("vllm-nixl") as it:
        for url in (
            f"{it.url}/health",
            f"{it.url}/readyz",
            f"{it.admin}/health",
            f"{it.admin}/readyz",
            f"{it.url}/v1/models",
        ):
            async with it.client.get(url) as answer:
                assert answer.status == 200
        it.prefill[0].healthy = False
        await it.until(it.prefill[0], state="unhealthy")
        async with it.client.get(f"{it.url}/readyz") as answer:
            assert answer.status == 503


@in_loop
async def test_metrics_have_prometheus_format() -> None:
    async with deployed("vllm-nixl") as it:
        assert (await it.ask())[0] == 200
        assert (await it.ask(n=2))[0] == 400
        await it.calm()
        async with it.client.get(f"{it.admin}/metrics") as answer:
            assert answer.content_type == "text/plain"
            lines = (await answer.text()).splitlines()
        series = re.compile(r'(kvpool_proxy_\w+)(\{(\w+="[^"]*",?)+\})? [\d.]+')
        named = {match[1] for line in lines if not line.startswith("#") and (match := series.fullmatch(line))}
        assert len(named) >= 15 and all(line.startswith("# ") or series.fullmatch(line) for line in lines)
        typed = {line.split()[2] for line in lines if line.startswith("# TYPE")}
        assert {re.sub("_(bucket|sum|count)$", "", name) for name in named} == typed
        metrics = await it.metrics()
        for status in (200, 400):
            assert metrics[f'kvpool_proxy_requests_total{{path="/v1/completions",status="{status}"}}'] == 1
        assert metrics["kvpool_proxy_first_byte_seconds_count"] == 1
        assert metrics[f'kvpool_proxy_instance_ready{{role="decode",url="{it.decode[0].url}"}}'] == 1


@in_loop
async def test_instances_follow_a_file(tmp_path: Path) -> None:
    path = tmp_path / "instances.json"
    path.write_text("[]")
    async with deployed("sglang", prefill=0, decode=0, file=path) as it:
        prefill, decode = await it.engine("prefill"), await it.engine("decode")
        path.write_text(json.dumps({"instances": [described(prefill), described(decode)]}))
        for engine in (prefill, decode):
            await it.until(engine, state="ready", sources=["file"])
        assert await it.ask() == (200, answer_to("hello"))
        async with it.client.delete(f"{it.admin}/instances", json={"url": decode.url}) as answer:
            assert (
                answer.status == 409
                and "is listed by file: remove it there" in (await answer.json())["error"]["message"]
            )
        path.write_text(json.dumps([described(prefill)]))
        await it.eventually(lambda listed: list(listed) == [prefill.url], "it is gone with its line")


class ApiServer:
    """Lists pods, in pages of one."""

    def __init__(self) -> None:
        self.pods: list[dict[str, Any]] = []
        self.token = "t1"
        self.refused = 0

    async def list_pods(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            self.refused += 1
            return web.json_response({"message": "no"}, status=403)
        assert request.query["labelSelector"] == "kvpool.dev/pd-role in (prefill,decode),model=m"
        place = int(request.query.get("continue", "0"))
        more = {"continue": str(place + 1)} if place + 1 < len(self.pods) else {}
        return web.json_response({"metadata": more, "items": self.pods[place : place + 1]})


def pod_of(engine: Any) -> dict[str, Any]:
    annotations = {
        "kvpool.dev/pd-port": str(engine.port),
        "kvpool.dev/pd-bootstrap-port": str(engine.bootstrap_port or 1),
    }
    return {
        "metadata": {
            "name": f"p{engine.port}",
            "labels": {"kvpool.dev/pd-role": engine.role},
            "annotations": annotations,
        },
        "status": {"podIP": "127.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]},
    }


@in_loop
async def test_instances_follow_labels_of_pods(tmp_path: Path) -> None:
    server = ApiServer()
    application = web.Application()
    application.router.add_get("/api/v1/namespaces/inference/pods", server.list_pods)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    token = tmp_path / "token"
    token.write_text("t1")
    cluster = Cluster(f"http://127.0.0.1:{runner.addresses[0][1]}", "inference", token, None)
    try:
        async with deployed("vllm-mooncake", prefill=0, decode=0, cluster=cluster, selector="model=m") as it:
            engines = [await it.engine(role) for role in ("prefill", "decode", "decode")]
            server.pods = [pod_of(engine) for engine in engines]
            for engine in engines:
                await it.until(engine, state="ready", sources=["kubernetes"])
            assert await it.ask() == (200, answer_to("hello"))

            # The token is replaced; until the proxy has it instances stay.
            server.token, server.refused = "t2", 0
            async with asyncio.timeout(60):
                while server.refused < 3:
                    await asyncio.sleep(0.005)
            assert len(await it.instances()) == 3
            assert (await it.metrics())["kvpool_proxy_source_failures_total"] >= 2
            server.pods[2]["status"]["conditions"][0]["status"] = "False"
            token.write_text("t2")
            await it.eventually(lambda listed: engines[2].url not in listed, "a pod that is not ready is none")
            assert await it.ask() == (200, answer_to("hello"))
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "--scheme"),
        (["--scheme", "nixl"], "invalid choice"),
        (["--scheme", "ascend-layerwise"], "--advertise-host"),
        (["--scheme", "sglang", "--prefill", "h:1"], "write 'http://HOST:PORT'"),
        (["--scheme", "sglang", "--prefill", "http://h:1,x"], "URL,BOOTSTRAP_PORT"),
        (["--scheme", "sglang", "--port", "70000"], "from 0 to 65535"),
        (["--scheme", "sglang", "--refresh", "0"], "above 0"),
        (["--scheme", "sglang", "--refresh", "nan"], "above 0"),
        (["--scheme", "sglang", "--kubernetes"], "--kubernetes-api"),
        (["--scheme", "sglang", "--kubernetes-selector", "a=b"], "needs --kubernetes"),
        (["--scheme", "sglang", "--kube"], "unrecognized"),
    ],
)
def test_wrong_flags_are_refused(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_command(arguments, {})
    assert ended.value.code == 2 and problem in capsys.readouterr().err


def test_the_manifest_has_flags_that_there_are() -> None:
    text = (Path(__file__).parents[4] / "manifests/prefill-decode/proxy.yaml").read_text(encoding="utf-8")
    flags = re.findall(r"- (--[^\s]+)", text)
    given = [flag for flag in flags if not flag.startswith("--kubernetes-selector")]
    configuration = read_command([*given, "--kubernetes-namespace=n"], {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert len(flags) - len(given) == 1 and configuration.cluster is not None
    ports = [int(port) for port in re.findall(r"containerPort: (\d+)", text)]
    assert ports == [configuration.port, configuration.admin_port]
    assert int(re.search(r"GracePeriodSeconds: (\d+)", text)[1]) > configuration.stop_timeout + 5
    assert f"matchLabels: {{{ROLE_LABEL}: decode}}" in text


def test_flags_become_the_configuration() -> None:
    flags = "--scheme sglang --prefill http://p:1,7000 --prefill http://q:1 --decode http://d:1 --retries 0 --idle-timeout 5"
    configuration = read_command([*flags.split(), "--max-body-bytes", str(1 << 30)], {})
    assert configuration.limits.bodies_bytes == configuration.limits.body_bytes == 1 << 30, "one is always taken"
    assert [(it.url, it.bootstrap_port) for it in configuration.instances] == [
        *(("http://p:1", 7000), ("http://q:1", 0), ("http://d:1", 0)),
    ]
    assert (configuration.limits.retries, configuration.limits.idle, configuration.port) == (0, 5.0, 8000)


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    command = [sys.executable, "-c", "from kvpool_engines.proxy.service.command import main; main()"]
    flags = ["--scheme", "sglang", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"]
    with subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        line = process.stderr.readline()
        port = re.search(r"completions on port (\d+)", line)
        assert port, line
        with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/health", timeout=30) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        eventually(lambda: process.poll() is not None, "the command ends")
        assert process.returncode == 0


def test_a_file_that_is_not_there_ends_the_command() -> None:
    command = [sys.executable, "-c", "from kvpool_engines.proxy.service.command import main; main()"]
    run = subprocess.run(
        [*command, "--scheme", "sglang", "--instances", "/nowhere.json", "--port", "0", "--admin-port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1 and run.stderr.endswith("kvpool-proxy: /nowhere.json: No such file or directory\n")
