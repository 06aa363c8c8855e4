"""Documents as the handlers convert them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from abstractcore.ports import Conversion, MediaContext, MediaHandler
from abstractcore.schema import Blob, DocumentPart, MediaPart
from abstractcore_media import media_type_of, register_media_handlers
from abstractcore_media.document.work_limits import WorkLimits
from tests.media.parts import FILES, NO_MODELS

DOCUMENTS = FILES / "documents"


def part_of(data: bytes, name: str) -> MediaPart:
    media_type = media_type_of(data[:8192], name)
    assert media_type is not None
    return DocumentPart(Blob.from_bytes(data, media_type, name=name))


def handler_of(part: MediaPart) -> MediaHandler:
    """The handler of a file, by its type."""
    blob = part.blob
    return next(each for each in register_media_handlers() if each.recognise(b"", blob.name or "", blob.media_type))


def converted(
    content: bytes | Path,
    name: str = "",
    context: MediaContext = NO_MODELS,
    *,
    password: str | None = None,
    limits: WorkLimits | None = None,
) -> Conversion:
    """A file as its handler converts it."""
    data = content.read_bytes() if isinstance(content, Path) else content
    part = part_of(data, name or (content.name if isinstance(content, Path) else ""))
    if password is not None:
        context = replace(context, passwords={part.blob.sha256 or "": password})
    handler = handler_of(part)
    if limits is not None:
        handler.limits = limits  # pyright: ignore[reportAttributeAccessIssue]
    return handler.convert(part, context)


def places(conversion: Conversion, *names: str) -> list[tuple[object, ...]]:
    """The text of each anchor, with fields of it."""
    text = conversion.text
    return [(text[each.start : each.end], *(getattr(each, name) for name in names)) for each in conversion.anchors]


def losses(conversion: Conversion) -> dict[str, tuple[float, float | None]]:
    return {each.what: (each.count, each.total) for each in conversion.lost}
