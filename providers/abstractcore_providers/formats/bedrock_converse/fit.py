"""Adjusts parts to the format, with a warning for everything that it cannot express. Writing them is lossless.

Puts a conversation into the order of the format: system messages, then user and assistant in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    JSONObject,
    JSONValue,
    MediaPart,
    Message,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    to_data,
)

from ...common.call_options import name_options_left_out, reasoning_left_out, with_options_for
from ...common.conversations import (
    WrittenArguments,
    origin_of,
    own_text,
    refuse_system_only,
    refuse_unanswered_calls,
    sent_text,
)
from ...common.data_urls import read_base64
from ...common.thinking import NOT_REPLAYED, CacheTimes
from .media_blocks import BLOCK_FIELDS, check_media
from .read_blocks import INPUT, STATUSES, BlockReader, fit_citations
from .vocabulary import PROVIDER, WARNINGS

_NOT_BASE64 = "the redacted reasoning is not base64"
_BLANK_TEXT = "text of only whitespace is refused in an assistant message"
"""Whitespace that models write before a tool call. The API's error: `The text field in the ContentBlock object ... is
blank`.
"""


@dataclass(frozen=True, slots=True)
class PartFitter:
    """Adjusts the parts of one message. `origin` is the model whose reasoning may be sent back, if `replays`."""

    role: Role
    origin: str | None
    warnings: list[CallWarning]
    times: CacheTimes = field(default_factory=CacheTimes)
    replays: bool = True

    def part(self, part: Part, path: str) -> Part | None:
        """Returns the part as it is sent; None if it is not.

        Raises `UnsupportedContentError` with the path for content that cannot be omitted.
        """
        if fits(part):
            return part
        if isinstance(part, TextPart):
            if self.role == "assistant" and part.text.isspace():
                self.warnings.append(CallWarning("part_left_out", path, _BLANK_TEXT))
                return None
            return self._text(part, path, cited=self.role == "assistant")
        if isinstance(part, MEDIA_PARTS):
            return self._media(part, path)
        if isinstance(part, ToolCall):
            return self._call(part, path)
        if isinstance(part, ToolResult):
            content = self._content(part.content, f"{path}.content", part.call_id)
            cache = self.times.fit(part.cache, path, self.warnings)
            return replace(
                with_options_for(part, path, PROVIDER, BLOCK_FIELDS[part.type], self.warnings),
                content=content,
                cache=cache,
            )
        if isinstance(part, ReasoningPart):
            return self._reasoning(part, path)
        if isinstance(part, HostedToolCall):
            return self._hosted_call(part, path)
        if isinstance(part, HostedToolResult):
            return self._hosted_result(part, path)
        return self._opaque(part, path)

    def _text(self, part: TextPart, path: str, *, cited: bool) -> TextPart:
        """Adjusts a text; only the assistant's is `cited`."""
        cache = self.times.fit(part.cache, path, self.warnings)
        name_options_left_out(part, path, PROVIDER, "text has no object in this format", self.warnings)
        if part.citations and cited:
            citations = fit_citations(part.citations, len(part.text), path, self.warnings)
            return TextPart(part.text, citations, cache)
        if part.citations:
            self._left_out("citations", path)
        return TextPart(part.text, cache=cache)

    def _media(self, part: MediaPart, path: str) -> MediaPart:
        check_media(part, path)
        cache = self.times.fit(part.cache, path, self.warnings)
        own = with_options_for(part, path, PROVIDER, BLOCK_FIELDS[part.type], self.warnings)
        WARNINGS.fields(part, path, ("detail", "transcript", "id"), self.warnings)
        return type(part)(part.blob, cache=cache, provider_options=own.provider_options)

    def _call(self, part: ToolCall, path: str) -> ToolCall:
        if part.signature is not None:
            self._left_out("signature", path)
        text = sent_text(part, path, self.warnings)
        cache = self.times.fit(part.cache, path, self.warnings)
        own = with_options_for(part, path, PROVIDER, BLOCK_FIELDS[part.type], self.warnings)
        return replace(own, arguments_text=text, signature=None, cache=cache)

    def _content(self, content: tuple[ContentPart, ...], path: str, call_id: str) -> tuple[ContentPart, ...]:
        """Adjusts a tool result: text, images, documents and video, without cache points."""
        if all(map(fits, content)):
            return content
        fitted: list[ContentPart] = []
        for index, part in enumerate(content):
            part_path = f"{path}[{index}]"
            if isinstance(part, AudioPart):
                raise UnsupportedContentError(
                    f"{part_path}: the result of tool call {call_id!r} has audio, which is not supported there.",
                    hint="Put it into a user message after the result.",
                )
            if part.cache is not None:
                self._left_out("cache", part_path)
                part = replace(part, cache=None)
            if isinstance(part, TextPart):
                fitted.append(part if fits(part) else self._text(part, part_path, cited=False))
            else:
                fitted.append(self._media(part, part_path))
        return tuple(fitted)

    def _reasoning(self, part: ReasoningPart, path: str) -> ReasoningPart | None:
        if part.origin is None or part.origin != self.origin:
            self.warnings.append(reasoning_left_out(path))
            return None
        if not part.text and part.signature is None and not _is_base64(part.redacted_data):
            self.warnings.append(CallWarning("reasoning_left_out", path, _NOT_BASE64))
            return None
        if not self.replays:
            self.warnings.append(CallWarning("reasoning_left_out", path, NOT_REPLAYED))
            return None
        return fit_reasoning(part, path, self.warnings)

    def _hosted_call(self, part: HostedToolCall, path: str) -> HostedToolCall:
        self._metadata(part.provider_metadata, path, frozenset())
        same = ToolCall(part.id, part.name, part.arguments_text)
        return HostedToolCall(part.id, part.name, sent_text(same, path, self.warnings))

    def _hosted_result(self, part: HostedToolResult, path: str) -> HostedToolResult:
        known = frozenset(name for name, value in part.provider_metadata.items() if is_result_field(name, value))
        metadata = self._metadata(part.provider_metadata, path, known)
        return HostedToolResult(
            part.call_id, self._content(part.content, f"{path}.content", part.call_id), provider_metadata=metadata
        )

    def _metadata(self, metadata: JSONObject, path: str, known: frozenset[str]) -> JSONObject:
        kept = {name: metadata[name] for name in metadata if name in known}
        if kept != metadata:
            message = "the format has no field for some of its metadata"
            part_path = f"{path}.provider_metadata"
            self.warnings.append(CallWarning("metadata_left_out", part_path, message, sent=kept or None))
        return kept

    def _opaque(self, part: OpaquePart, path: str) -> OpaquePart | None:
        if part.provider == PROVIDER and _is_read_again(part, self.role):
            return part
        message = f"opaque parts of {part.provider!r} of kind {part.kind!r} cannot be sent here"
        self.warnings.append(CallWarning("part_left_out", path, message))
        return None

    def _left_out(self, name: str, path: str) -> None:
        self.warnings.append(WARNINGS.field(name, path))


def fits(part: Part) -> bool:
    """Whether it is only a text, a call or a result, as most parts are, and is sent unchanged."""
    if not isinstance(part, TextPart | ToolCall | ToolResult) or part.cache is not None or part.provider_options:
        return False
    if isinstance(part, TextPart):
        return not part.citations and not part.text.isspace()
    if isinstance(part, ToolResult):
        return all(map(fits, part.content))
    return part.signature is None and own_text(part) == part.arguments_text


def fit_reasoning(part: ReasoningPart, path: str, warnings: list[CallWarning]) -> ReasoningPart:
    """Returns the reasoning of one block: readable, or redacted."""
    if part.redacted_data is None:
        return part
    if part.text or part.signature is not None:
        why = "reasoning is either readable or redacted in this format"
    elif _is_base64(part.redacted_data):
        return part
    else:
        why = _NOT_BASE64
    warnings.append(CallWarning("redacted_data_left_out", f"{path}.redacted_data", why))
    return replace(part, redacted_data=None)


def _is_base64(data: str | None) -> bool:
    try:
        read_base64(data or "", "")
    except InvalidInputError:
        return False
    return True


def is_result_field(name: str, value: object) -> bool:
    """Whether a hosted tool's result has a field for this part."""
    return (name == "status" and value in STATUSES) or (name == "type" and isinstance(value, str))


def _is_read_again(part: OpaquePart, role: Role) -> bool:
    """Whether the part's block has no other counterpart in the schema."""
    try:
        return BlockReader(WrittenArguments(b"", INPUT), None, []).block({part.kind: part.data}, "", role) == part
    except (InvalidInputError, SchemaError):
        return False


@dataclass(slots=True)
class MessageGroup:
    """One or more adjacent messages that are sent as one."""

    indexes: list[int]
    message: Message
    warnings: list[CallWarning]


def turns_of(
    call: ModelCall, times: CacheTimes, warnings: list[CallWarning], *, replays: bool
) -> tuple[list[Message], list[Message]]:
    """Returns the system messages and all others, with adjusted parts. `times` are the TTLs of cache points; reasoning
    is sent back if `replays`.

    Raises `UnsupportedContentError` if nothing is left, `InvalidInputError` for an order that the format does not
    support.
    """
    refuse_system_only(call.messages)
    refuse_unanswered_calls(call.messages)
    system: list[MessageGroup] = []
    others: list[MessageGroup] = []
    origin = origin_of(PROVIDER, call.model)
    # In the order in which they are sent, as TTLs of cache points depend on it.
    for index, message in sorted(enumerate(call.messages), key=lambda numbered: numbered[1].role != "system"):
        own: list[CallWarning] = []
        fitted = (
            message
            if _fits(message)
            else _fitted(message, index, PartFitter(message.role, origin, own, times, replays))
        )
        if fitted is None:
            warnings += own
        else:
            _add(MessageGroup([index], fitted, own), system if message.role == "system" else others)
    if not others:
        raise WARNINGS.nothing_left()
    if others[0].message.role == "assistant":
        raise InvalidInputError(
            "the conversation must begin with a user message",
            path=f"messages[{others[0].indexes[0]}]",
            hint="Add a user message before it.",
        )
    _warn_of_moves(system, others, warnings)
    for turn in (*system, *others):
        warnings += _losses(turn)
    return [turn.message for turn in system], [turn.message for turn in others]


def _warn_of_moves(system: Sequence[MessageGroup], others: Sequence[MessageGroup], warnings: list[CallWarning]) -> None:
    begin = others[0].indexes[0]
    if not system or system[-1].indexes[0] < begin:
        return
    joined = {index for turn in (*system, *others) for index in turn.indexes[1:]}
    position = sum(index not in joined for index in range(begin))
    for turn in system:
        index = turn.indexes[0]
        if index > begin:
            message = "system messages come before the conversation"
            warnings.append(CallWarning("reordered", f"messages[{index}]", message, index, position))
            position += 1


def is_boundary(before: Part, after: Part) -> bool:
    """Whether two blocks of one list are of two messages: texts in one are separate only at a cache point."""
    return isinstance(before, TextPart) and before.cache is None and isinstance(after, TextPart)


def _fits(message: Message) -> bool:
    """Whether it is sent unchanged, as most are: adjusting would cost more than everything else."""
    return not message.provider_options and all(map(fits, message.parts))


def _fitted(message: Message, index: int, fitting: PartFitter) -> Message | None:
    """Returns the message as it is sent; None if nothing is left of it."""
    if message.provider_options:
        why = "adjacent messages are sent as one"
        name_options_left_out(message, f"messages[{index}]", PROVIDER, why, fitting.warnings)
    fitted = [fitting.part(part, f"messages[{index}].parts[{i}]") for i, part in enumerate(message.parts)]
    try:
        return Message(message.role, tuple(part for part in fitted if part is not None))
    except SchemaError:
        return None


def _add(turn: MessageGroup, turns: list[MessageGroup]) -> None:
    """Appends `turn`, or merges it into the last one if the two could not be distinguished."""
    last = turns[-1] if turns else None
    if last is None or _are_apart(last.message, turn.message):
        turns.append(turn)
    elif last.message.tool_calls or turn.message.tool_calls:
        raise InvalidInputError(
            "two assistant messages in a row cannot contain tool calls",
            path=f"messages[{turn.indexes[0]}]",
            hint="Merge them, or add a user message between them.",
        )
    else:
        last.indexes += turn.indexes
        last.message = _joined(last.message, turn.message)
        last.warnings += turn.warnings


def _are_apart(before: Message, after: Message) -> bool:
    """Whether two adjacent messages can be distinguished when they are sent. The assistant's blocks are always one
    message.
    """
    if before.role != after.role or after.role == "tool":
        return True
    return after.role != "assistant" and is_boundary(before.parts[-1], after.parts[0])


def _joined(before: Message, after: Message) -> Message:
    """Merges both, with an empty line between texts that would become one."""
    last = before.parts[-1]
    if is_boundary(last, after.parts[0]) and isinstance(last, TextPart):
        before = Message(before.role, (*before.parts[:-1], replace(last, text=f"{last.text}\n\n")))
    return Message(before.role, (*before.parts, *after.parts))


def _losses(turn: MessageGroup) -> list[CallWarning]:
    """Warns of what is lost of a turn. For one of several messages, a single warning has the result, with the texts of
    the warnings for their parts."""
    if len(turn.indexes) == 1:
        return turn.warnings
    first, *others = turn.indexes
    reason = f"adjacent {turn.message.role} messages are sent as one"
    message = "; ".join(dict.fromkeys([reason, *(warning.message for warning in turn.warnings)]))
    became = CallWarning("merged", f"messages[{first}].parts", message, sent=_as_data(turn.message.parts))
    of_first = [warning for warning in turn.warnings if warning.path.startswith(f"messages[{first}].provider_options")]
    return [*of_first, became, *(CallWarning("merged", f"messages[{index}]", message) for index in others)]


def _as_data(parts: Sequence[Part]) -> JSONValue:
    """Returns the parts as data, with the hashes of files in place of their content."""
    return [to_data(_without_bytes(part)) for part in parts]


def _without_bytes(part: Any) -> Any:
    blob = getattr(part, "blob", None)
    if isinstance(blob, Blob) and blob.sha256 is not None and blob.size is not None:
        return replace(part, blob=Blob.from_artifact(blob.sha256, blob.media_type, blob.size, name=blob.name))
    if hasattr(part, "content"):
        return replace(part, content=tuple(map(_without_bytes, part.content)))
    return part
