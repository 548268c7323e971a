# SPDX-License-Identifier: Apache-2.0
"""setup(): every form engines use, and every way to get it wrong."""

import inspect
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Fake
from waiting import eventually

from kvpool import Status
from mooncake.configuration.environment import parse_time
from mooncake.configuration.settings import BadSettings, parse_host, read_settings
from mooncake.configuration.sizes import parse_size
from mooncake.store import MooncakeDistributedStore

SEVEN = ("10.0.0.5", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", "m0:50051,m1:50051")


@pytest.fixture
def store(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    made = MooncakeDistributedStore()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (5 << 30, 5 << 30),
        ("16MB", 16 << 20),
        ("16 mb", 16 << 20),
        ("16MiB", 16 << 20),
        ("4g", 4 << 30),
        ("4Gi", 4 << 30),
        ("1.5 GB", 3 << 29),
        ("1t", 1 << 40),
        ("512", 512),
        ("512b", 512),
        ("64K", 64 << 10),
    ],
)
def test_sizes(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["10%", "-1", -1, "", "MB", "1 XB", "1e9", None, True, "١MB", "0x10", "1.5.2MB"])
def test_what_is_no_size(text: object) -> None:
    with pytest.raises(ValueError, match=r"a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("node-1", "node-1"),
        ("node-1:17000", "node-1"),
        ("10.0.0.5:1", "10.0.0.5"),
        ("[fd00::5]:17000", "fd00::5"),
        ("[fd00::5]", "fd00::5"),
        ("fd00::5", "fd00::5"),
        ("", ""),
        (":17000", ""),
    ],
)
def test_hosts(name: str, host: str) -> None:
    assert parse_host(name) == host


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings(
            {"local_hostname": ":1", "global_segment_size": "10%", "protocol": "rdma", "master_server_addr": ","},
            {"KVPOOL_RETRY_DEADLINE": "soon", "KVPOOL_PROTOCOLS": "tcp,rdma"},
        )
    text = "\n".join(caught.value.problems)
    for part in ("metadata_server is missing", "global_segment_size is '10%'", "local_hostname is ':1'", "'rdma'"):
        assert part in text
    assert "master_server_addr is empty" in text
    assert "KVPOOL_RETRY_DEADLINE is 'soon', but must be a whole number with a unit" in text
    assert "KVPOOL_PROTOCOLS is 'tcp,rdma', but must name one or more of shm, ascend, ucx and tcp" in text


def test_seven_positional_arguments(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup(*SEVEN) == 0
    assert fake.last_call[:3] == ["m0:50051,m1:50051", "10.0.0.5", "3"]
    assert (fake.state.clients, fake.state.nodes) == (1, 0)
    assert store.get_hostname() == "10.0.0.5"
    assert store.health_check() == 0
    fake.state.leaderless = 1
    assert store.health_check() == 2
    assert store.close() == 0
    assert store.health_check() == 1
    assert (store.close(), store.get_hostname(), fake.state.clients) == (0, "", 0)


def test_the_environment_says_what_setup_cannot(
    store: MooncakeDistributedStore, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOLS", "tcp")
    monkeypatch.setenv("KVPOOL_CONNECT_TIMEOUT", "500ms")
    monkeypatch.setenv("KVPOOL_TRANSFER_TIMEOUT", "2m")
    monkeypatch.setenv("KVPOOL_IDLE_TIMEOUT", "3m")
    monkeypatch.setenv("KVPOOL_RETRY_DEADLINE", "7s")
    monkeypatch.setenv("KVPOOL_BUSY_WAIT", "off")
    monkeypatch.setenv("KVPOOL_TLS_DIR", "/etc/tls")
    monkeypatch.setenv("KVPOOL_PAYLOADS", "encrypted")
    assert store.setup(*SEVEN) == 0
    assert fake.last_call[2:5] == ["1", "500", "120000"]
    assert fake.last_call[6:10] == [str(0xFFFFFFFF), "180000", "/etc/tls", "1"]
    store.put("key", b"")
    assert 6000 < int(fake.last_call[5]) <= 7000


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("KVPOOL_CONNECT_TIMEOUT", "3", "is '3'"),
        ("KVPOOL_PAYLOADS", "authenticated", "is 'authenticated', but must be encrypted"),
    ],
)
def test_a_wrong_environment_is_told(
    store: MooncakeDistributedStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    variable: str,
    value: str,
    told: str,
) -> None:
    monkeypatch.setenv(variable, value)
    assert store.setup(*SEVEN) == -600
    assert f"environment variable {variable} {told}" in caplog.text


