"""`Savable`: media parts whose content can be written to a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from .base_error import SchemaError
from .install_hints import install_hint

if TYPE_CHECKING:
    from PIL.Image import Image

    from .blobs import Blob

_ENDINGS = {
    "application/vnd.recordare.musicxml+xml": "musicxml",
    "audio/midi": "mid",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "text/markdown": "md",
    "text/plain": "txt",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/x-msvideo": "avi",
}
"""Of media types whose subtype is not how their files end."""


class Savable:
    """Base class of media parts, which have a `blob` and a `type`."""

    __slots__ = ()
    if TYPE_CHECKING:
        type: ClassVar[str]
        blob: Blob

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the content to a file, and returns its path. A file that exists is overwritten.

        In a folder, the file gets a name of its own: that of the content or its kind, with the beginning of its hash,
        as in `image-0f1e2d3c.png`. Raises `SchemaError` for content that is elsewhere, and `OSError` as
        `open` does: a file that was there is unchanged then.
        """
        content = self.blob.read()
        target = Path(path)
        if target.is_dir():
            target /= _file_name(self.blob, self.type)
        write_whole(target, content)
        return target


def write_whole(target: Path, content: bytes) -> None:
    """Writes a file that is either complete or not there, also on a full disk."""
    target = target.resolve()  # of a link, the file that it leads to
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    unfinished = target.with_name(f".{target.name[:100]}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def pillow_image(blob: Blob) -> Image:
    """Returns the image of a blob, decoded by Pillow; see `ImagePart.to_pil`."""
    content = blob.read()
    try:
        from PIL import Image  # an optional library: only this function needs it
    except ImportError as error:
        hint = install_hint("pillow", extra="images")
        raise SchemaError("an image as a Pillow image needs the package pillow", hint=hint) from error
    import io

    try:
        image = Image.open(io.BytesIO(content))
        image.load()
    except Exception as error:  # decoders of damaged files may raise any exception
        hint = "The bytes are in part.blob.read()."
        why = str(error).rstrip(".") or type(error).__name__
        raise SchemaError(f"Pillow cannot decode this {blob.media_type}: {why}", "blob", hint=hint) from error
    return image


def _file_name(blob: Blob, kind: str) -> str:
    """Returns a name without folders, whatever the name of the blob is, and another one for each content."""
    stem, suffix = os.path.splitext((blob.name or "").replace("\\", "/").rpartition("/")[2])
    kept = "".join(each for each in stem if each.isalnum() or each in " ._-").strip(" .")[:100]
    ending = suffix[1:] if suffix[1:].isalnum() else ending_of(blob.media_type)
    return f"{kept or kind}-{(blob.sha256 or '')[:8]}.{ending}"


def ending_of(media_type: str) -> str:
    """Returns how the names of files of a type end, without the dot; "bin" if that is not known."""
    plain = media_type.partition(";")[0].strip()
    subtype = plain.rpartition("/")[2].removeprefix("x-")
    return _ENDINGS.get(plain) or (subtype if subtype.isalnum() else "bin")
