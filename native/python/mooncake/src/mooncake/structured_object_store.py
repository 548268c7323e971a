# SPDX-License-Identifier: Apache-2.0
"""mooncake.structured_object_store: objects of many members, each of which is read alone, in parts, and into the caller's memory.

Values are not those of the reference: each reads what it stored itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mooncake.objects import members
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
from mooncake.objects.members import RawDestination, TensorObjectBuffer
from mooncake.objects.read_specs import (
    StructuredMemberSlice,
    StructuredObjectPayload,
    StructuredObjectReadSpec,
    StructuredObjectResult,
)

__all__ = [
    "AUTO_PARALLEL_MIN_BYTES",
    "AUTO_PARALLEL_MIN_CHUNKS",
    "DEFAULT_BUNDLE_CHUNK_BYTES",
    "MISSING_OBJECT_ERROR",
    "STRUCTURED_FIELD_SPECS_KEY",
    "BundleStore",
    "BundleTransferPolicy",
    "MooncakeBundleTransfer",
    "RemoteBundleRef",
    "StructuredMemberSlice",
    "StructuredObjectPayload",
    "StructuredObjectReadSpec",
    "StructuredObjectResult",
    "raw_destination",
    "tensor_object_buffer",
]

# From so much on the reference's `put_mode` "auto" stores in parallel. Here it stores in batches, whatever there is to store.
AUTO_PARALLEL_MIN_BYTES, AUTO_PARALLEL_MIN_CHUNKS = DEFAULT_BUNDLE_CHUNK_BYTES, 8

STRUCTURED_FIELD_SPECS_KEY = "__mooncake_structured_fields__"
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
        metadata = json.loads(self._bundles.read(bundle, None) or b"{}")
        specs = metadata.get(STRUCTURED_FIELD_SPECS_KEY, {}) if isinstance(metadata, dict) else None
        if not isinstance(specs, dict):
            raise ValueError("the metadata of the object are none")
        names = list(bundle.lengths) if spec.member_names is None else list(spec.member_names)
        unknown = [name for name in (*names, *(destinations or {})) if name not in bundle.lengths]
        if unknown:
            raise KeyError(f"there are no members {unknown}")
        objects = {
            name: self._read(bundle, name, specs.get(name), spec.member_slice(name), (destinations or {}).get(name))
            for name in names
        }
        return StructuredObjectResult(metadata, objects)

    @staticmethod
    def release_result(result: Any) -> None:
        """Nothing: results hold no memory that is lent."""

    def _read(self, bundle: Bundle, name: str, spec: Any, part: StructuredMemberSlice | None, destination: Any) -> Any:
        return members.decode(
            name,
            spec if isinstance(spec, dict) else {"encoding": "bytes"},
            bundle.lengths[name],
            part,
            destination,
            lambda: self._bundles.read(bundle, name),
            lambda parts, address, size: self._bundles.read_into(bundle, name, parts, address, size),
        )


def _policy(policy: BundleTransferPolicy | None, max_inflight_put: int | None) -> BundleTransferPolicy:
    if policy is None:
        return BundleTransferPolicy(1 if max_inflight_put is None else max_inflight_put)
    if max_inflight_put is not None and max_inflight_put != policy.max_inflight_put:
        raise ValueError("max_inflight_put and a policy with another one were given")
    return policy
