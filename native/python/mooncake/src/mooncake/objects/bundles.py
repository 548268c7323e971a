# SPDX-License-Identifier: Apache-2.0
"""Bundles: named bytes of any length, each stored as chunks, and a manifest that is stored last."""

from __future__ import annotations

import ctypes
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

DEFAULT_BUNDLE_CHUNK_BYTES = 64 << 20
_BATCH_BYTES = 256 << 20  # of the chunks that one call puts
_INFLIGHT_MAX = 64
_MANIFEST_BYTES_MAX = 64 << 20
_CHUNKS_MAX = 1 << 20  # of a bundle
_VERSION = 1
_META = "meta"
MISSING_OBJECT_ERROR = -704
_NAME = re.compile(r"[0-9a-f]{32}")  # the last part of a bundle's base

Run = tuple[int, int, int]  # offset in what is stored, offset in the target, bytes


class BundleStore(Protocol):
    """What is needed of a store. With put_batch, get_batch and get_into_ranges it takes fewer calls, and less is read."""

    def put(self, key: str, value: Any, config: Any = None) -> int: ...

    def get(self, key: str) -> bytes: ...

    def remove(self, key: str, force: bool = False) -> int: ...

    def is_exist(self, key: str) -> int: ...


@dataclass(frozen=True)
class BundleTransferPolicy:
    """How chunks are put.

    Attributes:
        max_inflight_put: how many at a time, of those that are not put in batches; 1 to 64.
        put_mode: "batch" by put_batch(), "parallel" one by one in threads; "auto" is "batch" where the store has it.
        copy_mode: accepted; the store copies what it must.
    """

    max_inflight_put: int = 1
    put_mode: Literal["auto", "batch", "parallel"] = "auto"
    copy_mode: Literal["auto", "zero_copy", "copy"] = "auto"

    def __post_init__(self) -> None:
        if not 1 <= self.max_inflight_put <= _INFLIGHT_MAX:
            raise ValueError(f"max_inflight_put is {self.max_inflight_put}, but must be 1 to {_INFLIGHT_MAX}")
        if self.put_mode not in ("auto", "batch", "parallel") or self.copy_mode not in ("auto", "zero_copy", "copy"):
            raise ValueError(f"put_mode is {self.put_mode!r} and copy_mode {self.copy_mode!r}")


@dataclass
class RemoteBundleRef:
    """Where a bundle is: the key of its manifest, and what that says; an empty one is read when it is needed."""

    manifest_key: str
    manifest: dict[str, Any]


