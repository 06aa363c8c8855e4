"""The user's arguments: texts and files, read for backends, and which of them a method of a backend takes."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

from ..errors import InvalidInputError, MediaError, UnknownOptionError, UnsupportedOptionError
from ..ports import ArtifactStore, Runtime
from ..ports.capabilities import MediaBytes
from ..registry import name_hint
from ..schema import MEDIA_PART_BY_KIND, Blob, CallWarning, JSONValue, MediaPart, SchemaError, media_kind_of
from ..schema.base_error import one_line
from .owner import Caller

P = TypeVar("P", bound=MediaPart)
TextSource: TypeAlias = str | Iterable[str] | AsyncIterable[str]
_END = object()


def accepted_arguments(
    method: Callable[..., object], where: str, given: Mapping[str, Any], standard: Collection[str], *, strict: bool
) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the arguments that `method` takes, and warnings for others of the `standard` ones.

    Raises `UnknownOptionError` with similar names for an argument that is neither, and `UnsupportedOptionError` instead
    of warnings if the call is `strict`.
    """
    names = _parameter_names(method)
    if names is None:
        return {**given}, []
    warnings: list[CallWarning] = []
    for name, value in given.items():
        if name in names:
            continue
        if name not in standard:
            hint = name_hint(name, sorted({*names, *standard}), "arguments", where)
            raise UnknownOptionError(f"{where} has no argument {name!r}.", hint=hint)
        message = f"{where} does not take {name!r}"
        if strict:
            raise UnsupportedOptionError(f"{message}.", hint="Leave it out, or choose another backend.")
        warnings.append(CallWarning("unsupported_option", name, message, requested=_small(value)))
    return {name: value for name, value in given.items() if name in names}, warnings


def _parameter_names(method: Callable[..., object]) -> set[str] | None:
    """Returns the names of the parameters that may be given by name; None if any may."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):  # of a function in C
        return None
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    return {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)}


def _small(value: object) -> JSONValue:
    return value if isinstance(value, str | int | float | bool) else None


def checked_text(text: object, name: str) -> str:
    """Returns a text that the user gave; raises `InvalidInputError` unless it has any words."""
    if not isinstance(text, str):
        raise InvalidInputError(f"expected text, got {type(text).__name__}", path=name)
    if not text.strip():
        raise InvalidInputError("the text is empty", path=name)
    return text


class TextPieces:
    """The pieces of a text that the user gave, for backends that take them one by one, or whole."""

    def __init__(self, source: TextSource) -> None:
        if isinstance(source, str):
            checked_text(source, "text")
        elif isinstance(source, bytes) or not isinstance(source, Iterable | AsyncIterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, or pieces of it, got {type(source).__name__}", path="text")
        self._source = source

    async def whole(self, runtime: Runtime) -> str:
        """Returns the text, when all of it has arrived."""
        if isinstance(self._source, str):
            return self._source
        return checked_text("".join([piece async for piece in self.pieces(runtime)]), "text")

    async def pieces(self, runtime: Runtime) -> AsyncIterator[str]:
        """Yields the pieces as they arrive. In sync calls it never suspends."""
        if isinstance(self._source, str):
            yield self._source
        elif isinstance(self._source, AsyncIterable):
            async for piece in self._source:
                yield _checked_piece(piece)
        else:
            source = cast("Iterator[object]", iter(self._source))
            while (piece := await runtime.call(next, source, _END)) is not _END:
                yield _checked_piece(piece)


def _checked_piece(piece: object) -> str:
    if not isinstance(piece, str):
        raise InvalidInputError(f"expected pieces of text, got {type(piece).__name__}", path="text")
    return piece


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


def recognised_part(content: bytes, declared: str | None, caller: Caller, usual: str | None) -> MediaPart:
    """Returns the part for bytes of a backend: of the type that it declares, else of the one that they have, else of
    the `usual` one.
    """
    if declared is None:
        try:
            return caller.load(content, "result")
        except MediaError:
            declared = usual or "application/octet-stream"
    return MEDIA_PART_BY_KIND[media_kind_of(declared)](Blob.from_bytes(content, declared))


async def stored_parts(parts: tuple[P, ...], store: ArtifactStore, runtime: Runtime) -> tuple[P, ...]:
    """Returns the parts with their content in `store`; raises `ArtifactError` if it cannot be written."""
    put: list[P] = []
    for part in parts:
        blob = part.blob
        if blob.form in ("bytes", "file"):
            content = await runtime.call(blob.read, kind="files")
            blob = await runtime.call(store.put, content, blob.media_type, blob.name, kind="files")
        put.append(cast(Any, replace(part, blob=blob)))
    return tuple(put)
