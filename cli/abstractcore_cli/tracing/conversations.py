"""The conversation of a trace, as far as it was kept: each message once, although each call has all before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from abstractcore import CallRecord, Message, Part, TextPart, ToolRecord, TraceRecord
from abstractcore.schema import (
    MEDIA_PARTS,
    HostedToolCall,
    HostedToolResult,
    ReasoningPart,
    ToolCall,
    ToolResult,
    to_data,
)

Line: TypeAlias = list[tuple[str, str]]
_LONGEST: Final = 200
_INDENT: Final = "  "
NOT_KEPT: Final = "The content was not kept: ABSTRACTCORE_TRACES=full keeps it."
REDACTED: Final = "The content was not kept, only its sizes: ABSTRACTCORE_TRACES=full keeps it."


def shortened(value: object, longest: int = _LONGEST) -> str:
    """Returns a text, or JSON, in one line of at most so many characters."""
    text = value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def message_lines(message: Message) -> Iterator[Line]:
    """Yields the role of a message, and below it the lines of its parts."""
    yield [(message.role, "bold")]
    for part in message.parts:
        yield from ([(_INDENT + line, "")] for line in _lines_of(part))


class Conversation:
    """Messages that were printed: those of a later call that begin in the same way are not repeated."""

    def __init__(self) -> None:
        self._printed: list[list[str]] = []

    def lines(self, records: Iterable[TraceRecord]) -> Iterator[Line]:
        """Yields the lines of the messages of calls; or one that says that they were not kept."""
        lacking: set[str] = set()
        calls = 0
        for record in records:
            if isinstance(record, ToolRecord):
                continue
            if isinstance(record, CallRecord):
                calls += 1
                if record.call is None:
                    lacking.add(NOT_KEPT)
                else:
                    if record.capture == "redacted":
                        lacking.add(REDACTED)
                    yield from self._of_call(record)
        for sentence in sorted(lacking):
            yield [(sentence, "yellow")]

    def _of_call(self, record: CallRecord) -> Iterator[Line]:
        messages = _messages(record)
        keys = [f"{message.role} {json.dumps(to_data(message), sort_keys=True)}" for message in messages]
        common = max((_common(keys, printed) for printed in self._printed), default=0)
        self._printed.append(keys)
        if self._printed[0] is not keys and common == 0:
            yield [(f"of {record.provider}/{record.model}:", "dim")]
        for message in messages[common:]:
            yield from message_lines(message)
        for name, value in (("input", record.input), ("result", record.result)):
            if value is not None:
                yield [(name, "bold")]
                yield [(_INDENT + shortened(value, 2_000), "")]


def _messages(record: CallRecord) -> list[Message]:
    """Returns the messages of a call with its answer."""
    messages = [*record.call.messages] if record.call is not None else []
    answer = None if record.reply is None else record.reply.message()
    return messages if answer is None else [*messages, answer]


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Returns how many items two lists have in common at their beginning."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return number
    return min(len(first), len(second))


def _lines_of(part: Part) -> Iterator[str]:
    if isinstance(part, TextPart):
        yield from part.text.split("\n")
    elif isinstance(part, ReasoningPart):
        yield from (f"(thinking) {line}" for line in part.text.split("\n") if line)
    elif isinstance(part, MEDIA_PARTS):
        yield _file(part.blob)
    elif isinstance(part, ToolCall | HostedToolCall):
        yield f"calls {part.name}({shortened(part.arguments_text, 2_000)})"
    elif isinstance(part, ToolResult | HostedToolResult):
        if isinstance(part, ToolResult) and part.is_error:
            yield "error:"
        for content in part.content:
            yield from _lines_of(content)
    else:
        yield f"[{part.provider} {part.kind}]"


def _file(blob: Any) -> str:
    size = "" if blob.size is None else f", {blob.size:,} bytes"
    return f"[{blob.media_type or 'a file'}{size}]"


def _plain(value: Any) -> Any:
    """Returns frozen JSON as lists and dicts."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in cast("Mapping[str, Any]", value).items()}
    return [_plain(item) for item in cast("Sequence[Any]", value)] if isinstance(value, list | tuple) else value
