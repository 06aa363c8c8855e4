"""What tests share of TLS: contexts with the certificates of public authorities, and no others."""

import ssl
from pathlib import Path

import httpcore2
import httpx2
import pytest
import trustme


@pytest.fixture
def authority(tmp_path: Path) -> str:
    """The file of an authority of the test's own."""
    trustme.CA().cert_pem.write_to_path(tmp_path / "authority.pem")
    return str(tmp_path / "authority.pem")


def test_contexts_with_certificates_of_public_authorities_are_made_once():
    context = httpcore2.default_ssl_context()
    assert httpcore2.default_ssl_context() is context
    assert httpx2.create_ssl_context() is httpx2.create_ssl_context()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_context_with_certificates_of_a_test_is_its_own(authority: str):
    context = ssl.create_default_context(cafile=authority)
    assert ssl.create_default_context(cafile=authority) is not context
    assert len(context.get_ca_certs()) == 1
    assert ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).verify_mode == ssl.CERT_NONE


def test_other_authorities_of_the_environment_are_loaded(authority: str, monkeypatch: pytest.MonkeyPatch):
    before = httpcore2.default_ssl_context()
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    context = httpcore2.default_ssl_context()
    assert context is not before
    assert len(context.get_ca_certs()) == 1
