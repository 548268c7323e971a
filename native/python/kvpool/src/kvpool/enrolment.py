# SPDX-License-Identifier: Apache-2.0
"""The certificate that this process gets for its ServiceAccount's token, once for all of its clients, and keeps new."""

from __future__ import annotations

import logging
import os
import random
import re
import threading
import time
from dataclasses import replace

from kvpool.certificate_directory import CertificateDirectory
from kvpool.enrol_call import Granted, ask
from kvpool.identity_directory import VARIABLE, read_identity
from kvpool.lifetime import call_after_closing
from kvpool.master_connection import NotAnswered
from kvpool.status import KvpoolError, Status, error_of

_LOG = logging.getLogger("kvpool")
_RETRY_SECONDS_MIN = 1.0
_RETRY_SECONDS_MAX = 60.0
_LOOK_SECONDS = 5.0
_SPREAD_SECONDS = 10.0
_SOONER_SECONDS_MAX = 1800.0
_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----")


class Enrolment:
    """A certificate for the token of one identity directory, in a directory of this process's own.

    Renewed by a daemon thread at half of its life, and soon after ca.crt got a root that masters did not give. What fails then
    is logged, once for each cause, and tried again after 1 s to 60 s, or to a tenth of its life. The certificate from before
    stays in use meanwhile.

    Raises NotAnswered when there is none within `timeout` seconds, with what each master said. What waiting does not help
    against is raised at once. Raises KvpoolError for files that cannot be used.
    """

    def __init__(self, identity_dir: str, timeout: float) -> None:
        self._identity_dir = identity_dir
        self._end = threading.Event()
        self._known = KnownRoots()
        granted = self._first(timeout)
        self._directory = CertificateDirectory()
        try:
            self._directory.write(granted)
        except BaseException:
            self._directory.remove()
            raise
        self._thread = threading.Thread(
            target=self._renew, args=(granted,), name="kvpool certificate renewal", daemon=True
        )
        self._thread.start()

    @property
    def path(self) -> str:
        """For tls_dir."""
        return str(self._directory.path)

    def close(self) -> None:
        self._end.set()
        self._directory.remove()

    def _first(self, timeout: float) -> Granted:
        end = time.monotonic() + timeout
        pause = _RETRY_SECONDS_MIN
        while True:
            try:
                return enrol(self._identity_dir, self._known)
            except NotAnswered as failure:
                left = end - time.monotonic()
                if not failure.passes or left <= 0:
                    raise NotAnswered(
                        f"no certificate for the token in {self._identity_dir}: {failure}",
                        failure.status,
                        passes=failure.passes,
                    ) from None
            time.sleep(min(left, pause))
            pause *= 2

    def _renew(self, granted: Granted) -> None:
        problem = ""
        pause = _RETRY_SECONDS_MIN
        longest = _longest_pause(granted.not_after - time.time())
        new_roots = _NewRoots(self._identity_dir)
        due = time.monotonic() + _until_renewal(granted)
        while not self._end.wait(max(0.0, min(due - time.monotonic(), _LOOK_SECONDS))):
            now = time.monotonic()
            if now < due and not new_roots.due(granted, now):
                continue
            try:
                granted = enrol(self._identity_dir, self._known)
                if self._end.is_set():
                    return
                self._directory.write(granted)
            except Exception as failure:  # whatever it is, the next try may find files or masters that are right again
                if str(failure) != problem:
                    problem = str(failure)
                    _LOG.warning(
                        "cannot renew the certificate of this process, which ends in %d s: %s",
                        granted.not_after - time.time(),
                        problem,
                    )
                wait, pause = pause, min(2 * pause, longest)
            else:
                problem = ""
                pause = _RETRY_SECONDS_MIN
                longest = _longest_pause(granted.not_after - time.time())
                wait = _until_renewal(granted)
            due = time.monotonic() + wait


class _NewRoots:
    """Says when to ask before time: since the file of roots has some that masters did not give, which is the next one of the
    pool, or has another one in front than the one that signed the certificate, which masters give first.

    At first within 10 s, and then ever more rarely: masters have the root up to two minutes later, and a copy may have roots
    that they will never give again.
    """

    def __init__(self, identity_dir: str) -> None:
        self._identity_dir = identity_dir
        self._wanted: tuple[str, ...] = ()
        self._at = 0.0
        self._pause = 0.0

    def due(self, granted: Granted, now: float) -> bool:
        try:
            wanted = _certificates(read_identity(self._identity_dir).roots)
        except KvpoolError:  # the next renewal tells of it
            return False
        given = _certificates(granted.roots)
        if given[:1] == wanted[:1] and set(wanted) <= set(given):
            wanted = ()
        if wanted != self._wanted:
            self._wanted = wanted
            self._at = now + random.uniform(0.0, _SPREAD_SECONDS)
            self._pause = _SPREAD_SECONDS
        if not wanted or now < self._at:
            return False
        self._at = now + self._pause * random.uniform(0.5, 1.5)
        self._pause = min(2 * self._pause, _SOONER_SECONDS_MAX)
        return True


