# SPDX-License-Identifier: Apache-2.0
"""Command lines of the reference's programs: what kvpool makes of each flag."""

import signal
import socket
import subprocess

import pytest
from mooncake_flags_page import PAGE, page

from mooncake.connection.own_address import advertised_host
from mooncake.launch import client, command_line, config_file, master, pool_command, process, transfer_bench
from mooncake.launch.bench_flags import UNITS
from mooncake.launch.client import free_port, overridden
from mooncake.launch.client_flags import FLAGS as CLIENT_FLAGS
from mooncake.launch.command_line import BadCommandLine, Treatment
from mooncake.launch.master_flags import FLAGS as MASTER_FLAGS


def option(arguments, name):
    return arguments[arguments.index(name) + 1]


def pool(*arguments):
    return pool_command.of_master(master.read(arguments).values)


def problems(*arguments, flags=MASTER_FLAGS):
    with pytest.raises(BadCommandLine) as failure:
        command_line.read(arguments, flags)
    return failure.value.problems


def test_a_process_that_hangs_is_killed():
    hanging = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; read -r _"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with hanging:
        assert hanging.stdout.readline() == b"\n"

        process.stop(hanging, 0.1)

        assert hanging.returncode == -signal.SIGKILL


def test_defaults_are_those_of_the_reference():
    arguments = pool()

    assert arguments[0] == "local"
    assert option(arguments, "--host") == "0.0.0.0"
    assert option(arguments, "--master-port") == "50051"
    assert option(arguments, "--admin-port") == "9003"
    assert option(arguments, "--object-lease") == "10000ms"
    assert option(arguments, "--eviction-high-watermark") == "0.9"
    assert option(arguments, "--eviction-low-watermark") == "0.85"
    assert option(arguments, "--storage-nodes") == "0"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rpc_port=6000", "--default_kv_lease_ttl=5000"],
        ["-rpc_port", "6000", "-default_kv_lease_ttl", "5000"],
        ["--port=1", "--rpc_port", "6000", "--default_kv_lease_ttl=7", "--default_kv_lease_ttl=5000"],
    ],
)
def test_flags_are_read_in_every_form(arguments):
    told = pool(*arguments)

    assert option(told, "--master-port") == "6000"
    assert option(told, "--object-lease") == "5000ms"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "true"),
        (["--allow_evict_soft_pinned_objects"], "true"),
        (["--noallow_evict_soft_pinned_objects"], "false"),
        (["--allow_evict_soft_pinned_objects=false"], "false"),
        (["-allow_evict_soft_pinned_objects=0"], "false"),
    ],
)
def test_switches(arguments, expected):
    assert option(pool(*arguments), "--allow-evict-soft-pinned") == expected


def test_a_name_is_a_pool():
    assert option(pool(), "--pool-id") == option(pool("--cluster_id=mooncake_cluster"), "--pool-id")
    assert option(pool("--cluster_id=other"), "--pool-id") != option(pool(), "--pool-id")


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("--rpc_prt=1", "unknown flag --rpc_prt; is --rpc_port meant?"),
        ("--enable_kv_event", "unknown flag --enable_kv_event; is --enable_kv_events meant?"),
        ("--enable_kv", "unknown flag --enable_kv; --help lists the known ones"),
        ("--xyzzy", "unknown flag --xyzzy; --help lists the known ones"),
        ("--norpc_port", "unknown flag --norpc_port; is --rpc_port meant?"),
        ("master", "unexpected argument 'master': every setting is a flag"),
        ("--", "unexpected argument '--': every setting is a flag"),
        ("--rpc_port", "--rpc_port needs a value"),
        ("--rpc_port=", "--rpc_port is '', but must be a whole number, 0 or more"),
        ("--rpc_port=65536", "--rpc_port is '65536', but must be a port, 0 to 65535"),
        ("--rpc_port=-1", "--rpc_port is '-1', but must be a whole number, 0 or more"),
        ("--rpc_port=１", "--rpc_port is '１', but must be a whole number, 0 or more"),
        (
            "--default_kv_lease_ttl=" + "9" * 19,
            "--default_kv_lease_ttl is '" + "9" * 19 + "', but must be a whole number",
        ),
        ("--eviction_high_watermark_ratio=nan", "but must be a number from 0 to 1"),
        ("--eviction_ratio=1.5", "but must be a number from 0 to 1"),
        ("--enable_gc=perhaps", "--enable_gc is 'perhaps', but must be true or false"),
        ("--rpc_address=a\0b", "must be text without zero bytes"),
    ],
)
def test_a_wrong_argument_is_named(argument, expected):
    [problem] = problems(argument)

    assert expected in problem


def test_all_problems_are_told_at_once():
    assert len(problems("--rpc_port=x", "--nonsense=1", "--enable_ha")) == 3


