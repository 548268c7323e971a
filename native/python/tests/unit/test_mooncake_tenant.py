# SPDX-License-Identifier: Apache-2.0
"""tenant_id of setup(): `default`, or the tenant of this process's certificate, or -1701."""

import logging
from pathlib import Path

import pytest
from conftest import Fake

from mooncake.connection.own_tenant import NotOurTenantError, check_tenant
from mooncake.store import MooncakeDistributedStore

# Of spiffe://11111111-2222-3333-4444-555555555555/tenant/blue/rw/team-a.engine, and as long as such a name gets: 63 times b, ro.
# No key belongs to them.
BLUE = """\
-----BEGIN CERTIFICATE-----
MIIBxjCCAWygAwIBAgIUKRSzaPUQnzn1nRvkTlWAlwioEF8wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAeFw0yNjExMjgxNzU1MjBaFw0yNjExMjkxNzU1MjBaMAwx
CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATIAhRAaYvnTGsV
3imTUyY5uWlxTPFcQsC78JyzmEF31QNmeqReZUx6vwG3rQ078KPpEvCUz1AMfieU
BoWTI7I8o4GrMIGoMB0GA1UdDgQWBBQzSjP6SosVI1rjpbNadBw6PEcN/zAfBgNV
HSMEGDAWgBQzSjP6SosVI1rjpbNadBw6PEcN/zAPBgNVHRMBAf8EBTADAQH/MFUG
A1UdEQROMEyGSnNwaWZmZTovLzExMTExMTExLTIyMjItMzMzMy00NDQ0LTU1NTU1
NTU1NTU1NS90ZW5hbnQvYmx1ZS9ydy90ZWFtLWEuZW5naW5lMAoGCCqGSM49BAMC
A0gAMEUCIDMN4TboB++Fs2VIZZYiOeSKE+jEawq5DEnxG/kKUTxlAiEA+a9LOIRa
5tAw3F8YGhyUTk/EeSqRBB1W55/1CuAsf9I=
-----END CERTIFICATE-----
"""
LONG = """\
-----BEGIN CERTIFICATE-----
MIICgzCCAimgAwIBAgIUDFpWJ6GC7/pVjB59Rho9CR+ZNrowCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAeFw0yNjExMjgxNzU1MjBaFw0yNjExMjkxNzU1MjBaMAwx
CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS+VAJn4RlY4X1Q
LEg6+dhLHfWxKhZXc1ZSqivRSdZkNtQkMJsN4CfIw6Cipvb9tm+ZZjN9btr7uXld
I8VGHDUfo4IBZzCCAWMwHQYDVR0OBBYEFP4hNdcl5BG6odHjjG9PVeuB3cCZMB8G
A1UdIwQYMBaAFP4hNdcl5BG6odHjjG9PVeuB3cCZMA8GA1UdEwEB/wQFMAMBAf8w
ggEOBgNVHREEggEFMIIBAYaB/nNwaWZmZTovLzExMTExMTExLTIyMjItMzMzMy00
NDQ0LTU1NTU1NTU1NTU1NS90ZW5hbnQvYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi
YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiL3JvL2NjY2Nj
Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj
Y2NjY2NjY2NjYy5jY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj
Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2MuZW5naW5lMAoGCCqGSM49BAMCA0gA
MEUCIQDOxf42EtFF6dtlm3KPcm1GFVkklXhQyEW54QXBLS0XTwIgbHw3GfaMJ+Fb
IhUw0TkWZtRvgzvZalien2JiMe3oDd8=
-----END CERTIFICATE-----
"""


def directory(tmp_path: Path, certificate: str | bytes) -> str:
    (tmp_path / "tls.crt").write_bytes(certificate if isinstance(certificate, bytes) else certificate.encode())
    return str(tmp_path)


@pytest.mark.parametrize(("certificate", "tenant"), [(BLUE, "blue"), (LONG, "b" * 63), (LONG + BLUE, "b" * 63)])
def test_the_certificates_own_tenant_and_default_pass(tmp_path: Path, certificate: str, tenant: str) -> None:
    for named in (tenant, "default"):
        check_tenant(named, directory(tmp_path, certificate), 1)


@pytest.mark.parametrize("tenant", ["red", "blu", "bluee", "BLUE", " blue", "bl\u00fce", "x" * 100_000])
def test_another_tenant_is_named_with_ours(tmp_path: Path, tenant: str) -> None:
    with pytest.raises(NotOurTenantError, match="this process is of tenant 'blue'") as refused:
        check_tenant(tenant, directory(tmp_path, BLUE + LONG), 1)
    assert len(str(refused.value)) < 1_000


def test_without_a_certificate_there_is_the_default_tenant_only() -> None:
    check_tenant("default", None, 1)
    with pytest.raises(NotOurTenantError, match="is of tenant 'default': it has no certificate"):
        check_tenant("blue", None, 1)


@pytest.mark.parametrize("certificate", ["", "no certificate", BLUE[:300], b"\xff\xfe"])
def test_a_certificate_that_cannot_be_read_is_left_to_the_client(tmp_path: Path, certificate: str | bytes) -> None:
    check_tenant("red", directory(tmp_path, certificate), 1)


def test_so_is_one_that_is_not_there(tmp_path: Path) -> None:
    check_tenant("red", str(tmp_path), 1)


@pytest.mark.parametrize(("tenant", "code"), [("blue", 0), ("default", 0), ("", 0), (None, 0), ("red", -1701)])
def test_setup_by_certificate(
    fake: Fake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tenant: object,
    code: int,
) -> None:
    monkeypatch.setenv("KVPOOL_TLS_DIR", directory(tmp_path, BLUE))
    store = MooncakeDistributedStore()
    config = {"local_hostname": "h", "metadata_server": "", "master_server_address": "m0:1", "tenant_id": tenant}
    with caplog.at_level(logging.WARNING, "mooncake.store"):
        assert store.setup(config) == code
    assert ("setup failed with -1701 TENANT_NOT_REGISTERED: tenant_id is 'red'" in caplog.text) == (code != 0)
    assert fake.state.nodes == (0 if code else 1)
    store.close()


def test_setup_without_certificate(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    store = MooncakeDistributedStore()
    assert store.setup("h", "", 0, 0, "tcp", "", "m0:1", tenant_id="blue") == -1701
    assert "Remedy: leave tenant_id out" in caplog.text
    assert store.put("k", b"v") == -600
    assert store.setup("h", "", 0, 0, "tcp", "", "m0:1", tenant_id="default") == 0
    store.close()
