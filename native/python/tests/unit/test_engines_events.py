# SPDX-License-Identifier: Apache-2.0
"""What kvpool-events-zmq tells routers, for each event of a pool."""

import struct
from typing import Any

import pytest

from kvpool.events import Copy, Event
from kvpool_engines.events_zmq import MooncakeForm, Publisher, VllmForm, _arguments

HASH = "00112233445566778899aabbccddeeff"
LOW = 0x8899AABBCCDDEEFF
MEMORY, SSD = Copy("n0", "memory"), Copy("n0", "ssd")


class Router:
    """Receives the batches of a publisher."""

    def __init__(self, form: MooncakeForm | VllmForm, first: int = 0) -> None:
        self._batches: list[list[Any]] = []
        self.publisher = Publisher(form, "kv", lambda batch: batch, self._batches.append, first)
        for kind in ("snapshot-begin", "snapshot-end"):
            self.publisher.apply(Event(kind, nodes=("n0",)))

    def after(self, *events: Event) -> list[dict[str, Any]]:
        """What it hears of these events."""
        for event in events:
            self.publisher.apply(event)
        told = [event for batch in self._batches for event in batch[2][1]]
        self._batches.clear()
        return told

    def frames(self) -> list[list[Any]]:
        return self._batches


def stored(key: str, number: int = 1, *copies: Copy) -> Event:
    return Event("stored", key=key, id=f"1.{number}", copies=copies or (MEMORY,), group="1f")


def kinds(told: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(it["type"], it["medium"], it.get("object_key", it.get("block_hashes"))) for it in told]


def test_mooncakes_form_names_objects() -> None:
    router = Router(MooncakeForm("pool", lambda: "team-a"), first=1)
    [told] = router.after(stored("k"))
    assert told["tenant_id"] == "team-a"
    assert (told["event_type"], told["object_key"], told["medium"]) == ("stored", "k", "cpu")
    assert (told["backend_id"], told["group_id"], told["event_id"], told["token_ids"]) == ("pool", "1f", 1, None)
    assert kinds(router.after(Event("removed", key="k", id="1.1"))) == [("BlockRemoved", "cpu", "k")]


def test_a_message_is_a_topic_a_number_and_a_batch() -> None:
    router = Router(MooncakeForm("pool", lambda: "default"), first=1)
    router.publisher.apply(stored("k"))
    router.publisher.apply(stored("l", 2))
    assert [frame[:2] for frame in router.frames()] == [[b"kv", struct.pack(">Q", 1)], [b"kv", struct.pack(">Q", 2)]]
    milliseconds, events, rank = router.frames()[0][2]
    assert (isinstance(milliseconds, int), len(events), rank) == (True, 1, 0)


def test_moves_lost_nodes_and_purges_are_told() -> None:
    router = Router(MooncakeForm("pool", lambda: "default"))
    router.after(stored("k"), stored("l", 2, MEMORY, SSD))
    assert router.after(Event("copied", key="k", id="1.1", copies=(SSD,))) == [], "memory is the faster one"
    moved = router.after(Event("dropped", key="k", id="1.1", copies=(MEMORY,)))
    assert kinds(moved) == [("BlockRemoved", "cpu", "k"), ("BlockStored", "disk", "k")]
    away = router.after(Event("node", node="n0", usable=False))
    assert sorted(kinds(away)) == [("BlockRemoved", "cpu", "l"), ("BlockRemoved", "disk", "k")]
    assert len(router.after(Event("node", node="n0", usable=True))) == 2
    assert kinds(router.after(Event("purged", below="1.2"))) == [("BlockRemoved", "disk", "k")]
    router.publisher.repeat()
    assert kinds(router.after()) == [("BlockStored", "cpu", "l")]


