# SPDX-License-Identifier: Apache-2.0
"""Keys whose fields are rows of batches: the catalog, and its transfer over a store and a catalog that fail."""

import random
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from test_structured_objects import Plain

from mooncake.dataproto_catalog import DataProtoCatalog, DataProtoCatalogTransfer
from mooncake.objects import catalog as catalog_module
from mooncake.structured_object_store import MooncakeBundleTransfer, export_ref


@pytest.fixture
def transfer() -> MooncakeBundleTransfer:
    return MooncakeBundleTransfer(Plain())


def handle_of(transfer: MooncakeBundleTransfer, rows: int, *fields: str, **said: Any) -> dict[str, Any]:
    batch = {name: numpy.arange(rows) for name in fields}
    return export_ref(transfer.put({"batch": batch, "meta_info": said}, partition="p"))


def fragment_of(handle: dict[str, Any]) -> str:
    return handle["stage_refs"]["default"]["manifest_key"]


def test_keys_have_tags_and_fields(transfer: MooncakeBundleTransfer) -> None:
    catalog = DataProtoCatalog()
    first, second = handle_of(transfer, 2, "a", "b", step=1), handle_of(transfer, 1, "b")
    told = catalog.update("p", ["x", "y"], tags=[{"n": 1}, {"n": [2]}], handle=first)
    assert told == {"keys": ["x", "y"], "tags": [{"n": 1}, {"n": [2]}], "fields": ["a", "b"], "retired_handles": []}
    assert catalog.update("p", ["y", "z"], tags=[{"m": 3}, {}])["tags"] == [{"n": [2], "m": 3}, {}]
    catalog.update("p", ["y"], handle=second)
    found = catalog.resolve("p", ["y", "x"])
    assert found["tags"] == [{"n": [2], "m": 3}, {"n": 1}] and found["meta_info"] == {"step": 1}
    assert found["field_groups"] == [
        {"fields": ["a"], "locations": [(fragment_of(first), 1), (fragment_of(first), 0)]},
        {"fields": ["b"], "locations": [(fragment_of(second), 0), (fragment_of(first), 0)]},
    ]
    assert found["handles"] == {fragment_of(first): first, fragment_of(second): second} and "read_token" not in found
    found["tags"][0]["n"].append("changed")
    assert catalog.list() == {"p": {"x": {"n": 1}, "y": {"n": [2], "m": 3}, "z": {}}}
    assert catalog.list("none") == {} and catalog.list("p") == catalog.list()
    with pytest.raises(ValueError, match=r"'z' has no fields \['a'\]"):
        catalog.resolve("p", ["x", "z"], ["a"])
    with pytest.raises(ValueError, match="have no fields"):
        catalog.resolve("p", ["z"])
    with pytest.raises(ValueError, match=r"no keys \['none'\]"):
        catalog.resolve("p", ["none"])
    assert catalog.remove("p", ["x", "y", "z", "none"]) == {"retired_handles": []}, "these batches are others'"
    assert catalog.list() == {} and catalog.remove("p", ["x"]) == {"retired_handles": []}


