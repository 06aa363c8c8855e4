"""The certificate authorities that libcurl trusts: the same as httpx2 with the same settings."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Mapping

import pycurl

from .settings import TransportSettings

_NATIVE_CA = 1 << 4
"""CURLSSLOPT_NATIVE_CA: the certificate store of Windows and macOS."""
_USUAL_FILES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""The files of Alpine and Arch, Fedora and RHEL, older versions, Debian and Ubuntu, SUSE, as truststore lists them."""


def trust_options(settings: TransportSettings) -> Mapping[int, int | str | None]:
    """Returns libcurl's options for servers and proxies; None unsets one. Raises `ConfigurationError` for a file or
    folder that cannot be read.
    """
    verify = settings.verify
    if verify is False:
        return {
            pycurl.SSL_VERIFYPEER: 0,
            pycurl.SSL_VERIFYHOST: 0,
            pycurl.PROXY_SSL_VERIFYPEER: 0,
            pycurl.PROXY_SSL_VERIFYHOST: 0,
        }
    if isinstance(verify, str):
        settings.tls("https")  # reads the certificates, and raises an error if they are invalid
        return _from(folder=verify) if os.path.isdir(verify) else _from(file=verify)
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return _from(file=file) if file else _from(folder=folder)
    if sys.platform in ("win32", "darwin"):
        return {pycurl.SSL_OPTIONS: _NATIVE_CA, pycurl.PROXY_SSL_OPTIONS: _NATIVE_CA}
    return _of_this_system()


def _of_this_system() -> Mapping[int, int | str | None]:
    """Returns the paths of Python's OpenSSL, or common ones: the paths in a wheel of pycurl are of another system."""
    paths = ssl.get_default_verify_paths()
    if os.path.isfile(paths.openssl_cafile):
        return _from(file=paths.openssl_cafile)
    usual = next(filter(os.path.isfile, _USUAL_FILES), None)
    return _from(file=usual) if usual else _from(folder=paths.openssl_capath)


def _from(file: str | None = None, folder: str | None = None) -> Mapping[int, int | str | None]:
    return {
        pycurl.CAINFO: file,
        pycurl.CAPATH: folder,
        pycurl.PROXY_CAINFO: file,
        pycurl.PROXY_CAPATH: folder,
    }