def test_a_snapshot_tells_only_what_is_different() -> None:
    router = Router(MooncakeForm("pool", lambda: "default"))
    router.after(stored("k"), stored("l", 2))
    snapshot = (
        Event("snapshot-begin", nodes=("n0",)),
        Event("object", key="l", id="1.2", copies=(MEMORY,), group="1f"),
        Event("object", key="m", id="2.1", copies=(MEMORY,)),
    )
    assert router.after(*snapshot) == []
    told = router.after(Event("snapshot-end"))
    assert sorted(kinds(told)) == [("BlockRemoved", "cpu", "k"), ("BlockStored", "cpu", "m")]


def test_vllms_form_names_blocks() -> None:
    router = Router(VllmForm(block_size=32))
    [told] = router.after(stored(f"vllm/model/form/{HASH}/3"), stored("no hash", 2))
    assert (told["type"], told["block_hashes"], told["group_idx"]) == ("BlockStored", [LOW], 3)
    assert (told["block_size"], told["medium"], told["token_ids"]) == (32, "CPU", [])
    removed = router.after(Event("removed", key=f"vllm/model/form/{HASH}/3", id="1.1"))
    assert kinds(removed) == [("BlockRemoved", "CPU", [LOW])]
    assert router.after(stored(f"m@tp_rank:0@{HASH}"))[0]["block_hashes"] == [LOW]


def test_groups_of_connectors_are_told_apart() -> None:
    router = Router(VllmForm(block_size=16, objects_of_block=2))
    ranks = [f"a@group:9@/model@tp_rank:{rank}@pp_rank:0@group:{{}}@{HASH}" for rank in (0, 1)]
    assert router.after(*(stored(ranks[0].format(group), 1 + group) for group in (0, 1))) == [], "one rank of each"
    [told] = router.after(stored(ranks[1].format(1), 3))
    assert (told["block_hashes"], told["group_idx"]) == ([LOW], 1)
    [told] = Router(VllmForm(16)).after(stored(f"m@tp_rank:0@group:12@cache_role:kv@cache_family:c4@{HASH}"))
    assert (told["block_hashes"], told["group_idx"]) == ([LOW], 12)


def test_patterns_need_no_group_and_keys_without_a_number_are_left_out() -> None:
    router = Router(VllmForm(16, 1, [r"^mine/(?P<hash>\w+)$", r"^(?P<group>\w+)/theirs/(?P<hash>\w*)$"]))
    told = router.after(
        *(stored(key) for key in (f"mine/{HASH}", "mine/none", "7/theirs/1f", "x/theirs/1f", "7/theirs/"))
    )
    assert [(it["block_hashes"], it["group_idx"]) for it in told] == [([LOW], 0), ([0x1F], 7)]


@pytest.mark.parametrize("digits", [10, 20, 5000])
def test_keys_with_the_number_of_no_group_are_left_out(digits: int) -> None:
    router = Router(VllmForm(16))
    told = router.after(*(stored(f"m@group:{group}@{HASH}") for group in ("9" * digits, "4294967295")))
    assert [it["group_idx"] for it in told] == [4294967295]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--key-of-block", "^m/([0-9a-f]+)$"], "has no group (?P<hash>...)"),
        (["--key-of-block", "(?P<hash>["], "is no pattern"),
        *((["--repeat", seconds], "is no number of seconds") for seconds in ("-1", "nan", "inf")),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _arguments(arguments)
    assert why in capsys.readouterr().err


def test_a_block_is_there_when_all_its_objects_are() -> None:
    router = Router(VllmForm(block_size=16, objects_of_block=2))
    ranks = [f"m@tp_rank:{rank}@{HASH}" for rank in (0, 1)]
    assert router.after(stored(ranks[0])) == []
    assert kinds(router.after(stored(ranks[1], 2, SSD))) == [("BlockStored", "STORAGE", [LOW])]
    faster = router.after(Event("copied", key=ranks[1], id="1.2", copies=(MEMORY,)))
    assert kinds(faster)[-1] == ("BlockStored", "CPU", [LOW])
    router.publisher.repeat()
    assert {kind for kind, _, _ in kinds(router.after())} == {"BlockStored"}
    assert kinds(router.after(Event("removed", key=ranks[0], id="1.1"))) == [("BlockRemoved", "CPU", [LOW])]
