"""Opens Office files that are encrypted with a password (MS-OFFCRYPTO): they are OLE files around the package."""

from __future__ import annotations

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

from abstractcore.errors import EncryptedFileError, WrongPasswordError

from ...common.extras import missing_extra
from ..format_handler import DocumentFile

OLE = bytes.fromhex("d0cf11e0a1b11ae1")


def decrypted(file: DocumentFile) -> bytes:
    """Returns the content of the file, decrypted if it is encrypted.

    Raises `EncryptedFileError` without a password, `WrongPasswordError`, and `MissingExtraError`.
    """
    if not file.data.startswith(OLE):
        return file.data
    if file.password is None:
        raise needs_password(file.name)
    try:
        msoffcrypto = cast(Any, import_module("msoffcrypto"))  # it has no types
        wrong = cast(
            "tuple[type[Exception], ...]",
            (msoffcrypto.exceptions.DecryptionError, msoffcrypto.exceptions.InvalidKeyError),
        )
    except ImportError as error:
        raise missing_extra("Reading encrypted Office files", "msoffcrypto-tool", "documents") from error
    opened = io.BytesIO()
    try:
        with _no_root_handler_added():
            _decrypt(msoffcrypto, file.data, file.password, opened)
    except wrong as error:
        raise wrong_password(file.name) from error
    return opened.getvalue()


def _decrypt(msoffcrypto: Any, data: bytes, password: str, opened: io.BytesIO) -> None:
    office = msoffcrypto.OfficeFile(io.BytesIO(data))
    verify = {"verify_password": True} if office.format == "ooxml" else {}  # the others always do
    office.load_key(password=password, **verify)
    office.decrypt(opened)


@contextmanager
def _no_root_handler_added() -> Generator[None]:
    """Keeps `logging.debug`, which the library calls, from adding a handler to the root logger, which then prints."""
    quiet = logging.NullHandler()
    logging.getLogger().addHandler(quiet)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(quiet)


def needs_password(source: str) -> EncryptedFileError:
    """Returns the error for an encrypted file without a password."""
    return EncryptedFileError(
        f"{source} is encrypted and needs a password.",
        source=source,
        hint="Pass it with File(..., password=...), or save a copy without a password.",
    )


def wrong_password(source: str) -> WrongPasswordError:
    """Returns the error for a password that does not open a file."""
    return WrongPasswordError(
        f"{source} is encrypted, and the password that was given does not open it.",
        source=source,
        hint="Check the password: upper and lower case differ.",
    )
