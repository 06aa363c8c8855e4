"""Files that users give to capabilities: read for backends, and files of backends: recognised, and stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from ..errors import InvalidInputError, MediaError
from ..ports import ArtifactStore, Runtime
from ..ports.capabilities import MediaBytes
from ..schema import MEDIA_PART_BY_KIND, Blob, MediaPart, SchemaError, media_kind_of
from ..schema.quoting import one_line
from .caller import Caller

P = TypeVar("P", bound=MediaPart)


@dataclass(frozen=True, slots=True)
class FileArgument:
    """A file that the user gave as the argument `name`, which may be of these `kinds`."""

    name: str
    source: object
    kinds: tuple[str, ...]

    def read(self, caller: Caller) -> MediaBytes:
        """Returns its content; blocks. Raises as `part` does."""
        part = self.part(caller)
        try:
            return MediaBytes(part.blob.read(), part)
        except (OSError, SchemaError) as error:
            raise MediaError(f"{self.name} cannot be read: {error}", source=part.blob.name or self.name) from None

    def part(self, caller: Caller) -> MediaPart:
        """Returns it as a part whose content is at hand; blocks.

        Raises `MediaError` and `ArtifactError` for a file that cannot be read, and `InvalidInputError` for one of
        another kind.
        """
        part = caller.load(self.source, self.name)
        if part.type not in self.kinds:
            named = f"{one_line(part.blob.name)}, " if part.blob.name else ""
            expected = " or ".join(self.kinds)
            raise InvalidInputError(f"expected {expected}, got {named}{part.blob.media_type}", path=self.name)
        blob = part.blob
        if blob.form == "artifact":
            content = caller.services.artifacts.get(cast(str, blob.sha256))
        elif blob.form == "url":
            content = caller.download(cast(str, blob.location))
        else:
            return part
        return replace(part, blob=Blob.from_bytes(content, blob.media_type, name=blob.name))


def recognised(content: bytes, declared: str | None, caller: Caller, usual: str | None) -> MediaPart:
    """Returns the part for bytes of a backend: of the type that it declares, else of the one that they have, else of
    the `usual` one.
    """
    if declared is None:
        try:
            return caller.load(content, "result")
        except MediaError:
            declared = usual or "application/octet-stream"
    return MEDIA_PART_BY_KIND[media_kind_of(declared)](Blob.from_bytes(content, declared))


async def stored(parts: tuple[P, ...], store: ArtifactStore, runtime: Runtime) -> tuple[P, ...]:
    """Returns the parts with their content in `store`; raises `ArtifactError` if it cannot be written."""
    put: list[P] = []
    for part in parts:
        blob = part.blob
        if blob.form in ("bytes", "file"):
            content = await runtime.call(blob.read, kind="files")
            blob = await runtime.call(store.put, content, blob.media_type, blob.name, kind="files")
        put.append(cast(Any, replace(part, blob=blob)))
    return tuple(put)