def test_what_has_no_effect_is_said_unless_it_asks_for_nothing():
    line = command_line.read(["--enable_snapshot=true", "--rpc_thread_num=0", "--v=1"], MASTER_FLAGS)

    assert [warning.split(":")[0] for warning in line.warnings] == [
        "--enable_snapshot has no effect",
        "--v has no effect",
    ]


def test_what_would_be_missed_is_refused_with_a_way_to_have_it():
    [problem] = problems("--enable_ha=true")

    assert problem.startswith("--enable_ha=true is not served: start several masters with `kvpool local --masters 2`")
    assert command_line.read(["--enable_ha=false"], MASTER_FLAGS).warnings == []


@pytest.mark.parametrize(
    ("flags", "argument", "remedy"),
    [
        (MASTER_FLAGS, "--enable_kv_events", "kvpool-events-zmq --form mooncake"),
        (CLIENT_FLAGS, "--enable_ssd_offload", "storage[].ssd of a KvCachePool"),
        (CLIENT_FLAGS, "--enable_offload", "storage[].ssd of a KvCachePool"),
    ],
)
def test_what_is_elsewhere_is_refused_with_its_place(flags, argument, remedy):
    [problem] = problems(argument, flags=flags)

    assert f"{argument}=true is not served: " in problem
    assert remedy in problem


@pytest.mark.parametrize(
    "argument",
    [
        "--promotion_on_hit",
        "--offload_on_evict",
        "--offload_force_evict",
        "--dynamic_replication_mode=enforce",
        "--kv_events_bind_endpoint=tcp://*:5557",
        "--kv_events_backend_id=b",
        "--kv_events_emit_legacy_compat",
        "--kv_events_emit_object_key",
    ],
)
def test_what_a_pool_does_by_itself_or_elsewhere_has_no_effect(argument):
    [warning] = command_line.read([argument], MASTER_FLAGS).warnings

    assert warning.startswith(f"{argument.partition('=')[0]} has no effect: ")


def test_the_client_serves_its_port_by_the_agent():
    plain = pool_command.of_agent("m:1", "/d", "s", 9301, None)
    assert option(plain, "--admin-port") == "9301"
    assert option(plain, "--abstract-socket") == "s"
    assert "--tls-dir" not in plain
    assert option(pool_command.of_agent("m:1", "/d", "s", 9301, "/tls"), "--tls-dir") == "/tls"


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [("KVPOOL_TLS_DIR", "tls", "absolute path"), ("KVPOOL_PAYLOADS", "encrypted", "the agent connects")],
)
def test_what_mooncake_client_cannot_have_is_refused(monkeypatch, capsys, variable, value, why):
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("KVPOOL_COMMAND", "/none")
    assert client.main(["--master_server_address=127.0.0.1:1"]) == process.USAGE
    assert variable in capsys.readouterr().err
    assert command_line.read([], CLIENT_FLAGS).values["http_port"] == 9300


def test_a_port_that_another_process_has_is_named_with_its_flag_and_memory_joins_all_the_same(capfd):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) == 0
    assert f"--http_port {port} cannot be listened on" in "".join(capfd.readouterr())
    assert free_port(port) == port


@pytest.mark.parametrize("protocol", ["rdma", "ascend"])
def test_the_client_takes_the_protocol_of_the_environment(protocol):
    assert overridden(protocol, {"KVPOOL_PROTOCOL_OVERRIDE": "tcp"}) == protocol
    for served in ("tcp", "shm", ""):
        assert overridden(served, {"KVPOOL_PROTOCOL_OVERRIDE": "tcp"}) is None
        assert overridden(served, {}) is None


@pytest.mark.parametrize(
    ("override", "expected"),
    [("", "--protocol is 'rdma', but"), ("", "KVPOOL_PROTOCOL_OVERRIDE=tcp"), ("shm", "may only be tcp, or not set")],
)
def test_another_protocol_is_refused_with_a_remedy(override, expected, capsys, monkeypatch):
    monkeypatch.setenv("KVPOOL_PROTOCOL_OVERRIDE", override)

    assert client.main(["--protocol=rdma"]) == process.USAGE
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("flags", [MASTER_FLAGS, CLIENT_FLAGS])
def test_the_tables(flags):
    assert len({flag.name for flag in flags}) == len(flags)
    text = command_line.usage("program", "Summary.", flags)
    for flag in flags:
        assert f"--{flag.name}" in text
        assert flag.note
        if flag.treatment is Treatment.REFUSED and flag.is_switch:
            assert flag.default is False