@pytest.mark.parametrize("text", ["0s", "-1s", "1", "1.5s", "1h", " 1s", "1234567890s", "s"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="a whole number with a unit"):
        parse_time(text)


@pytest.mark.parametrize("server", ["P2PHANDSHAKE", "http://10.0.0.1:8080/metadata", "", "etcd://a:1"])
def test_any_metadata_server_is_accepted(store: MooncakeDistributedStore, server: str) -> None:
    assert store.setup("h", server, 0, 0, "tcp", "", "m:1") == 0


def test_keywords_as_engines_give_them(store: MooncakeDistributedStore) -> None:
    code = store.setup(
        local_hostname="10.0.0.5:17001",
        metadata_server="P2PHANDSHAKE",
        global_segment_size=0,
        local_buffer_size=1 << 30,
        protocol="tcp",
        rdma_devices="mlx5_0",
        master_server_addr="m:1",
        engine=None,
        enable_ssd_offload=False,
        ssd_offload_path="",
    )
    assert (code, store.get_hostname()) == (0, "10.0.0.5:17001")


def test_engines_find_the_newer_argument(store: MooncakeDistributedStore) -> None:
    assert "enable_ssd_offload" in inspect.signature(store.setup).parameters
    assert "enable_ssd_offload" in store.setup.__doc__


@pytest.mark.parametrize("form", ["positional", "keyword"])
def test_one_dict(store: MooncakeDistributedStore, fake: Fake, form: str) -> None:
    config = {
        "local_hostname": "10.0.0.5",
        "metadata_server": "P2PHANDSHAKE",
        "global_segment_size": "16MB",
        "local_buffer_size": "0",
        "master_server_addr": "m:1",
    }
    assert (store.setup(config) if form == "positional" else store.setup(config=config)) == 0
    assert fake.state.nodes == 1


def test_the_dict_that_lmcache_gives(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    """All of it is text, by the names of its own file."""
    config = {
        "local_hostname": "localhost",
        "metadata_server": "P2PHANDSHAKE",
        "global_segment_size": "0",
        "local_buffer_size": "536870912",
        "protocol": "tcp",
        "device_name": "",
        "master_server_address": "m0:50051,m1:50051",
    }
    with caplog.at_level(logging.WARNING, "mooncake.store"):
        assert store.setup(config) == 0
    assert (fake.last_call[0], caplog.text) == ("m0:50051,m1:50051", "")


BASE = {"local_hostname": "h", "metadata_server": "P2PHANDSHAKE"}


@pytest.mark.parametrize(
    ("given", "environment", "masters", "note"),
    [
        ({"master_server_addr": "a:1"}, {}, "a:1", ""),
        ({"master_server_address": "a:1"}, {}, "a:1", ""),
        ({"master_server_addr": "a:1", "master_server_address": "a:1"}, {}, "a:1", ""),
        ({"master_server_addr": "a:1", "master_server_address": "b:1"}, {}, "a:1", "'b:1': 'a:1' is used"),
        ({"master_server_address": "a:1"}, {"MOONCAKE_MASTER": "b:1"}, "a:1", ""),
        ({}, {"MOONCAKE_MASTER": "b:1,c:1"}, "b:1,c:1", ""),
        ({}, {}, "127.0.0.1:50051", "127.0.0.1:50051 is tried"),
    ],
)
def test_the_masters_by_every_name(given: dict, environment: dict, masters: str, note: str) -> None:
    settings = read_settings({**BASE, **given}, environment)
    assert settings.masters == masters
    assert note in "".join(settings.notes)
    assert bool(settings.notes) == bool(note)


def test_the_file_of_a_pool_is_a_dict_too() -> None:
    """mooncake.json of the ConfigMap NAME-client, as it is."""
    settings = read_settings(
        {
            "mode": "standalone-store",
            "metadata_server": "P2PHANDSHAKE",
            "master_server_address": "m0:50051",
            "protocol": "tcp",
            "device_name": "",
            "local_hostname": "localhost",
            "global_segment_size": 0,
            "local_buffer_size": 536870912,
            "transfer_timeout": 3600,
        },
        {},
    )
    assert (settings.masters, settings.segment_bytes, settings.notes) == ("m0:50051", 0, [])
    assert settings.local_buffer_bytes == 536870912


def test_an_unknown_key_is_named_with_what_may_be_meant() -> None:
    settings = read_settings({**BASE, "master_server_adress": "m:1", "colour": "red"}, {})
    notes = "\n".join(settings.notes)
    assert (
        "'master_server_adress' is no setting of this version and has no effect; is 'master_server_address' meant?"
        in notes
    )
    assert "'colour' is no setting of this version and has no effect\n" in notes


def test_no_masters_at_all_is_a_problem() -> None:
    with pytest.raises(BadSettings, match="master_server_addr is empty"):
        read_settings({**BASE, "master_server_address": " "}, {"MOONCAKE_MASTER": "m:1"})


def test_init_all_takes_the_rest_from_the_environment(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOONCAKE_MASTER", "m0:50051")
    monkeypatch.setenv("MOONCAKE_LOCAL_HOSTNAME", "10.0.0.5")
    assert store.unmount_local_disk_segment() == -1
    assert store.init_all("rdma", "mlx5_0", 0) == -600
    assert store.init_all("tcp", "", 0) == 0
    assert store.get_hostname() == "10.0.0.5"
    assert store.unmount_local_disk_segment() == -101
    store.close()
    assert store.init_all("tcp", "") == 0
    assert store.get_hostname().startswith("10.0.0.5:"), "16 MiB of this process's memory"


def test_an_incomplete_call_is_a_type_error(store: MooncakeDistributedStore) -> None:
    """Engines probe for newer arguments this way."""
    with pytest.raises(TypeError, match="misses master_server_addr"):
        store.setup("h", "", 0, 0, "tcp", "")
    with pytest.raises(TypeError):
        store.setup(*SEVEN, no_such_argument=1)


@pytest.mark.parametrize("protocol", ["rdma", "efa", "TCP "])
def test_other_transports_are_refused_aloud(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture, protocol: str
) -> None:
    assert store.setup("h", "", 0, 0, protocol, "", "m:1") == -600
    assert f"protocol is {protocol!r}, but this build of kvpool has tcp, ascend and" in caplog.text
    assert "KVPOOL_PROTOCOL_OVERRIDE=tcp" in caplog.text, "the remedy"
    assert fake.state.clients == 0


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.CONNECT_FAILED, -900),
        (Status.TIMEOUT, -901),
        (Status.VERSION_MISMATCH, -300),
        (Status.RECOVERING, -1010),
    ],
)
def test_a_pool_that_cannot_be_joined(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture, status: Status, code: int
) -> None:
    fake.state.create_status = status
    fake.state.sentence = b"m0:50051: connection refused"
    assert store.setup("10.0.0.5", "", 32 << 20, 0, "tcp", "", "m0:50051") == code
    assert "m0:50051: connection refused" in caplog.text
    assert (fake.state.clients, fake.state.nodes) == (0, 0), "the memory is given back"
    fake.state.create_status = 0
    assert store.setup(*SEVEN) == 0, "it can be tried again"


