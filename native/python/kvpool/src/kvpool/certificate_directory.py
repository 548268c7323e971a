# SPDX-License-Identifier: Apache-2.0
"""A directory of this process's own for its certificate, in memory where the machine has such a place."""

from __future__ import annotations

import fcntl
import os
import shutil
import ssl
import tempfile
import time
from pathlib import Path

from kvpool.enrol_call import Granted
from kvpool.status import Status, error_of

_PREFIX = "kvpool-identity-"
_PREFIX_BEFORE_LOCK = "kvpool-new-identity-"
_SECONDS_BEFORE_LOCK_MAX = 600.0
_MEMORY = "/dev/shm"
_LOCK = "lock"


class CertificateDirectory:
    """tls.crt, tls.key and ca.crt, which only this user may read, until remove().

    A process that is killed leaves its directory behind. Its lock is free then, by which the next process of the user
    finds it and removes it. It gets its name only once it is locked, or processes that start together would remove each
    other's.

    Raises KvpoolError (IO) when there is no place for it.
    """

    def __init__(self) -> None:
        base = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else tempfile.gettempdir()
        _remove_those_left_behind(Path(base))
        try:
            self.path, self._lock = _locked_directory(base)
        except OSError as error:
            raise error_of(
                Status.IO,
                f"cannot write the certificate of this process below {base}: {error.strerror}; make {_MEMORY} or TMPDIR a place"
                " that it may write to, such as an emptyDir of medium Memory",
            ) from None

    def write(self, granted: Granted) -> None:
        """Replaces the three files, once they fit together. Raises KvpoolError (PROTOCOL, IO)."""
        new = self.path / "new"
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700)
            files = {"tls.key": granted.key, "tls.crt": granted.certificate, "ca.crt": granted.roots}
            for name, text in files.items():
                with open(os.open(new / name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600), "w") as file:
                    file.write(text)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_cert_chain(new / "tls.crt", new / "tls.key")
            context.load_verify_locations(new / "ca.crt")
            for name in files:
                (new / name).replace(self.path / name)
        except ssl.SSLError as error:  # an OSError too
            raise error_of(
                Status.PROTOCOL,
                f"the master's answer has a certificate that cannot be used ({error.reason or error}); are masters of this"
                " version?",
            ) from None
        except OSError as error:
            raise error_of(
                Status.IO,
                f"cannot write the certificate of this process to {self.path}: {error.strerror}; is there room?",
            ) from None

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _locked_directory(base: str) -> tuple[Path, int]:
    """A new directory with the descriptor of its lock."""
    new = Path(tempfile.mkdtemp(prefix=_PREFIX_BEFORE_LOCK, dir=base))
    lock = -1
    try:
        lock = os.open(new / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return new.rename(Path(base) / new.name.replace(_PREFIX_BEFORE_LOCK, _PREFIX)), lock
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        if lock >= 0:
            os.close(lock)
        raise


def _remove_those_left_behind(base: Path) -> None:
    for path in base.glob(f"{_PREFIX}*"):
        if _is_mine(path):
            _remove_if_unlocked(path)
    for path in base.glob(f"{_PREFIX_BEFORE_LOCK}*"):  # of processes that were killed within a moment
        if _is_mine(path) and _seconds_since_change(path) > _SECONDS_BEFORE_LOCK_MAX:
            shutil.rmtree(path, ignore_errors=True)


def _remove_if_unlocked(path: Path) -> None:
    try:
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:  # another process is removing it
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # its process lives
        pass
    finally:
        os.close(lock)


def _is_mine(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except OSError:  # another process has removed it
        return False


def _seconds_since_change(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