def test_eviction_ends_below_the_share_at_which_it_begins():
    assert option(pool("--eviction_high_watermark_ratio=0.04"), "--eviction-low-watermark") == "0.01"
    with pytest.raises(ValueError, match="eviction must end below"):
        pool("--eviction_ratio=0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"rpc_port": 6000, "enable_gc": false, "cluster_id": "a"}',
            {"rpc_port": "6000", "enable_gc": "false", "cluster_id": "a"},
        ),
        ("# master\nrpc_port: 6000  # rpc\n\ncluster_id: 'a'\n", {"rpc_port": "6000", "cluster_id": "a"}),
        ("", {}),
        ("---\n", {}),
    ],
)
def test_files(text, expected):
    assert config_file.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"rpc_port": [1]}', "rpc_port must be a text"),
        ('{"rpc_port": {"a": 1}}', "rpc_port must be a text"),
        ('{"rpc_port": null}', "rpc_port must be a text"),
        ('{"rpc_port": 1', "it is no JSON"),
        ('{"rpc_port": 1, "rpc_port": 2}', "rpc_port stands there twice"),
        ("rpc_port: 1\nrpc_port: 2", "rpc_port stands there twice"),
        ("rpc_port 1", "line 1 is 'rpc_port 1'"),
        ("master:\n  rpc_port: 1", "line 2 is 'rpc_port: 1'"),
        ("- rpc_port: 1", "line 1 is '- rpc_port: 1'"),
    ],
)
def test_wrong_files(text, expected):
    with pytest.raises(ValueError, match=expected):
        config_file.parse(text)


def test_flags_go_before_the_file(tmp_path):
    path = tmp_path / "master.yaml"
    path.write_text("rpc_port: 6000\nmetrics_port: 6001\n")

    told = pool(f"--config_path={path}", "--metrics_port=6002")

    assert option(told, "--master-port") == "6000"
    assert option(told, "--admin-port") == "6002"


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"rpc_prt: 1", "config_path: unknown flag --rpc_prt"), (b"\xff\xfe", "can't decode"), (None, "No such file")],
)
def test_a_wrong_file_is_named(tmp_path, content, expected):
    path = tmp_path / "master.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(BadCommandLine, match=expected):
        master.read([f"--config_path={path}"])


def test_a_wrong_command_line_ends_with_2(capsys):
    assert master.main(["--enable_cxl=true"]) == 2
    assert "--enable_cxl=true is not served" in capsys.readouterr().err


def test_without_the_command_it_says_where_to_get_it(capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("KVPOOL_COMMAND", raising=False)

    assert master.main([]) == 1
    assert "the command `kvpool` is not on PATH" in capsys.readouterr().err


def test_a_metadata_server_that_cannot_listen_is_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        flags = ["--http_metadata_server_host=127.0.0.1", f"--http_metadata_server_port={port}"]
        assert master.main(["--enable_http_metadata_server=true", *flags]) == 1
    assert f"the metadata server cannot listen on 127.0.0.1 port {port}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "environment", "expected"),
    [
        ("10.0.0.7", {"POD_IP": "10.0.0.8"}, "10.0.0.7"),
        ("0.0.0.0", {"POD_IP": "10.0.0.8"}, "10.0.0.8"),
        ("0.0.0.0", {}, "127.0.0.1"),
    ],
)
def test_how_others_reach_this_machine(host, environment, expected):
    assert advertised_host(host, "127.0.0.1:50051,127.0.0.2:50051", environment) == expected


def test_the_page_is_current():
    assert PAGE.read_text() == page(), "docs/reference/mooncake-flags.md is stale; make docs writes it"


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "--segment_id is missing"),
        (
            ["--segment_id=h:1", "--threads=3", "--block_size=10", "--batch_size=10", "--buffer_size=299"],
            "are 300 bytes",
        ),
        (["--mode=target", "--buffer_size=99999999999999999"], "at most"),
        (["--mode=target", "--report_precision=10"], "9 at most"),
        (["--mode=both"], "initiator, target"),
        (["--threads=0"], "1 or more"),
        (["--block_size=-1"], "whole number"),
        (["--report_unit=TB"], "KiB"),
        (["--blok_size=1"], "is --block_size meant?"),
    ],
)
def test_the_bench_refuses_what_it_cannot_measure(arguments, wrong, capsys):
    assert transfer_bench.main(arguments) == process.USAGE
    assert wrong in capsys.readouterr().err


def test_the_bench_reports_in_every_unit():
    lines = [transfer_bench.report(2.0, 4, 1 << 20, unit, 3).rpartition("throughput ")[2] for unit in UNITS]
    assert lines == [
        *("0.002 GB/s", "0.002 GiB/s", "0.017 Gb/s", "2.097 MB/s", "2.000 MiB/s", "16.777 Mb/s"),
        *("2097.152 KB/s", "2048.000 KiB/s", "16777.216 Kb/s"),
    ]
