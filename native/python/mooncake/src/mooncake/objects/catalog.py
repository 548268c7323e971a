# SPDX-License-Identifier: Apache-2.0
"""Which row of which stored batch a field of a key is in; and which batches no key is in any more."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mooncake.objects.dataproto_refs import MooncakeDataProtoRef, export_dataproto_ref, import_dataproto_ref

# Of publications that are not acknowledged.
PUBLICATIONS_MAX = 1 << 16

Location = tuple[str, int]  # fragment and row


@dataclass
class _Fragment:
    """A stored batch, by the key of its first manifest."""

    handle: dict[str, Any]
    managed: bool
    references: int = 0  # fields of keys that are in it
    readers: int = 0


@dataclass
class _Entry:
    """A key."""

    tag: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Location] = field(default_factory=dict)


class DataProtoCatalog:
    """Keys of partitions, each with a tag and with fields, which are rows of batches. It knows handles, and reads no store. For
    one thread at a time.

    A batch that was published is managed: once no field is in it and no reader is at it, its handle is among "retired_handles" of
    every answer until ack_retired() says that it was removed. Arguments that cannot be are a ValueError or TypeError, and change
    nothing.
    """

    def __init__(self) -> None:
        self._partitions: dict[str, dict[str, _Entry]] = {}
        self._fragments: dict[str, _Fragment] = {}
        self._retired: dict[str, dict[str, Any]] = {}
        self._published: dict[str, dict[str, Any]] = {}
        self._reads: dict[int, tuple[str, ...]] = {}
        self._last_read = 0
        self._drained = False

    def update(
        self,
        partition: str,
        keys: Sequence[str],
        *,
        tags: Sequence[Mapping[str, Any]] | None = None,
        handle: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Adds tags to keys, or the fields of a batch, whose rows are the keys in their order; keys that are not there are made.
        The batch stays whatever happens.

        Returns:
            "keys", "tags" as they are then, "fields" that any of the keys has, and "retired_handles".
        """
        return self._update(partition, keys, tags, handle, managed=False)

    def publish(
        self,
        operation_id: str,
        partition: str,
        keys: Sequence[str],
        *,
        tags: Sequence[Mapping[str, Any]] | None = None,
        handle: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """update() with a batch that is managed. With an operation_id that is not acknowledged yet it changes nothing and answers
        again what it answered. RuntimeError when 65,536 are not acknowledged."""
        if (answer := self._answered(operation_id)) is not None:
            return answer
        return self._answer(operation_id, self._update(partition, keys, tags, handle, managed=handle is not None))

    def ack_publication(self, operation_id: str) -> None:
        """The answer of a publication has come, and is not kept any more."""
        self._published.pop(checked_text(operation_id, "operation_id"), None)

    def publish_append(
        self,
        operation_id: str,
        fragment_id: str,
        partition: str,
        keys: Sequence[str],
        *,
        previous_handle: Mapping[str, Any],
        handle: Mapping[str, Any],
    ) -> dict[str, Any]:
        """As publish(), for further fields of a managed batch.

        Args:
            fragment_id: the key of the manifest that the batch had when it was published.
            keys: the rows of the batch, in their order.
            previous_handle: the batch before, which must be the one that is known.
            handle: the batch now, with all that it had.

        Returns:
            What update() does; or "append_rejected", which says why nothing was changed.
        """
        if (answer := self._answered(operation_id)) is not None:
            return answer
        fragment_id, partition, keys = (
            checked_text(fragment_id, "fragment_id"),
            checked_text(partition, "partition"),
            checked_names(keys, "keys"),
        )
        before, now = import_dataproto_ref(previous_handle), import_dataproto_ref(handle)
        entries = self._partitions.get(partition, {})
        if (why := self._why_not(fragment_id, partition, keys, before, now)) is not None:
            return self._answer(operation_id, {"append_rejected": why})
        for row, key in enumerate(keys):
            for name in now.field_index.keys() - before.field_index.keys():
                self._set(entries[key], name, (fragment_id, row))
        self._fragments[fragment_id].handle = export_dataproto_ref(now)
        return self._answer(operation_id, self._told(partition, keys))

    def resolve(
        self, partition: str, keys: Sequence[str], fields: Sequence[str] | None = None, *, pin: bool = False
    ) -> dict[str, Any]:
        """Where fields of keys are.

        Args:
            fields: these; all that any of the keys has without.
            pin: whether the batches are kept until release_read() of "read_token".

        Returns:
            "keys", "tags", "fields", "field_groups" (fields that are in the same places, and the places: a fragment and a row for
            each key), "handles" of the fragments, "meta_info" of all of them, and with `pin` "read_token".

        Raises:
            ValueError: a key is not there or lacks a field, or meta_info of the batches differs.
        """
        partition, keys = checked_text(partition, "partition"), checked_names(keys, "keys")
        entries = self._partitions.get(partition, {})
        if missing := [key for key in keys if key not in entries]:
            raise ValueError(f"partition {partition!r} has no keys {missing}")
        selected = list(self._fields_of(partition, keys) if fields is None else checked_names(fields, "fields"))
        if not selected:
            raise ValueError("the keys have no fields")
        for key in keys:
            if lacking := [name for name in selected if name not in entries[key].fields]:
                raise ValueError(f"key {key!r} has no fields {lacking} yet")
        groups: dict[tuple[Location, ...], list[str]] = {}
        for name in selected:
            groups.setdefault(tuple(entries[key].fields[name] for key in keys), []).append(name)
        fragments = tuple(dict.fromkeys(location[0] for places in groups for location in places))
        handles = {one: copy.deepcopy(self._fragments[one].handle) for one in fragments}
        found = {
            "keys": list(keys),
            "tags": [copy.deepcopy(entries[key].tag) for key in keys],
            "fields": selected,
            "field_groups": [{"fields": names, "locations": list(places)} for places, names in groups.items()],
            "handles": handles,
            "meta_info": _joined(handle["meta_info"] for handle in handles.values()),
        }
        if pin:
            self._last_read += 1
            self._reads[self._last_read] = fragments
            for one in fragments:
                self._fragments[one].readers += 1
            found["read_token"] = self._last_read
        return found

    def release_read(self, token: int) -> dict[str, Any]:
        """A read is over; "retired_handles". Nothing happens for one that was over."""
        for fragment in self._reads.pop(token, ()):
            self._fragments[fragment].readers -= 1
            self._look_after(fragment)
        return self._with_retired({})

    def list(self, partition: str | None = None) -> dict[str, dict[str, Any]]:
        """The tags of all keys, by partition and key; of one partition only, if it is named and there."""
        names = self._partitions if partition is None else [checked_text(partition, "partition")]
        return {
            name: {key: copy.deepcopy(entry.tag) for key, entry in self._partitions[name].items()}
            for name in names
            if name in self._partitions
        }

    def remove(self, partition: str, keys: Sequence[str]) -> dict[str, Any]:
        """Forgets keys; "retired_handles". Those that are not there are no failure."""
        partition, keys = checked_text(partition, "partition"), checked_names(keys, "keys")
        entries = self._partitions.get(partition, {})
        for key in keys:
            if (entry := entries.pop(key, None)) is not None:
                for fragment, _ in entry.fields.values():
                    self._let_go(fragment)
        if not entries:
            self._partitions.pop(partition, None)
        return self._with_retired({})

    def drain(self) -> dict[str, Any]:
        """Forgets everything, and takes nothing any more; "retired_handles" of all managed batches. RuntimeError while any is
        read."""
        if self._reads:
            raise RuntimeError(f"{len(self._reads)} reads are not over: release_read() first")
        self._retired.update((name, one.handle) for name, one in self._fragments.items() if one.managed)
        for known in (self._partitions, self._fragments, self._published):
            known.clear()
        self._drained = True
        return self._with_retired({})

    def ack_retired(self, handles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """These were removed from the store; "retired_handles" that are left. ValueError for one that is another than was
        retired."""
        for given in handles:
            ref = import_dataproto_ref(given)
            handle = export_dataproto_ref(ref)
            fragment = next((name for name, one in self._retired.items() if one == handle), None)
            if fragment is not None:
                del self._retired[fragment]
            elif other := [one.manifest_key for one in ref.stage_refs.values() if one.manifest_key in self._retired]:
                raise ValueError(f"{other} were retired with other handles")
        return self._with_retired({})

    def _update(
        self,
        partition: str,
        keys: Sequence[str],
        tags: Sequence[Mapping[str, Any]] | None,
        handle: Mapping[str, Any] | None,
        *,
        managed: bool,
    ) -> dict[str, Any]:
        if self._drained:
            raise RuntimeError("the catalog is drained, and takes nothing any more")
        partition, keys = checked_text(partition, "partition"), checked_names(keys, "keys")
        new_tags = checked_tags(tags, len(keys))
        if new_tags is None and handle is None:
            raise ValueError("neither tags nor a handle were given")
        ref = None if handle is None else import_dataproto_ref(handle)
        fragment = None if ref is None else self._admit(ref, len(keys), managed)
        entries = self._partitions.setdefault(partition, {})
        for row, key in enumerate(keys):
            entry = entries.setdefault(key, _Entry())
            entry.tag.update(copy.deepcopy(new_tags[row]) if new_tags is not None else {})
            if ref is not None and fragment is not None:
                for name in ref.field_index:
                    self._set(entry, name, (fragment, row))
        return self._told(partition, keys)

    def _admit(self, ref: MooncakeDataProtoRef, rows: int, managed: bool) -> str:
        """The name of a fragment that is known from now on."""
        if len(ref.stage_refs) != 1 or not ref.field_index:
            raise ValueError(
                f"a batch of {len(ref.stage_refs)} stages and {len(ref.field_index)} fields; one stage is needed"
            )
        if ref.batch_size != rows:
            raise ValueError(f"a batch of {ref.batch_size} rows for {rows} keys")
        [fragment] = (one.manifest_key for one in ref.stage_refs.values())
        handle, known = export_dataproto_ref(ref), self._fragments.get(fragment)
        if fragment in self._retired:
            raise ValueError(f"the batch {fragment!r} is retired, and about to be removed")
        if known is not None and (known.handle != handle or known.managed != managed):
            raise ValueError(f"the batch {fragment!r} is known with another handle, or as one that is kept by others")
        self._fragments.setdefault(fragment, _Fragment(handle, managed))
        return fragment

    def _why_not(
        self,
        fragment: str,
        partition: str,
        keys: Sequence[str],
        before: MooncakeDataProtoRef,
        now: MooncakeDataProtoRef,
    ) -> str | None:
        """Why an append is no append to what is known."""
        known, entries = self._fragments.get(fragment), self._partitions.get(partition, {})
        if self._drained:
            return "the catalog is drained"
        if known is None or not known.managed or known.handle != export_dataproto_ref(before):
            return f"the batch {fragment!r} is not the one before any more"
        same = all(
            getattr(now, name) == getattr(before, name) for name in ("batch_size", "partition", "_storage_group_id")
        )
        if not same or now.batch_size != len(keys) or now.partition != partition:
            return f"the batch has other rows, another partition or another group than {fragment!r}"
        if any(now.field_index.get(name) != at for name, at in before.field_index.items()):
            return f"fields that {fragment!r} had are elsewhere, or gone"
        if missing := [key for key in keys if key not in entries]:
            return f"partition {partition!r} has no keys {missing}"
        for row, key in enumerate(keys):
            if any(at[0] == fragment and at[1] != row for at in entries[key].fields.values()):
                return f"key {key!r} is another row of {fragment!r} than {row}"
        return None

    def _set(self, entry: _Entry, name: str, location: Location) -> None:
        self._fragments[location[0]].references += 1
        old = entry.fields.get(name)
        entry.fields[name] = location
        if old is not None:
            self._let_go(old[0])

    def _let_go(self, fragment: str) -> None:
        self._fragments[fragment].references -= 1
        self._look_after(fragment)

    def _look_after(self, fragment: str) -> None:
        """One that is not needed any more is retired."""
        one = self._fragments[fragment]
        if one.references == 0 and one.readers == 0:
            del self._fragments[fragment]
            if one.managed:
                self._retired[fragment] = one.handle

    def _fields_of(self, partition: str, keys: Sequence[str]) -> Sequence[str]:
        return list(dict.fromkeys(name for key in keys for name in self._partitions[partition][key].fields))

    def _told(self, partition: str, keys: Sequence[str]) -> dict[str, Any]:
        tags = [copy.deepcopy(self._partitions[partition][key].tag) for key in keys]
        return self._with_retired({"keys": list(keys), "tags": tags, "fields": self._fields_of(partition, keys)})

    def _with_retired(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "retired_handles": [copy.deepcopy(handle) for handle in self._retired.values()]}

    def _answered(self, operation_id: str) -> dict[str, Any] | None:
        answer = self._published.get(checked_text(operation_id, "operation_id"))
        if answer is None and len(self._published) >= PUBLICATIONS_MAX:
            raise RuntimeError(f"{PUBLICATIONS_MAX} publications are not acknowledged: ack_publication() first")
        return copy.deepcopy(answer)

    def _answer(self, operation_id: str, answer: dict[str, Any]) -> dict[str, Any]:
        self._published[operation_id] = copy.deepcopy(answer)
        return answer


def checked_tags(tags: Sequence[Mapping[str, Any]] | None, count: int) -> list[dict[str, Any]] | None:
    """As many as there are keys. ValueError or TypeError when they are none."""
    if tags is None:
        return None
    if len(tags) != count:
        raise ValueError(f"{len(tags)} tags for {count} keys")
    if not all(isinstance(tag, Mapping) for tag in tags):
        raise TypeError("tags are dicts")
    return [copy.deepcopy(dict(tag)) for tag in tags]


def checked_names(values: Iterable[str], what: str) -> tuple[str, ...]:
    """Different names, of which there is at least one."""
    names = () if isinstance(values, str) else tuple(values)
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{what} must be different texts, none of them empty, and at least one")
    return names


def checked_text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} is {value!r}, but must be a text that is not empty")
    return value


def _joined(infos: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for info in infos:
        for name, value in info.items():
            if name in found and found[name] != value:
                raise ValueError(f"meta_info {name!r} of the batches differs: {found[name]!r} and {value!r}")
            found[name] = value
    return found
