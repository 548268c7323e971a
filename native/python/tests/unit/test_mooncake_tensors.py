# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: tensors, over a stand-in of torch."""

import ctypes
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import PUT, Fake
from torch_stand_in import ITEM_BYTES, Tensor, tensor_of

from kvpool import Status
from mooncake.store import MooncakeDistributedStore, ReplicateConfig


def test_tensors_of_each_type_and_shape(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    for name in sorted(set(ITEM_BYTES) - {"quint8"}):
        for shape in ((), (3,), (2, 3), (1, 2, 1, 3, 1, 2), (0,), (2, 0)):
            tensor = tensor_of(torch, name, shape)
            assert store.put_tensor(f"{name}{shape}", tensor) == 0
            got = store.get_tensor(f"{name}{shape}")
            assert got == tensor
            assert got.dtype is getattr(torch, name)


def test_a_view_and_a_tensor_of_a_device_are_stored_as_they_look(
    store: MooncakeDistributedStore, torch: ModuleType
) -> None:
    whole = tensor_of(torch, "int16", (4, 6))
    view = whole.chunk(3, 1)[1]
    assert store.put_tensor("view", view) == 0
    assert store.get_tensor("view") == view
    for what in ("conj", "neg"):
        lazy = tensor_of(torch, "complex64", (3,)).lazily(what)
        assert store.put_tensor(what, lazy) == 0
        assert store.get_tensor(what) == lazy
    whole.device = "npu:0"
    assert store.put_tensor("device", whole) == 0
    assert store.get_tensor("device") == whole


def test_put_keeps_and_upsert_replaces(store: MooncakeDistributedStore, torch: ModuleType, fake: Fake) -> None:
    old, new = tensor_of(torch, "float32", (2,), 1), tensor_of(torch, "float32", (2,), 2)
    config = ReplicateConfig(replica_num=3)
    for put in (store.put_tensor, store.upsert_tensor):
        assert put("k", old) == 0
        assert store.put_tensor("k", new) == 0
        assert store.get_tensor("k") == old
    assert store.pub_tensor("k", new, config) == 0
    assert fake.last_call[3] == "3" and store.get_tensor("k") == old
    assert store.upsert_tensor("k", new) == 0
    assert store.get_tensor("k") == new
    assert store.upsert_pub_tensor("k", old, config=config) == 0
    assert fake.last_call[3] == "3" and store.get_tensor("k") == old


def test_batches_answer_for_each(store: MooncakeDistributedStore, torch: ModuleType, fake: Fake) -> None:
    tensors = [tensor_of(torch, "int8", (i,)) for i in range(1, 4)]
    wrong = tensor_of(torch, "quint8", (1,))
    keys = ["a", "wrong", "b", "none", "", "c"]
    given = [tensors[0], wrong, tensors[1], None, tensors[0], tensors[2]]
    groups = ReplicateConfig(group_ids=["1", "12", "123", "1234", "12345", "123456"])
    assert store.batch_pub_tensor(keys, given, groups) == [0, -600, 0, -600, -400, 0]
    assert fake.last_call[8:] == ["1001", "1003", "1005", "1006"], "each with its own group"
    assert store.batch_get_tensor(["c", "none", "a", "b"]) == [tensors[2], None, tensors[0], tensors[1]]
    assert store.batch_put_tensor(["a"], []) == store.batch_put_tensor(["a"], tensors) == [-600]
    assert store.batch_put_tensor([], []) == []
    assert store.batch_put_tensor(["d"], tensors[:1]) == store.batch_upsert_tensor(["d"], tensors[:1]) == [0]
    fake.fail(PUT, Status.NO_SPACE)
    assert store.batch_upsert_pub_tensor(["d", "e"], tensors[:2], ReplicateConfig()) == [-200, 0]
    assert store.put_tensor("x", "no tensor") == store.put_tensor("x", 5) == -600


def test_parts_of_tensors(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "bfloat16", (6, 4))
    assert store.put_tensor_with_tp("k", tensor, tp_rank=1, tp_size=2, split_dim=1) == 0
    assert [store.get_tensor_with_tp("k", rank, 2, 1) for rank in range(2)] == list(tensor.chunk(2, 1))
    assert store.get_tensor("k_tp_1") == tensor.chunk(2, 1)[1]
    assert store.get_tensor("k") is None
    assert store.put_tensor_with_tp("whole", tensor) == 0
    assert store.get_tensor_with_tp("whole") == store.get_tensor("whole") == tensor
    assert store.pub_tensor_with_tp("p", tensor, ReplicateConfig(), 0, 3) == 0
    assert store.batch_get_tensor_with_tp(["p", "none", "k"], tp_rank=0, tp_size=3)[:2] == [tensor.chunk(3)[0], None]
    assert store.batch_put_tensor_with_tp(["a", "b"], [tensor, tensor], tp_size=2) == [0, 0]
    assert store.batch_get_tensor_with_tp(["a", "b"], 1, 2) == [tensor.chunk(2)[1]] * 2


def test_a_tensor_that_has_not_so_many_parts(store: MooncakeDistributedStore, torch: ModuleType, fake: Fake) -> None:
    good, flat = tensor_of(torch, "int8", (4, 4)), tensor_of(torch, "int8", (1,))
    groups = ReplicateConfig(group_ids=["1", "12", "123"])
    assert store.batch_pub_tensor_with_tp(["a", "b", "c"], [flat, good, None], groups, tp_size=2) == [-600, 0, -600]
    assert fake.last_call[8:] == ["1002", "1002"]
    assert store.put_tensor_with_tp("d", good, 0, 2, 7) == -600
    assert store.batch_put_tensor_with_tp(["a"], [], tp_size=2) == [-600]
    fake.fail(PUT, Status.NO_SPACE)
    assert store.batch_put_tensor_with_tp(["e", "f"], [good, good], tp_size=2) == [-200, 0]
    assert store.is_exist("a_tp_0") == 0


def test_tensors_in_registered_memory(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    memory = (ctypes.c_char * 1024)()
    at = ctypes.addressof(memory)
    tensor = tensor_of(torch, "float32", (5, 5))
    store.put_tensor("k", tensor)
    assert store.get_tensor_into("k", at, 1024) is None, "not registered"
    assert store.register_buffer(at, 1024) == 0
    got = store.get_tensor_into("k", at, 140)
    assert got == tensor
    memory[40:44] = b"abcd"
    assert got.elements()[0] == b"abcd", "it is a view of that memory"
    assert store.get_tensor_into("k", at, 139) is None, "too small"
    assert store.put_tensor_from("copy", at, 140) == 0
    assert store.get_tensor("copy") == got
    assert store.upsert_tensor_from("k", at, 140) == 0
    assert store.batch_put_tensor_from(["c", "d"], [at, at + 1020], [400, 140]) == [0, -600]
    assert len(store.get("c")) == 140, "what lies behind the tensor is not stored"
    assert store.batch_upsert_tensor_from(["c"], [at], [140]) == [0]
    assert store.batch_get_tensor_into(["k", "none"], [at, at + 512], [512, 512]) == [got, None]
    store.put_tensor_with_tp("t", tensor, tp_size=5)
    assert store.get_tensor_with_tp_into("t", at, 512, 4, 5) == tensor.chunk(5)[4]
    assert store.batch_get_tensor_with_tp_into(["t"], [at], [512], 3, 5) == [tensor.chunk(5)[3]]
    assert store.get_tensor_into("k", at, 140) == got
    assert store.put_tensor_with_tp_from("part", at, 512, 1, 2) == 0, "all parts, and nothing of what lies behind"
    assert [store.get_tensor_with_tp("part", rank, 2) for rank in range(2)] == list(got.chunk(2))
    codes = store.batch_put_tensor_with_tp_from(["p", "q", "r"], [at] * 3, [140, 139, 2000], 1, 5, split_dim=1)
    assert codes == [0, -600, 0]
    assert store.get_tensor("p_tp_3") == got.chunk(5, 1)[3]
    assert store.put_tensor_with_tp_from("n", at, 140, 0, 4) == -600, "there are no rows left for the last part"
    assert store.batch_put_tensor_with_tp_from(["n"], [at], [], 0, 2) == [-600]
    assert store.put_tensor_with_tp_from("one", at, 140) == 0
    assert store.get_tensor("one") == got
    assert store.batch_get_tensor_into(["k"], [at, at], [512]) == [None]


def test_a_value_that_is_no_tensor(
    store: MooncakeDistributedStore, torch: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    store.put_batch(["short", "long"], [b"x", bytes(100)])
    assert store.batch_get_tensor(["short", "long"]) == [None, None]
    assert "get_tensor: key 'short' failed" in caplog.text
    assert store.save_tensor_to_safetensor("long", "never") == -600


def test_a_type_that_this_torch_does_not_have(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    store.put_tensor("k", tensor_of(torch, "float8_e8m0fnu", (1,)))
    del torch.float8_e8m0fnu
    assert store.get_tensor("k") is None


def test_without_torch(store: MooncakeDistributedStore, torch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = tensor_of(torch, "int8", (1,))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert store.put_tensor("k", tensor) == 0
    with pytest.raises(ImportError):
        store.get_tensor("k")


# ---- files


def test_files(store: MooncakeDistributedStore, torch: ModuleType, tmp_path: Path) -> None:
    path, tensor = tmp_path / "t.safetensors", tensor_of(torch, "bfloat16", (2, 3))
    store.put_tensor("k", tensor)
    assert store.save_tensor_to_safetensor("k", path) == 0
    assert store.remove("k") == 0
    assert store.load_tensor_from_safetensor("k", str(path)) == tensor
    assert store.get_tensor("k") == tensor
    assert store.load_tensor_from_safetensor(file_name=path, tensor_name="k") == tensor
    assert store.get_tensor(str(path)) == tensor
    assert store.save_tensor_to_safetensor(str(path), tensor_name="other", filesystem="file") == 0
    assert store.load_tensor_from_safetensor("n", path, tensor_name="other") == tensor


def test_files_that_cannot_be(
    store: MooncakeDistributedStore, torch: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.put_tensor("k", tensor_of(torch, "int8", (1,)))
    assert store.save_tensor_to_safetensor("none", tmp_path / "f") == -704
    assert store.save_tensor_to_safetensor("k", tmp_path / "no" / "f") == -1
    assert store.save_tensor_to_safetensor("k", tmp_path / "f", filesystem="s3") == -600
    assert store.save_tensor_to_safetensor("k", tmp_path / "f", storage_options={"a": 1}) == -600
    assert store.load_tensor_from_safetensor("k") is None
    assert store.load_tensor_from_safetensor("k", tmp_path / "none") is None
    assert store.load_tensor_from_safetensor("k", tmp_path / "f", "s3") is None
    (tmp_path / "f").write_bytes(b"nonsense")
    assert store.load_tensor_from_safetensor("k", tmp_path / "f") is None
    assert "load_tensor_from_safetensor" in caplog.text
    store.save_tensor_to_safetensor("k", tmp_path / "f")
    assert store.load_tensor_from_safetensor("", tmp_path / "f") is None, "a put that fails"


def test_without_a_pool(torch: ModuleType, fake: Fake, tmp_path: Path) -> None:
    store = MooncakeDistributedStore()
    tensor = tensor_of(torch, "int8", (2,))
    assert store.put_tensor("k", tensor) == store.put_tensor_with_tp("k", tensor, 0, 2) == -600
    assert store.batch_put_tensor(["k"], [tensor]) == [-600]
    assert store.get_tensor("k") is store.get_tensor_into("k", 1, 1) is None
    assert store.batch_get_tensor(["k", "l"]) == [None, None]
    assert store.save_tensor_to_safetensor("k", tmp_path / "f") == -600
    assert isinstance(tensor, Tensor)
