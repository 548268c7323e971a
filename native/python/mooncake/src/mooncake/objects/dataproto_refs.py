# SPDX-License-Identifier: Apache-2.0
"""References to stored batches (DataProto), what belongs to their fields, and handles: references as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mooncake.objects.bundles import RemoteBundleRef

DATAPROTO_REF_HANDLE_TYPE = "mooncake_dataproto_ref"
DATAPROTO_REF_HANDLE_VERSION = 1
STORAGE_GROUP_ID = "storage_group_id"
_KIND = "bundle_stages"
_VERSIONS = (DATAPROTO_REF_HANDLE_VERSION, 2)  # the second always has a group
_SECTIONS = ("batch", "non_tensor_batch")


@dataclass(frozen=True)
class FieldSchema:
    """What a field of a batch is.

    Attributes:
        codec: of what kind its rows are: "auto" for any, or one of ndarray (numbers), typed_ragged (sequences of numbers),
            ragged_tensor, ragged_tensor_dict, bytes_ragged, media_bytes, media_list_ragged, utf8_ragged, msgpack_ragged,
            json_ragged. Rows of another kind are refused.
        nullable: whether a row may be None.
        metadata: "section" is the section it belongs to: batch, non_tensor_batch or meta_info; "dtype" the type of its
            numbers; "keys" the names of a ragged_tensor_dict.
    """

    codec: str
    nullable: bool = True
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StructuredFieldLocation:
    """Where a field is: in which stage, and the name of its member there."""

    stage: str
    member: str
    section: Literal["batch", "non_tensor_batch"]


@dataclass
class MooncakeDataProtoRef:
    """Where a batch is, and all of its meta_info: each stage is an object of its own, the fields are members."""

    batch_size: int
    stage_refs: dict[str, RemoteBundleRef]
    field_index: dict[str, StructuredFieldLocation]
    meta_info: dict[str, Any]
    namespace: str = "default"
    partition: str = "default"
    global_indexes: list[int] | None = None
    encoded_non_tensor: dict[str, Any] = field(default_factory=dict)
    _storage_group_id: str | None = field(default=None, repr=False)


DataProtoRefLike = MooncakeDataProtoRef | Mapping[str, Any]


def is_dataproto_ref_handle(value: Any) -> bool:
    """Whether it says that it is a handle."""
    return isinstance(value, Mapping) and value.get("type") == DATAPROTO_REF_HANDLE_TYPE


def export_dataproto_ref(ref: MooncakeDataProtoRef) -> dict[str, Any]:
    """A handle: the reference as what JSON can carry. TypeError when meta_info has more than that."""
    if not isinstance(ref, MooncakeDataProtoRef):
        raise TypeError(f"a {type(ref).__name__} is no reference to a batch")
    handle = {
        "type": DATAPROTO_REF_HANDLE_TYPE,
        "version": DATAPROTO_REF_HANDLE_VERSION,
        "kind": _KIND,
        "batch_size": int(ref.batch_size),
        "namespace": ref.namespace,
        "partition": ref.partition,
        "global_indexes": _plain(ref.global_indexes),
        "stage_refs": {stage: {"manifest_key": one.manifest_key} for stage, one in ref.stage_refs.items()},
        "field_index": {
            name: {"stage": at.stage, "member": at.member, "section": at.section}
            for name, at in ref.field_index.items()
        },
        "meta_info": _plain(ref.meta_info),
        "encoded_non_tensor": _plain(ref.encoded_non_tensor),
    }
    if ref._storage_group_id is not None:
        handle[STORAGE_GROUP_ID] = ref._storage_group_id
    json.dumps(handle)
    return handle


def import_dataproto_ref(handle: Mapping[str, Any]) -> MooncakeDataProtoRef:
    """The reference that a handle is of. ValueError for what is none; nothing is read from the store."""
    if not is_dataproto_ref_handle(handle):
        raise ValueError("it is no handle of a batch")
    if type(handle.get("version")) is not int or handle["version"] not in _VERSIONS or handle.get("kind") != _KIND:
        raise ValueError(
            f"a handle of version {handle.get('version')!r} and kind {handle.get('kind')!r}; {_KIND!r} of versions "
            f"{' and '.join(map(str, _VERSIONS))} are read"
        )
    stages = {
        _name(stage, "stage"): RemoteBundleRef(_name(_mapping(one, "stage").get("manifest_key"), "manifest_key"), {})
        for stage, one in _mapping(handle.get("stage_refs"), "stage_refs").items()
    }
    fields = {
        _name(name, "field"): _location(name, _mapping(one, f"field {name!r}"), stages)
        for name, one in _mapping(handle.get("field_index"), "field_index").items()
    }
    encoded = _mapping(handle.get("encoded_non_tensor", {}), "encoded_non_tensor")
    if unknown := [name for name in encoded if name not in fields]:
        raise ValueError(f"encoded_non_tensor of a handle has {unknown}, which are no fields")
    rows, indexes, group = handle.get("batch_size"), handle.get("global_indexes"), handle.get(STORAGE_GROUP_ID)
    if type(rows) is not int or rows < 0:
        raise ValueError(f"a handle with the batch_size {rows!r}")
    if indexes is not None and (not isinstance(indexes, list) or not all(type(one) is int for one in indexes)):
        raise ValueError("global_indexes of a handle must be whole numbers, or null")
    if group is not None or handle["version"] == 2:
        _name(group, STORAGE_GROUP_ID)
    return MooncakeDataProtoRef(
        rows,
        stages,
        fields,
        dict(_mapping(handle.get("meta_info", {}), "meta_info")),
        str(handle.get("namespace", "default")),
        str(handle.get("partition", "default")),
        indexes,
        dict(encoded),
        group,
    )


def _location(name: str, given: Mapping[str, Any], stages: Mapping[str, Any]) -> StructuredFieldLocation:
    section, stage = given.get("section"), _name(given.get("stage"), "stage")
    if section not in _SECTIONS or stage not in stages:
        raise ValueError(f"field {name!r} of a handle is in section {section!r} of stage {stage!r}")
    return StructuredFieldLocation(stage, _name(given.get("member"), "member"), section)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} of a handle must be an object, not {type(value).__name__}")
    return value


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"a handle with the {what} {value!r}")
    return value


def _plain(value: Any) -> Any:
    """What JSON can carry."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return _plain(value.tolist())
    raise TypeError(f"a handle carries what JSON can, and no {type(value).__name__}")
