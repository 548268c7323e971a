# SPDX-License-Identifier: Apache-2.0
"""Batches (DataProto) of mooncake.structured_object_store, over the fake library and over a store of the fewest methods."""

import json
import random
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy
import pytest
from conftest import Fake
from test_structured_objects import Plain
from torch_stand_in import tensor_of

from mooncake.store import MooncakeDistributedStore, ReplicateConfig
from mooncake.structured_object_store import (
    MISSING,
    FieldSchema,
    MooncakeBundleTransfer,
    MooncakeDataProtoRef,
    StructuredFieldLocation,
    StructuredMemberSlice,
    export_dataproto_ref,
    export_ref,
    import_dataproto_ref,
    import_ref,
    infer_structure,
    is_dataproto_ref_handle,
    raw_destination,
)

OBJECTS = ["text", None, {"role": "user", "images": [b"\xff\xd8"]}, [1, 2.5, ("a",)], b"", numpy.arange(3)]


@pytest.fixture(params=["store", "plain"])
def transfer(request: pytest.FixtureRequest) -> MooncakeBundleTransfer:
    store = Plain() if request.param == "plain" else request.getfixturevalue("store")
    return MooncakeBundleTransfer(store, default_chunk_bytes=50)


def objects(values: Any) -> numpy.ndarray:
    array = numpy.empty(len(values), object)
    array[:] = values
    return array


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (repr(one) == repr(other))


