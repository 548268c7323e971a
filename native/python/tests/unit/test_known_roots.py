# SPDX-License-Identifier: Apache-2.0
"""A process with a copied ConfigMap enrols also by the roots that masters gave it since."""

import base64
import json
from pathlib import Path

import pytest

from kvpool import enrolment
from kvpool.enrol_call import Granted
from kvpool.identity_directory import Identity

POOL = "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01"
OLD = "-----BEGIN CERTIFICATE-----\nold\n-----END CERTIFICATE-----\n"
NEW = "-----BEGIN CERTIFICATE-----\nnew\n-----END CERTIFICATE-----\n"
BOTH = OLD + NEW


@pytest.fixture
def copied(tmp_path: Path) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"aud": [f"kvpool.dev/{POOL}"]}).encode()).decode().rstrip("=")
    (tmp_path / "token").write_text(f"e30.{claims}.x")
    (tmp_path / "ca.crt").write_text(OLD)
    (tmp_path / "admins").write_text("master:9443")
    return str(tmp_path)


@pytest.mark.parametrize(("life", "pause"), [(60, 6), (86_400, 60), (5, 1), (-3, 1)])
def test_a_short_life_is_tried_for_more_often(life: float, pause: float) -> None:
    assert enrolment._longest_pause(life) == pause


def test_the_roots_of_the_last_certificate_count_beside_the_file(copied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def ask(master: tuple[str, int], identity: Identity) -> Granted:
        shown.append(identity.roots)
        return Granted(certificate="", key="", roots=BOTH, not_after=0.0)

    monkeypatch.setattr(enrolment, "ask", ask)
    known = enrolment.KnownRoots()
    for _ in range(2):
        enrolment.enrol(copied, known)
    Path(copied, "ca.crt").write_text(NEW)
    enrolment.enrol(copied, known)

    assert shown[0] == OLD
    assert "new" in shown[1] and shown[1].startswith(OLD)
    assert shown[2] == NEW, "a file that has changed counts alone"


class NoDirectory:
    """In place of one whose files must be certificates."""

    def write(self, granted: Granted) -> None:
        assert granted.roots == BOTH

    def remove(self) -> None:
        pass


def test_renewals_pass_them_on(copied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def ask(master: tuple[str, int], identity: Identity) -> Granted:
        shown.append(identity.roots)
        if len(shown) == 3:
            running.close()
        return Granted(certificate=OLD, key=OLD, roots=BOTH, not_after=0.0)  # which is over, so the next one is due

    monkeypatch.setattr(enrolment, "ask", ask)
    monkeypatch.setattr(enrolment, "CertificateDirectory", NoDirectory)
    running = enrolment.Enrolment(copied, 1.0)
    running._thread.join(30)

    assert shown == [OLD, f"{OLD}\n{BOTH}", f"{OLD}\n{BOTH}"]


def test_a_root_that_masters_did_not_give_is_asked_for_soon_and_ever_more_rarely(copied: str) -> None:
    granted = Granted(certificate="", key="", roots=OLD, not_after=0.0)
    new_roots = enrolment._NewRoots(copied)
    assert not any(new_roots.due(granted, now) for now in range(100))

    Path(copied, "ca.crt").write_text(BOTH)
    asked = [now for now in range(100, 4000) if new_roots.due(granted, now)]
    assert 100 <= asked[0] <= 110
    assert 5 <= len(asked) <= 13
    both = Granted(certificate="", key="", roots=BOTH, not_after=0.0)
    assert not any(new_roots.due(both, now) for now in range(4000, 9000, 10))

    Path(copied, "ca.crt").write_text(NEW + OLD)  # masters are to sign with the new one
    assert any(new_roots.due(both, now) for now in range(9000, 9011))
    signed_by_new = Granted(certificate="", key="", roots=NEW + OLD, not_after=0.0)
    assert not any(new_roots.due(signed_by_new, now) for now in range(9011, 9999))
    Path(copied, "ca.crt").write_text(NEW)  # what is trusted longer than that is no reason to ask
    assert not any(new_roots.due(signed_by_new, now) for now in range(9999, 12000))

    Path(copied, "ca.crt").write_text("")  # as while somebody writes it
    assert not new_roots.due(granted, 12001)
