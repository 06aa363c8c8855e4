"""EPUB: the chapters of a book in reading order, with pictures (EPUB 3.3). Copy protection is a typed error."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

from abstractcore.errors import EncryptedFileError

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, Picture
from ..format_handler import DocumentFile
from ..xml_elements import elements, whole
from ..zip_members import ZipMembers
from .html import data_of, page_blocks
from .markup import Page
from .vocabulary import HTML

VOCABULARY = replace(
    HTML,
    source=f"EPUB 3.3; {HTML.source}",
    left_out_members={
        "lists of contents and descriptions of the package": "mimetype META-INF/* *.opf *.ncx *.smil *.xpgt",
        "styles, fonts and scripts": "*.css *.js *.otf *.ttf *.woff *.woff2",
        "recordings, which are counted where they stand": "*.mp3 *.m4a *.mp4 *.m4v *.ogg *.webm",
    },
)
_TITLE = "EPUB book"


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a book, chapter by chapter."""
    members = ZipMembers(file.data, file.work, _TITLE, file.losses)
    root = next(elements(members.chunks("META-INF/container.xml"), frozenset({"rootfile"})), None)
    path = root.get("full-path", "") if root is not None else ""
    if path not in members:
        raise file.work.corrupt(_TITLE, "it has no list of contents")
    package = whole(members.chunks(path), "package")
    titles = {" ".join((each.text or "").split()) for each in package.iter("title")}
    for tag, label in (("title", "title"), ("creator", "author")):
        for each in package.iter(tag):
            yield MarkdownText(f"[{label}: {(each.text or '').strip()}]" if each.text else "", group="metadata")
    folder = posixpath.dirname(path)
    items = {each.get("id", ""): each for each in package.iter("item")}
    for each in items.values():
        if "nav" in each.get("properties", "").split():
            file.losses.opens(_resolved(folder, each.get("href", "")))
    spine = dict.fromkeys(each.get("idref", "") for each in package.iter("itemref"))
    for key in spine:
        if key not in items:
            file.losses.count("chapters", path)
    chapters = list(dict.fromkeys(_resolved(folder, items[key].get("href", "")) for key in spine if key in items))
    _check_protection(members, chapters, file)
    for number, chapter in enumerate(chapters):
        data = members.read(chapter)
        if not data:
            file.losses.count("chapters", chapter)
            continue
        picture = partial(_picture, members, posixpath.dirname(chapter))
        page = Page(file.work, file.losses, picture, BlockPlace(member=chapter), titles)
        yield from page_blocks(data, page)
        if number % 16 == 0:
            file.work.check()


def _check_protection(members: ZipMembers, chapters: list[str], file: DocumentFile) -> None:
    protected = {
        unquote(each.get("URI", ""))
        for each in elements(members.chunks("META-INF/encryption.xml"), frozenset({"CipherReference"}))
    }
    if protected.intersection(chapters):
        raise EncryptedFileError(
            f"{file.name} is protected against copying, and can be read in the shop's own program only.",
            source=file.name,
            hint="Use a copy without protection.",
        )


def _picture(members: ZipMembers, folder: str, address: str, alt: str, place: BlockPlace) -> Block | None:
    data = data_of(address)
    path = "picture in the page" if data else _resolved(folder, address)
    data = data or (members.read(path) if "://" not in address else b"")
    if data:
        return Picture(data, path, place, alt)
    return LostContent("pictures", 1, where=path) if address else None


def _resolved(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, unquote(address.partition("#")[0]))).lstrip("/")
