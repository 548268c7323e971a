# SPDX-License-Identifier: Apache-2.0
"""mooncake.structured_object_store: objects of many members, each of which is read alone, in parts, and into the caller's memory;
and batches (DataProto), of which each row is.

Values are not those of the reference: each reads what it stored itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mooncake.objects import members, sections
from mooncake.objects.batches import Batches, Rows, selected_fields
from mooncake.objects.bundles import (
    DEFAULT_BUNDLE_CHUNK_BYTES,
    MISSING_OBJECT_ERROR,
    Bundle,
    Bundles,
    BundleStore,
    BundleTransferPolicy,
    RemoteBundleRef,
    check_segment,
)
from mooncake.objects.dataproto_refs import (
    DATAPROTO_REF_HANDLE_TYPE,
    DATAPROTO_REF_HANDLE_VERSION,
    STORAGE_GROUP_ID,
    DataProtoRefLike,
    FieldSchema,
    MooncakeDataProtoRef,
    StructuredFieldLocation,
    export_dataproto_ref,
    import_dataproto_ref,
    is_dataproto_ref_handle,
)
from mooncake.objects.members import RawDestination, TensorObjectBuffer
from mooncake.objects.read_specs import (
    StructuredMemberSlice,
    StructuredObjectPayload,
    StructuredObjectReadSpec,
    StructuredObjectResult,
)
from mooncake.objects.structure import MISSING, infer_structure

__all__ = [
    "AUTO_PARALLEL_MIN_BYTES",
    "AUTO_PARALLEL_MIN_CHUNKS",
    "DATAPROTO_REF_HANDLE_TYPE",
    "DATAPROTO_REF_HANDLE_VERSION",
    "DEFAULT_BUNDLE_CHUNK_BYTES",
    "MISSING",
    "MISSING_OBJECT_ERROR",
    "STORAGE_GROUP_ID",
    "STRUCTURED_FIELD_SPECS_KEY",
    "BundleStore",
    "BundleTransferPolicy",
    "DataProtoRefLike",
    "FieldSchema",
    "MooncakeBundleTransfer",
    "MooncakeDataProtoRef",
    "RemoteBundleRef",
    "StructuredFieldLocation",
    "StructuredMemberSlice",
    "StructuredObjectPayload",
    "StructuredObjectReadSpec",
    "StructuredObjectResult",
    "export_dataproto_ref",
    "export_ref",
    "import_dataproto_ref",
    "import_ref",
    "infer_structure",
    "is_dataproto_ref_handle",
    "raw_destination",
    "tensor_object_buffer",
]

# From so much on the reference's `put_mode` "auto" stores in parallel. Here it stores in batches, whatever there is to store.
AUTO_PARALLEL_MIN_BYTES, AUTO_PARALLEL_MIN_CHUNKS = DEFAULT_BUNDLE_CHUNK_BYTES, 8

STRUCTURED_FIELD_SPECS_KEY = members.FIELD_SPECS

export_ref, import_ref = export_dataproto_ref, import_dataproto_ref
_WRAPPED = "__mooncake_wrapped_object__"


def tensor_object_buffer(ptr: int, size: int, owner: Any = None, batch_size: int | None = None) -> TensorObjectBuffer:
    """A tensor in memory with its header before it, to put, or memory for one, to read into. `owner` is kept as long."""
    return TensorObjectBuffer(int(ptr), int(size), owner, batch_size)


def raw_destination(ptr: int, size: int, owner: Any = None, *, pre_registered: bool = False) -> RawDestination:
    """Memory for the elements of an array, or for a tensor and its header. `owner` is kept as long."""
    return RawDestination(int(ptr), int(size), owner, pre_registered)


class MooncakeBundleTransfer:
    """Objects in a store, for any number of threads.

    Nothing of an object is seen before all of it is stored, and a put that fails leaves nothing. RuntimeError when the store
    fails, KeyError for what is not there, ValueError and TypeError for what cannot be.

    Args:
        store: one that is set up.
        key_prefix: of all keys.
        default_chunk_bytes: the longest value; larger members are several.
        buffer_pool: accepted, and not needed: results have memory of their own, or of the caller.
    """

    def __init__(
        self,
        store: BundleStore,
        key_prefix: str = "bundle",
        default_chunk_bytes: int = DEFAULT_BUNDLE_CHUNK_BYTES,
        buffer_pool: Any = None,
    ) -> None:
        self._bundles = Bundles(store, key_prefix, default_chunk_bytes)
        self._batches = Batches(self._bundles)
        self.store = store
        self.key_prefix = key_prefix.strip("/")
        self.default_chunk_bytes = default_chunk_bytes

    def put_bundle(
        self,
        meta: bytes | bytearray | memoryview,
        buffers: Mapping[str, Any],
        partition: str = "default",
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        max_inflight_put: int | None = None,
        config: Any = None,
    ) -> RemoteBundleRef:
        """Stores bytes and named buffers of bytes, without saying what they are."""
        views = {name: members.encode(value)[1] for name, value in buffers.items()}
        header = memoryview(meta).cast("B") if len(meta) else memoryview(b"")
        return self._bundles.put(header, views, partition, chunk_bytes, _policy(policy, max_inflight_put), config)

    def remove_bundle(self, ref: RemoteBundleRef | Mapping[str, Any]) -> None:
        """Removes an object or a bundle. Nothing happens for one that is gone; what a reader may still use cannot be removed."""
        try:
            bundle = self._bundles.find(ref)
        except KeyError:
            return
        self._bundles.remove(bundle)

    def put_structured_object(
        self,
        payload: StructuredObjectPayload,
        partition: str = "default",
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        max_inflight_put: int | None = None,
        config: Any = None,
    ) -> RemoteBundleRef:
        """Stores metadata, as JSON, and named members: bytes, arrays of numpy, tensors of torch."""
        if STRUCTURED_FIELD_SPECS_KEY in payload.metadata:
            raise ValueError(f"the name {STRUCTURED_FIELD_SPECS_KEY!r} of metadata is taken")
        for name in payload.buffers:
            check_segment(name, "name of a member")
        encoded = {name: members.encode(value) for name, value in payload.buffers.items()}
        specs = {name: spec for name, (spec, _) in encoded.items()}
        views = {name: view for name, (_, view) in encoded.items()}
        metadata = {"layout": "structured", **payload.metadata, STRUCTURED_FIELD_SPECS_KEY: specs}
        header = memoryview(json.dumps(metadata).encode())
        return self._bundles.put(header, views, partition, chunk_bytes, _policy(policy, max_inflight_put), config)

    def put_object(
        self,
        obj: Any,
        partition: str = "default",
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        max_inflight_put: int | None = None,
        config: Any = None,
    ) -> RemoteBundleRef:
        """Stores a mapping of members, or one member alone."""
        is_mapping = isinstance(obj, Mapping)
        payload = StructuredObjectPayload({} if is_mapping else {_WRAPPED: True}, obj if is_mapping else {"value": obj})
        return self.put_structured_object(payload, partition, chunk_bytes, policy, max_inflight_put, config)

    def get_object(self, ref: RemoteBundleRef | Mapping[str, Any]) -> Any:
        """What put_object() stored: a dict of members, or the member."""
        result = self.materialize(self.read_spec(ref))
        return result.objects["value"] if result.metadata.get(_WRAPPED) else result.objects

    def read_spec(self, ref: RemoteBundleRef | Mapping[str, Any]) -> StructuredObjectReadSpec:
        """A read of all of an object, for materialize(), which select_members() and slice_member() narrow down."""
        return StructuredObjectReadSpec(ref)

    def materialize(self, spec: StructuredObjectReadSpec) -> StructuredObjectResult:
        """Reads what the spec says, and no more of arrays and tensors than that."""
        return self.materialize_into(spec, None)

    def materialize_into(
        self, spec: StructuredObjectReadSpec, destinations: Mapping[str, Any] | None
    ) -> StructuredObjectResult:
        """materialize() of arrays and tensors into memory of the caller: arrays of numpy, raw_destination() or, for tensors,
        tensor_object_buffer(). Members without a destination get memory of their own."""
        if spec.member_names is not None and not spec.member_names:
            raise ValueError("no members are selected")
        bundle = self._bundles.find(spec.ref)
        metadata, specs = members.metadata_of(self._bundles.read(bundle, None))
        lengths = bundle.buffers
        names = list(lengths) if spec.member_names is None else list(spec.member_names)
        unknown = [name for name in (*names, *(destinations or {})) if name not in lengths]
        if unknown:
            raise KeyError(f"there are no members {unknown}")
        objects = {
            name: self._read(bundle, name, specs.get(name), spec.member_slice(name), (destinations or {}).get(name))
            for name in names
        }
        return StructuredObjectResult(metadata, objects)

    def put(
        self,
        data: Any,
        *,
        type: Literal["dataproto", "dict"] = "dataproto",
        namespace: str = "default",
        partition: str = "default",
        stage: str = "default",
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        config: Any = None,
        field_schemas: Mapping[str, FieldSchema] | None = None,
    ) -> MooncakeDataProtoRef:
        """Stores a batch: fields of as many rows each, of which any may be read alone.

        Args:
            data: for "dataproto" what has batch, non_tensor_batch and meta_info as attributes or, a dict, as values; another
                dict is batch. For "dict" a dict of fields: arrays of numbers and tensors of one length are batch, other
                sequences of that length non_tensor_batch, the rest meta_info; a schema may say otherwise.
                batch has arrays of numbers and tensors. Rows of non_tensor_batch may be anything of None, numbers, text,
                bytes, lists, tuples, dicts, arrays, tensors and images of Pillow. meta_info stays in the reference.
            type: "dataproto" or "dict".
            namespace: kept in the reference.
            partition: a part of the keys.
            stage: a name for what is put together, as append_dataproto_fields() adds further ones.
            config: a ReplicateConfig. Its group, or one of the batch's own, is that of all values of the batch, also of later
                ones.
            field_schemas: what rows must be; others are refused.
        """
        schemas = field_schemas or {}
        cut = sections.of_flat(data, schemas) if _is_dict(type) else sections.split(data)
        return self._put_stage(
            None, cut, namespace, partition, stage, False, chunk_bytes, policy, field_schemas, config
        )

    def get(
        self,
        ref: DataProtoRefLike,
        *,
        type: Literal["dataproto", "dict"] = "dataproto",
        fields: Sequence[str] | None = None,
        batch_fields: Sequence[str] | None = None,
        non_tensor_fields: Sequence[str] | None = None,
        meta_info_keys: Sequence[str] | None = None,
        data_cls: Any | None = None,
        destinations: Mapping[str, Any] | None = None,
        rows: Rows = None,
    ) -> Any:
        """Reads a batch, or some fields and rows of it, and no more than that.

        Args:
            ref: of put(), or a handle.
            type: "dataproto" gives a dict of batch, non_tensor_batch and meta_info, or what data_cls makes of them; "dict" one
                dict of all fields. Fields of objects are arrays of objects, and lists in "dict".
            fields: these, of any section; without, all.
            batch_fields, non_tensor_fields: these, of each section, in place of fields.
            meta_info_keys: these; those that are not there are left out.
            data_cls: a class with from_dict(batch, non_tensor_batch, meta_info=), or with the three as arguments.
            destinations: for fields of numbers, memory of the caller as for materialize_into().
            rows: a slice with a positive step, or numbers of rows in any order; those below 0 are counted from the end.
        """
        flat = _is_dict(type)
        found = self._batches.get(
            _resolved(ref),
            selected_fields(_resolved(ref), fields, batch_fields, non_tensor_fields),
            meta_info_keys,
            destinations or {},
            rows,
        )
        return found.flat() if flat else found.made(data_cls)

    def put_dataproto(
        self,
        data: Any,
        *,
        namespace: str = "default",
        partition: str = "default",
        stage: str = "default",
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        field_schemas: Mapping[str, FieldSchema] | None = None,
        config: Any = None,
    ) -> MooncakeDataProtoRef:
        """put() of a "dataproto"."""
        return self._put_stage(
            None, sections.split(data), namespace, partition, stage, False, chunk_bytes, policy, field_schemas, config
        )

    def append_dataproto_fields(
        self,
        ref: DataProtoRefLike,
        data: Any,
        *,
        stage: str,
        overwrite: bool = False,
        chunk_bytes: int | None = None,
        policy: BundleTransferPolicy | None = None,
        field_schemas: Mapping[str, FieldSchema] | None = None,
        config: Any = None,
    ) -> MooncakeDataProtoRef:
        """Adds fields to a batch, and gives the reference of what it is then; the former one is of the former fields still.

        Args:
            data: as for put(); as many rows as there are. Of meta_info what is new counts.
            stage: a new one, or one that is there.
            overwrite: replaces a stage that is there, of which all fields must be given. The former reference is of no use then.
        """
        before = _resolved(ref)
        return self._put_stage(
            before,
            sections.split(data),
            before.namespace,
            before.partition,
            stage,
            overwrite,
            chunk_bytes,
            policy,
            field_schemas,
            config,
        )

    def dataproto_manifest_view(self, ref: DataProtoRefLike) -> dict[str, Any]:
        """What is known of a batch without reading its fields: namespace, partition, number of rows, and for each field its
        stage, member and encoding."""
        return self._batches.view(_resolved(ref))

    def get_dataproto(
        self,
        ref: DataProtoRefLike,
        *,
        fields: Sequence[str] | None = None,
        batch_fields: Sequence[str] | None = None,
        non_tensor_fields: Sequence[str] | None = None,
        meta_info_keys: Sequence[str] | None = None,
        data_cls: Any | None = None,
        destinations: Mapping[str, Any] | None = None,
        rows: Rows = None,
    ) -> Any:
        """get() of a "dataproto"."""
        return self.get(
            ref,
            fields=fields,
            batch_fields=batch_fields,
            non_tensor_fields=non_tensor_fields,
            meta_info_keys=meta_info_keys,
            data_cls=data_cls,
            destinations=destinations,
            rows=rows,
        )

    def cleanup_dataproto(self, ref: DataProtoRefLike) -> None:
        """Removes a batch. Nothing happens for one that is gone; RuntimeError while a reader may still use it."""
        self._batches.remove(_resolved(ref))

    def cleanup_dataproto_append(self, previous: DataProtoRefLike, appended: DataProtoRefLike) -> None:
        """Removes what append_dataproto_fields() added, and leaves what was there before."""
        self._batches.remove_further(_resolved(previous), _resolved(appended))

    def _put_stage(
        self,
        before: MooncakeDataProtoRef | None,
        data: sections.Sections,
        namespace: str,
        partition: str,
        stage: str,
        overwrite: bool,
        chunk_bytes: int | None,
        policy: BundleTransferPolicy | None,
        field_schemas: Mapping[str, FieldSchema] | None,
        config: Any,
    ) -> MooncakeDataProtoRef:
        return self._batches.put(
            before,
            data,
            namespace=namespace,
            partition=partition,
            stage=stage,
            overwrite=overwrite,
            chunk_bytes=chunk_bytes,
            policy=_policy(policy, None),
            schemas=field_schemas or {},
            config=config,
        )

    @staticmethod
    def release_result(result: Any) -> None:
        """Nothing: results hold no memory that is lent."""

    def _read(self, bundle: Bundle, name: str, spec: Any, part: StructuredMemberSlice | None, destination: Any) -> Any:
        return members.decode(
            name,
            spec or {"encoding": "bytes"},
            bundle.buffers[name],
            part,
            destination,
            lambda: self._bundles.read(bundle, name),
            lambda parts, address, size: self._bundles.read_into(bundle, name, parts, address, size),
        )


def _resolved(ref: DataProtoRefLike) -> MooncakeDataProtoRef:
    """A reference, or that of a handle."""
    if isinstance(ref, MooncakeDataProtoRef):
        return ref
    if is_dataproto_ref_handle(ref):
        return import_dataproto_ref(ref)
    raise TypeError(f"a {type(ref).__name__} is no reference to a batch, and no handle of one")


def _is_dict(kind: str) -> bool:
    if kind not in ("dataproto", "dict"):
        raise ValueError(f"type is {kind!r}, but must be 'dataproto' or 'dict'")
    return kind == "dict"


def _policy(policy: BundleTransferPolicy | None, max_inflight_put: int | None) -> BundleTransferPolicy:
    if policy is None:
        return BundleTransferPolicy(1 if max_inflight_put is None else max_inflight_put)
    if max_inflight_put is not None and max_inflight_put != policy.max_inflight_put:
        raise ValueError("max_inflight_put and a policy with another one were given")
    return policy
