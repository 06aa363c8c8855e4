"""Renders deltas as `chat.completion.chunk` events (server side)."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    AudioPart,
    Delta,
    PartDelta,
    ReasoningDelta,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallStart,
    Usage,
    UsageDelta,
)

from ...common.openai_errors import render_error
from ...common.reading import Object
from ...common.response_bodies import merge
from .content import is_custom, write_call, write_fragment
from .dialect import ChatDialect
from .render import audio_to_theirs, is_audible, metadata_to_theirs
from .vocabulary import FINISH_REASONS, citations_to_theirs, has_sources, usage_to_theirs


class ChatRenderer:
    """Renders one stream. Usage is sent in a last chunk of its own, after the finish reason, as OpenAI does."""

    def __init__(self, dialect: ChatDialect) -> None:
        self._provider = dialect.provider
        self._billing = dialect.billing
        self._head: Object = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": ""}
        self._calls: dict[int, tuple[int, bool]] = {}
        """By block: the index of a call, and whether it is that of a custom tool."""
        self._counted = Usage()
        self._usage: Object = {}
        """The fields with usage: token counts and billing data, from the end of the reply on."""
        self._rest_of_usage: Object = {}
        self._text_begins: dict[int, int] = {}
        self._text_length = 0
        self._answering = False
        self._has_audio = False

    def feed(self, delta: Delta) -> bytes:
        """Returns the event of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta):
            self._text_length += len(delta.text)
            return self._chunk(self._answer(delta.text))
        if isinstance(delta, ReasoningDelta):
            return self._chunk({"reasoning_content": delta.text})
        if isinstance(delta, ToolCallStart):
            index = len(self._calls)
            self._calls[delta.block] = index, is_custom(delta, self._provider)
            call = write_call(delta, "", "tool_call", self._provider, [])
            return self._chunk({"tool_calls": [{"index": index, **call}]})
        if isinstance(delta, ToolCallDelta):
            index, custom = self._calls[delta.block]
            return self._chunk(
                {"tool_calls": [{"index": index, **write_fragment(delta.arguments_text, custom=custom)}]}
            )
        if isinstance(delta, ReplyStart):
            self._head |= {"id": delta.id or "", "model": delta.model or ""}
            return self._chunk({"role": "assistant", "content": ""})
        return self._rare(delta)

    def _answer(self, text: str) -> Object:
        """Returns the text and, as long as it may turn out to start with a tag, an empty reasoning field."""
        if self._answering:
            return {"content": text}
        beginning = text.lstrip()[:1]
        self._answering = beginning != ""
        return {"content": text, "reasoning_content": ""} if beginning in ("", "<") else {"content": text}

    def finish(self) -> bytes:
        """Returns usage, if it was reported, and the end mark."""
        usage = merge({"usage": self._rest_of_usage}, self._usage)["usage"]
        counted = _event({**self._head, "choices": [], "usage": usage}) if usage else b""
        return counted + b"data: [DONE]\n\n"

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return b"data: " + render_error(error).body + b"\n\n"

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, TextStart):
            self._text_begins.setdefault(delta.block, self._text_length)
        elif isinstance(delta, TextEnd) and delta.citations:
            begins = self._text_begins.get(delta.block, 0)
            whole = (citation.spanning(self._text_length - begins) for citation in delta.citations)
            return self._chunk({"annotations": citations_to_theirs(tuple(whole), begins)})
        elif isinstance(delta, PartDelta) and isinstance(delta.part, AudioPart):
            if is_audible(delta.part) and not self._has_audio:
                self._has_audio = True
                return self._chunk({"audio": audio_to_theirs(delta.part)})
        elif isinstance(delta, UsageDelta):
            self._counted = delta.usage
        elif isinstance(delta, ReplyEnd):
            return self._end(delta)
        return b""

    def _end(self, delta: ReplyEnd) -> bytes:
        """Returns the finish reason. An empty refusal marks the text before it as one."""
        metadata, logprobs = metadata_to_theirs(delta.provider_metadata, self._billing, [])
        self._usage = usage_to_theirs(self._counted, self._billing, metadata)
        fields = merge(metadata, {name: value for name, value in self._usage.items() if name != "usage"})
        self._rest_of_usage = fields.pop("usage", {})
        refused = delta.finish_reason == "refusal" and self._text_length > 0
        choice: Object = {
            "index": 0,
            "delta": {"refusal": ""} if refused else {},
            "finish_reason": FINISH_REASONS.to_theirs[delta.finish_reason],
        }
        if logprobs is not None:
            choice["logprobs"] = logprobs
        all_cited = self._chunk({"annotations": []}) if has_sources(metadata) else b""
        return all_cited + _event({**self._head, **fields, "choices": [choice]})

    def _chunk(self, delta: Object) -> bytes:
        return _event({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _event(data: Any) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"
