"""Renders deltas as the messages of an event stream (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import (
    Delta,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

from ...common.call_options import fields_for
from ...common.reading import Object
from ...common.response_bodies import merge
from .errors import rendered
from .fit import fit_reasoning
from .read_blocks import fit_citations, streamed_citation
from .render import STOP_FIELDS, fit_answer, image_of, metadata_to_theirs
from .vocabulary import FINISH_REASONS, PROVIDER, usage_to_theirs

_EXCEPTIONS = frozenset(
    {
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    }
)
"""The errors that a stream can express."""


class ConverseRenderer:
    """Renders one stream. Usage is sent in the last message, after the stop reason, as Bedrock does."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._metadata: Object = {}
        self._lengths: dict[int, int] = {}
        """The length of each text and reasoning block so far."""

    def feed(self, delta: Delta) -> bytes:
        """Returns the messages of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta):
            self._count(delta.block, delta.text)
            return _delta(delta.block, {"text": delta.text})
        if isinstance(delta, ToolCallDelta):
            return _delta(delta.block, {"toolUse": {"input": delta.arguments_text}})
        if isinstance(delta, ReasoningDelta):
            self._count(delta.block, delta.text)
            return _delta(delta.block, {"reasoningContent": {"text": delta.text}}) if delta.text else b""
        if isinstance(delta, ToolCallStart):
            return _start(
                delta.block, {"toolUse": {"toolUseId": delta.id, "name": delta.name, **fields_for(delta, PROVIDER)}}
            )
        if isinstance(delta, TextEnd):
            return self._text_end(delta)
        if isinstance(delta, ReasoningEnd):
            return self._reasoning_end(delta)
        if isinstance(delta, ToolCallEnd):
            return _stop(delta.block)
        return self._rare(delta)

    def finish(self) -> bytes:
        """Returns the usage, with other fields of the reply."""
        return _event("metadata", merge(self._metadata, usage_to_theirs(self._usage, [])))

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an exception in the stream."""
        name, status, body = rendered(error)
        name = name[:1].lower() + name[1:]
        if name not in _EXCEPTIONS:
            name = "validationException" if status < 500 else "internalServerException"
        return _message("exception", ":exception-type", name, body)

    def _count(self, block: int, text: str) -> None:
        self._lengths[block] = self._lengths.get(block, 0) + len(text)

    def _text_end(self, delta: TextEnd) -> bytes:
        length = self._lengths.get(delta.block, 0)
        whole = (citation.spanning(length) for citation in delta.citations)
        cited = [streamed_citation(citation, length) for citation in fit_citations(whole, length, "", [])]
        return b"".join(_delta(delta.block, {"citation": citation}) for citation in cited) + _stop(delta.block)

    def _reasoning_end(self, delta: ReasoningEnd) -> bytes:
        complete = ReasoningPart("x" * self._lengths.get(delta.block, 0), delta.signature, delta.redacted_data)
        fitted = fit_reasoning(complete, "", [])
        pieces = b""
        if fitted.redacted_data is not None:
            pieces = _delta(delta.block, {"reasoningContent": {"redactedContent": fitted.redacted_data}})
        if fitted.signature is not None:
            pieces += _delta(delta.block, {"reasoningContent": {"signature": fitted.signature}})
        return pieces + _stop(delta.block)

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, ReplyStart):
            return _event("messageStart", {"role": "assistant"})
        if isinstance(delta, PartDelta):
            return _whole(delta.block, fit_answer(delta.part, "", []))
        if isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            self._metadata = metadata_to_theirs(delta.provider_metadata, [])
            stop: Object = {"stopReason": FINISH_REASONS.to_theirs[delta.finish_reason]}
            if STOP_FIELDS in self._metadata:
                stop[STOP_FIELDS] = self._metadata.pop(STOP_FIELDS)
            return _event("messageStop", stop)
        return b""


def _whole(block: int, part: Part | None) -> bytes:
    """Returns a block that starts and ends at once."""
    if isinstance(part, HostedToolCall):
        use = {"toolUseId": part.id, "name": part.name, "type": "server_tool_use"}
        content = _delta(block, {"toolUse": {"input": part.arguments_text}})
        return _start(block, {"toolUse": use}) + content + _stop(block)
    if isinstance(part, HostedToolResult):
        texts = [{"text": item.text} for item in part.content if isinstance(item, TextPart)]
        result = {"toolUseId": part.call_id, **part.provider_metadata}
        return _start(block, {"toolResult": result}) + _delta(block, {"toolResult": texts}) + _stop(block)
    if isinstance(part, ImagePart):
        begin, source = image_of(part)
        content = _delta(block, {"image": {"source": source}})
        return _start(block, {"image": begin}) + content + _stop(block)
    return b""


def _start(block: int, start: Object) -> bytes:
    return _event("contentBlockStart", {"start": start, "contentBlockIndex": block})


def _delta(block: int, delta: Object) -> bytes:
    return _event("contentBlockDelta", {"delta": delta, "contentBlockIndex": block})


def _stop(block: int) -> bytes:
    return _event("contentBlockStop", {"contentBlockIndex": block})


def _event(name: str, data: Object) -> bytes:
    return _message("event", ":event-type", name, data)


def _message(kind: str, header: str, name: str, data: Object) -> bytes:
    headers = {header: name, ":content-type": "application/json", ":message-type": kind}
    return AwsEventStreamMessage(headers, to_json(data)).encode()