@dataclass(frozen=True)
class Bundle:
    """What the manifest of a bundle says. The keys of its chunks follow from it, so it cannot name those of others.

    A bundle may go on from earlier ones of its partition: their buffers are its own too, and are removed with it.
    """

    base: str
    chunk_bytes: int
    meta_bytes: int
    lengths: Mapping[str, int]  # of the buffers, without those of earlier bundles
    earlier: tuple[Bundle, ...] = ()  # none of which has earlier ones itself

    def __post_init__(self) -> None:
        chunks = sum(
            -(-length // one.chunk_bytes)
            for one in (self, *self.earlier)
            for length in (one.meta_bytes, *one.lengths.values())
        )
        if chunks > _CHUNKS_MAX:
            raise ValueError(f"a bundle of {chunks} chunks, but {_CHUNKS_MAX} is the most")
        for name in self.lengths:
            check_segment(name, "name of a buffer")
        if len(self.buffers) != sum(len(one.lengths) for one in (self, *self.earlier)):
            raise ValueError(f"{self.base!r} has buffers that an earlier bundle has")

    @property
    def manifest_key(self) -> str:
        return f"{self.base}/manifest"

    @property
    def buffers(self) -> dict[str, int]:
        """The lengths of all buffers."""
        return {name: length for one in (*self.earlier, self) for name, length in one.lengths.items()}

    def manifest(self) -> dict[str, Any]:
        buffers = {name: {"bytes": length} for name, length in self.lengths.items()}
        said = {
            "version": _VERSION,
            "chunk_bytes": self.chunk_bytes,
            "meta": {"bytes": self.meta_bytes},
            "buffers": buffers,
        }
        if self.earlier:
            said["earlier"] = {one.base.rpartition("/")[2]: one.manifest() for one in self.earlier}
        return said

    @classmethod
    def read(cls, manifest_key: str, manifest: Mapping[str, Any]) -> Bundle:
        """ValueError for what is no manifest."""
        try:
            lengths = {name: one["bytes"] for name, one in manifest["buffers"].items()}
            meta, chunk, version = manifest["meta"]["bytes"], manifest["chunk_bytes"], manifest["version"]
            earlier = dict(manifest.get("earlier", {}))
        except (AttributeError, KeyError, TypeError, ValueError):
            lengths, meta, chunk, version, earlier = {}, -1, 0, 0, {}
        base = manifest_key.removesuffix("/manifest")
        numbers = [chunk - 1 if type(chunk) is int else chunk, meta, *lengths.values()]
        if version != _VERSION or base == manifest_key or not all(type(one) is int and one >= 0 for one in numbers):
            raise ValueError(f"{manifest_key!r} has no manifest of a bundle")
        if any(
            not _NAME.fullmatch(str(name)) or not isinstance(one, Mapping) or "earlier" in one
            for name, one in earlier.items()
        ):
            raise ValueError(f"{manifest_key!r} has earlier bundles that are none")
        folder = base.rpartition("/")[0]
        return cls(
            base,
            chunk,
            meta,
            lengths,
            tuple(cls.read(f"{folder}/{name}/manifest", one) for name, one in earlier.items()),
        )

    def chunk_keys(self) -> Iterator[str]:
        """Of all chunks, without those of earlier bundles."""
        for length, name in [(self.meta_bytes, None), *((length, name) for name, length in self.lengths.items())]:
            yield from (key for key, _ in self.chunks(name, length))

    def home(self, name: str) -> Bundle:
        """The bundle that has the chunks of a buffer: this one, or an earlier one."""
        return next(one for one in (self, *self.earlier) if name in one.lengths)

    def chunks(self, name: str | None, length: int) -> Iterator[tuple[str, slice]]:
        """The chunks of a buffer of this bundle, or of the metadata, and which bytes each has. Nothing is stored for no bytes."""
        place = f"{self.base}/{_META}" if name is None else f"{self.base}/buffers/{name}"
        for number, begin in enumerate(range(0, length, self.chunk_bytes)):
            yield f"{place}/{number}", slice(begin, min(begin + self.chunk_bytes, length))

    def cut(self, name: str, parts: Iterable[Run]) -> Iterator[tuple[str, Run]]:
        """Parts of a buffer of this bundle as parts of its chunks."""
        for at, to, size in parts:
            while size > 0:
                number, inside = divmod(at, self.chunk_bytes)
                length = min(size, self.chunk_bytes - inside)
                yield f"{self.base}/buffers/{name}/{number}", (inside, to, length)
                at, to, size = at + length, to + length, size - length


class Bundles:
    """Puts, reads and removes bundles. RuntimeError when the store fails; a put that does leaves nothing behind."""

    def __init__(self, store: BundleStore, key_prefix: str, chunk_bytes: int) -> None:
        self._store: Any = store
        self._prefix = key_prefix.strip("/")
        if not self._prefix or any(ord(character) < 32 for character in self._prefix):
            raise ValueError(f"key_prefix is {key_prefix!r}")
        self._chunk_bytes = _checked_chunk_bytes(chunk_bytes)

    def put(
        self,
        meta: memoryview,
        buffers: Mapping[str, memoryview],
        partition: str,
        chunk_bytes: int | None,
        policy: BundleTransferPolicy,
        config: Any,
        before: Bundle | None = None,
    ) -> RemoteBundleRef:
        """Stores a bundle, which goes on from the one before it, if there is one: that is still there as it was."""
        check_segment(partition, "partition")
        bundle = Bundle(
            f"{self._prefix}/{partition}/{uuid.uuid4().hex}",
            self._chunk_bytes if chunk_bytes is None else _checked_chunk_bytes(chunk_bytes),
            len(meta),
            {name: len(view) for name, view in buffers.items()},
            () if before is None else (*before.earlier, replace(before, earlier=())),
        )
        chunks = [(key, meta[part]) for key, part in bundle.chunks(None, len(meta))]
        for name, view in buffers.items():
            chunks += [(key, view[part]) for key, part in bundle.chunks(name, len(view))]
        try:
            self._put_chunks(chunks, policy, config)
            # The manifest last: a reader that has it finds all chunks.
            self._put_one(bundle.manifest_key, json.dumps(bundle.manifest()).encode(), config)
        except BaseException:
            self._store.remove(bundle.manifest_key, True)
            self._remove_chunks(bundle, force=True)
            raise
        return RemoteBundleRef(bundle.manifest_key, bundle.manifest())

    def find(self, ref: RemoteBundleRef | Mapping[str, Any]) -> Bundle:
        """KeyError when there is none, ValueError for what is none."""
        if isinstance(ref, RemoteBundleRef):
            key, manifest = ref.manifest_key, ref.manifest
        elif isinstance(ref, Mapping):
            key, manifest = ref.get("manifest_key"), ref.get("manifest")  # type: ignore[assignment]
        else:
            raise TypeError(f"a {type(ref).__name__} is no reference to a bundle")
        if not isinstance(key, str) or not key.startswith(f"{self._prefix}/"):
            raise ValueError(f"manifest_key is {key!r}, but must be under {self._prefix!r}")
        if manifest:
            return Bundle.read(key, manifest)
        value = self._store.get(key)
        if not value:
            raise KeyError(f"there is no bundle {key!r}")
        if len(value) > _MANIFEST_BYTES_MAX:
            raise ValueError(f"a manifest of {len(value)} bytes")
        try:
            return Bundle.read(key, json.loads(bytes(value)))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as problem:
            raise ValueError(f"{key!r} has no manifest of a bundle: {problem}") from problem

    def read(self, bundle: Bundle, name: str | None) -> bytes:
        """A buffer; without a name, the metadata."""
        home = bundle if name is None else bundle.home(name)
        length = home.meta_bytes if name is None else home.lengths[name]
        chunks = list(home.chunks(name, length))
        keys = [key for key, _ in chunks]
        values = self._store.get_batch(keys) if hasattr(self._store, "get_batch") else map(self._store.get, keys)
        joined = b"".join(self._checked(key, value, part) for (key, part), value in zip(chunks, values, strict=True))
        assert len(joined) == length
        return joined

    def read_into(self, bundle: Bundle, name: str, parts: Iterable[Run], address: int, registered: int) -> None:
        """Parts of a buffer to memory, of which `registered` bytes from `address` on belong to the caller."""
        bundle = bundle.home(name)
        by_key: dict[str, list[Run]] = {}
        for key, part in bundle.cut(name, parts):
            by_key.setdefault(key, []).append(part)
        if not by_key:
            return
        if not hasattr(self._store, "get_into_ranges"):
            return self._copy_into(bundle, name, by_key, address)
        # Refused where it is registered already, and then it need not be.
        registers = self._store.register_buffer(address, registered) == 0
        try:
            columns = [[[part[at] for part in of_key] for of_key in by_key.values()] for at in range(3)]
            sources, targets, sizes = columns
            answers = self._store.get_into_ranges([address], [list(by_key)], [targets], [sources], [sizes])
        finally:
            if registers:
                self._store.unregister_buffer(address)
        for key, wanted, got in zip(by_key, sizes, answers[0] if answers else [[-600]] * len(sizes), strict=True):
            if got != wanted:
                raise RuntimeError(f"a part of {key!r} was not read: {min(got)}")

    def remove(self, bundle: Bundle, *, keeps_earlier: bool = False) -> None:
        """What is gone already is no failure. RuntimeError when any of it cannot be removed yet: it may be repeated. The
        manifests go first, and while any stays all chunks stay."""
        leave = (bundle,) if keeps_earlier else (bundle, *bundle.earlier)
        codes = [self._store.remove(one.manifest_key) for one in leave]
        failed = [code for code in codes if code not in (0, MISSING_OBJECT_ERROR)]
        if not failed:
            failed = [code for one in leave for code in self._remove_chunks(one, force=False)]
        if failed:
            raise RuntimeError(
                f"{len(failed)} values of the bundle {bundle.manifest_key!r} cannot be removed: {failed[0]}"
            )

    def _remove_chunks(self, bundle: Bundle, force: bool) -> list[int]:
        """The codes of those that stay."""
        keys = list(bundle.chunk_keys())
        if hasattr(self._store, "batch_remove"):
            codes = self._store.batch_remove(keys, force)
        else:
            codes = [self._store.remove(key, force) for key in keys]
        return [code for code in codes if code not in (0, MISSING_OBJECT_ERROR)]

    def _put_chunks(self, chunks: Sequence[tuple[str, memoryview]], policy: BundleTransferPolicy, config: Any) -> None:
        if policy.put_mode != "parallel" and hasattr(self._store, "put_batch"):
            for batch in _batches(chunks):
                keys, views = zip(*batch, strict=True)
                code = self._store.put_batch(list(keys), list(views), *_config_for(config, len(keys)))
                if code != 0:
                    raise RuntimeError(f"{len(keys)} chunks were not stored, the first of them {keys[0]!r}: {code}")
            return
        if policy.max_inflight_put == 1:
            for key, view in chunks:
                self._put_one(key, view, config)
            return
        with ThreadPoolExecutor(policy.max_inflight_put) as threads:
            for done in [threads.submit(self._put_one, key, view, config) for key, view in chunks]:
                done.result()

    def _put_one(self, key: str, value: Any, config: Any) -> None:
        code = self._store.put(key, value, *_config_for(config, 1))
        if code != 0:
            raise RuntimeError(f"{key!r} was not stored: {code}")

    def _copy_into(self, bundle: Bundle, name: str, by_key: Mapping[str, list[Run]], address: int) -> None:
        """For stores that read whole values only."""
        slices = dict(bundle.chunks(name, bundle.lengths[name]))
        for key, parts in by_key.items():
            value = self._checked(key, self._store.get(key), slices[key])
            for at, to, size in parts:
                if at + size > len(value):
                    raise RuntimeError(f"a part of {key!r} was not read: it ends at {at + size} of {len(value)} bytes")
                ctypes.memmove(address + to, value[at : at + size], size)

    @staticmethod
    def _checked(key: str, value: bytes, part: slice) -> bytes:
        if len(value) != part.stop - part.start:
            raise RuntimeError(f"{key!r} has {len(value)} bytes, not {part.stop - part.start}")
        return value


def check_segment(name: Any, what: str) -> None:
    """ValueError for what cannot be a part of a key."""
    if not isinstance(name, str) or not name or "/" in name or any(ord(character) < 32 for character in name):
        raise ValueError(f"{name!r} cannot be a {what}")


def _checked_chunk_bytes(chunk_bytes: int) -> int:
    if chunk_bytes <= 0:
        raise ValueError(f"chunk_bytes is {chunk_bytes}, but must be positive")
    return chunk_bytes


def _batches(chunks: Iterable[tuple[str, memoryview]]) -> Iterator[list[tuple[str, memoryview]]]:
    batch: list[tuple[str, memoryview]] = []
    size = 0
    for key, view in chunks:
        if batch and size + len(view) > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append((key, view))
        size += len(view)
    if batch:
        yield batch


def _config_for(config: Any, count: int) -> tuple[Any, ...]:
    """What a put is told: the config, if there is one, with the group of the bundle for each key."""
    if config is None:
        return ()
    groups = getattr(config, "group_ids", None)
    return (replace(config, group_ids=[groups[0]] * count) if groups else config,)
