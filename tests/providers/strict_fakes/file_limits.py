"""Limits on the files of a request, as vendors' pages state them, held by looking at what was sent.

The figures were typed from the pages, not taken from the catalogue.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image
from pypdf import PdfReader

from tests.providers.strict_fakes.fake import Fake, Row

_DATA_URL = re.compile(r"data:[^,]*;base64,")
_SHORTEST = 60
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")


@dataclass(frozen=True)
class FileLimits:
    """Limits on a request; None where the page states none. Sizes are in bytes."""

    images: int | None = None
    image_bytes: int | None = None
    image_pixels: int | None = None
    many_images: int | None = None
    many_image_pixels: int | None = None
    image_area: int | None = None
    documents: int | None = None
    document_bytes: int | None = None
    pdf_bytes: int | None = None
    pdf_pages: int | None = None
    request_bytes: int | None = None


CLAUDE_200K = FileLimits(
    images=100, image_pixels=8000, many_images=20, many_image_pixels=2000, pdf_pages=100, request_bytes=32_000_000
)
"""platform.claude.com/docs/en/build-with-claude/vision and /pdf-support: of models with a context of 200k tokens."""
CONVERSE = FileLimits(images=20, image_bytes=3_750_000, image_pixels=8000, documents=5, document_bytes=4_500_000)
"""docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html"""
GROQ = FileLimits(images=5, image_area=33_177_600, request_bytes=4_000_000)
"""console.groq.com/docs/vision"""
GEMINI = FileLimits(pdf_bytes=50_000_000, request_bytes=100_000_000)
"""ai.google.dev/gemini-api/docs/document-processing and /file-input-methods"""
COHERE = FileLimits(images=20)
"""docs.cohere.com/docs/image-inputs"""


def with_limits(fake: Fake, limits: FileLimits) -> Fake:
    """Returns a fake that also refuses what exceeds limits."""

    def refusal(row: Row, path: str, body: Any, headers: Mapping[str, str]) -> str | None:
        earlier = fake.refusal_by_headers
        return next(_excesses(limits, body, int(headers["content-length"])), None) or (
            None if earlier is None else earlier(row, path, body, headers)
        )

    return replace(fake, refusal_by_headers=refusal)


def files_in(body: Any) -> Iterator[bytes]:
    """Yields the files of a request, in whatever field: texts that are base64 of a known kind of file."""
    if isinstance(body, dict):
        for value in body.values():
            yield from files_in(value)
    elif isinstance(body, list):
        for value in body:
            yield from files_in(value)
    elif isinstance(body, str) and len(body) > _SHORTEST:
        try:
            data = base64.b64decode(_DATA_URL.sub("", body, count=1), validate=True)
        except ValueError:
            return
        if data.startswith((*_IMAGES, b"%PDF", b"PK\3\4")):
            yield data


def _excesses(limits: FileLimits, body: Any, size: int) -> Iterator[str]:
    files = [*files_in(body)]
    images = [file for file in files if file.startswith(_IMAGES)]
    documents = [file for file in files if file not in images]
    pdfs = [file for file in documents if file.startswith(b"%PDF")]
    sizes = [Image.open(io.BytesIO(image)).size for image in images]
    found = {
        "images": len(images),
        "image_bytes": max(map(len, images), default=0),
        "image_pixels": max(map(max, sizes), default=0),
        "image_area": max((width * height for width, height in sizes), default=0),
        "documents": len(documents),
        "document_bytes": max((len(each) for each in documents if each not in pdfs), default=0),
        "pdf_bytes": max(map(len, pdfs), default=0),
        "request_bytes": size,
    }
    if limits.many_images is not None and len(images) > limits.many_images:
        found["many_image_pixels"] = found["image_pixels"]
    if limits.pdf_pages is not None:
        found["pdf_pages"] = sum(len(PdfReader(io.BytesIO(pdf)).pages) for pdf in pdfs)
    for name, count in found.items():
        most = getattr(limits, name)
        if most is not None and count > most:
            yield f"{name}: {count} exceeds the maximum of {most}"
