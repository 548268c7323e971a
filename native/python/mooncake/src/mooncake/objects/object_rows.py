# SPDX-License-Identifier: Apache-2.0
"""Rows that are Python values, each as bytes of its own, so that any is read alone: the bytes of all, and where each begins."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mooncake.objects import values
from mooncake.objects.dataproto_refs import FieldSchema

CODEC = "rows"


def rows_of(name: str, value: Any, schema: FieldSchema | None) -> list[Any] | None:
    """The rows of a field of objects, as its schema wants them; None for an array of numbers, which has no need of that.
    ValueError or TypeError when they are not what the schema says."""
    numpy = sys.modules.get("numpy")
    is_array = numpy is not None and isinstance(value, numpy.ndarray)
    if is_array and value.dtype != object and (schema is None or schema.codec == "auto"):
        return None
    if not is_array and (not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray | memoryview)):
        raise TypeError(f"{name!r} is a {type(value).__name__}; fields of non_tensor_batch are arrays or sequences")
    rows = list(value)
    if schema is None:
        return rows
    check = _CODECS.get(schema.codec)
    if check is None:
        raise ValueError(f"the schema of {name!r} has the codec {schema.codec!r}; there are {', '.join(_CODECS)}")
    found = []
    for number, row in enumerate(rows):
        if row is None and not schema.nullable:
            raise ValueError(f"row {number} of {name!r} is None, and its schema is not nullable")
        try:
            found.append(None if row is None else check(row, schema.metadata))
        except (TypeError, ValueError, AttributeError, OverflowError) as problem:
            raise type(problem)(f"row {number} of {name!r} is not what {schema.codec} takes: {problem}") from problem
    return found


def encode(rows: Iterable[Any]) -> tuple[bytes, list[int]]:
    """The bytes of all, and where each begins; the last offset is the end."""
    data, offsets = bytearray(), [0]
    for row in rows:
        data += values.encode(row)
        offsets.append(len(data))
    return bytes(data), offsets


def decode(data: bytes | memoryview, lengths: Sequence[int]) -> Any:
    """An array of objects, of bytes that follow each other. ValueError for what encode() did not make."""
    import numpy  # type: ignore[import-not-found, unused-ignore]

    array, view, at = numpy.empty(len(lengths), object), memoryview(data), 0
    for number, length in enumerate(lengths):
        array[number] = values.decode(view[at : at + length])
        at += length
    return array


def _any(row: Any, said: Mapping[str, Any]) -> Any:
    return row


def _number(row: Any, said: Mapping[str, Any]) -> Any:
    numbers = _numbers(row, said)
    if numbers.shape != ():
        raise ValueError(f"it has the shape {numbers.shape}")
    return numbers.item()


def _sequence(row: Any, said: Mapping[str, Any]) -> Any:
    numbers = _numbers(row, said)
    return numbers if hasattr(row, "dtype") else numbers.tolist()


def _numbers(row: Any, said: Mapping[str, Any]) -> Any:
    import numpy

    kind = None if said.get("dtype") is None else numpy.dtype(said["dtype"])
    if values.is_tensor(row):
        raise TypeError("it is a tensor")
    numbers = numpy.asarray(row, kind)
    if numbers.dtype.kind not in "biufc" and numbers.size:
        raise TypeError(f"its elements are {numbers.dtype}")
    return numbers


def _tensor(row: Any, said: Mapping[str, Any]) -> Any:
    if not values.is_tensor(row):
        raise TypeError(f"it is a {type(row).__name__}")
    return row


def _tensors(row: Any, said: Mapping[str, Any]) -> Any:
    keys = said.get("keys")
    if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
        raise TypeError("it is no dict with names")
    if keys is not None and (other := set(row) ^ set(keys)):
        raise ValueError(f"{sorted(other)} are not the same as the keys of the schema")
    return {key: None if one is None else _tensor(one, said) for key, one in row.items()}


def _medium(row: Any, said: Mapping[str, Any]) -> Any:
    if not isinstance(row, bytes | bytearray | memoryview) and not values.is_image(row):
        raise TypeError(f"it is a {type(row).__name__}")
    return row


def _media(row: Any, said: Mapping[str, Any]) -> Any:
    if not isinstance(row, list | tuple):
        raise TypeError(f"it is a {type(row).__name__}")
    return [_medium(one, said) for one in row]


def _string(row: Any, said: Mapping[str, Any]) -> Any:
    if not isinstance(row, str):
        raise TypeError(f"it is a {type(row).__name__}")
    return str(row)


def _json(row: Any, said: Mapping[str, Any]) -> Any:
    json.dumps(row)
    return row


_CODECS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "auto": _any,
    "ndarray": _number,
    "typed_ragged": _sequence,
    "ragged_tensor": _tensor,
    "ragged_tensor_dict": _tensors,
    "bytes_ragged": _medium,
    "media_bytes": _medium,
    "media_list_ragged": _media,
    "utf8_ragged": _string,
    "msgpack_ragged": _any,
    "json_ragged": _json,
}
