# SPDX-License-Identifier: Apache-2.0
"""Certificates that name ServiceAccounts, by the file that says what these are."""

from pathlib import Path

import pytest

from kvpool.foreign_names import ForeignNames, beside, parse
from kvpool.master_connection import NotAnswered, pool_of_master
from kvpool.own_name import OwnName, name_in
from mooncake.connection.own_tenant import NotOurTenantError, check_tenant

POOL = "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01"
HEAD = f"pool {POOL}\ntrust-domain cluster.local\n"

_VECTORS = (Path(__file__).parents[3] / "schema" / "foreign-names.txt").read_text().splitlines()
_NAMES = _VECTORS.index("names")
_REFUSED = _VECTORS.index("refused")

# Of spiffe://cluster.local/ns/team-a/sa/engine. No key belongs to it.
ENGINE = """\
-----BEGIN CERTIFICATE-----
MIIBpzCCAUygAwIBAgIUf8jZ8LYw7j97MUW2lHEfiAzV5zswCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAeFw0yNjExMjkwNjAyMzZaFw0yNjExMzAwNjAyMzZaMAwx
CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQirscSV7D56ZU1
4M2ou4qKw2+lEaxUsf2Hg3nQ/CAwaD+snxyM0JCngfoNkWJBrQ7xBL6AWj/NXk+F
wpSrZSTpo4GLMIGIMB0GA1UdDgQWBBSc6NQtrgwg3lpKlCl6TuoLB9nmFjAfBgNV
HSMEGDAWgBSc6NQtrgwg3lpKlCl6TuoLB9nmFjAPBgNVHRMBAf8EBTADAQH/MDUG
A1UdEQQuMCyGKnNwaWZmZTovL2NsdXN0ZXIubG9jYWwvbnMvdGVhbS1hL3NhL2Vu
Z2luZTAKBggqhkjOPQQDAgNJADBGAiEAoY8TCZzxtBBYsd02YZBf6Y4bcg+EdPFp
7J1v0qRUgL8CIQDc2mLbBpVGSccHzhWY8LUmj1V1OA/Jq4KWdMnSFXZ03g==
-----END CERTIFICATE-----
"""


@pytest.mark.parametrize("line", _VECTORS[_NAMES + 1 : _REFUSED])
def test_names_are_what_the_vectors_say(line: str) -> None:
    uri, path = line.split(" ")
    if uri.startswith(f"spiffe://{POOL}"):
        return  # names of the pool are read elsewhere
    part = parse("\n".join(_VECTORS[:_NAMES])).part(uri)
    if path == "-":
        assert part is None
    elif path.endswith("/*"):
        assert part == path.removesuffix("/*")
    else:
        assert part == " ".join(path.split("/")[:3])


@pytest.mark.parametrize("text", _VECTORS[_REFUSED + 1 :])
def test_rules_that_are_wrong_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        parse(text.replace(";", "\n"))


def test_the_own_name_is_by_the_rules() -> None:
    rules = parse(HEAD + "team-a/engine tenant chat ro\n")
    assert name_in(ENGINE.encode(), rules) == OwnName(POOL, "chat")
    with pytest.raises(ValueError, match="has no name"):
        name_in(ENGINE.encode(), parse(HEAD))
    with pytest.raises(ValueError, match="has no name"):
        name_in(ENGINE.encode(), ForeignNames())


def test_masters_are_known_by_their_service_account() -> None:
    rules = parse(HEAD + "a/master master\na/node node\n")
    shown = {"subjectAltName": (("URI", "spiffe://cluster.local/ns/a/sa/master"),)}
    assert pool_of_master(shown, foreign=rules) == POOL
    for name in ("spiffe://cluster.local/ns/a/sa/node", "spiffe://cluster.local/ns/b/sa/master"):
        with pytest.raises(NotAnswered, match="not of a master"):
            pool_of_master({"subjectAltName": (("URI", name),)}, foreign=rules)
    two = {"subjectAltName": (*shown["subjectAltName"], ("URI", f"spiffe://{POOL}/node/a"))}
    with pytest.raises(NotAnswered, match="not of a master"):
        pool_of_master(two, foreign=rules)
    with pytest.raises(NotAnswered, match="not of a master"):
        pool_of_master(shown)


def test_rules_lie_beside_the_directory(tmp_path: Path) -> None:
    assert beside(tmp_path / "tls") == ForeignNames()
    (tmp_path / "tls.names").mkdir()
    (tmp_path / "tls.names" / "names").write_text(HEAD)
    assert beside(f"{tmp_path}/tls/").trust_domain == "cluster.local"


def test_rules_are_none_only_where_there_is_no_file(tmp_path: Path) -> None:
    names = tmp_path / "tls.names" / "names"
    names.parent.mkdir()
    assert beside(tmp_path / "tls") == ForeignNames()
    names.symlink_to("names")  # of itself: not even root can read it
    with pytest.raises(OSError, match="symbolic links"):
        beside(tmp_path / "tls")


def test_rules_that_are_too_long_are_refused_and_not_cut(tmp_path: Path) -> None:
    names = tmp_path / "tls.names" / "names"
    names.parent.mkdir()
    names.write_text(f"{HEAD}#".ljust((1 << 20) - len("\na/b node"), "x") + "\na/b node")
    assert beside(tmp_path / "tls").accounts == {"a/b": "node"}
    names.write_text(f"{HEAD}#".ljust(1 << 20, "x") + "\n")
    with pytest.raises(ValueError, match="has more than 1024 KiB"):
        beside(tmp_path / "tls")


def test_rules_of_too_many_lines_are_refused() -> None:
    most = HEAD + "".join(f"a/b{number} node\n" for number in range(9_998))
    assert len(parse(most).accounts) == 9_998
    with pytest.raises(ValueError, match="it has 10001 lines; at most 10000"):
        parse(most + "a/c node")


def test_tenant_id_is_the_one_by_the_rules(tmp_path: Path) -> None:
    directory = tmp_path / "tls"
    directory.mkdir()
    (directory / "tls.crt").write_text(ENGINE)
    (tmp_path / "tls.names").mkdir()
    (tmp_path / "tls.names" / "names").write_text(HEAD + "team-a/engine tenant chat rw\n")
    check_tenant("chat", str(directory), 1)
    with pytest.raises(NotOurTenantError, match="this process is of tenant 'chat'"):
        check_tenant("blue", str(directory), 1)
