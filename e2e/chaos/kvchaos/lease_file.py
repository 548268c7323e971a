# SPDX-License-Identifier: Apache-2.0
"""The leadership Lease of a local pool, changed behind the masters' back: by the same lock and versions as they use."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

THIEF = "thief_00000000deadbeef"


class LeaseFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = path.with_name(path.name + ".lock")

    def read(self) -> dict | None:
        try:
            return json.loads(self._path.read_text())
        except FileNotFoundError:
            return None

    def delete(self) -> bool:
        with self._locked():
            present = self._path.exists()
            self._path.unlink(missing_ok=True)
            return present

    def steal(self, seconds: int, epochs_ahead: int) -> bool:
        """A holder that is no master takes the Lease and never renews it."""
        with self._locked():
            lease = self.read()
            if lease is None:
                return False
            now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
            spec = lease["spec"]
            spec |= {"holderIdentity": THIEF, "leaseDurationSeconds": seconds, "acquireTime": now, "renewTime": now}
            spec["leaseTransitions"] += epochs_ahead
            lease["resourceVersion"] = str(int(lease["resourceVersion"]) + 1)
            fresh = self._path.with_name(self._path.name + ".new")
            fresh.write_text(json.dumps(lease))
            fresh.rename(self._path)
            return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Java's FileChannel.lock() is a POSIX record lock, which lockf() takes as well and flock() would not meet.
        lock = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)
