"""Reads what methods of backends return: any of the forms in `BackendResult` becomes a `ModelReply`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from ..errors import PluginError
from ..ports.capabilities import Made
from ..schema import (
    MEDIA_PART_BY_KIND,
    MEDIA_PARTS,
    Blob,
    JSONValue,
    MediaPart,
    ModelReply,
    Part,
    SchemaError,
    TextPart,
    Transcript,
    TranscriptSegment,
    Usage,
    from_data,
    media_kind_of,
    to_data,
)

ResultKind = Literal["media", "transcript", "list"]
"""What a method returns: parts; a transcript; a list of voices or models."""
RecogniseBytes = Callable[[bytes, str | None], MediaPart]
"""Returns the part for bytes of a backend, and the media type that it declares."""

TRANSCRIPT, LISTED, MODEL = "transcript", "listed", "model"
"""Entries of the metadata of replies; the model of a stream is known at its end."""
_BYTES = ("content", "bytes", "data", "audio", "image", "video")
_TYPES = ("content_type", "media_type", "mime_type")
_IDS = ("id", "voice_id", "model_id")
_BUG = "This is a bug in the backend."


class ResultReader:
    """Reads the results of one method of a backend. `recognise` returns the part for bytes."""

    def __init__(self, who: str, kind: ResultKind, recognise: RecogniseBytes) -> None:
        self._who = who
        self._kind = kind
        self._recognise = recognise

    def reply(self, value: object) -> ModelReply:
        """Returns the result as a reply: a transcript and a list are in its metadata. Raises `PluginError` for an
        invalid one.
        """
        made = value if isinstance(value, Made) else Made(cast(Any, value))
        try:
            content, metadata = self._content(made.content), dict(made.metadata)
            if isinstance(content, Transcript):
                metadata[TRANSCRIPT] = to_data(content)
                parts: Sequence[Part] = (TextPart(content.text),)
            elif self._kind == "list":
                metadata[LISTED] = cast("list[JSONValue]", content)
                parts = ()
            else:
                parts = cast("Sequence[Part]", content)
            model = made.model or (content.model if isinstance(content, Transcript) else None)
            return ModelReply(
                tuple(parts), "stop", usage=made.usage or Usage(), model=model, warnings=tuple(made.warnings),
                provider_metadata=metadata,
            )  # fmt: skip
        except SchemaError as error:
            raise PluginError(f"{self._who} returns an invalid result: {error}", hint=_BUG) from None

    def pieces(self, value: object) -> list[MediaPart]:
        """Returns the parts in a piece of a stream; none for a notice without content."""
        notice = _mapping(value)
        return [] if notice is not None and not _has_bytes(notice) else self._parts(value)

    def _content(self, value: object) -> Sequence[MediaPart] | Transcript | list[Any]:
        if self._kind == "transcript":
            return self._transcript(value)
        if self._kind == "list":
            return self._list(value)
        parts = self._parts(value)
        if not parts:
            raise PluginError(f"{self._who} returns nothing: expected a file, or an error.", hint=_BUG)
        return parts

    def _transcript(self, value: object) -> Transcript:
        said = _mapping(value)
        if said is not None:
            value = said.get("text")
        if isinstance(value, str):
            text = value.strip()
            return Transcript((TranscriptSegment(text),) if text else ())
        if isinstance(value, Transcript):
            return value
        raise self._unexpected_error(value, "a Transcript, or text")

    def _list(self, value: object) -> list[Any]:
        grouped = _mapping(value)
        if grouped is not None:
            value = next((each for each in grouped.values() if _is_list(each)), None)
        if not isinstance(value, list | tuple):
            raise self._unexpected_error(value, "a list")
        items = cast("list[object]", value)
        return [_with_id(entry) if (entry := _mapping(each)) is not None else {"id": str(each)} for each in items]

    def _parts(self, value: object) -> list[MediaPart]:
        if isinstance(value, MEDIA_PARTS):
            return [value]
        if isinstance(value, bytes | bytearray | memoryview):
            return [self._recognised(bytes(cast(bytes, value)), None)]
        described = _mapping(value)
        if described is not None:
            return [self._of_mapping(described)]
        if isinstance(value, list | tuple):
            return [part for each in cast("list[object]", value) for part in self._parts(each)]
        raise self._unexpected_error(value, "bytes, a part, or several")

    def _of_mapping(self, value: Mapping[str, object]) -> MediaPart:
        declared = next((each for name in _TYPES if isinstance(each := value.get(name), str)), None)
        content = next((each for name in _BYTES if isinstance(each := value.get(name), bytes | bytearray)), None)
        if content is not None:
            return self._recognised(bytes(content), declared)
        sha256, size = value.get("sha256"), value.get("size_bytes")
        if isinstance(value.get("$artifact"), str) and isinstance(sha256, str) and isinstance(size, int) and declared:
            return MEDIA_PART_BY_KIND[media_kind_of(declared)](Blob.from_artifact(sha256, declared, size))
        raise PluginError(f"{self._who} returns a mapping without content: expected bytes in 'content'.", hint=_BUG)

    def _recognised(self, content: bytes, declared: str | None) -> MediaPart:
        if not content:
            raise PluginError(f"{self._who} returns an empty file.", hint=_BUG)
        return self._recognise(content, declared)

    def _unexpected_error(self, value: object, expected: str) -> PluginError:
        return PluginError(f"{self._who} returns a {type(value).__name__}: expected {expected}.", hint=_BUG)


def _mapping(value: object) -> Mapping[str, object] | None:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _with_id(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Returns an entry with its "id", which published plugins call otherwise."""
    found = next((entry[name] for name in _IDS if isinstance(entry.get(name), str)), None)
    return entry if found is None else {"id": found, **entry}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _has_bytes(value: Mapping[str, object]) -> bool:
    return any(isinstance(value.get(name), bytes | bytearray) for name in _BYTES)


def transcript_of(reply: ModelReply) -> Transcript:
    """Returns the transcript in a reply."""
    return from_data(Transcript, reply.provider_metadata[TRANSCRIPT])