def test_a_batch_is_retired_when_nothing_needs_it(transfer: MooncakeBundleTransfer) -> None:
    catalog = DataProtoCatalog()
    first, second = handle_of(transfer, 2, "a"), handle_of(transfer, 2, "a")
    catalog.publish("1", "p", ["x", "y"], handle=first)
    reads = [catalog.resolve("p", ["x"], pin=True)["read_token"] for _ in range(2)]
    assert catalog.publish("2", "p", ["x", "y"], handle=second)["retired_handles"] == []
    assert catalog.publish("2", "p", ["x", "y"], handle=second)["retired_handles"] == [], "the same again"
    assert catalog.release_read(reads[0]) == catalog.release_read(reads[0]) == {"retired_handles": []}
    assert catalog.release_read(reads[1]) == {"retired_handles": [first]}
    with pytest.raises(ValueError, match="about to be removed"):
        catalog.publish("3", "p", ["x", "y"], handle=first)
    with pytest.raises(ValueError, match="with other handles"):
        catalog.ack_retired([{**first, "batch_size": 9}])
    assert catalog.ack_retired([first, second]) == {"retired_handles": []}
    assert catalog.remove("p", ["x"]) == {"retired_handles": []}, "y is still in it"
    assert catalog.remove("p", ["y"]) == {"retired_handles": [second]}
    third = handle_of(transfer, 1, "a")
    catalog.publish("4", "q", ["x"], handle=third)
    read = catalog.resolve("q", ["x"], pin=True)["read_token"]
    with pytest.raises(RuntimeError, match="1 reads are not over"):
        catalog.drain()
    catalog.release_read(read)
    assert catalog.drain() == {"retired_handles": [second, third]}
    with pytest.raises(RuntimeError, match="drained"):
        catalog.publish("5", "p", ["x"], tags=[{}])


def test_further_fields_of_a_batch(transfer: MooncakeBundleTransfer) -> None:
    catalog = DataProtoCatalog()
    first = handle_of(transfer, 2, "a")
    catalog.publish("1", "p", ["x", "y"], handle=first)
    after = export_ref(transfer.append_dataproto_fields(first, {"b": numpy.ones(2)}, stage="default"))
    name = fragment_of(first)

    def append(operation: str, keys: list[str], previous: Any = first, now: Any = after, fragment: str = name) -> Any:
        return catalog.publish_append(operation, fragment, "p", keys, previous_handle=previous, handle=now)

    other = handle_of(transfer, 2, "a", "b")
    for number, (wrong, why) in enumerate(
        (
            (append("w0", ["y", "x"]), "another row"),
            (append("w1", ["x"]), "other rows"),
            (append("w2", ["x", "z"]), "no keys"),
            (append("w3", ["x", "y"], after), "not the one before"),
            (append("w4", ["x", "y"], fragment="none"), "not the one before"),
            (
                append(
                    "w5", ["x", "y"], now={**other, "storage_group_id": first["storage_group_id"], "field_index": {}}
                ),
                "gone",
            ),
            (append("w6", ["x", "y"], now=other), "another group"),
        )
    ):
        assert why in wrong["append_rejected"], number
    assert append("w2", ["x", "y"]) == append("w2", []), "a publication is answered once"
    told = append("2", ["x", "y"])
    assert told["fields"] == ["a", "b"] and append("2", ["x", "y"]) == told
    assert catalog.resolve("p", ["y"])["field_groups"] == [{"fields": ["a", "b"], "locations": [(name, 1)]}]
    assert catalog.remove("p", ["x", "y"])["retired_handles"] == [after]
    catalog.drain()
    assert "drained" in append("3", ["x", "y"])["append_rejected"]


