"""EML: mails as they are sent (RFC 5322, MIME), read by the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import cast

from ..blocks import Block
from ..format_handler import DocumentFile
from .message import Attachment, MailMessage, mail_blocks

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS = 1_000
_MAX_BYTES = 100_000_000
_CONTAINER = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a mail."""
    if len(file.data) > _MAX_BYTES:
        raise file.work.too_large(f"it has {len(file.data):,} bytes")
    if file.data.count(b"\n--") > 20 * _MAX_PARTS or len(_CONTAINER.findall(file.data)) > _MAX_PARTS:
        raise file.work.too_large(f"it has more than {_MAX_PARTS:,} parts")
    message = BytesParser(policy=policy.default).parsebytes(file.data)
    yield from mail_blocks(_read(message, file), file.work)


def _read(message: EmailMessage, file: DocumentFile) -> MailMessage:
    texts: list[str] = []
    html, encoding = b"", None
    attachments: list[Attachment] = []
    for count, part in enumerate(_leaves(message)):
        file.work.check()
        if count >= _MAX_PARTS:
            raise file.work.too_large(f"it has more than {_MAX_PARTS:,} parts")
        kind = part.get_content_type()
        name = part.get_filename()
        if kind == "message/rfc822":
            attachments.append(Attachment(name or "message.eml", _attached_message(part), kind))
            continue
        data = cast("bytes | None", part.get_payload(decode=True)) or b""
        if kind == "text/plain" and name is None and part.get_content_disposition() != "attachment":
            texts.append(data.decode(_known(part.get_content_charset()), "replace"))
        elif kind == "text/html" and name is None and part.get_content_disposition() != "attachment":
            html, encoding = html or data, encoding or part.get_content_charset()
        else:
            content_id = (part.get("Content-ID") or "").strip().strip("<>")
            attachments.append(Attachment(name or f"attachment {len(attachments) + 1}", data, kind, content_id))
    headers = [(name, str(message.get(name, ""))) for name in _HEADERS]
    known = _known(encoding) if encoding is not None else None
    return MailMessage(headers, "\n\n".join(texts), html, known, tuple(attachments))


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yields the parts that hold content; attached mails are one part each."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            waiting += reversed(cast("list[EmailMessage]", part.get_payload()))
        else:
            yield part


def _attached_message(part: EmailMessage) -> bytes:
    inner = part.get_payload()
    return cast("list[EmailMessage]", inner)[0].as_bytes() if isinstance(inner, list) and inner else b""


def _known(charset: str | None) -> str:
    """Returns a name of an encoding that Python knows."""
    try:
        "".encode(charset or "utf-8")
    except LookupError:
        return "utf-8"
    return charset or "utf-8"
