# SPDX-License-Identifier: Apache-2.0
"""Batches (DataProto) as objects: each stage is one, each field a member of it, and rows of fields are read alone."""

from __future__ import annotations

import ctypes
import itertools
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mooncake.objects import members, object_rows
from mooncake.objects.bundles import Bundle, Bundles, BundleTransferPolicy, RemoteBundleRef
from mooncake.objects.dataproto_refs import FieldSchema, MooncakeDataProtoRef, StructuredFieldLocation
from mooncake.objects.read_specs import StructuredMemberSlice
from mooncake.objects.sections import Sections
from mooncake.replicas.replicate_config import ReplicateConfig

Rows = slice | StructuredMemberSlice | Sequence[int] | None
Spec = Mapping[str, Any]


class Batches:
    """Puts, reads and removes batches. RuntimeError when the store fails, KeyError for what is not there, ValueError and
    TypeError for what cannot be."""

    def __init__(self, bundles: Bundles) -> None:
        self._bundles = bundles

    def put(
        self,
        before: MooncakeDataProtoRef | None,
        data: Sections,
        *,
        namespace: str,
        partition: str,
        stage: str,
        overwrite: bool,
        chunk_bytes: int | None,
        policy: BundleTransferPolicy,
        schemas: Mapping[str, FieldSchema],
        config: Any,
    ) -> MooncakeDataProtoRef:
        """A batch, or one with further fields than the one before, whose reference stays as it is."""
        data.check(schemas)
        rows = data.rows()
        names = [*data.batch, *data.non_tensor_batch]
        made = _empty(rows, namespace, partition, config) if before is None else _copied(before)
        made.meta_info.update(data.meta_info)
        if before is not None and names:
            _check_further(before, rows, stage, names, overwrite)
        if not names:
            return made
        specs, views, encoded = _encoded(data, schemas)
        said = {"version": 1, "namespace": namespace, "partition": partition, "stage": stage, "batch_size": rows}
        old = made.stage_refs.get(stage)
        earlier = None if old is None or overwrite else self._bundles.find(old)
        if earlier is not None:
            specs = {**self._metadata(earlier)[1], **specs}
        metadata = {"layout": "dataproto_stage", "dataproto": said, members.FIELD_SPECS: specs}
        header = memoryview(json.dumps(metadata).encode())
        group = _config_of(config, made._storage_group_id)
        made.stage_refs[stage] = self._bundles.put(header, views, partition, chunk_bytes, policy, group, earlier)
        if old is not None and overwrite:
            self._bundles.remove(self._bundles.find(old))
        for section in ("batch", "non_tensor_batch"):
            for name in getattr(data, section):
                made.field_index[name] = StructuredFieldLocation(stage, f"{section}.{name}", section)
                made.encoded_non_tensor.pop(name, None)
        made.encoded_non_tensor.update(encoded)
        return made

    def get(
        self,
        ref: MooncakeDataProtoRef,
        names: Sequence[str],
        meta_info_keys: Sequence[str] | None,
        destinations: Mapping[str, Any],
        rows: Rows,
    ) -> Sections:
        """These fields, or some rows of them."""
        if unknown := [name for name in destinations if name not in ref.field_index]:
            raise KeyError(f"there are no fields {unknown}")
        selected = selected_rows(rows, ref.batch_size)
        found = Sections({}, {}, {})
        stages: dict[str, tuple[Bundle, Mapping[str, Spec]]] = {}
        for name in names:
            location = ref.field_index[name]
            if location.stage not in stages:
                bundle = self._bundles.find(ref.stage_refs[location.stage])
                stages[location.stage] = bundle, self._metadata(bundle)[1]
            bundle, specs = stages[location.stage]
            destination = destinations.get(name)
            if (encoded := ref.encoded_non_tensor.get(name)) is None:
                value = self._member(bundle, specs, location.member, selected, destination)
            elif destination is not None:
                raise ValueError(f"{name!r} has rows of objects, which are read into memory of their own")
            else:
                value = self._objects(bundle, specs, encoded, ref.batch_size, selected)
            getattr(found, location.section)[name] = value
        keys = ref.meta_info if meta_info_keys is None else meta_info_keys
        found.meta_info = {key: ref.meta_info[key] for key in keys if key in ref.meta_info}
        return found

    def view(self, ref: MooncakeDataProtoRef) -> dict[str, Any]:
        """What is known of a batch without reading its fields."""
        stages = {stage: self._metadata(self._bundles.find(one)) for stage, one in ref.stage_refs.items()}
        fields: dict[str, dict[str, Any]] = {"batch": {}, "non_tensor_batch": {}}
        for name, location in ref.field_index.items():
            specs = stages[location.stage][1]
            spec = dict(specs.get(location.member, {"encoding": "bytes"}))
            if (encoded := ref.encoded_non_tensor.get(name)) is not None:
                payloads = dict(encoded["payload_members"])
                of_payloads = {
                    part: dict(specs.get(member, {"encoding": "bytes"})) for part, member in payloads.items()
                }
                spec = {"encoding": "structured_non_tensor", "codec": encoded["codec"], "metadata": encoded["metadata"]}
                spec |= {"payload_members": payloads, "payload_specs": of_payloads}
            at = {"section": location.section, "stage": location.stage, "member": location.member}
            fields[location.section][name] = {**at, "spec": spec}
        return {
            "namespace": ref.namespace,
            "partition": ref.partition,
            "batch_size": ref.batch_size,
            "batch_fields": fields["batch"],
            "non_tensor_fields": fields["non_tensor_batch"],
            "meta_info_keys": list(ref.meta_info),
            "stages": {
                stage: {"manifest_key": one.manifest_key, "dataproto": stages[stage][0].get("dataproto", {})}
                for stage, one in ref.stage_refs.items()
            },
        }

    def remove(self, ref: MooncakeDataProtoRef) -> None:
        """All stages; those that are gone are no failure."""
        for stage in {one.manifest_key: one for one in ref.stage_refs.values()}.values():
            self._remove(stage, keeps_earlier=False)

    def remove_further(self, before: MooncakeDataProtoRef, after: MooncakeDataProtoRef) -> None:
        """What `after` has and `before` has not."""
        kept = {one.manifest_key for one in before.stage_refs.values()}
        for stage, one in after.stage_refs.items():
            if one.manifest_key not in kept:
                self._remove(one, keeps_earlier=stage in before.stage_refs)

    def _remove(self, ref: RemoteBundleRef, keeps_earlier: bool) -> None:
        try:
            bundle = self._bundles.find(ref)
        except KeyError:
            return
        self._bundles.remove(bundle, keeps_earlier=keeps_earlier)

    def _metadata(self, bundle: Bundle) -> tuple[dict[str, Any], Mapping[str, Spec]]:
        return members.metadata_of(self._bundles.read(bundle, None))

    def _member(
        self, bundle: Bundle, specs: Mapping[str, Spec], member: str, rows: Sequence[int] | None, destination: Any
    ) -> Any:
        spec, length = specs.get(member, {"encoding": "bytes"}), _length(bundle, member)

        def into(parts: Sequence[Any], address: int, size: int) -> None:
            self._bundles.read_into(bundle, member, parts, address, size)

        if rows is not None:
            return members.decode_rows(member, spec, length, rows, destination, into)
        return members.decode(member, spec, length, None, destination, lambda: self._bundles.read(bundle, member), into)

    def _objects(
        self, bundle: Bundle, specs: Mapping[str, Spec], encoded: Any, count: int, rows: Sequence[int] | None
    ) -> Any:
        parts = encoded.get("payload_members") if isinstance(encoded, Mapping) else None
        if not isinstance(parts, Mapping) or encoded.get("codec") != object_rows.CODEC:
            raise ValueError(f"rows of objects that are encoded as {encoded!r}")
        member = str(parts.get("data"))
        offsets = self._member(bundle, specs, str(parts.get("offsets")), None, None).tolist()
        length = _length(bundle, member)
        if len(offsets) != count + 1 or offsets != sorted(offsets) or offsets[0] != 0 or offsets[-1] != length:
            raise ValueError(f"{member!r} has {length} bytes, of which the offsets of {count} rows do not tell")
        if rows is None:
            lengths = [end - begin for begin, end in itertools.pairwise(offsets)]
            return object_rows.decode(self._bundles.read(bundle, member), lengths)
        lengths = [offsets[row + 1] - offsets[row] for row in rows]
        memory, at, wanted = (ctypes.c_char * sum(lengths))(), 0, []
        for row, size in zip(rows, lengths, strict=True):
            wanted.append((offsets[row], at, size))
            at += size
        if wanted:
            self._bundles.read_into(bundle, member, wanted, ctypes.addressof(memory), at)
        return object_rows.decode(memoryview(memory).cast("B"), lengths)


