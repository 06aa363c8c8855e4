"""EML: mails as they are sent (RFC 5322, MIME), read by the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.errors import CloseBoundaryNotFoundDefect, InvalidBase64PaddingDefect, StartBoundaryNotFoundDefect
from email.message import EmailMessage
from email.parser import BytesParser
from typing import cast

from ..blocks import Block
from ..format_handler import DocumentFile
from ..text_decoding import codec_of
from ..vocabularies import Treatment
from .message import Attachment, MailBody, MailMessage, mail_blocks
from .vocabulary import MAIL

VOCABULARY = MAIL
_HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
_REPORTS = ("message/delivery-status", "message/disposition-notification")
_MAX_PARTS = 1_000
_MAX_BYTES = 100_000_000
_END_OF_HEADERS = re.compile(rb"\n\r?\n")
_ENDS_EARLY = (CloseBoundaryNotFoundDefect, StartBoundaryNotFoundDefect, InvalidBase64PaddingDefect)
_CONTAINER = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a mail."""
    if len(file.data) > _MAX_BYTES:
        raise file.work.too_large(f"it has {len(file.data):,} bytes")
    borders = file.data.count(b"\n--") + file.data.count(b"\r--")  # parts with others in them have some
    if borders > 20 * _MAX_PARTS or (borders > _MAX_PARTS and len(_CONTAINER.findall(file.data)) > _MAX_PARTS):
        raise file.work.too_large(f"it has more than {_MAX_PARTS:,} parts")
    parts = _Parts(file)
    try:
        message = BytesParser(policy=policy.default).parsebytes(file.data)
        bodies = parts.bodies(message)
        is_cut = _is_cut(message, file.data)
    except RecursionError:
        raise file.work.too_large("its parts are nested too deeply") from None
    if is_cut:
        file.losses.cut()
    headers = [(name, str(message.get(name, ""))) for name in _HEADERS]
    yield from mail_blocks(MailMessage(headers, bodies, parts.attachments), file)


def _is_cut(message: EmailMessage, data: bytes) -> bool:
    """Returns whether a mail ends before its text, or before the end of its parts."""
    if _END_OF_HEADERS.search(data) is None:
        return True
    return any(isinstance(each, _ENDS_EARLY) for part in message.walk() for each in part.defects)


class _Parts:
    """The texts and attachments of a mail, as its parts are walked."""

    def __init__(self, file: DocumentFile) -> None:
        self.attachments: list[Attachment] = []
        self._file = file
        self._count = 0

    def bodies(self, part: EmailMessage) -> list[MailBody]:
        """Returns the texts in a part, in order; of forms of the same text, one body with both."""
        kind = part.get_content_type()
        if kind in _REPORTS:
            return [MailBody("\n\n".join(_fields(each) for each in cast("list[EmailMessage]", part.get_payload())))]
        if part.is_multipart() and kind != "message/rfc822":
            inner = [each for child in cast("list[EmailMessage]", part.get_payload()) for each in self.bodies(child)]
            return [_joined(inner)] if kind == "multipart/alternative" and inner else inner
        self._file.work.check()
        self._count += 1
        if self._count > _MAX_PARTS:
            raise self._file.work.too_large(f"it has more than {_MAX_PARTS:,} parts")
        if self._file.losses.meet(kind) in (Treatment.LEFT_OUT, Treatment.LOST):
            return []
        name = part.get_filename()
        if kind == "message/rfc822":
            self.attachments.append(Attachment(name or "message.eml", _attached_message(part), kind))
            return []
        data = cast("bytes | None", part.get_payload(decode=True)) or b""
        is_text = name is None and part.get_content_disposition() != "attachment"
        if is_text and kind == "text/plain":
            return [MailBody(data.decode(codec_of(part.get_content_charset()) or "utf-8", "replace"))]
        if is_text and kind == "text/html":
            return [MailBody(html=data, encoding=part.get_content_charset())]
        content_id = (part.get("Content-ID") or "").strip().strip("<>")
        self.attachments.append(Attachment(name or f"attachment {len(self.attachments) + 1}", data, kind, content_id))
        return []


def _fields(message: EmailMessage) -> str:
    """Returns the fields of a report, which stand where a mail has its headers."""
    return "\n".join(f"{name}: {value}" for name, value in message.items())


def _joined(bodies: list[MailBody]) -> MailBody:
    """Returns the forms of one text as one body; of several pages of HTML, the last one is the best."""
    page = next((each for each in reversed(bodies) if each.html), MailBody())
    return MailBody("\n\n".join(each.text for each in bodies if each.text.strip()), page.html, page.encoding)


def _attached_message(part: EmailMessage) -> bytes:
    inner = part.get_payload()
    return cast("list[EmailMessage]", inner)[0].as_bytes() if isinstance(inner, list) and inner else b""