def test_a_second_setup_is_refused(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.setup(*SEVEN) == 0
    assert store.setup(*SEVEN) == -600
    assert "set up already" in caplog.text
    assert fake.state.clients == 1


def test_memory_for_the_pool(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup("10.0.0.5:17000", "", 64 << 20, 0, "tcp", "", "m:1") == 0
    assert (fake.state.clients, fake.state.nodes) == (1, 1)
    assert store.get_hostname() == "10.0.0.5:17000"
    store.close()
    assert (fake.state.clients, fake.state.nodes) == (0, 0)


def test_a_small_segment_is_raised(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.setup("h", "", 1, 0, "tcp", "", "m:1") == 0
    assert "global_segment_size 1 is raised to the smallest segment, 16777216" in caplog.text
    assert fake.state.nodes == 1


def test_a_name_without_port_gets_that_of_the_node(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup("10.0.0.5", "", 16 << 20, 0, "tcp", "", "m:1") == 0
    host, port = store.get_hostname().split(":")
    assert host == "10.0.0.5" and 12300 <= int(port) < 14300


def test_a_port_in_use_is_not_the_end(store: MooncakeDistributedStore, fake: Fake) -> None:
    fake.state.node_failures, fake.state.node_status = 19, Status.IO
    assert store.setup("h", "", 16 << 20, 0, "tcp", "", "m:1") == 0
    fake.state.node_failures, fake.state.node_status = 20, Status.IO
    fake.state.sentence = b"address already in use"
    assert MooncakeDistributedStore().setup("h", "", 16 << 20, 0, "tcp", "", "m:1") == -1


def test_too_much_memory(store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    fake.state.node_failures, fake.state.node_status = 1, Status.OUT_OF_MEMORY
    fake.state.sentence = b"cannot reserve 1099511627776 bytes"
    assert store.setup("h", "", 1 << 40, 0, "tcp", "", "m:1") == -200
    assert "cannot reserve 1099511627776 bytes" in caplog.text
    assert store.setup("h", "", 1 << 70, 0, "tcp", "", "m:1") == -600


def test_memory_that_no_leader_takes(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mooncake.connection.own_segments._ADMISSION_SECONDS", 0.05)
    fake.state.not_fenced = 1
    assert store.setup("h", "", 16 << 20, 0, "tcp", "", "m:1") == -901
    assert "connected to 1 of 2 masters" in caplog.text
    assert (fake.state.clients, fake.state.nodes) == (0, 0)


def test_memory_joins_and_leaves_later(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup("10.0.0.5", "", 0, 0, "tcp", "", "m:1") == 0
    first, second = (store.allocate_and_mount_segment(size, "tcp", "cpu") for size in (1, 64 << 20))
    assert (first["ret"], first["allocated_size"], second["allocated_size"]) == (0, 16 << 20, 64 << 20)
    [one], [two] = first["segment_ids"], second["segment_ids"]
    assert one != two and one.startswith("10.0.0.5:")
    assert fake.state.nodes == 2
    assert store.unmount_segment([one, "other"]) == -101 and fake.state.nodes == 2, "all or none"
    assert store.unmount_and_free_segment([one, one]) == 0
    assert store.unmount_and_free_segment([one]) == -101
    assert fake.state.nodes == 1
    store.close()
    assert (fake.state.clients, fake.state.nodes) == (0, 0)


def test_memory_leaves_after_a_time_or_with_the_store(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.setup("h", "", 16 << 20, 0, "tcp", "", "m:1") == 0
    [segment] = store.allocate_and_mount_segment(1 << 24)["segment_ids"]
    assert store.unmount_and_free_segment([segment], 3600) == store.unmount_and_free_segment([segment], 3600) == 0
    assert fake.state.nodes == 2
    assert store.unmount_and_free_segment([segment], -1) == -600
    assert store.unmount_and_free_segment([segment]) == 0, "now after all"
    assert fake.state.nodes == 1
    [segment] = store.allocate_and_mount_segment(1 << 24)["segment_ids"]
    assert store.unmount_segment([segment], 0.02) == 0
    eventually(lambda: fake.state.nodes == 1, "its time is over")
    [segment] = store.allocate_and_mount_segment(1 << 24)["segment_ids"]
    assert store.unmount_segment([segment], 3600) == 0
    store.close()
    assert fake.state.nodes == 0
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    eventually(lambda: not any(timer.is_alive() for timer in timers), "nothing is waited for any more")


def test_memory_that_cannot_join(store: MooncakeDistributedStore, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    none = {"segment_ids": [], "allocated_size": 0}
    assert store.allocate_and_mount_segment(1) == {"ret": -1, **none}
    assert store.unmount_segment(["x"]) == -1
    assert store.setup("h", "", 0, 0, "tcp", "", "m:1") == 0
    for wrong in ((0,), (-1,), (1 << 70,), (1, "rdma"), (1, "tcp", "npu:0")):
        assert store.allocate_and_mount_segment(*wrong) == {"ret": -600, **none}
    fake.state.node_failures, fake.state.node_status = 1, Status.OUT_OF_MEMORY
    assert store.allocate_and_mount_segment(1) == {"ret": -200, **none}
    monkeypatch.setattr("mooncake.connection.own_segments._ADMISSION_SECONDS", 0.05)
    fake.state.not_fenced = 1
    assert store.allocate_and_mount_segment(1) == {"ret": -901, **none}
    assert fake.state.nodes == 0


def test_memory_that_a_file_has(store: MooncakeDistributedStore, fake: Fake, tmp_path: Path) -> None:
    path, size = tmp_path / "memory", 1 << 24
    assert store.mount_segment(str(path), size) == {"ret": -1, "segment_ids": []}
    assert store.setup("h", "", 0, 0, "tcp", "", "m:1") == 0
    assert store.mount_segment(str(path), size) == {"ret": -1, "segment_ids": []}, "there is no such file"
    path.touch()
    os.truncate(path, 2 * size)
    mounted = store.mount_segment(str(path), size, offset=size, protocol="", location="cpu")
    assert (
        fake.last_call[:2] == ["m:1", "h"]
        and fake.last_call[3] == str(size)
        and fake.last_call[7:] == [str(path), str(size)]
    )
    assert mounted == {"ret": 0, "segment_ids": [fake.last_call[2]]} and fake.state.nodes == 1
    none = {"ret": -1, "segment_ids": []}
    for wrong in (
        (0,),
        (size, size + 1),
        (2 * size + 1,),
        (1 << 70,),
        (size, -1),
        (size, 0, "rdma"),
        (size, 0, "tcp", "npu:0"),
    ):
        assert store.mount_segment(str(path), *wrong) == none
    for wrong in (str(tmp_path), "", "\0", "/dev/zero"):
        assert store.mount_segment(wrong, size) == none
    fake.state.node_failures, fake.state.node_status = 1, Status.SEGMENT_IN_USE
    assert store.mount_segment(str(path), size)["ret"] < 0
    assert store.unmount_segment(mounted["segment_ids"]) == 0
    assert fake.state.nodes == 0


def test_what_has_no_effect_is_said(store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "mooncake.store"):
        code = store.setup(
            {
                "local_hostname": "h",
                "metadata_server": "",
                "global_segment_size": 0,
                "enable_ssd_offload": "true",
                "colour": "red",
            }
        )
    assert code == 0
    for words in ("enable_ssd_offload has no effect", "storage[].ssd of a KvCachePool", "'colour'"):
        assert words in caplog.text


@pytest.mark.parametrize("port", ["-1", "65536", "http", "", None, "９３００"])
def test_a_wrong_port_of_the_clients_http_is_a_problem_where_it_is_asked_for(port: object) -> None:
    with pytest.raises(BadSettings, match=r"client_http_port is .*, but must be a port"):
        read_settings({**BASE, "enable_client_http_server": "true", "client_http_port": port}, {})
    assert read_settings({**BASE, "client_http_port": port}, {}).http_port is None


def test_defaults_are_silent(store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "mooncake.store"):
        assert store.setup(*SEVEN) == 0
    assert caplog.text == ""