def selected_fields(
    ref: MooncakeDataProtoRef,
    fields: Sequence[str] | None,
    batch_fields: Sequence[str] | None,
    non_tensor_fields: Sequence[str] | None,
) -> list[str]:
    """Their names; all when none are named. KeyError for one that is not there."""
    if fields is not None and (batch_fields is not None or non_tensor_fields is not None):
        raise ValueError("fields and batch_fields or non_tensor_fields were given: give either")
    if fields is None and batch_fields is None and non_tensor_fields is None:
        return list(ref.field_index)
    names = list(fields) if fields is not None else [*(batch_fields or ()), *(non_tensor_fields or ())]
    if unknown := [name for name in names if name not in ref.field_index]:
        raise KeyError(f"there are no fields {unknown}")
    return names


def selected_rows(rows: Rows, count: int) -> Sequence[int] | None:
    """The numbers of the rows that are read; None for all. IndexError for one that is not there."""
    if rows is None:
        return None
    if isinstance(rows, StructuredMemberSlice):
        if rows.axis != 0:
            raise ValueError(f"rows along axis {rows.axis}; they are along axis 0")
        rows = slice(rows.start, rows.end, rows.step)
    if isinstance(rows, slice):
        if rows.step is not None and rows.step <= 0:
            raise ValueError(f"rows with steps of {rows.step}")
        return range(*rows.indices(count))
    if isinstance(rows, str | bytes) or not hasattr(rows, "__iter__"):
        raise TypeError(f"rows are a slice or numbers, not a {type(rows).__name__}")
    found = []
    for row in rows:
        if isinstance(row, bool) or not hasattr(row, "__index__"):
            raise TypeError(f"row {row!r} is no number")
        if not -count <= row < count:
            raise IndexError(f"row {row} of {count}")
        found.append(int(row) % count)
    return found


