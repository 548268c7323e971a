# SPDX-License-Identifier: Apache-2.0
"""mooncake.structured_object_store, over the fake library and over a store of the fewest methods."""

import ctypes
import json
import random
from types import ModuleType
from typing import Any

import numpy
import pytest
from conftest import PUT, Fake
from torch_stand_in import tensor_of

from kvpool import Status
from mooncake.objects import bundles
from mooncake.objects.bundles import Bundle
from mooncake.store import MooncakeDistributedStore, ReplicateConfig
from mooncake.structured_object_store import (
    BundleTransferPolicy,
    MooncakeBundleTransfer,
    RemoteBundleRef,
    StructuredMemberSlice,
    StructuredObjectPayload,
    StructuredObjectReadSpec,
    raw_destination,
    tensor_object_buffer,
)


class Plain:
    """The fewest methods a store may have."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.order: list[str] = []

    def put(self, key: str, value: Any, config: Any = None) -> int:
        self.values[key] = bytes(value)
        self.order.append(key)
        return 0

    def get(self, key: str) -> bytes:
        return self.values.get(key, b"")

    def remove(self, key: str, force: bool = False) -> int:
        return 0 if self.values.pop(key, None) is not None else -704

    def is_exist(self, key: str) -> int:
        return int(key in self.values)


@pytest.fixture(params=["store", "plain"])
def transfer(request: pytest.FixtureRequest) -> MooncakeBundleTransfer:
    store = Plain() if request.param == "plain" else request.getfixturevalue("store")
    return MooncakeBundleTransfer(store, default_chunk_bytes=1000)


def test_objects_of_any_members(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    array = numpy.arange(1500, dtype="float64").reshape(30, 50)
    tensor = tensor_of(torch, "bfloat16", (40, 25))
    members = {
        "bytes": b"x" * 2500,
        "empty": b"",
        "array": array,
        "transposed": array.T,
        "scalar": numpy.array(7, dtype="int32"),
        "no rows": numpy.empty((0, 3), dtype="int8"),
        "bools": numpy.array([True, False]),
        "tensor": tensor,
    }
    ref = transfer.put_object(members)
    found = transfer.get_object(ref)
    assert found.keys() == members.keys()
    for name, value in members.items():
        if isinstance(value, numpy.ndarray):
            assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape)
            assert (found[name] == value).all()
        else:
            assert found[name] == value
    assert found["array"].flags.writeable
    for alone in (b"alone", tensor):
        assert transfer.get_object(transfer.put_object(alone)) == alone
    transfer.release_result(found)


def test_a_reference_is_a_key(transfer: MooncakeBundleTransfer) -> None:
    ref = transfer.put_structured_object(StructuredObjectPayload({"step": 3}, {"m": b"member"}), partition="p")
    assert ref.manifest_key.startswith("bundle/p/")
    for same in (
        RemoteBundleRef(ref.manifest_key, {}),
        {"manifest_key": ref.manifest_key},
        {"manifest_key": ref.manifest_key, "manifest": json.loads(json.dumps(ref.manifest))},
    ):
        result = transfer.materialize(transfer.read_spec(same))
        assert (result.metadata["step"], result.metadata["layout"], result.objects) == (
            3,
            "structured",
            {"m": b"member"},
        )
    with pytest.raises(KeyError, match="there is no bundle"):
        transfer.get_object({"manifest_key": "bundle/p/none/manifest"})
    for wrong in ({}, {"manifest_key": 5}, RemoteBundleRef("foreign/p/x/manifest", {})):
        with pytest.raises(ValueError, match="manifest_key"):
            transfer.get_object(wrong)
    with pytest.raises(TypeError, match="no reference"):
        transfer.get_object("bundle/p/x/manifest")


@pytest.mark.parametrize("seed", range(15))
def test_any_part_of_any_member(store: MooncakeDistributedStore, torch: ModuleType, seed: int) -> None:
    chance = random.Random(seed)
    transfer = MooncakeBundleTransfer(store, default_chunk_bytes=chance.choice([7, 64, 1000, 1 << 20]))
    shape = tuple(chance.randrange(1, 6) for _ in range(chance.randrange(1, 4)))
    array = numpy.frombuffer(chance.randbytes(4 * numpy.prod(shape)), "int32").reshape(shape)
    tensor = tensor_of(torch, "int16", shape, seed)
    elements = numpy.frombuffer(bytes(tensor.memory), "int16").reshape(shape)
    ref = transfer.put_object({"array": array, "tensor": tensor})
    for _ in range(6):
        axis, step = chance.randrange(len(shape)), chance.choice([1, 1, 2, 3])
        start, end = (chance.randrange(-7, 7) for _ in range(2))
        index = (*[slice(None)] * axis, slice(start, end, step))
        spec = (
            transfer.read_spec(ref)
            .slice_member("array", axis, start, end, step)
            .slice_member("tensor", axis, start, end)
        )
        result = transfer.materialize(spec).objects
        assert result["array"].shape == array[index].shape and (result["array"] == array[index]).all()
        expected = elements[(*index[:-1], slice(start, end))]
        assert (result["tensor"].shape, b"".join(result["tensor"].elements())) == (expected.shape, expected.tobytes())


def test_only_what_is_wanted_is_read(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    transfer = MooncakeBundleTransfer(store, default_chunk_bytes=1000)
    array = numpy.arange(3000, dtype="uint8").reshape(300, 10)
    ref = transfer.put_object({"array": array, "other": b"o" * 5000})
    asked: list[Any] = []
    ranges = store.get_into_ranges
    monkeypatch.setattr(store, "get_into_ranges", lambda *lists: asked.append(lists[1:]) or ranges(*lists))
    spec = transfer.read_spec(ref).select_members(["array"]).slice_member("array", 0, 99, 201)
    assert (transfer.materialize(spec).objects["array"] == array[99:201]).all()
    [([keys], [targets], [sources], [sizes])] = asked
    assert [key[-1] for key in keys] == ["0", "1", "2"]
    assert (targets, sources, sizes) == ([[0], [10], [1010]], [[990], [0], [0]], [[10], [1000], [10]])


def test_into_memory_of_the_caller(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    array, tensor = numpy.arange(600, dtype="int16").reshape(20, 30), tensor_of(torch, "float32", (8, 8))
    ref = transfer.put_object({"array": array, "tensor": tensor})
    spec = transfer.read_spec(ref)
    target, memory = numpy.zeros((20, 30), "int16"), (ctypes.c_char * 296)()
    at = ctypes.addressof(memory)
    result = transfer.materialize_into(spec, {"array": target, "tensor": tensor_object_buffer(at, 296)}).objects
    assert result["array"] is target and (target == array).all()
    assert (result["tensor"], memory.raw[40:]) == (tensor, bytes(tensor.memory))
    some = spec.slice_member("array", 0, 2, 9, 3).slice_member("tensor", 0, 1, 3)
    raw = {"array": raw_destination(at, 180), "tensor": raw_destination(at + 180, 116, memory)}
    result = transfer.materialize_into(some, raw).objects
    assert memory.raw[:180] == array[2:9:3].tobytes() and (result["array"] == array[2:9:3]).all()
    assert memory.raw[220:284] == bytes(tensor.memory)[32:96]
    moved = transfer.put_object({"tensor": tensor_object_buffer(at + 180, 116, memory, 2)})
    assert transfer.get_object(moved)["tensor"].elements() == result["tensor"].elements()
    for wrong in (
        {"array": numpy.zeros((20, 30), "int32")},
        {"array": numpy.zeros((30, 20), "int16")},
        {"array": numpy.zeros((20, 60), "int16")[:, ::2]},
        {"array": raw_destination(at, 100)},
        {"tensor": raw_destination(at, 295)},
    ):
        with pytest.raises(ValueError, match=r"takes"):
            transfer.materialize_into(spec, wrong)
    for wrong in ({"array": bytearray(1200)}, {"tensor": target}):
        with pytest.raises(TypeError, match="goes to"):
            transfer.materialize_into(spec, wrong)
    read_only = numpy.zeros((20, 30), "int16")
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="written to"):
        transfer.materialize_into(spec, {"array": read_only})
    with pytest.raises(KeyError, match="nobody"):
        transfer.materialize_into(spec, {"nobody": target})


def test_memory_that_is_registered_already(store: MooncakeDistributedStore) -> None:
    transfer, array = MooncakeBundleTransfer(store), numpy.arange(100)
    spec = transfer.read_spec(transfer.put_object({"a": array}))
    target = numpy.zeros(100, array.dtype)
    assert store.register_buffer(target.ctypes.data, target.nbytes) == 0
    assert (transfer.materialize_into(spec, {"a": target}).objects["a"] == array).all()
    assert store.unregister_buffer(target.ctypes.data) == 0, "it is the caller's registration still"
    transfer.materialize_into(spec, {"a": target})
    assert store.unregister_buffer(target.ctypes.data) == -600


def test_what_cannot_be_read_like_that(transfer: MooncakeBundleTransfer, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "int8", (4,))
    ref = transfer.put_object({"bytes": b"x", "array": numpy.zeros(4), "scalar": numpy.array(1), "tensor": tensor})
    spec = transfer.read_spec(ref)
    assert spec.slice_member("array", 0, 1, 2).member_slice("array") == StructuredMemberSlice(0, 1, 2)
    assert spec.select_members(None) == spec
    wrong: list[StructuredObjectReadSpec] = [
        spec.select_members([]),
        spec.slice_member("bytes", 0, 0, 1),
        spec.slice_member("array", 1, 0, 1),
        spec.slice_member("array", 0, 0, 1, 0),
        spec.slice_member("scalar", 0, 0, 1),
        spec.slice_member("tensor", 0, 0, 4, 2),
    ]
    for one in wrong:
        with pytest.raises(ValueError, match=r"bytes|axis|steps|selected"):
            transfer.materialize(one)
    with pytest.raises(ValueError, match="memory of their own"):
        transfer.materialize_into(spec, {"bytes": bytearray(1)})
    with pytest.raises(KeyError, match="none"):
        transfer.materialize(spec.select_members(["none"]))


def test_what_cannot_be_stored(store: MooncakeDistributedStore) -> None:
    transfer = MooncakeBundleTransfer(store)
    for value in ("text", None, numpy.array([object()]), 5):
        with pytest.raises(TypeError):
            transfer.put_object({"a": value})
    for name in ("", "a/b", "a\n", 5):
        with pytest.raises(ValueError, match="cannot be a"):
            transfer.put_object({name: b"v"})
    for arguments in ({"partition": "a/b"}, {"chunk_bytes": 0}, {"max_inflight_put": 0}, {"max_inflight_put": 65}):
        with pytest.raises(ValueError, match=r"partition|chunk_bytes|max_inflight_put"):
            transfer.put_object({"a": b"v"}, **arguments)
    with pytest.raises(ValueError, match="policy"):
        transfer.put_object({"a": b"v"}, policy=BundleTransferPolicy(2), max_inflight_put=3)
    with pytest.raises(ValueError, match="put_mode"):
        BundleTransferPolicy(put_mode="fast")
    with pytest.raises(ValueError, match="is taken"):
        transfer.put_structured_object(StructuredObjectPayload({"__mooncake_structured_fields__": 1}, {}))
    with pytest.raises(TypeError, match="buffers"):
        StructuredObjectPayload({})
    for prefix in ("", "/", "a\n"):
        with pytest.raises(ValueError, match="key_prefix"):
            MooncakeBundleTransfer(store, prefix)
    with pytest.raises(ValueError, match="not contiguous"):
        transfer.put_object({"a": memoryview(b"abcdef")[::2]})
    with pytest.raises(ValueError, match="chunks"):
        transfer.put_object({"a": bytes((1 << 20) + 1)}, chunk_bytes=1)
    assert store.remove_all() == 0, "nothing was stored"


@pytest.mark.parametrize(
    "policy", [None, BundleTransferPolicy(put_mode="parallel"), BundleTransferPolicy(8, "parallel")]
)
def test_the_manifest_is_stored_last(policy: BundleTransferPolicy | None) -> None:
    plain = Plain()
    ref = MooncakeBundleTransfer(plain).put_bundle(b"meta", {"b": b"x" * 95}, chunk_bytes=10, policy=policy)
    assert plain.order[-1] == ref.manifest_key and len(plain.order) == 12


def test_a_put_that_fails_leaves_nothing(store: MooncakeDistributedStore, fake: Fake) -> None:
    transfer = MooncakeBundleTransfer(store)
    for policy in (BundleTransferPolicy(), BundleTransferPolicy(4, "parallel")):
        fake.fail(PUT, Status.NO_SPACE)
        with pytest.raises(RuntimeError, match=r"not stored.*-200"):
            transfer.put_object({"a": b"v" * 5000}, chunk_bytes=1000, policy=policy)
        fake.fail(PUT, Status.OK, lines=0)
        assert store.remove_all() == 0


def test_removal(transfer: MooncakeBundleTransfer, fake: Fake) -> None:
    ref = transfer.put_object({"a": b"v" * 5000})
    transfer.remove_bundle({"manifest_key": ref.manifest_key})
    for key in Bundle.read(ref.manifest_key, ref.manifest).chunk_keys():
        assert transfer.store.is_exist(key) == 0
    for _ in range(2):
        transfer.remove_bundle(ref)
        transfer.remove_bundle({"manifest_key": ref.manifest_key})
    with pytest.raises(RuntimeError, match="bytes, not"):
        transfer.get_object(ref)


def test_what_readers_may_use_stays(store: MooncakeDistributedStore, fake: Fake) -> None:
    transfer = MooncakeBundleTransfer(store)
    ref = transfer.put_object({"a": b"v"})
    fake.state.leases = 1
    assert transfer.get_object({"manifest_key": ref.manifest_key}) == {"a": b"v"}
    with pytest.raises(RuntimeError, match="cannot be removed: -706"):
        transfer.remove_bundle(ref)
    assert transfer.get_object(ref) == {"a": b"v"}, "while the manifest stays all stays"


def test_a_group_is_that_of_all_values(store: MooncakeDistributedStore, fake: Fake) -> None:
    config = ReplicateConfig(replica_num=2, group_ids=["together"])
    MooncakeBundleTransfer(store).put_object({"a": b"v" * 50}, chunk_bytes=10, config=config)
    assert (fake.last_call[3], fake.last_call[8:]) == ("2", ["1008"]), "the manifest's"


@pytest.mark.parametrize(
    "manifest",
    [
        b"no JSON",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"version":1,"chunk_bytes":10,"meta":{"bytes":1},"buffers":[]}',
        b'{"version":2,"chunk_bytes":10,"meta":{"bytes":1},"buffers":{}}',
        b'{"version":1,"chunk_bytes":0,"meta":{"bytes":1},"buffers":{}}',
        b'{"version":1,"chunk_bytes":true,"meta":{"bytes":1},"buffers":{}}',
        b'{"version":1,"chunk_bytes":10,"meta":{"bytes":-1},"buffers":{}}',
        b'{"version":1,"chunk_bytes":10,"meta":{"bytes":1},"buffers":{"a":{"bytes":"9"}}}',
        b'{"version":1,"chunk_bytes":10,"meta":{"bytes":1},"buffers":{"a/b":{"bytes":9}}}',
        b'{"version":1,"chunk_bytes":1,"meta":{"bytes":1e300},"buffers":{}}',
        b'{"version":1,"chunk_bytes":1,"meta":{"bytes":99999999999},"buffers":{}}',
    ],
)
def test_manifests_that_are_none(manifest: bytes) -> None:
    plain = Plain()
    plain.put("bundle/p/x/manifest", manifest)
    transfer = MooncakeBundleTransfer(plain)
    for use in (transfer.get_object, transfer.remove_bundle):
        with pytest.raises(ValueError, match=r"manifest|chunks|cannot be a"):
            use({"manifest_key": "bundle/p/x/manifest"})
    assert plain.is_exist("bundle/p/x/manifest")


def test_metadata_and_members_that_are_none() -> None:
    plain = Plain()
    transfer = MooncakeBundleTransfer(plain)
    for fields in (
        {"encoding": "pickle", "shape": []},
        {"encoding": "ndarray", "dtype": "<i4", "shape": [3]},
        {"encoding": "ndarray", "dtype": "O", "shape": [1]},
        {"encoding": "ndarray", "dtype": "<i4", "shape": [-1]},
        {"encoding": "ndarray", "dtype": "<i4"},
        {"encoding": "torch_tensor", "dtype": "float32", "shape": [2]},
        {"encoding": "torch_tensor", "dtype": "none", "shape": [1]},
    ):
        meta = json.dumps({"__mooncake_structured_fields__": {"m": fields}}).encode()
        with pytest.raises(ValueError, match=r"'m'|tensor"):
            transfer.get_object(transfer.put_bundle(meta, {"m": bytes(8)}))
    for meta in (b"[]", b'{"__mooncake_structured_fields__": 5}', b"no"):
        with pytest.raises(ValueError, match=r"metadata|JSON|Expecting"):
            transfer.get_object(transfer.put_bundle(meta, {"m": b"v"}))
    assert transfer.get_object(transfer.put_bundle(b"", {"m": b"v"})) == {"m": b"v"}


def test_members_of_a_shape_without_bytes() -> None:
    transfer = MooncakeBundleTransfer(Plain())

    def member(dtype: str, shape: list[int]) -> Any:
        fields = {"encoding": "ndarray", "dtype": dtype, "shape": shape}
        meta = json.dumps({"__mooncake_structured_fields__": {"m": fields}}).encode()
        return transfer.get_object(transfer.put_bundle(meta, {"m": b""}))["m"]

    for dtype in ("|S0", "<U0", "|V0"):
        for shape in ([5], [1 << 40], [0], []):
            with pytest.raises(ValueError, match="'m' is no array"):
                member(dtype, shape)
    assert member("<i4", [0, 10**12]).shape == (0, 10**12)
    with pytest.raises(TypeError, match="have no bytes"):
        transfer.put_object({"m": numpy.empty(3, "V0")})


def test_a_part_behind_the_end_of_a_value_is_not_copied() -> None:
    """A store of the fewest methods reads whole values, of which parts are copied here."""
    parts, source = bundles.Bundles(Plain(), "bundle", 10), memoryview(b"0123456789abcde")
    bundle = parts.find(parts.put(memoryview(b""), {"m": source}, "p", None, BundleTransferPolicy(), None))
    memory = (ctypes.c_char * 20)()
    parts.read_into(bundle, "m", [(8, 0, 7)], ctypes.addressof(memory), 20)
    assert memory.raw == b"89abcde" + bytes(13)
    for beyond in ((8, 0, 8), (15, 0, 1), (19, 0, 1)):
        with pytest.raises(RuntimeError, match="of 5 bytes"):
            parts.read_into(bundle, "m", [beyond], ctypes.addressof(memory), 20)


def test_batches_of_a_put_are_bounded(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "_BATCH_BYTES", 25)
    sizes: list[int] = []
    put_batch = store.put_batch
    monkeypatch.setattr(store, "put_batch", lambda keys, *rest: sizes.append(len(keys)) or put_batch(keys, *rest))
    transfer = MooncakeBundleTransfer(store)
    ref = transfer.put_bundle(b"", {"a": bytes(range(75)), "b": bytes(30)}, chunk_bytes=10)
    assert sizes == [2, 2, 2, 3, 2, 1], "with the manifest"
    assert transfer.get_object(ref) == {"a": bytes(range(75)), "b": bytes(30)}
