"""MSG: mails as Outlook saves them (MS-OXMSG): an OLE file with a stream for each property."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from ...common.extras import missing_extra
from ..blocks import Block, BlockPlace, LostContent, MarkdownText
from ..format_handler import DocumentFile
from .message import Attachment, MailBody, MailMessage, mail_blocks
from .vocabulary import OUTLOOK

VOCABULARY = OUTLOOK

_MAX_ATTACHMENTS = 1_000
_TEXT, _BYTES = "001F", "0102"
_SUBJECT, _FROM, _FROM_ADDRESS, _TO, _CC, _BCC = "0037", "0C1A", "0C1F", "0E04", "0E03", "0E02"
_REPLY_TO, _CLASS = "0050", "001A"
_BODY, _HTML, _REPORT, _COMPRESSED_RTF = "1000", "1013", "1001", "1009"
_PROPERTY = "__substg1.0_"
_WITH_DETAILS = ("IPM.Activity", "IPM.Appointment", "IPM.Schedule", "IPM.Task")
"""Classes of what has a time, a place or a state, in properties that each program numbers in its own way."""
_NAME, _SHORT_NAME, _CONTENT, _MEDIA_TYPE, _CONTENT_ID = "3707", "3704", "3701", "370E", "3712"
_SENT, _DELIVERED = 0x0039, 0x0E06


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a mail."""
    try:
        import olefile
    except ImportError as error:
        raise missing_extra("Reading MSG files", "olefile", "documents") from error
    with cast(Any, olefile).OleFileIO(io.BytesIO(file.data)) as ole:
        if not ole.exists("__properties_version1.0"):
            raise file.work.corrupt("Outlook mail", "it has no properties")
        properties = _Properties(ole, [], file)
        message = _read(properties)
        _count_losses(properties)
        yield from mail_blocks(message, file)
        has_text = any(body.text.strip() or body.html for body in message.bodies)
        if not has_text and ole.exists(f"{_PROPERTY}{_COMPRESSED_RTF}{_BYTES}"):
            yield MarkdownText(
                "[the text of this mail is compressed RTF, which is not read]", BlockPlace(member="body")
            )
            yield LostContent("texts", 1, 1, "compressed RTF")


class _Properties:
    """The properties of a mail or of an attachment, which is a storage in the file."""

    def __init__(self, ole: Any, storage: list[str], file: DocumentFile) -> None:
        self.ole = ole
        self.file = file
        self.storage = storage

    def content(self, tag: str, kind: str) -> bytes:
        path = [*self.storage, f"{_PROPERTY}{tag}{kind}"]
        if not self.ole.exists(path):
            return b""
        data = cast(bytes, self.ole.openstream(path).read())
        self.file.work.unpacked(len(data))
        return data

    def text(self, tag: str) -> str:
        wide = self.content(tag, _TEXT)
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        return self.content(tag, "001E").decode("cp1252", "replace").rstrip("\0")

    def moment(self, *tags: int) -> str:
        """Returns a date of the properties with a fixed length: 16 bytes each, after a header of 32 bytes."""
        path = [*self.storage, "__properties_version1.0"]
        data = cast(bytes, self.ole.openstream(path).read())
        for place in range(32, len(data) - 15, 16):
            kind, tag = struct.unpack_from("<HH", data, place)
            if kind == 0x40 and tag in tags:
                ticks = struct.unpack_from("<Q", data, place + 8)[0]
                if not ticks:
                    continue
                try:
                    moment = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)
                except OverflowError:
                    return ""
                return moment.isoformat(sep=" ", timespec="seconds")
        return ""


def _read(mail: _Properties) -> MailMessage:
    sender, address = mail.text(_FROM), mail.text(_FROM_ADDRESS)
    headers = [
        ("From", f"{sender} <{address}>" if address and "@" in address else sender),
        ("To", mail.text(_TO)),
        ("Cc", mail.text(_CC)),
        ("Bcc", mail.text(_BCC)),
        ("Reply-To", mail.text(_REPLY_TO)),
        ("Date", mail.moment(_SENT, _DELIVERED)),
        ("Subject", mail.text(_SUBJECT)),
    ]
    html = mail.content(_HTML, _BYTES) or mail.text(_HTML).encode()
    body = mail.text(_BODY) or mail.text(_REPORT)
    return MailMessage(headers, [MailBody(body, html)], tuple(_attachments(mail)))


def _count_losses(mail: _Properties) -> None:
    """Counts the properties that are not read; compressed RTF counts only if the mail has no other body."""
    for path in cast("list[list[str]]", mail.ole.listdir()):
        tag = path[0].removeprefix(_PROPERTY)[:4].upper()
        if len(path) == 1 and path[0].startswith(_PROPERTY) and tag != _COMPRESSED_RTF:
            mail.file.losses.meet(tag)
    if mail.text(_CLASS).startswith(_WITH_DETAILS):
        mail.file.losses.meet("details")


def _attachments(mail: _Properties) -> Iterator[Attachment]:
    roots = {path[0] for path in cast("list[list[str]]", mail.ole.listdir()) if path[0].startswith("__attach_")}
    if len(roots) > _MAX_ATTACHMENTS:
        raise mail.file.work.too_large(f"it has more than {_MAX_ATTACHMENTS:,} attachments")
    for root in sorted(roots):
        file = _Properties(mail.ole, [root], mail.file)
        name = file.text(_NAME) or file.text(_SHORT_NAME) or file.text("3001") or root
        yield Attachment(name, file.content(_CONTENT, _BYTES), file.text(_MEDIA_TYPE) or None, file.text(_CONTENT_ID))