def _encoded(
    data: Sections, schemas: Mapping[str, FieldSchema]
) -> tuple[dict[str, Spec], dict[str, memoryview], dict[str, Any]]:
    """What each member is, its bytes, and of fields of objects which members they are."""
    import numpy  # type: ignore[import-not-found, unused-ignore]

    found = {f"batch.{name}": members.encode(value) for name, value in data.batch.items()}
    encoded: dict[str, Any] = {}
    for name, value in data.non_tensor_batch.items():
        member = f"non_tensor_batch.{name}"
        rows = object_rows.rows_of(name, value, schemas.get(name))
        if rows is None:
            found[member] = members.encode(value)
            continue
        joined, offsets = object_rows.encode(rows)
        parts = {"data": f"{member}.data", "offsets": f"{member}.offsets"}
        found[parts["data"]] = members.encode(joined)
        found[parts["offsets"]] = members.encode(numpy.array(offsets, "int64"))
        encoded[name] = {"codec": object_rows.CODEC, "rows": len(rows), "metadata": {}, "payload_members": parts}
    return {name: spec for name, (spec, _) in found.items()}, {name: view for name, (_, view) in found.items()}, encoded


def _check_further(before: MooncakeDataProtoRef, rows: int, stage: str, names: Sequence[str], overwrite: bool) -> None:
    if rows != before.batch_size:
        raise ValueError(f"{rows} rows are added to a batch of {before.batch_size}")
    if not overwrite and (there := sorted(name for name in names if name in before.field_index)):
        raise ValueError(f"the fields {there} are there already: overwrite=True replaces the stage they are in")
    left = [name for name, at in before.field_index.items() if at.stage == stage and name not in names]
    if overwrite and left:
        raise ValueError(f"stage {stage!r} is replaced as a whole, so {sorted(left)} must be given too")


def _empty(rows: int, namespace: str, partition: str, config: Any) -> MooncakeDataProtoRef:
    groups = getattr(config, "group_ids", None) or []
    if len(groups) > 1:
        raise ValueError(f"group_ids of the config has {len(groups)} groups, but a batch is in one")
    group = groups[0] if groups else f"structured-{uuid.uuid4().hex}"
    return MooncakeDataProtoRef(rows, {}, {}, {}, namespace, partition, _storage_group_id=group)


def _copied(ref: MooncakeDataProtoRef) -> MooncakeDataProtoRef:
    return replace(
        ref,
        stage_refs=dict(ref.stage_refs),
        field_index=dict(ref.field_index),
        meta_info=dict(ref.meta_info),
        encoded_non_tensor=dict(ref.encoded_non_tensor),
    )


def _config_of(config: Any, group: str | None) -> Any:
    """The config with the group of the batch, whose values are evicted together."""
    groups = getattr(config, "group_ids", None)
    if group is None:
        return config
    if groups and groups[0] != group:
        raise ValueError(f"group_ids of the config says {groups[0]!r}, but the batch is in {group!r}")
    return ReplicateConfig(group_ids=[group]) if config is None else replace(config, group_ids=[group])


def _length(bundle: Bundle, member: str) -> int:
    lengths = bundle.buffers
    if member not in lengths:
        raise ValueError(f"{bundle.manifest_key!r} has no member {member!r}")
    return lengths[member]
