"""An OpenDocument package, decrypted if it is encrypted (OpenDocument 1.3, part 2)."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from abstractcore.errors import EncryptedFileError

from ...common.extras import missing_extra
from ..office.decryption import needs_password, wrong_password
from ..xml_elements import elements
from ..zip_members import ZipMembers
from .numbering import ListNumbers
from .references import References
from .styles import TextStyles

if TYPE_CHECKING:
    from ..blocks import Block
    from ..format_handler import DocumentFile

_MAX_ITERATIONS = 2_000_000
_STYLES = frozenset({"list-style", "outline-style", "style"})
_REFERRED_TO = frozenset({"changed-region", "form"})
_CHECKED = 1024
"""The bytes that the checksum of an encrypted member covers."""


class OpenDocument:
    """The members of a file. `what` names the format in errors."""

    def __init__(self, file: DocumentFile, what: str) -> None:
        self.work = file.work
        self._file = file
        self._members = ZipMembers(file.data, file.work, what, file.losses)
        if "content.xml" not in self._members:
            raise file.work.corrupt(what, "it has no content")
        entries = elements(self._members.chunks("META-INF/manifest.xml"), frozenset({"file-entry"}))
        self._encrypted = {
            each.get("full-path", ""): data for each in entries if (data := each.find("encryption-data")) is not None
        }
        if self._encrypted and file.password is None:
            raise needs_password(file.name)
        self.numbers = ListNumbers()
        self.styles = TextStyles()
        self._references = References(self.styles, file.losses)
        for part in ("styles.xml", "content.xml"):
            for each in self._raw(part, _STYLES, frozenset({"body", "master-styles"})):
                if each.tag == "style":
                    self.styles.add(each)
                elif each.tag in _STYLES:
                    self.numbers.add(each)
                else:
                    break

    def read(self, path: str) -> bytes:
        """Returns the content of a member, b"" if there is none."""
        return b"".join(self._chunks(path.removeprefix("./")))

    def elements(self, path: str, wanted: Set[str], announced: Set[str] = frozenset()) -> Iterator[Element]:
        """Yields elements of a member by name, each when it is complete, with what they refer to in its place.

        What is not read is counted.
        """
        for each in self._raw(path, wanted | _REFERRED_TO, announced):
            self._references.add(each)
            if each.tag not in _REFERRED_TO:
                self._references.resolve(each)
                yield each

    def account(self) -> Iterator[Block]:
        """Yields what the file has of changes and fields beside its texts, when all of it is read."""
        return self._references.account()

    def _raw(self, path: str, wanted: Set[str], announced: Set[str]) -> Iterator[Element]:
        return elements(self._chunks(path), wanted, announced, self._file.losses, path)

    def passes(self, path: str) -> None:
        """Notes that a member shows the same as another one that was read."""
        self._file.losses.opens(path.removeprefix("./"))

    def _chunks(self, path: str) -> Iterator[bytes]:
        encryption = self._encrypted.get(path)
        if encryption is None:
            return self._members.chunks(path)
        return iter((self._decrypted(self._members.read(path), encryption),))

    def _decrypted(self, data: bytes, encryption: Element) -> bytes:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher
            from cryptography.hazmat.primitives.ciphers.algorithms import AES
            from cryptography.hazmat.primitives.ciphers.modes import CBC
        except ImportError as error:
            raise missing_extra("Reading encrypted OpenDocument files", "cryptography", "documents") from error
        name = self._file.name
        algorithm, derivation = encryption.find("algorithm"), encryption.find("key-derivation")
        if algorithm is None or derivation is None or not algorithm.get("algorithm-name", "").endswith("aes256-cbc"):
            raise EncryptedFileError(
                f"{name} is encrypted in a way that is not supported here.",
                source=name,
                hint="Save a copy without a password.",
            )
        rounds = int(derivation.get("iteration-count", "0"))
        if not 0 < rounds <= _MAX_ITERATIONS:
            raise self.work.too_large(f"its encryption asks for {rounds:,} rounds")
        start = hashlib.sha256((self._file.password or "").encode()).digest()
        salt = base64.b64decode(derivation.get("salt", ""))
        key = hashlib.pbkdf2_hmac("sha1", start, salt, rounds, 32)
        vector = base64.b64decode(algorithm.get("initialisation-vector", ""))
        decryptor = Cipher(AES(key), CBC(vector)).decryptor()
        plain = decryptor.update(data) + decryptor.finalize()
        if hashlib.sha256(plain[:_CHECKED]).digest() != base64.b64decode(encryption.get("checksum", "")):
            raise wrong_password(name)
        inflater = zlib.decompressobj(-15)
        content = inflater.decompress(plain, self.work.limits.unpacked_bytes)
        self.work.unpacked(len(content) + len(inflater.unconsumed_tail))
        return content
