# SPDX-License-Identifier: Apache-2.0
"""The three sections of a batch: tensors, other fields of as many rows, and what is said of all rows. Cut from what applications
have, and made that again."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mooncake.objects.dataproto_refs import FieldSchema
from mooncake.objects.values import is_tensor

_NAMES = ("batch", "non_tensor_batch", "meta_info")
Schemas = Mapping[str, FieldSchema]


@dataclass
class Sections:
    """Fields by section."""

    batch: dict[str, Any]
    non_tensor_batch: dict[str, Any]
    meta_info: dict[str, Any]

    def rows(self) -> int:
        """Of all fields; ValueError when they do not have the same number, or have no rows."""
        counts = {name: _length(name, value) for name, value in (self.batch | self.non_tensor_batch).items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"the fields of a batch must have as many rows each, but have {counts}")
        return next(iter(counts.values()), 0)

    def check(self, schemas: Schemas) -> None:
        """ValueError when a name is in two sections of fields, or elsewhere than its schema says."""
        if both := sorted(self.batch.keys() & self.non_tensor_batch.keys()):
            raise ValueError(f"{both} are in batch and in non_tensor_batch")
        for name, schema in schemas.items():
            section = section_of(name, schema)
            actual = [one for one in _NAMES if name in getattr(self, one)]
            if section is not None and actual and section not in actual:
                raise ValueError(f"{name!r} is in {actual[0]}, but its schema says {section}")

    def flat(self) -> dict[str, Any]:
        """All fields by name; those of objects as lists. ValueError when a name is in two sections."""
        found: dict[str, Any] = {}
        for section in _NAMES[::-1]:
            for name, value in getattr(self, section).items():
                if name in found:
                    raise ValueError(f"{name!r} is in more than one section")
                is_object = section == "non_tensor_batch" and getattr(getattr(value, "dtype", None), "kind", "") == "O"
                found[name] = value.tolist() if is_object else value
        return found

    def made(self, data_cls: Any) -> Any:
        """A dict of the sections, or what `data_cls` makes of them."""
        if data_cls is None or data_cls is dict:
            return {name: getattr(self, name) for name in _NAMES}
        from_dict = getattr(data_cls, "from_dict", None)
        try:
            if callable(from_dict):
                return from_dict(self.batch, self.non_tensor_batch, meta_info=self.meta_info)
            return data_cls(batch=self.batch, non_tensor_batch=self.non_tensor_batch, meta_info=self.meta_info)
        except TypeError as problem:
            name = getattr(data_cls, "__name__", data_cls)
            raise TypeError(f"{name} is not made of batch, non_tensor_batch and meta_info: {problem}") from problem


def split(data: Any) -> Sections:
    """The sections of an object that has them as attributes, or of a dict that has them as values; any other dict is a batch."""
    if not isinstance(data, Mapping):
        if not any(hasattr(data, name) for name in _NAMES):
            raise TypeError(f"a {type(data).__name__} is no batch: it has none of {', '.join(_NAMES)}")
        return Sections(*(_dict_of(getattr(data, name, None), name) for name in _NAMES))
    has_sections = bool(data) and all(name in _NAMES and _is_dict(value) for name, value in data.items())
    if not has_sections:
        return Sections(dict(data), {}, {})
    return Sections(*(_dict_of(data.get(name), name) for name in _NAMES))


def of_flat(data: Any, schemas: Schemas) -> Sections:
    """The sections of a dict without any. What a schema says counts; else arrays and tensors of as many rows as there are belong
    to the batch, and, where no schema names a field of rows, sequences of as many to non_tensor_batch. The rest is meta_info."""
    if not isinstance(data, Mapping):
        raise TypeError(f"a {type(data).__name__} is no dict of fields")
    said = {name: section_of(name, schemas[name]) for name in data if name in schemas}
    counts = {name: _length(name, data[name]) for name, section in said.items() if section in _NAMES[:2]}
    by_schema = len(set(counts.values())) == 1
    if not counts:
        free = {name: value for name, value in data.items() if said.get(name) != "meta_info"}
        counts = {name: int(value.shape[0]) for name, value in free.items() if _is_dense(value)}
        counts = counts or {name: len(value) for name, value in free.items() if _is_sequence(value)}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"how many rows there are is not clear from {counts}: say to which section they belong, by "
            f"field_schemas={{NAME: FieldSchema('auto', metadata={{'section': 'meta_info'}})}}"
        )
    rows = next(iter(counts.values()), 0)
    found = Sections({}, {}, {})
    for name, value in data.items():
        section = said.get(name)
        if section is None:
            if rows and _is_dense(value) and value.shape[0] == rows:
                section = "batch"
            elif not by_schema and _is_sequence(value) and len(value) == rows:
                section = "non_tensor_batch"
            else:
                section = "meta_info"
        getattr(found, section)[name] = value
    return found


def section_of(name: str, schema: FieldSchema) -> str | None:
    """What a schema says; None when it says nothing, ValueError for what is no section."""
    section = schema.metadata.get("section")
    if section is not None and section not in _NAMES:
        raise ValueError(f"the schema of {name!r} has the section {section!r}; there are {', '.join(_NAMES)}")
    return section


def _is_dict(value: Any) -> bool:
    return value is None or isinstance(value, Mapping) or callable(getattr(value, "items", None))


def _dict_of(value: Any, name: str) -> dict[str, Any]:
    """Of a dict, or of what has items() as a TensorDict has."""
    if not _is_dict(value):
        raise TypeError(f"{name} is a {type(value).__name__}, not a dict")
    return {} if value is None else dict(value.items())


def _is_dense(value: Any) -> bool:
    """An array of numbers, or a tensor, that has rows."""
    numpy = sys.modules.get("numpy")
    is_array = numpy is not None and isinstance(value, numpy.ndarray) and value.dtype != object
    return (is_array or is_tensor(value)) and len(value.shape) > 0


def _is_sequence(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def _length(name: str, value: Any) -> int:
    shape = getattr(value, "shape", None)
    try:
        return int(shape[0]) if shape is not None else len(value)
    except (TypeError, IndexError) as problem:
        raise ValueError(f"{name!r} is a {type(value).__name__} without rows: {problem}") from problem
