"""Parts as the format can carry them, with a warning for everything it has no place for. Writing them loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    AudioPart,
    CallWarning,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    JSONObject,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
)

from ..raw_arguments import WrittenArguments
from .citations import fit_citations
from .media import check_media, from_base64
from .read_blocks import INPUT, STATUSES, BlockReader
from .vocabulary import PROVIDER, fit_cache

P = TypeVar("P", bound=Part)


@dataclass(frozen=True, slots=True)
class Fitting:
    """Fits the parts of one message. `origin` is whose reasoning may be sent back."""

    role: Role
    origin: str | None
    warnings: list[CallWarning]

    def part(self, part: Part, path: str) -> Part | None:
        """The part as it is sent; None if it is not.

        Raises `UnsupportedContentError` with the path for content that cannot be left out.
        """
        if isinstance(part, TextPart):
            return part if is_plain(part) else self._text(part, path)
        if isinstance(part, MEDIA_PARTS):
            return self._media(part, path)
        if isinstance(part, ToolCall):
            return self._call(part, path)
        if isinstance(part, ToolResult):
            content = self._content(part.content, f"{path}.content", part.call_id)
            cache = fit_cache(part.cache, path, self.warnings)
            return _changed(part, content=content, cache=cache)
        if isinstance(part, ReasoningPart):
            return self._reasoning(part, path)
        if isinstance(part, HostedToolCall):
            return self._hosted_call(part, path)
        if isinstance(part, HostedToolResult):
            return self._hosted_result(part, path)
        return self._opaque(part, path)

    def _text(self, part: TextPart, path: str) -> TextPart:
        cache = fit_cache(part.cache, path, self.warnings)
        if part.citations and self.role == "assistant":
            citations = fit_citations(part.citations, len(part.text), path, self.warnings)
            return TextPart(part.text, citations, cache)
        if part.citations:
            self._left_out("citations", path)
            return TextPart(part.text, cache=cache)
        return _changed(part, cache=cache)

    def _media(self, part: MediaPart, path: str) -> Part:
        check_media(part, path)
        cache = fit_cache(part.cache, path, self.warnings)
        if isinstance(part, ImagePart) and part.detail is not None:
            self._left_out("detail", path)
            return ImagePart(part.blob, cache=cache)
        if isinstance(part, AudioPart):
            for name in ("transcript", "id"):
                if getattr(part, name) is not None:
                    self._left_out(name, path)
            return AudioPart(part.blob, cache=cache)
        return _changed(part, cache=cache)

    def _call(self, part: ToolCall, path: str) -> ToolCall:
        if part.signature is not None:
            self._left_out("signature", path)
        text = fit_arguments(part, path, self.warnings)
        cache = fit_cache(part.cache, path, self.warnings)
        return _changed(part, arguments_text=text, signature=None, cache=cache)

    def _content(self, content: Iterable[ContentPart], path: str, call_id: str) -> tuple[ContentPart, ...]:
        """What a tool gave: text, images, documents and video, without cache points."""
        fitted: list[ContentPart] = []
        for index, part in enumerate(content):
            place = f"{path}[{index}]"
            if isinstance(part, AudioPart):
                raise UnsupportedContentError(
                    f"{place}: the result of tool call {call_id!r} holds audio, which cannot be sent there.",
                    hint="Put it into a user message after the result.",
                )
            if part.cache is not None:
                self._left_out("cache", place)
                part = replace(part, cache=None)
            if isinstance(part, TextPart):
                if part.citations:
                    self._left_out("citations", place)
                    part = TextPart(part.text)
                fitted.append(part)
            else:
                check_media(part, place)
                if isinstance(part, ImagePart) and part.detail is not None:
                    self._left_out("detail", place)
                    part = ImagePart(part.blob)
                fitted.append(part)
        return tuple(fitted)

    def _reasoning(self, part: ReasoningPart, path: str) -> ReasoningPart | None:
        if part.origin is None or part.origin != self.origin:
            message = "reasoning goes back only to the model it came from"
            self.warnings.append(CallWarning("reasoning_left_out", path, message))
            return None
        return fit_reasoning(part, path, self.warnings)

    def _hosted_call(self, part: HostedToolCall, path: str) -> HostedToolCall:
        self._metadata(part.provider_metadata, path, frozenset())
        same = ToolCall(part.id, part.name, part.arguments_text)
        return HostedToolCall(part.id, part.name, fit_arguments(same, path, self.warnings))

    def _hosted_result(self, part: HostedToolResult, path: str) -> HostedToolResult:
        known = frozenset(name for name, value in part.provider_metadata.items() if is_result_field(name, value))
        metadata = self._metadata(part.provider_metadata, path, known)
        return HostedToolResult(
            part.call_id, self._content(part.content, f"{path}.content", part.call_id), provider_metadata=metadata
        )

    def _metadata(self, metadata: JSONObject, path: str, known: frozenset[str]) -> JSONObject:
        kept = {name: metadata[name] for name in metadata if name in known}
        if kept != metadata:
            message = "not everything that a provider said beside it has a place in this format"
            place = f"{path}.provider_metadata"
            self.warnings.append(CallWarning("metadata_left_out", place, message, sent=kept or None))
        return kept

    def _opaque(self, part: OpaquePart, path: str) -> OpaquePart | None:
        if part.provider == PROVIDER and _is_read_again(part, self.role):
            return part
        message = f"what only {part.provider!r} understands, as {part.kind!r}, has no place here"
        self.warnings.append(CallWarning("part_left_out", path, message))
        return None

    def _left_out(self, name: str, path: str) -> None:
        message = f"the Converse format has no place for {name} here"
        self.warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))


def is_plain(part: Part) -> bool:
    """Whether it is text and nothing else, as most parts are: it is sent as it is."""
    return isinstance(part, TextPart) and part.cache is None and not part.citations


def _changed(part: P, **fields: object) -> P:
    """The part with these fields; itself, if they are its own already."""
    same = all(value == getattr(part, name) for name, value in fields.items())
    return part if same else replace(part, **fields)


def fit_arguments(call: ToolCall, path: str, warnings: list[CallWarning]) -> str:
    """The text of a call's arguments as it can stand in a body: that of an object, or of an empty one."""
    text = "{}"
    if call.arguments is not None and call.arguments_text.strip():
        text = call.arguments_text.strip(" \t\r\n")
    if text != call.arguments_text:
        message = "the format takes arguments that are a JSON object"
        place = f"{path}.arguments_text"
        warnings.append(CallWarning("arguments_rewritten", place, message, call.arguments_text, text))
    return text


def fit_reasoning(part: ReasoningPart, path: str, warnings: list[CallWarning]) -> ReasoningPart:
    """The reasoning as one block holds it: readable, or redacted."""
    if part.redacted_data is None:
        return part
    if not part.text and part.signature is None:
        try:
            from_base64(part.redacted_data, "")
        except InvalidInputError:
            why = "the redacted reasoning is not base64"
        else:
            return part
    else:
        why = "reasoning is either readable or redacted in this format"
    warnings.append(CallWarning("redacted_data_left_out", f"{path}.redacted_data", why))
    return replace(part, redacted_data=None)


def is_result_field(name: str, value: object) -> bool:
    """Whether a hosted tool's result has a field for this."""
    return (name == "status" and value in STATUSES) or (name == "type" and isinstance(value, str))


def _is_read_again(part: OpaquePart, role: Role) -> bool:
    """Whether its block is one that nothing else stands for."""
    try:
        return BlockReader(WrittenArguments(b"", INPUT), None, []).block({part.kind: part.data}, "", role) == part
    except (InvalidInputError, SchemaError):
        return False
