"""DOCX files with automatic numbers, written as XML."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
from docx.document import Document
from docx.oxml import parse_xml

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def level(number: int, style: str, text: str, start: int = 1, more: str = "") -> str:
    """A level of a list, as XML."""
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{style}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbered(
    levels: Sequence[str], items: Sequence[tuple[int, str] | tuple[int, str, int]], lists: Sequence[str] = ("",)
) -> bytes:
    """A document with items of a list, (level, text, list from 0); `lists` are what each one has of its own."""
    document = docx.Document()
    numbering = document.part.numbering_part.element
    for each in list(numbering):
        numbering.remove(each)
    numbering.append(parse_xml(f'<w:abstractNum {WORD} w:abstractNumId="7">{"".join(levels)}</w:abstractNum>'))
    for number, own in enumerate(lists, 1):
        numbering.append(parse_xml(f'<w:num {WORD} w:numId="{number}"><w:abstractNumId w:val="7"/>{own}</w:num>'))
    for item in items:
        add_item(document, item[1], item[0], item[2] + 1 if len(item) > 2 else 1)
    return saved(document)


def add_item(document: Document, text: str, depth: int, number: int) -> None:
    properties = f'<w:pPr {WORD}><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
    document.add_paragraph(text)._p.insert(0, parse_xml(properties))


def saved(document: Document) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
