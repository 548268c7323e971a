# SPDX-License-Identifier: Apache-2.0
"""kvpool.events over masters that the tests make up: lines of JSON, broken connections, changes of leaders."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kvpool import KvpoolError, Status
from kvpool.events import Copy, Directory, Event, Subscription

N0 = {"node": "n0", "tier": "memory"}
BEGIN = {"event": "snapshot-begin", "at": "1.a.5", "nodes": ["n0"]}
END = {"event": "snapshot-end", "at": "1.a.6"}


def obj(event: str, key: str, id: str, **more: object) -> dict:
    return {"event": event, "key": key, "id": id, "bytes": 1, "copies": [N0], **more}


@contextmanager
def master(answer: Callable[[str], list[dict] | tuple[int, str] | None]) -> Iterator[str]:
    """One whose answer to a path is these lines and the end of the connection, or a refusal, or that it does not lead."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lines = answer(self.path)
            status, text = lines if isinstance(lines, tuple) else (503 if lines is None else 200, "")
            if text:
                lines = None
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())
            for line in lines or ():
                self.wfile.write(json.dumps(line).encode() + b"\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def take(events: Subscription, count: int) -> list[Event]:
    taken = []
    for event in events:
        taken.append(event)
        if len(taken) == count:
            return taken
    raise AssertionError("it has ended")


def test_it_finds_the_leader_and_goes_on_where_it_was() -> None:
    asked = []

    def leader(path: str) -> list[dict]:
        asked.append(path)
        if len(asked) == 1:
            return [BEGIN, obj("object", "k", "1.1"), END, {"event": "heartbeat", "at": "1.a.6"}]
        return [{"event": "resumed", "at": "1.a.6"}, obj("stored", "l", "1.2", at="1.a.7")]

    with master(lambda path: None) as standby, master(leader) as first, Subscription(f"{standby},{first}") as events:
        taken = take(events, 4)
        assert [it.kind for it in taken] == ["snapshot-begin", "object", "snapshot-end", "stored"]
        assert taken[1] == Event("object", key="k", id="1.1", bytes=1, copies=(Copy("n0", "memory"),))
        assert asked == ["/api/v1/events", "/api/v1/events?after=1.a.6"]
        assert events.position == "1.a.7"


def test_a_snapshot_that_broke_off_is_asked_for_again() -> None:
    asked = []

    def leader(path: str) -> list[dict]:
        asked.append(path)
        return [BEGIN, obj("object", "k", "1.1"), obj("stored", "l", "1.2", at="1.a.6")] + [END] * (len(asked) > 1)

    with master(leader) as address, Subscription(address, after="1.a.1") as events:
        take(events, 7)
    assert asked == ["/api/v1/events?after=1.a.1", "/api/v1/events"]


def test_a_tenant_is_named_together_with_the_position() -> None:
    asked = []
    with master(lambda path: asked.append(path) or [BEGIN, END]) as address:
        take(Subscription(address, after="1.a.1", tenant="one"), 2)
    assert asked == ["/api/v1/events?after=1.a.1&tenant=one"]


def test_it_gives_up_when_asked_to_and_ends_when_closed() -> None:
    with master(lambda path: None) as standby:
        with pytest.raises(TimeoutError, match="no master has led"):
            list(Subscription(standby, timeout=0.1))
        events = Subscription(standby)
        threading.Timer(0.1, events.close).start()
        assert list(events) == []


@pytest.mark.parametrize("admin", ["", "host", "host:", ":1", "a:1,b"])
def test_an_address_that_is_none(admin: str) -> None:
    with pytest.raises(ValueError):
        Subscription(admin)


def changed(*lines: dict) -> Directory:
    directory = Directory()
    with master(lambda path: list(lines)) as address, Subscription(address) as events:
        for event in take(events, len(lines)):
            directory.apply(event)
    return directory


def test_a_directory_does_what_the_events_say() -> None:
    k = {"key": "k", "id": "1.1"}
    ssd = {"node": "n0", "tier": "ssd"}
    before = (BEGIN, obj("object", "k", "1.1", group="1f"), obj("object", "l", "1.20"), END)

    assert changed(*before).exact and not changed(*before[:3]).exact
    assert changed(*before[:3]).objects == {}, "as it was before the snapshot"
    assert changed(*before).objects["k"].group == "1f"
    moved = changed(*before, {"event": "copied", **k, **ssd}, {"event": "dropped", **k, **N0, "cause": "moved"})
    assert moved.holders("k") == {Copy("n0", "ssd")}
    assert set(changed(*before, {"event": "removed", **k, "cause": "evicted"}).objects) == {"l"}
    assert set(changed(*before, {"event": "removed", "key": "k", "id": "1.9"}).objects) == {"k", "l"}, "another object"
    assert set(changed(*before, {"event": "purged", "below": "1.3"}).objects) == {"l"}, "20 is above 3"
    assert changed(*before, {"event": "node", "node": "n0", "usable": False}).holders("l") == set()
    assert changed(*before, {"event": "stored", "keyHex": "ff", "id": "1.3", "copies": [N0]}).holders(b"\xff")
    of_another = (
        obj("stored", "k", "1.30", tenant="two"),
        {"event": "removed", "key": "l", "id": "1.20", "tenant": "two"},
    )
    assert changed(*before, *of_another).objects == changed(*before).objects, "another tenant's keys may be the same"
    again = changed(*before, BEGIN, obj("object", "m", "2.1"), END)
    assert set(again.objects) == {"m"}, "a snapshot replaces everything"


def refusing(status: int, text: str) -> Callable[[str], tuple[int, str]]:
    return lambda path: (status, text)


def test_a_refusal_that_does_not_pass_is_raised_with_what_to_do() -> None:
    over_https = refusing(403, "GET /api/v1/events is answered over HTTPS only: port 9443 (--secure-admin-port)")
    with master(over_https) as required, pytest.raises(KvpoolError) as refused:
        list(Subscription(required))
    assert refused.value.status is Status.NOT_PERMITTED
    assert f"{required}: answered 403: GET /api/v1/events is answered over HTTPS only: port 9443" in str(refused.value)
    assert "name that port, and set KVPOOL_IDENTITY_DIR or tls_dir" in str(refused.value)
    with (
        master(refusing(404, "no such path")) as node,
        pytest.raises(KvpoolError, match="the admin endpoint of a master"),
    ):
        list(Subscription(node))


def test_a_refusal_does_not_end_it_while_another_master_would_answer() -> None:
    """As while a pool is upgraded, or on its way to requiring TLS."""
    answers = iter([None, [BEGIN, END]])
    with master(refusing(403, "no")) as older, master(lambda path: next(answers, None)) as newer:
        with Subscription(f"{older},{newer}") as events:
            assert [it.kind for it in take(events, 2)] == ["snapshot-begin", "snapshot-end"]
        with pytest.raises(TimeoutError, match=r"answered 403: no.*answered 503|answered 503.*answered 403: no"):
            list(Subscription(f"{older},{newer}", timeout=0.3))


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key", "ca.crt"])
def test_a_directory_without_a_certificate_is_named(missing: str, tmp_path: Path) -> None:
    for name in {"tls.crt", "tls.key", "ca.crt"} - {missing}:
        (tmp_path / name).write_text("no PEM")
    with pytest.raises(KvpoolError, match=f"the certificate in {tmp_path} cannot be used: .*kvpool cert issue"):
        list(Subscription("127.0.0.1:1", tls_dir=str(tmp_path)))


def test_where_masters_are_must_be_known() -> None:
    with pytest.raises(ValueError, match="HOST:PORT, or set KVPOOL_IDENTITY_DIR"):
        Subscription()
    with pytest.raises(ValueError, match="absolute path"):
        Subscription("a:1", tls_dir="tls")