def test_what_cannot_be(transfer: MooncakeBundleTransfer, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog, handle = DataProtoCatalog(), handle_of(transfer, 1, "a", step=1)
    two_stages = export_ref(transfer.append_dataproto_fields(handle, {"b": numpy.ones(1)}, stage="other"))
    for keys in ([], "x", ["x", "x"], [""], [5]):
        with pytest.raises(ValueError, match="different texts"):
            catalog.update("p", keys, tags=[{}])
    for arguments in (
        *(
            ("", ["x"], {"tags": [{}]}),
            ("p", ["x"], {}),
            ("p", ["x"], {"tags": []}),
            ("p", ["x", "y"], {"handle": handle}),
        ),
        *(("p", ["x"], {"handle": {}}), ("p", ["x"], {"handle": two_stages})),
    ):
        with pytest.raises(ValueError, match=r"partition|neither|tags for|rows for|handle|stages"):
            catalog.update(arguments[0], arguments[1], **arguments[2])
    with pytest.raises(TypeError, match="tags are dicts"):
        catalog.update("p", ["x"], tags=[5])
    assert catalog.list() == {}, "nothing has changed"
    catalog.update("p", ["x"], handle=handle)
    for again, managed in (({**handle, "meta_info": {}}, False), (handle, True)):
        with pytest.raises(ValueError, match="known with another handle"):
            catalog.publish("1", "p", ["x"], handle=again) if managed else catalog.update("p", ["x"], handle=again)
    catalog.update("p", ["y"], handle=handle_of(transfer, 1, "a", step=2))
    with pytest.raises(ValueError, match="meta_info 'step' of the batches differs: 1 and 2"):
        catalog.resolve("p", ["x", "y"])
    monkeypatch.setattr(catalog_module, "PUBLICATIONS_MAX", 2)
    for number in range(2):
        catalog.publish(str(number), "p", ["x"], tags=[{}])
    with pytest.raises(RuntimeError, match="2 publications are not acknowledged"):
        catalog.publish("2", "p", ["x"], tags=[{}])
    catalog.ack_publication("0")
    catalog.publish("2", "p", ["x"], tags=[{}])


class Remote:
    """A catalog elsewhere: calls fail before or after they are carried out, as often as asked."""

    def __init__(self) -> None:
        self.catalog = DataProtoCatalog()
        self.failures: list[tuple[str, str]] = []
        self.error: type[Exception] = ConnectionError

    def __call__(self, method: str, *arguments: Any, **named: Any) -> Any:
        if (method, "before") in self.failures:
            self.failures.remove((method, "before"))
            raise self.error(method)
        answer = getattr(self.catalog, method)(*arguments, **named)
        if (method, "after") in self.failures:
            self.failures.remove((method, "after"))
            raise self.error(method)
        return answer


def rows(*numbers: int) -> dict[str, Any]:
    return {"batch": {"a": numpy.array(numbers)}}


def read(transfer: DataProtoCatalogTransfer, *keys: str) -> dict[str, list[Any]]:
    """What a reader of the reference does with a plan."""
    plan = transfer.resolve("p", keys)
    found: dict[str, list[Any]] = {}
    for group in plan["field_groups"]:
        parts = [
            transfer.transfer.get(plan["handles"][name], fields=group["fields"], rows=[row])["batch"]
            for name, row in group["locations"]
        ]
        found |= {name: [part[name].tolist()[0] for part in parts] for name in group["fields"]}
    transfer.release_read(plan["read_token"])
    return found


def test_batches_are_published_and_removed(transfer: MooncakeBundleTransfer) -> None:
    remote = Remote()
    rollout = DataProtoCatalogTransfer(transfer, remote)
    rollout.put(rows(1, 2), partition="p", keys=["x", "y"], tags=[{"t": 1}, {}])
    rollout.put(rows(3), partition="p", keys=["y"])
    assert read(rollout, "y", "x") == {"a": [3, 1]} and rollout.list("p") == {"p": {"x": {"t": 1}, "y": {}}}
    handle = rollout.resolve("p", ["x"])
    [(name, of_x)] = handle["handles"].items()
    with pytest.raises(ValueError, match=r"no keys|another row"):
        rollout.append(name, of_x, rows(5, 6), partition="p", keys=["x", "none"], stage="s")
    rollout.append(name, of_x, {"b": numpy.array([7, 8])}, partition="p", keys=["x", "y"], stage="default")
    assert read(rollout, "x") == {"a": [1], "b": [7]} and read(rollout, "y") == {"a": [3], "b": [8]}
    with pytest.raises(ValueError, match="not the one before any more"):
        rollout.append(name, of_x, rows(1, 2), partition="p", keys=["x", "y"], stage="s")
    with pytest.raises(ValueError, match="overwrite"):
        rollout.append(name, of_x, rows(1, 2), partition="p", keys=["x", "y"], stage="s", overwrite=True)
    with pytest.raises(ValueError, match="in partition 'p'"):
        rollout.append(name, of_x, rows(1, 2), partition="q", keys=["x", "y"], stage="s")
    rollout.release_read(handle["read_token"])
    rollout.remove("p", ["x", "y"])
    assert transfer.store.values == {} and remote.catalog.list() == {}
    for data, keys in ((rows(1), ["x", "y"]), (None, ["x"])):
        with pytest.raises(ValueError, match=r"rows for|neither data nor tags"):
            rollout.put(data, partition="p", keys=keys)
    rollout.drain()
    rollout.close()


@pytest.mark.parametrize("seed", range(20))
def test_what_fails_is_done_later(transfer: MooncakeBundleTransfer, seed: int) -> None:
    chance, remote = random.Random(seed), Remote()
    rollout = DataProtoCatalogTransfer(transfer, remote)
    methods = ["publish", "ack_publication", "ack_retired", "publish_append", "resolve", "remove"]
    known: dict[str, int] = {}
    for step in range(30):
        remote.failures = [
            (chance.choice(methods), chance.choice(["before", "after"])) for _ in range(chance.randrange(4))
        ]
        key = chance.choice("xyz")
        try:
            if chance.random() < 0.7:
                rollout.put(rows(step), partition="p", keys=[key])
                known[key] = step
            else:
                rollout.remove("p", [key])
                known.pop(key, None)
        except (ConnectionError, RuntimeError):
            known.pop(key, None)
            remote.failures = []
            rollout.close()
            rollout.remove("p", [key])
    remote.failures = []
    rollout.close()
    for key, value in known.items():
        assert read(rollout, key) == {"a": [value]}
    rollout.drain()
    assert transfer.store.values == {}, "nothing is left in the store"


def test_what_is_refused_leaves_nothing(transfer: MooncakeBundleTransfer) -> None:
    remote = Remote()
    rollout = DataProtoCatalogTransfer(transfer, remote)
    remote.error, remote.failures = ValueError, [("publish", "before")] * 2
    with pytest.raises(ValueError, match="publish"):
        rollout.put(rows(1), partition="p", keys=["x"])
    assert transfer.store.values == {}
    rollout.put(rows(1), partition="p", keys=["x"])
    plan = rollout.resolve("p", ["x"])
    [(name, handle)] = plan["handles"].items()
    before = dict(transfer.store.values)
    remote.catalog.publish_append = lambda *_, **__: {"append_rejected": "too late"}  # as another writer was faster
    with pytest.raises(ValueError, match="too late"):
        rollout.append(name, handle, {"b": numpy.ones(1)}, partition="p", keys=["x"], stage="default")
    assert transfer.store.values == before


def test_results_are_released(transfer: MooncakeBundleTransfer, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[Any] = []
    failures = [True] * 3

    def release(result: Any) -> None:
        if failures:
            failures.pop()
            raise OSError("not yet")
        released.append(result)

    monkeypatch.setattr(transfer, "release_result", release)
    rollout, output = DataProtoCatalogTransfer(transfer, Remote()), SimpleNamespace()
    rollout.attach_results(output, ["one"])
    rollout.release_result(output)
    rollout.release_result(output)
    assert released == ["one"], "tried twice, and again with the next"
    failures += [True] * 2
    with pytest.raises(RuntimeError, match="1 results cannot be released"):
        rollout.discard_results(["two"], strict=True)
    rollout.close()
    assert released == ["one", "two"]


def test_a_store_that_keeps_what_is_retired(transfer: MooncakeBundleTransfer, monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = DataProtoCatalogTransfer(transfer, Remote())
    rollout.put(rows(1), partition="p", keys=["x"])
    cleanup = transfer.cleanup_dataproto
    monkeypatch.setattr(transfer, "cleanup_dataproto", lambda handle: (_ for _ in ()).throw(RuntimeError("read")))
    rollout.remove("p", ["x"])
    with pytest.raises(RuntimeError, match="1 batches cannot be removed"):
        rollout.drain()
    monkeypatch.setattr(transfer, "cleanup_dataproto", cleanup)
    rollout.drain()
    assert transfer.store.values == {}
