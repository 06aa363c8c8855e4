"""A mail as blocks: its headers, its text, and its attachments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..blocks import AttachedFile, Block, BlockPlace, LostContent, MarkdownText, Picture
from ..web.html import data_of, encoding_of
from ..web.markup import html_blocks
from ..work_limits import Work


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a mail. `content_id` is the one that its HTML refers to it by."""

    name: str
    data: bytes
    media_type: str | None = None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class MailMessage:
    """What both formats have. `html` is used only if there is no `text`; `encoding` is that of `html`."""

    headers: Sequence[tuple[str, str]]
    text: str = ""
    html: bytes = b""
    encoding: str | None = None
    attachments: Sequence[Attachment] = field(default_factory=tuple[Attachment, ...])


def mail_blocks(message: MailMessage, work: Work) -> Iterator[Block]:
    """Yields the headers, the text and the attachments of a mail."""
    for name, value in message.headers:
        if value.strip():
            yield MarkdownText(f"{name}: {' '.join(value.split())}", BlockPlace(member="headers"), "headers")
    in_text: set[str] = set()
    if message.text.strip():
        paragraphs = message.text.replace("\r\n", "\n").split("\n\n")
        for number, paragraph in enumerate(filter(str.strip, paragraphs), 1):
            yield MarkdownText(paragraph, BlockPlace(paragraph=number))
    elif message.html:
        by_id = {each.content_id: each for each in message.attachments if each.content_id}

        def picture(address: str, alt: str, place: BlockPlace) -> Block | None:
            found = by_id.get(address.removeprefix("cid:")) if address.startswith("cid:") else None
            if found is not None:
                in_text.add(found.content_id)
                return Picture(found.data, found.name, place, alt)
            data = data_of(address)
            if data:
                return Picture(data, "picture in the mail", place, alt)
            return LostContent("pictures", 1, where=address[:100]) if address else None

        yield from html_blocks(message.html, work, message.encoding or encoding_of(message.html), BlockPlace(), picture)
    for each in message.attachments:
        if each.content_id not in in_text:
            place = BlockPlace(member=each.name)
            is_picture = (each.media_type or "").startswith("image/")
            if is_picture:
                yield Picture(each.data, each.name, place)
            else:
                yield AttachedFile(each.data, each.name, place, each.media_type)
