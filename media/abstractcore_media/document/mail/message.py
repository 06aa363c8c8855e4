"""A mail as blocks: its headers, its text, and its attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from abstractcore.errors import MissingExtraError

from ..blocks import AttachedFile, Block, BlockPlace, LostContent, MarkdownText, Picture
from ..format_handler import DocumentFile
from ..vocabularies import LossCounter
from ..web.html import data_of, page_blocks
from ..web.markup import Page
from ..web.vocabulary import HTML

_WORD = re.compile(r"\w{2,}")
_TAG = re.compile(r"<[^<>]{0,5000}>")
_SAMPLE = 30_000
_FEW_WORDS = 10
"""The plain text may lack so many words of the HTML, such as those of its links, in a short mail."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a mail. `content_id` is the one that its HTML refers to it by."""

    name: str
    data: bytes
    media_type: str | None = None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class MailBody:
    """A text of a mail: plain, HTML, or both forms of the same. `encoding` is the one that the mail gives the HTML."""

    text: str = ""
    html: bytes = b""
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class MailMessage:
    """What both formats have."""

    headers: Sequence[tuple[str, str]]
    bodies: Sequence[MailBody] = ()
    attachments: Sequence[Attachment] = ()


def mail_blocks(message: MailMessage, file: DocumentFile) -> Iterator[Block]:
    """Yields the headers, the texts and the attachments of a mail."""
    for name, value in message.headers:
        if value.strip():
            yield MarkdownText(f"{name}: {' '.join(value.split())}", BlockPlace(member="headers"), "headers")
    in_text: set[str] = set()
    by_id = {each.content_id: each for each in message.attachments if each.content_id}
    paragraphs = 0
    for body in message.bodies:
        html = _html(body, file, by_id, in_text, BlockPlace(paragraph=paragraphs)) if body.html else None
        for block in _plain(body.text, paragraphs) if html is None else html:
            if isinstance(block, MarkdownText):
                paragraphs = max(paragraphs, block.place.paragraph or 0)
            yield block
    for each in message.attachments:
        if each.content_id not in in_text:
            place = BlockPlace(member=each.name)
            is_picture = (each.media_type or "").startswith("image/")
            if is_picture:
                yield Picture(each.data, each.name, place)
            else:
                yield AttachedFile(each.data, each.name, place, each.media_type)


def _plain(text: str, before: int) -> Iterator[Block]:
    paragraphs = text.replace("\r\n", "\n").split("\n\n")
    for number, paragraph in enumerate(filter(str.strip, paragraphs), before + 1):
        yield MarkdownText(paragraph, BlockPlace(paragraph=number))


def _html(
    body: MailBody, file: DocumentFile, by_id: Mapping[str, Attachment], in_text: set[str], place: BlockPlace
) -> Sequence[Block] | None:
    """Returns the blocks of the HTML, None if the plain text has most of its words, or if HTML cannot be read here.

    The pictures that it shows are added to `in_text`.
    """
    sample = unescape(_TAG.sub(" ", body.html[:_SAMPLE].decode("utf-8", "replace"))).lower()
    words = sample.split()  # where blanks are between words, they are found in a third of the time
    if body.text and 20 * len(words) > len(sample) and _has_most(set(body.text.lower().split()), set(words)):
        return None
    plain = _words(body.text)
    if plain and _has_most(plain, _words(sample)):
        return None  # what a tag or a style has may look like words, but none is missed
    losses = LossCounter(HTML)
    shown: set[str] = set()

    def picture(address: str, alt: str, place: BlockPlace) -> Block | None:
        found = by_id.get(address.removeprefix("cid:")) if address.startswith("cid:") else None
        if found is not None:
            shown.add(found.content_id)
            return Picture(found.data, found.name, place, alt)
        data = data_of(address)
        if data:
            return Picture(data, "picture in the mail", place, alt)
        return LostContent("pictures", 1, where=address[:100]) if address else None

    try:
        blocks = list(page_blocks(body.html, Page(file.work, losses, picture, place), body.encoding))
    except MissingExtraError:
        if body.text.strip():
            return None
        raise
    read = {word for block in blocks if isinstance(block, MarkdownText) for word in _words(block.text)}
    if plain and _has_most(plain, read):
        return None
    in_text |= shown
    return [*blocks, *losses.blocks()]


def _has_most(plain: set[str], words: set[str]) -> bool:
    return len(words - plain) < max(len(words) / 2, _FEW_WORDS)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
