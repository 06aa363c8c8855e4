"""Jupyter notebooks: cells in order, with their outputs; other JSON files are shown as they are (nbformat 4)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any, cast

from .blocks import Block, BlockPlace, GuessedEncoding, LostContent, MarkdownText, Picture, fenced
from .format_handler import DocumentFile
from .text_decoding import decoded
from .vocabularies import FormatVocabulary

VOCABULARY = FormatVocabulary(
    source="the schema of nbformat 4.5, and the types of output that Jupyter shows",
    read={
        "cells": "markdown raw source",
        "code, with the language of the notebook": "code",
        "what code wrote": "stream text text/markdown text/plain text/latex application/json",
        "names and texts of errors": "error ename evalue",
        "outputs: of several forms of one, the picture, else the text": "execute_result display_data data outputs",
        "pictures, attached ones too": "image/png image/jpeg image/gif image/webp image/svg+xml attachments",
    },
    lost={
        "outputs": "text/* image/* application/* audio/* video/* model/* unrecognized_output",
        "attachments of cells": "attachment",
    },
    left_out={"traces of errors, which repeat code": "traceback"},
    properties="id cell_type output_type metadata execution_count name",
)
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_SHOWN = ("text/markdown", "text/latex", "text/plain", "application/json")


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the cells of a notebook."""
    text, guessed = decoded(file.data, file.name)
    if guessed is not None:
        yield GuessedEncoding(guessed)
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        raise file.work.corrupt("notebook", "it is not valid JSON") from None
    notebook = _object(loaded)
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise file.work.corrupt("notebook", "it has no cells, or is of a version before 4")
    metadata = _object(notebook.get("metadata"))
    language = _object(metadata.get("kernelspec")).get("language") or _object(metadata.get("language_info")).get("name")
    for number, each in enumerate(cast(list[object], cells), 1):
        cell, place = _object(each), BlockPlace(paragraph=number)
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "code":
            yield fenced(source.rstrip("\n"), language if isinstance(language, str) else "", place)
            outputs = cell.get("outputs")
            for output in cast(list[object], outputs) if isinstance(outputs, list) else []:
                yield from _output(_object(output), place)
        else:
            yield MarkdownText(source.strip(), place)
            attachments = _object(cell.get("attachments"))
            for name, bundle in attachments.items():
                pictures = list(_pictures(_object(bundle), place, str(name)))
                yield from pictures
                if not pictures:
                    file.losses.meet("attachment", f"cell {number}")


def _output(output: dict[str, Any], place: BlockPlace) -> Iterator[Block]:
    if output.get("output_type") == "error":
        yield fenced(f"{output.get('ename')}: {output.get('evalue')}", "error", place)
        return
    if "text" in output:
        yield fenced(_joined(output["text"]).rstrip("\n"), "output", place)
        return
    data = _object(output.get("data"))
    pictures = list(_pictures(data, place, f"output of cell {place.paragraph}"))
    if pictures:
        yield from pictures
        return
    for media_type in _SHOWN:
        if media_type in data:
            value = data[media_type]
            text = json.dumps(value) if media_type == "application/json" else _joined(value)
            yield (
                MarkdownText(text, place)
                if media_type == "text/markdown"
                else fenced(text.rstrip("\n"), "output", place)
            )
            return
    yield LostContent("outputs", 1, where=f"cell {place.paragraph}")


def _pictures(bundle: dict[str, Any], place: BlockPlace, name: str) -> Iterator[Block]:
    for media_type in _PICTURES:
        if media_type not in bundle:
            continue
        content = _joined(bundle[media_type])
        try:
            data = content.encode() if media_type.endswith("xml") else base64.b64decode(content)
        except (binascii.Error, ValueError):
            yield LostContent("pictures", 1, where=name)
            return
        yield Picture(data, name, place)
        return


def _joined(value: object) -> str:
    """Returns a text that a notebook may keep as a list of lines."""
    if isinstance(value, list):
        return "".join(map(str, cast(list[object], value)))
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
