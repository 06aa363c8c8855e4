"""The files that `[server]` names: the certificate, the audit log, the folder of receipts. Checked before the start."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from .problems import Problems
from .settings import Settings


def check_files(settings: Settings) -> None:
    """Raises `ConfigurationError` for files that cannot be read or written. Makes none."""
    problems = Problems()
    for check in (_check_certificate, _check_audit_log, _check_receipts):
        with problems.collected():
            check(settings)
    problems.check()


def _check_certificate(settings: Settings) -> None:
    certificate, key = settings.server.tls_certificate, settings.server.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing = "tls_key" if key is None else "tls_certificate"
        raise settings.error(f"TLS needs both a certificate and its key: {missing} is not set", "server")
    for name, path in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise settings.error(f"{path} cannot be read: {reason}", "server", name) from None
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        reason = (getattr(error, "reason", None) or str(error) or "not PEM").replace("_", " ").lower()
        hint = "Both files are PEM: the certificate with its chain, and its own key without a password."
        raise settings.error(f"{certificate} and {key} cannot be used: {reason}", "server", hint=hint) from None


def _no_password() -> str:
    raise ValueError("the key has a password")


def _check_audit_log(settings: Settings) -> None:
    path = settings.server.audit_log
    if path is None:
        return
    file = Path(path)
    found = file if file.exists() else file.absolute().parent
    if not found.exists():
        raise settings.error(f"the folder {found} does not exist", "server", "audit_log")
    if file.is_dir() or not os.access(found, os.W_OK):
        raise settings.error(f"{file} cannot be written", "server", "audit_log", hint="Name a file.")


def _check_receipts(settings: Settings) -> None:
    path = settings.server.receipts
    if path is None:
        return
    folder = Path(path).absolute()
    found = next(each for each in (folder, *folder.parents) if each.exists())
    if not found.is_dir() or not os.access(found, os.W_OK):
        raise settings.error(f"{found} is not a folder that can be written", "server", "receipts")