def _certificates(pem: str) -> tuple[str, ...]:
    return tuple("".join(body.split()) for body in _CERTIFICATE.findall(pem))


def _until_renewal(granted: Granted) -> float:
    """Half of its life, give or take a tenth: processes that were started together do not ask together."""
    return max(_RETRY_SECONDS_MIN, (granted.not_after - time.time()) * random.uniform(0.45, 0.55))


def _longest_pause(life: float) -> float:
    """Between two tries: half of a life of a minute is left at the first, and masters may be back well before its end."""
    return min(max(life / 10, _RETRY_SECONDS_MIN), _RETRY_SECONDS_MAX)


class KnownRoots:
    """The roots that masters gave with the last certificate count beside the file of roots: a copied ConfigMap has only those
    of its day, and masters give the next one to clients long before they use it. A file that has changed since counts alone:
    it may be that a root was taken out because its key was stolen.
    """

    def __init__(self) -> None:
        self._file = ""
        self._given = ""

    def beside(self, file: str) -> str:
        """PEM of what counts with this file."""
        return f"{file}\n{self._given}" if file == self._file else file

    def note(self, file: str, given: str) -> None:
        """PEM that a master gave when the file was this one."""
        self._file = file
        self._given = given


def enrol(identity_dir: str, known: KnownRoots) -> Granted:
    """Asks the masters in turn, in any order, until one has given a certificate, and notes the roots that it gave.

    Raises NotAnswered with what each of them said, and KvpoolError for files that cannot be used.
    """
    found = read_identity(identity_dir)
    identity = replace(found, roots=known.beside(found.roots))
    failures: list[NotAnswered] = []
    said: list[str] = []
    for host, port in random.sample(identity.admins, len(identity.admins)):
        try:
            granted = ask((host, port), identity)
        except NotAnswered as failure:
            failures.append(failure)
            said.append(f"{host}:{port}: {failure}")
        else:
            known.note(found.roots, granted.roots)
            return granted
    # What one master said of the token all would; those that cannot be reached say nothing.
    worst = next((failure for failure in failures if not failure.passes), failures[0])
    raise NotAnswered("; ".join(said), worst.status, passes=all(failure.passes for failure in failures))


_enrolments: dict[str, Enrolment] = {}
_lock = threading.Lock()


def certificate_directory(tls_dir: str | None, timeout: float) -> str | None:
    """The directory of certificates that a client uses: the one it was given, else that of this process's enrolment where
    KVPOOL_IDENTITY_DIR is set, else none. Enrols, for at most about `timeout` seconds, when it is the first of this process.

    Raises KvpoolError when there is no certificate.
    """
    try:
        return _certificate_directory(tls_dir, timeout)
    except NotAnswered as failure:
        raise error_of(failure.status, str(failure)) from None


def certificate_directory_at_once(tls_dir: str | None) -> str | None:
    """The same for one that asks again by itself: each master is asked once.

    Raises NotAnswered when none gives a certificate, and KvpoolError for files that cannot be used.
    """
    return _certificate_directory(tls_dir, 0)


def _certificate_directory(tls_dir: str | None, timeout: float) -> str | None:
    identity_dir = os.environ.get(VARIABLE, "")
    if tls_dir is not None or not identity_dir:
        return tls_dir
    if not os.path.isabs(identity_dir):
        raise error_of(
            Status.INVALID_ARGUMENT,
            f"environment variable {VARIABLE} is {identity_dir!r}, but must be the absolute path of a directory with token,"
            " ca.crt and admins",
        )
    with _lock:
        known = _enrolments.get(identity_dir)
        if known is None:
            known = _enrolments[identity_dir] = Enrolment(identity_dir, timeout)
            call_after_closing(_close_all)
        return known.path


def _close_all() -> None:
    with _lock:
        for enrolment in _enrolments.values():
            enrolment.close()
        _enrolments.clear()


def _forget() -> None:
    """In a forked child: the thread that renews is the parent's, and so is the directory."""
    global _lock
    _lock = threading.Lock()
    _enrolments.clear()


os.register_at_fork(after_in_child=_forget)