def batch_of(torch: ModuleType) -> dict[str, Any]:
    return {
        "batch": {"ids": numpy.arange(24, dtype="int32").reshape(6, 4), "logits": tensor_of(torch, "bfloat16", (6, 5))},
        "non_tensor_batch": {"prompt": objects(OBJECTS), "score": numpy.linspace(0, 1, 6)},
        "meta_info": {"step": 7},
    }


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, numpy.ndarray) and one.dtype != object:
        return bool((one.dtype, one.shape) == (other.dtype, other.shape) and (one == other).all())
    if isinstance(one, numpy.ndarray):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def test_a_batch_comes_back_as_it_was_given(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    given = batch_of(torch)
    ref = transfer.put(given, namespace="rollout", partition="p", stage="gen")
    assert (ref.batch_size, ref.namespace, ref.partition, list(ref.stage_refs)) == (6, "rollout", "p", ["gen"])
    assert ref.field_index["ids"] == StructuredFieldLocation("gen", "batch.ids", "batch")
    handle = json.loads(json.dumps(export_ref(ref)))
    assert is_dataproto_ref_handle(handle) and not is_dataproto_ref_handle(ref)
    for one in (ref, handle, import_ref(handle)):
        found = transfer.get(one)
        assert found.keys() == given.keys() and found["meta_info"] == {"step": 7}
        for section in ("batch", "non_tensor_batch"):
            assert found[section].keys() == given[section].keys()
            assert all(equal(value, found[section][name]) for name, value in given[section].items())
    assert export_dataproto_ref(import_dataproto_ref(handle)) == handle
    transfer.release_result(found)


@pytest.mark.parametrize("seed", range(8))
def test_any_rows_of_any_field(transfer: MooncakeBundleTransfer, torch: ModuleType, seed: int) -> None:
    chance = random.Random(seed)
    given = batch_of(torch)
    ref = transfer.put(given, chunk_bytes=chance.choice([7, 64, 1 << 20]))
    elements = numpy.frombuffer(bytes(given["batch"]["logits"].memory), "int16").reshape(6, 5)
    for _ in range(5):
        rows: Any = chance.choice(
            [slice(*sorted(chance.sample(range(-8, 8), 2)), chance.randrange(1, 4)), [], range(2, 4)]
        )
        if chance.random() < 0.6:
            rows = [chance.randrange(-6, 6) for _ in range(chance.randrange(7))]
        found = transfer.get_dataproto(ref, rows=rows)
        expected = numpy.arange(6)[list(rows) if not isinstance(rows, slice) else rows].astype(int)
        assert equal(given["batch"]["ids"][expected], found["batch"]["ids"])
        assert equal(given["non_tensor_batch"]["score"][expected], found["non_tensor_batch"]["score"])
        assert equal(objects([OBJECTS[row] for row in expected]), found["non_tensor_batch"]["prompt"])
        logits = found["batch"]["logits"]
        assert (logits.shape, b"".join(logits.elements())) == ((len(expected), 5), elements[expected].tobytes())


def test_rows_and_fields_that_are_not_there(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    ref = transfer.put(batch_of(torch))
    some = StructuredMemberSlice(0, 1, 99, 2)
    assert equal(
        transfer.get(ref, fields=["ids"], rows=some)["batch"]["ids"],
        numpy.arange(24, dtype="int32").reshape(6, 4)[1::2],
    )
    assert list(transfer.get(ref, batch_fields=["ids"])["non_tensor_batch"]) == []
    assert list(transfer.get(ref, non_tensor_fields=["score"], meta_info_keys=["none"])["batch"]) == []
    for rows, error in (
        *(
            ([6], IndexError),
            ([-7], IndexError),
            ([1.5], TypeError),
            ([True], TypeError),
            ("12", TypeError),
            (5, TypeError),
        ),
        *((slice(None, None, -1), ValueError), (StructuredMemberSlice(1, 0, 1), ValueError)),
    ):
        with pytest.raises(error, match=r"row"):
            transfer.get(ref, rows=rows)
    for arguments in ({"fields": ["none"]}, {"batch_fields": ["none"]}, {"destinations": {"none": None}}):
        with pytest.raises(KeyError, match="none"):
            transfer.get(ref, **arguments)
    for arguments in (
        {"fields": [], "batch_fields": []},
        {"type": "tuple"},
        {"destinations": {"prompt": bytearray(9)}},
    ):
        with pytest.raises(ValueError, match=r"either|type is|memory of their own"):
            transfer.get(ref, **arguments)
    for wrong in (5, {}, {"type": "other"}):
        with pytest.raises(TypeError, match="no reference"):
            transfer.get(wrong)


def test_into_memory_of_the_caller(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    given = batch_of(torch)
    ref = transfer.put(given)
    target, rows = numpy.zeros((3, 4), "int32"), [5, 0, 0]
    memory = numpy.zeros(200, "uint8")
    found = transfer.get(
        ref,
        rows=rows,
        batch_fields=["ids", "logits"],
        destinations={"ids": target, "logits": raw_destination(memory.ctypes.data, 200)},
    )["batch"]
    assert found["ids"] is target and equal(target, given["batch"]["ids"][rows])
    assert memory.tobytes().startswith(b"".join(found["logits"].elements()), 32 + 8)
    with pytest.raises(ValueError, match="takes"):
        transfer.get(ref, rows=rows, destinations={"ids": numpy.zeros((2, 4), "int32")})


def test_further_fields(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    first = transfer.put(batch_of(torch), stage="gen")
    same_stage = transfer.append_dataproto_fields(
        first, {"batch": {"reward": numpy.ones(6)}, "meta_info": {"step": 8}}, stage="gen"
    )
    other = transfer.append_dataproto_fields(
        export_ref(same_stage), {"value": numpy.zeros((6, 2))}, stage="critic", chunk_bytes=9
    )
    last = transfer.append_dataproto_fields(other, {"non_tensor_batch": {"tag": objects(list("abcdef"))}}, stage="gen")
    found = transfer.get(import_ref(export_ref(last)))
    assert list(found["batch"]) == ["ids", "logits", "reward", "value"]
    assert list(found["non_tensor_batch"]["tag"]) == list("abcdef") and same(
        found["non_tensor_batch"]["prompt"][2], OBJECTS[2]
    )
    assert found["meta_info"] == {"step": 8} and equal(found["batch"]["value"], numpy.zeros((6, 2)))
    assert list(transfer.get(first)["batch"]) == ["ids", "logits"], "the former reference is of the former fields"
    view = transfer.dataproto_manifest_view(last)
    assert list(view["stages"]) == ["gen", "critic"] and view["batch_fields"]["value"]["stage"] == "critic"
    assert view["batch_fields"]["ids"]["spec"] == {"encoding": "ndarray", "dtype": "<i4", "shape": [6, 4]}
    assert view["non_tensor_fields"]["tag"]["spec"]["encoding"] == "structured_non_tensor"
    only_said = transfer.append_dataproto_fields(last, {"batch": {}, "meta_info": {"done": True}}, stage="gen")
    assert only_said.stage_refs == last.stage_refs and only_said.meta_info == {"step": 8, "done": True}

    transfer.cleanup_dataproto_append(other, last)
    transfer.cleanup_dataproto_append(other, last)
    assert list(transfer.get(other)["batch"]) == ["ids", "logits", "reward", "value"]
    transfer.cleanup_dataproto_append(first, other)
    assert list(transfer.get(first)["batch"]) == ["ids", "logits"]
    with pytest.raises(KeyError, match="no bundle"):
        transfer.get(import_ref(export_ref(other)))


def test_a_batch_is_removed_with_all_that_was_added(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    transfer = MooncakeBundleTransfer(store, default_chunk_bytes=50)
    ref = transfer.put(batch_of(torch))
    for stage in ("default", "default", "other"):
        ref = transfer.append_dataproto_fields(ref, {f"f{len(ref.field_index)}": numpy.ones(6)}, stage=stage)
    transfer.cleanup_dataproto(json.loads(json.dumps(export_ref(ref))))
    transfer.cleanup_dataproto(ref)
    assert store.remove_all() == 0


def test_a_stage_is_replaced_as_a_whole(transfer: MooncakeBundleTransfer) -> None:
    first = transfer.put({"a": numpy.zeros(3), "b": numpy.zeros(3)})
    with pytest.raises(ValueError, match=r"\['b'\] must be given too"):
        transfer.append_dataproto_fields(first, {"a": numpy.ones(3)}, stage="default", overwrite=True)
    with pytest.raises(ValueError, match=r"\['a'\] are there already"):
        transfer.append_dataproto_fields(first, {"a": numpy.ones(3)}, stage="default")
    with pytest.raises(ValueError, match="4 rows are added to a batch of 3"):
        transfer.append_dataproto_fields(first, {"c": numpy.ones(4)}, stage="default")
    new = transfer.append_dataproto_fields(
        first, {"a": numpy.ones(3), "b": numpy.ones(3)}, stage="default", overwrite=True
    )
    assert transfer.get(new)["batch"]["a"].tolist() == [1, 1, 1]


class Proto:
    """What applications have: attributes, and a batch with items()."""

    def __init__(self, batch: Any, non_tensor_batch: Any, meta_info: Any) -> None:
        self.batch, self.non_tensor_batch, self.meta_info = batch, non_tensor_batch, meta_info


def test_objects_with_sections(transfer: MooncakeBundleTransfer) -> None:
    batch = SimpleNamespace(items=lambda: [("a", numpy.arange(2))])
    ref = transfer.put(Proto(batch, {"n": ["x", "y"]}, None))
    found = transfer.get(ref, data_cls=Proto)
    assert isinstance(found, Proto) and list(found.non_tensor_batch["n"]) == ["x", "y"]

    class FromDict:
        @classmethod
        def from_dict(cls, batch: Any, non_tensor_batch: Any, meta_info: Any) -> Any:
            return list(batch), list(non_tensor_batch), meta_info

    assert transfer.get(ref, data_cls=FromDict) == (["a"], ["n"], {})
    with pytest.raises(TypeError, match="int is not made of batch"):
        transfer.get(ref, data_cls=int)
    for wrong in (5, Proto(3, {}, {})):
        with pytest.raises(TypeError, match=r"no batch|not a dict"):
            transfer.put(wrong)
    empty = transfer.put({"batch": {}, "meta_info": {"a": 1}})
    assert (empty.batch_size, empty.stage_refs, transfer.get(empty)["meta_info"]) == (0, {}, {"a": 1})
    none = transfer.put({"a": numpy.empty((0, 3)), "o": numpy.empty(0)})
    assert transfer.get(none, rows=[])["batch"]["a"].shape == (0, 3)


def test_flat_dicts(transfer: MooncakeBundleTransfer) -> None:
    given = {"ids": numpy.arange(3), "names": ["a", "b", None], "step": 4, "pair": [1, 2], "text": "abc"}
    ref = transfer.put(given, type="dict")
    assert {name: at.section for name, at in ref.field_index.items()} == {"ids": "batch", "names": "non_tensor_batch"}
    found = transfer.get(ref, type="dict")
    assert found.pop("ids").tolist() == [0, 1, 2] and found == {name: given[name] for name in given if name != "ids"}
    assert transfer.get(ref, type="dict", rows=[2], fields=["names"], meta_info_keys=[]) == {"names": [None]}
    said = {"pair": FieldSchema("auto", metadata={"section": "non_tensor_batch"})}
    assert list(transfer.put({"pair": [1, 2], "other": [3, 4]}, type="dict", field_schemas=said).field_index) == [
        "pair"
    ]
    for wrong, schemas in (
        ({"a": [1], "b": [1, 2]}, {}),
        ({"a": numpy.ones(1), "b": numpy.ones(2)}, {}),
        ({"a": 5}, {"a": FieldSchema("auto", metadata={"section": "batch"})}),
        ({"a": [5]}, {"a": FieldSchema("auto", metadata={"section": "other"})}),
    ):
        with pytest.raises(ValueError, match=r"not clear|without rows|section"):
            transfer.put(wrong, type="dict", field_schemas=schemas)
    with pytest.raises(TypeError, match="no dict"):
        transfer.put([1], type="dict")


@pytest.mark.parametrize(
    ("codec", "metadata", "rows", "found", "wrong"),
    [
        ("ndarray", {"dtype": "int32"}, [1, None, 2.0], [1, None, 2], "x"),
        ("typed_ragged", {"dtype": "int64"}, [[1, 2], (), None], [[1, 2], [], None], ["a"]),
        ("typed_ragged", {}, [[1.5], [2]], [[1.5], [2]], {"a": 1}),
        ("bytes_ragged", {}, [b"a", None, bytearray(b"b")], [b"a", None, b"b"], "text"),
        ("media_list_ragged", {}, [[b"a", b"b"], []], [[b"a", b"b"], []], b"a"),
        ("utf8_ragged", {}, ["a", None], ["a", None], b"a"),
        ("json_ragged", {}, [{"a": [1]}, "x"], [{"a": [1]}, "x"], b"x"),
        ("msgpack_ragged", {}, [{"a": b"x"}], [{"a": b"x"}], object()),
        ("ragged_tensor_dict", {"keys": ["a"]}, [None], [None], {"b": None}),
        ("ragged_tensor", {}, [None], [None], [1]),
        ("auto", {}, [1, "a"], [1, "a"], {1, 2}),
    ],
)
def test_schemas(codec: str, metadata: dict[str, Any], rows: Any, found: Any, wrong: Any) -> None:
    transfer = MooncakeBundleTransfer(Plain())
    schemas = {"f": FieldSchema(codec, metadata=metadata)}
    ref = transfer.put({"non_tensor_batch": {"f": rows}}, field_schemas=schemas)
    assert transfer.get(ref)["non_tensor_batch"]["f"].tolist() == found
    for refused in ([wrong], 5):
        with pytest.raises((TypeError, ValueError), match=r"'f'|cannot be stored"):
            transfer.put({"non_tensor_batch": {"f": refused}}, field_schemas=schemas)
    with pytest.raises(ValueError, match=r"row 0 of 'f' is None"):
        transfer.put({"non_tensor_batch": {"f": [None]}}, field_schemas={"f": FieldSchema(codec, False, metadata)})


def test_tensors_by_schema(torch: ModuleType) -> None:
    transfer, tensor = MooncakeBundleTransfer(Plain()), tensor_of(torch, "float16", (2, 3))
    rows = {"t": [tensor, None], "d": [{"a": tensor}, {"a": None}]}
    schemas = {"t": FieldSchema("ragged_tensor"), "d": FieldSchema("ragged_tensor_dict", metadata={"keys": ["a"]})}
    found = transfer.get(transfer.put({"non_tensor_batch": rows}, field_schemas=schemas), type="dict")
    assert found == rows


def test_what_cannot_be_stored(store: MooncakeDistributedStore) -> None:
    transfer = MooncakeBundleTransfer(store)
    for wrong, problem in (
        ({"a": numpy.ones(2), "b": numpy.ones(3)}, "as many rows"),
        ({"batch": {"a": numpy.ones(1)}, "non_tensor_batch": {"a": [1]}}, "in batch and in non_tensor_batch"),
        ({"a/b": numpy.ones(1)}, "cannot be a"),
        ({"a": 5}, "without rows"),
        ({"a": numpy.array(5)}, "without rows"),
    ):
        with pytest.raises(ValueError, match=problem):
            transfer.put(wrong)
    for wrong in ({"a": ["x"]}, {"non_tensor_batch": {"a": [object()]}}):
        with pytest.raises(TypeError):
            transfer.put(wrong)
    for schema in (FieldSchema("nonsense"), FieldSchema("auto", metadata={"section": "meta_info"})):
        with pytest.raises(ValueError, match=r"nonsense|says meta_info"):
            transfer.put({"non_tensor_batch": {"a": [1]}}, field_schemas={"a": schema})
    with pytest.raises(ValueError, match="one"):
        transfer.put({"a": numpy.ones(1)}, config=ReplicateConfig(group_ids=["x", "y"]))
    with pytest.raises(TypeError, match="no set"):
        export_ref(transfer.put({"batch": {}, "meta_info": {"a": {1}}}))
    with pytest.raises(TypeError, match="no reference to a batch"):
        export_ref({})
    assert store.remove_all() == 0


def test_the_group_of_a_batch_stays(store: MooncakeDistributedStore, fake: Fake) -> None:
    transfer = MooncakeBundleTransfer(store)
    ref = transfer.put({"a": numpy.ones(3)}, config=ReplicateConfig(replica_num=2, group_ids=["together"]))
    transfer.append_dataproto_fields(ref, {"b": numpy.ones(3)}, stage="s", config=ReplicateConfig(replica_num=2))
    assert (fake.last_call[3], fake.last_call[8:]) == ("2", ["1008"]), (
        "length of the group's name and number of the line"
    )
    with pytest.raises(ValueError, match=r"'other'.*'together'"):
        transfer.append_dataproto_fields(
            ref, {"b": numpy.ones(3)}, stage="s", config=ReplicateConfig(group_ids=["other"])
        )


def test_handles_that_are_none() -> None:
    transfer = MooncakeBundleTransfer(Plain())
    good = export_ref(transfer.put({"batch": {"a": numpy.ones(2)}, "non_tensor_batch": {"o": ["x", None]}}))
    assert isinstance(import_ref({**good, "version": 2}), MooncakeDataProtoRef)
    for name, values in {
        "version": (0, 3, "1", None, True),
        "kind": (None, "other"),
        "batch_size": (None, -1, 2.0, "2", True),
        "stage_refs": (None, [], {"": {}}, {"s": None}, {"s": {"manifest_key": 5}}, {}),
        "field_index": (
            None,
            {"a": 5},
            {"a": {}},
            {"a": {"stage": "default", "member": "", "section": "batch"}},
            {"": {}},
        ),
        "meta_info": (None, []),
        "encoded_non_tensor": ([], {"none": {}}),
        "global_indexes": (5, [1.5], [True]),
        "storage_group_id": ("", 5),
    }.items():
        for value in values:
            with pytest.raises(ValueError, match=r"handle"):
                import_ref({**good, name: value})
    for wrong in (
        *(
            None,
            {},
            {"codec": "rows"},
            {"codec": "pickle", "payload_members": {}},
            {"codec": "rows", "payload_members": {}},
        ),
        {"codec": "rows", "payload_members": {"data": "batch.a", "offsets": "batch.a"}},
        {"codec": "rows", "payload_members": {"data": "none", "offsets": "non_tensor_batch.o.offsets"}},
    ):
        with pytest.raises(ValueError, match=r"rows of objects|no member|do not tell"):
            transfer.get({**good, "encoded_non_tensor": {"o": wrong}})
    with pytest.raises(ValueError, match="do not tell"):
        transfer.get({**good, "batch_size": 1}, non_tensor_fields=["o"])


def test_rows_that_a_member_does_not_have(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    """The handle, which a peer wrote, says that there are more."""
    given = {"batch": {"a": numpy.ones((2, 3)), "t": tensor_of(torch, "int16", (2, 40))}}
    handle = {**export_ref(transfer.put(given)), "batch_size": 1000}
    for name in ("a", "t"):
        for rows in ([2], [0, 999], [-1], slice(0, 3), range(1, 4)):
            with pytest.raises(ValueError, match=rf"'batch.{name}' has 2 rows, and none of number"):
                transfer.get(handle, fields=[name], rows=rows)
        assert len(transfer.get(handle, fields=[name], rows=[1, 0])["batch"][name].shape) == 2
    empty = {"batch": {"a": numpy.empty((0, 10**12), "int8")}}
    handle = {**export_ref(transfer.put(empty)), "batch_size": 1 << 20}
    with pytest.raises(ValueError, match="has 0 rows"):
        transfer.get(handle, rows=[5] * 100)
    assert transfer.get(handle, rows=[])["batch"]["a"].shape == (0, 10**12)


def test_manifests_with_earlier_bundles_that_are_none() -> None:
    plain = Plain()
    transfer = MooncakeBundleTransfer(plain)
    ref = transfer.append_dataproto_fields(transfer.put({"a": numpy.ones(2)}), {"b": numpy.ones(2)}, stage="default")
    stage = ref.stage_refs["default"]
    [(name, inner)] = stage.manifest["earlier"].items()
    for earlier in (
        *({"../x": inner}, {name: 5}, {name: {**inner, "version": 9}}, {name: {**inner, "earlier": {}}}, [1], 5),
        {name: inner, "0" * 32: inner},
    ):
        plain.values[stage.manifest_key] = json.dumps({**stage.manifest, "earlier": earlier}).encode()
        with pytest.raises(ValueError, match=r"manifest|earlier bundle"):
            transfer.get(export_ref(ref))


def test_structure_of_rows() -> None:
    leaves: list[Any] = []
    nodes: list[Any] = []
    rows = [{"a.b": 1, "l": [{"x": 1}, None]}, None, {"l": [{"x": 2}]}]
    infer_structure("root", rows, leaves, nodes)
    assert [(leaf.path, leaf.values) for leaf in leaves] == [
        ("root.a\\.b", [1, None, MISSING]),
        ("root.l[0].x", [1, None, 2]),
        ("root.l[1]", [None, None, MISSING]),
    ]
    assert [(node.path, node.node_type, node.children, node.lengths, node.row_mask) for node in nodes] == [
        ("root", "dict", ["a.b", "l"], None, [True, False, True]),
        ("root.l", "list", [0, 1], [2, 0, 1], [True, False, True]),
        ("root.l[0]", "dict", ["x"], None, [True, False, True]),
    ]
    for plain in ([1, "a"], [{1: 2}], [{str(n): n for n in range(65)}], [[1, 2]], [[{}] * 9], [None], []):
        leaves.clear()
        infer_structure("p", plain, leaves, [])
        assert [(leaf.path, leaf.values) for leaf in leaves] == [("p", plain)]
    nested: Any = 1
    for _ in range(40):
        nested = {"a": nested}
    with pytest.raises(ValueError, match="nested more than"):
        infer_structure("p", [nested], [], [])
