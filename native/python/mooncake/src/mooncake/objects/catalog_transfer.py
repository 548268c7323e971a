# SPDX-License-Identifier: Apache-2.0
"""Batches in a store and their catalog, which may be in another process: each of both calls may fail, and is repeated."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mooncake.objects.catalog import checked_names, checked_tags, checked_text
from mooncake.objects.dataproto_refs import export_dataproto_ref, import_dataproto_ref
from mooncake.objects.sections import split

_logger = logging.getLogger("mooncake.dataproto_catalog")

_ATTEMPTS = 2
_RESULTS = "_mooncake_catalog_results"


@dataclass(frozen=True)
class _Publication:
    """A call of the catalog that changes nothing when it is repeated."""

    method: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    operation_id: str = field(default_factory=lambda: uuid.uuid4().hex)


class DataProtoCatalogTransfer:
    """Puts batches and publishes them; removes those that the catalog retires. What a failed call leaves to do is done before the
    next put() or append(), by drain() and by close().

    Args:
        transfer: a MooncakeBundleTransfer.
        catalog_call: calls a method of a DataProtoCatalog: its name, then its arguments. It may raise anything, also after the
            call was carried out; ValueError and TypeError say that it was refused.
    """

    def __init__(self, transfer: Any, catalog_call: Callable[..., Any]) -> None:
        self.transfer = transfer
        self._catalog_call = catalog_call
        self._lock = threading.Lock()
        self._publications: list[_Publication] = []
        self._unacknowledged: list[str] = []
        self._results: list[Any] = []

    def put(
        self,
        data: Any,
        *,
        partition: str,
        keys: Sequence[str],
        tags: Sequence[Mapping[str, Any]] | None = None,
        **put_kwargs: Any,
    ) -> dict[str, Any]:
        """Stores a batch of a row for each key and publishes it, or only tags when data is None; what publish() answers.

        Args:
            put_kwargs: of put() of the transfer.
        """
        self._finish_publications()
        partition, keys = checked_text(partition, "partition"), checked_names(keys, "keys")
        new_tags = checked_tags(tags, len(keys))
        if data is None and new_tags is None:
            raise ValueError("neither data nor tags were given")
        handle = None
        if data is not None:
            _check_rows(data, keys)
            handle = export_dataproto_ref(self.transfer.put(data, type="dataproto", partition=partition, **put_kwargs))
        return self._publish(_Publication("publish", (partition, keys), {"tags": new_tags, "handle": handle}))

    def append(
        self,
        fragment_id: str,
        handle: Mapping[str, Any],
        data: Any,
        *,
        partition: str,
        keys: Sequence[str],
        stage: str,
        **append_kwargs: Any,
    ) -> dict[str, Any]:
        """Adds fields to a batch that was published, and publishes them.

        Args:
            fragment_id: the key of the manifest that it had then.
            handle: of the batch now, as resolve() has it.
            append_kwargs: of append_dataproto_fields() of the transfer, without overwrite.

        Raises:
            ValueError: it is not the batch that the catalog knows any more; what was stored is removed.
        """
        self._finish_publications()
        fragment_id, partition = checked_text(fragment_id, "fragment_id"), checked_text(partition, "partition")
        keys = checked_names(keys, "keys")
        if append_kwargs.get("overwrite"):
            raise ValueError("fields of a batch that was published are not replaced: overwrite is not served")
        _check_rows(data, keys)
        before = import_dataproto_ref(handle)
        previous = export_dataproto_ref(before)
        if before.partition != partition:
            raise ValueError(f"the batch is in partition {before.partition!r}, not in {partition!r}")
        plan = self._catalog_call("resolve", partition, keys, list(before.field_index))
        if plan["handles"].get(fragment_id) != previous:
            raise ValueError(f"the batch {fragment_id!r} is not the one before any more")
        after = export_dataproto_ref(
            self.transfer.append_dataproto_fields(previous, data, stage=stage, **append_kwargs)
        )
        named = {"previous_handle": previous, "handle": after}
        answer = self._publish(_Publication("publish_append", (fragment_id, partition, keys), named))
        if (why := answer.get("append_rejected")) is not None:
            raise ValueError(why)
        return answer

    def resolve(self, partition: str, keys: Sequence[str], fields: Sequence[str] | None = None) -> dict[str, Any]:
        """resolve() of the catalog; the batches stay until release_read() of its "read_token"."""
        return self._catalog_call("resolve", partition, keys, fields, pin=True)

    def release_read(self, token: int) -> None:
        """A read is over."""
        self._remove_retired(self._catalog_call("release_read", token))

    def attach_results(self, output: Any, results: Sequence[Any]) -> None:
        """Keeps results of the transfer with what was made of them, for release_result()."""
        setattr(output, _RESULTS, list(results))

    def release_result(self, output: Any) -> None:
        """Releases the results that were attached."""
        results = getattr(output, _RESULTS, None) or []
        setattr(output, _RESULTS, [])
        self.discard_results(results)

    def discard_results(self, results: Sequence[Any], *, strict: bool = False) -> None:
        """Releases results, and those that could not be before. With `strict` RuntimeError when any cannot be."""
        with self._lock:
            waiting, self._results = [*self._results, *results], []
        left = [one for one in waiting if not self._tried("release a result", self.transfer.release_result, one)]
        left = [one for one in left if not self._tried("release a result", self.transfer.release_result, one)]
        with self._lock:
            self._results += left
        if strict and left:
            raise RuntimeError(f"{len(left)} results cannot be released; the log says why")

    def list(self, partition: str | None = None) -> dict[str, dict[str, Any]]:
        """list() of the catalog."""
        return self._catalog_call("list", partition)

    def remove(self, partition: str, keys: Sequence[str]) -> None:
        """Forgets keys, and removes the batches that no key is in any more."""
        self._remove_retired(self._catalog_call("remove", partition, keys))

    def drain(self) -> None:
        """Forgets all keys and removes all batches. RuntimeError, or what the catalog raises, when that cannot be done."""
        for attempt in range(_ATTEMPTS):
            try:
                self._finish_publications()
                left = self._remove_retired(self._catalog_call("drain"))
                if left:
                    raise RuntimeError(f"{left} batches cannot be removed; the log says why")
                return
            except Exception:
                if attempt + 1 == _ATTEMPTS:
                    raise
                _logger.exception("drain is repeated")

    def close(self) -> None:
        """Does what is left to do. RuntimeError when that cannot be done."""
        self.discard_results((), strict=True)
        self._finish_publications()
        if self._unacknowledged:
            raise RuntimeError(f"{len(self._unacknowledged)} publications cannot be acknowledged; the log says why")

    def _publish(self, publication: _Publication) -> dict[str, Any]:
        """Once more when it fails; one that fails again is left to do, as it may be known to the catalog. What is stored for one
        that is refused is removed."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._published(publication)
            except (TypeError, ValueError):
                if attempt + 1 == _ATTEMPTS:
                    self._tried("remove what was refused", self._take_back, publication)
                    raise
            except Exception:
                if attempt + 1 == _ATTEMPTS:
                    with self._lock:
                        self._publications.append(publication)
                    raise
                _logger.exception("%s is repeated", publication.method)
        raise AssertionError("unreachable")

    def _take_back(self, publication: _Publication) -> None:
        named = publication.named
        if publication.method == "publish_append":
            self.transfer.cleanup_dataproto_append(named["previous_handle"], named["handle"])
        elif named["handle"] is not None:
            self.transfer.cleanup_dataproto(named["handle"])

    def _published(self, publication: _Publication) -> dict[str, Any]:
        name, named = publication.operation_id, publication.named
        answer = self._catalog_call(publication.method, name, *publication.arguments, **named)
        if answer.get("append_rejected") is not None:
            self._take_back(publication)
        self._remove_retired(answer)
        self._acknowledge([name])
        return answer

    def _finish_publications(self) -> None:
        with self._lock:
            unacknowledged, self._unacknowledged = self._unacknowledged, []
            publications, self._publications = self._publications, []
        self._acknowledge(unacknowledged)
        left = [one for one in publications if not self._tried("publish a batch", self._published, one)]
        with self._lock:
            self._publications += left
        if left:
            raise RuntimeError(f"{len(left)} batches cannot be published; the log says why")

    def _acknowledge(self, operations: Iterable[str]) -> None:
        for one in operations:
            if not self._tried(
                "acknowledge a publication", lambda one: self._catalog_call("ack_publication", one), one
            ):
                with self._lock:
                    self._unacknowledged.append(one)

    def _remove_retired(self, answer: Mapping[str, Any]) -> int:
        """How many are left. They are in the next answer again."""
        retired = list(answer.get("retired_handles", ()))
        removed = [one for one in retired if self._tried("remove a batch", self.transfer.cleanup_dataproto, one)]
        left = len(retired) - len(removed)
        if removed and not self._tried(
            "tell what was removed", lambda one: self._catalog_call("ack_retired", one), removed
        ):
            left = len(retired)
        return left

    @staticmethod
    def _tried(what: str, call: Callable[[Any], Any], argument: Any) -> bool:
        try:
            call(argument)
        except Exception:
            _logger.exception("cannot %s; it is tried again later", what)
            return False
        return True


def _check_rows(data: Any, keys: Sequence[str]) -> None:
    if (rows := split(data).rows()) != len(keys):
        raise ValueError(f"a batch of {rows} rows for {len(keys)} keys")
