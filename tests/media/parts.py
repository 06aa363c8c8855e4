"""Parts made from files and bytes, as the loader would make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from abstractcore.ports import MediaContext, MediaHandler, StoredModel
from abstractcore.schema import MEDIA_PART_BY_KIND, AudioPart, Blob, DocumentPart, MediaPart

FILES = Path(__file__).parent / "files"
EXAMPLES = Path(__file__).parents[2] / "examples" / "media"


class NoModels:
    """A model store that must not be used."""

    def path(self, name: str) -> Path:
        raise AssertionError(f"asked for {name}")

    def list(self) -> Sequence[StoredModel]:
        return []

    def pull(self, name: str) -> StoredModel:
        raise AssertionError(f"asked for {name}")

    def remove(self, name: str) -> bool:
        return False


NO_MODELS = MediaContext(NoModels())


def blob(content: bytes | Path, media_type: str, name: str = "the-file") -> Blob:
    if isinstance(content, Path):
        return Blob.from_file(content, media_type)
    return Blob.from_bytes(content, media_type, name=name)


def type_of(handler: MediaHandler, head: bytes, name: str) -> str | None:
    """Returns the media type that a handler detects by content and name; None if it does not recognise the file."""
    found = handler.recognise(head, name, None)
    return found.media_type if found is not None else None


def takes(handler: MediaHandler, part: MediaPart) -> bool:
    """Whether a part is one of the handler's, by its class and the media type that it declares."""
    found = handler.recognise(b"", "", part.blob.media_type)
    return found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part)


def text_file(content: bytes | Path, media_type: str = "text/plain") -> MediaPart:
    return DocumentPart(blob(content, media_type))


def pdf(content: bytes | Path) -> MediaPart:
    return DocumentPart(blob(content, "application/pdf"))


def sound(content: bytes | Path, media_type: str = "audio/wav") -> MediaPart:
    return AudioPart(blob(content, media_type))
