"""From `chat.completion.chunk` events to deltas, as real servers send them."""

from __future__ import annotations

from typing import Any, cast

import jiter

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    Citation,
    Delta,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
    freeze_object,
)

from ...common.call_ids import ReceivedIds
from ...common.item_options import read_options
from ...common.json_reading import Object, as_object, as_objects, mended, read_answer, text_of
from ...common.openai_errors import RIGHT_ADDRESS, error_in_answer
from ...common.openai_words import origin_of
from ...common.surrogates import WaitingHalves, mend
from .content_pieces import content_pieces
from .dialect import DETAILS, Dialect
from .spoken import SpokenAudio
from .streamed_calls import StreamedCalls
from .streamed_details import StreamedDetails
from .think_tags import ThinkTags, is_separated
from .vocabulary import (
    TOOL_CALL_FIELDS,
    citations_to_ours,
    finish_reason_to_ours,
    metadata_to_ours,
    reasoning_of,
    sources_to_ours,
    usage_to_ours,
)

_REASONING, _TEXT, _AUDIO, _FIRST_CALL = range(4)
"""Blocks have the places that parts have in a whole reply, so that a stream adds up to the same."""


class ChatDecoder:
    """Decodes one stream: its first choice. Usage may come with the last chunk of it, after it, or never."""

    def __init__(self, dialect: Dialect) -> None:
        self.complete = False
        self._provider = dialect.provider
        self._annotated = not dialect.search_results
        self._think = ThinkTags() if dialect.think_tags else None
        self._details = StreamedDetails() if dialect.reasoning_field == DETAILS else None
        self._sequence = 0
        self._events = 0
        self._begun = False
        self._open: int | None = None
        self._origin: str | None = None
        self._calls = StreamedCalls(_FIRST_CALL)
        self._ids = ReceivedIds()
        self._audio: SpokenAudio | None = None
        self._citations: tuple[Citation, ...] = ()
        self._halves = WaitingHalves()
        self._finish: str | None = None
        self._refused = False
        self._metadata: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event; raises `ServerError` for one that is not JSON, or the error it reports."""
        self._events += 1
        try:
            chunk = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_with_care(frame)
        try:
            # Nearly all chunks are one more piece of the open text, and need none of the care that the others do.
            (choice,) = chunk["choices"]
            delta = choice["delta"]
            text = delta["content"]
            if (
                self._open == _TEXT
                and text
                and type(text) is str
                and len(delta) == 1
                and choice.get("finish_reason") is None
                and choice.get("logprobs") is None
                and not choice.get("index")
                and not chunk.get("usage")
                and chunk.get("error") is None
                and not self._halves
            ):
                sequence = self._sequence
                self._sequence = sequence + 1
                return [TextDelta(sequence, _TEXT, text)]
        except (KeyError, TypeError, ValueError):
            return self._read(as_object(chunk), frame.event)
        return self._read(as_object(chunk), frame.event)

    def _read_with_care(self, frame: ServerSentEvent) -> list[Delta]:
        """An event that is not plain JSON: the end mark, an empty one, or one that holds half a character or NaN."""
        if frame.data == b"[DONE]":
            self.complete = True
            return []
        if not frame.data:
            return []
        try:
            chunk = as_object(read_answer(frame.data, halves=True))
        except ValueError:
            raise ServerError(f"event {self._events} of the stream is not JSON: {frame.data[:60]!r}") from None
        return self._read(chunk, frame.event)

    def _read(self, chunk: Object, name: str) -> list[Delta]:
        if name == "error" or chunk.get("error") is not None:
            raise error_in_answer(chunk.get("error") or chunk)
        deltas: list[Delta] = []
        try:
            self._chunk(chunk, deltas)
        except SchemaError as error:
            raise ServerError(f"event {self._events} of the stream does not fit the schema: {error}") from None
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no finish reason came."""
        if not self._begun:
            raise ServerError("the answer is no stream of events", hint=RIGHT_ADDRESS)
        if self._finish is None:
            raise StreamInterruptedError("the stream ended without a finish reason")
        deltas: list[Delta] = []
        self._settle(deltas)
        self._flush_halves(deltas)
        self._close(deltas)
        if self._details is not None:
            for block, signature, redacted in self._details.seals():
                deltas.append(self._reasoning_start(block))
                deltas.append(ReasoningEnd(self._next(), block, signature, redacted))
        if not self._annotated:
            self._citations = sources_to_ours(self._metadata)
        if self._citations:
            deltas.append(TextStart(self._next(), _TEXT))
            deltas.append(TextEnd(self._next(), _TEXT, self._citations))
        if self._audio is not None:
            deltas.append(PartDelta(self._next(), _AUDIO, self._audio.part()))
        deltas += [ToolCallEnd(self._next(), call.block) for call in self._calls.begun]
        calls = bool(self._calls.begun)
        reason = "refusal" if self._refused else finish_reason_to_ours(self._finish, calls=calls)
        try:
            metadata = freeze_object(mended(self._metadata), "provider_metadata")
        except SchemaError as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        deltas.append(ReplyEnd(self._next(), reason, self._finish, metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _chunk(self, chunk: Object, deltas: list[Delta]) -> None:
        if not self._begun:
            self._begin(chunk, deltas)
        for choice in as_objects(chunk.get("choices")):
            if not choice.get("index"):
                self._choice(choice, chunk, deltas)
                break
        usage = chunk.get("usage")
        if usage and isinstance(usage, dict):
            deltas.append(UsageDelta(self._next(), usage_to_ours(as_object(usage))))
            self._metadata.update(metadata_to_ours(chunk))

    def _begin(self, chunk: Object, deltas: list[Delta]) -> None:
        self._begun = True
        model, id = mended(text_of(chunk, "model")), mended(text_of(chunk, "id"))
        self._origin = origin_of(self._provider, model)
        self._metadata.update(metadata_to_ours(chunk))
        deltas.append(ReplyStart(self._next(), model, self._provider, id))

    def _choice(self, choice: Object, chunk: Object, deltas: list[Delta]) -> None:
        delta = as_object(choice.get("delta"))
        content = delta.get("content")
        if content and isinstance(content, str):
            self._answer(delta, content, deltas)
        elif content:
            for reasoning, text in content_pieces(content):
                self._text(_REASONING, reasoning, deltas)
                self._text(_TEXT, text, deltas)
        if len(delta) > 1 or not content:
            self._rest(delta, deltas)
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            self._finish = mend(finish)
            self._metadata.update(metadata_to_ours(chunk))
            self._refused = self._refused or delta == {"refusal": ""}
        logprobs = choice.get("logprobs")
        if logprobs is not None:
            self._add_logprobs(logprobs)

    def _rest(self, delta: Object, deltas: list[Delta]) -> None:
        self._reasoning(delta, deltas)
        refusal = text_of(delta, "refusal")
        if refusal:
            self._refused = True
            self._settle(deltas)
            self._text(_TEXT, refusal, deltas)
        for call in as_objects(delta.get("tool_calls")):
            self._tool_call(call, deltas)
        if delta.get("audio"):
            self._audio = self._audio or SpokenAudio()
            self._audio.add(as_object(delta["audio"]))
        if delta.get("annotations") is not None:
            self._annotated = True
            self._citations += citations_to_ours(delta["annotations"])

    def _reasoning(self, delta: Object, deltas: list[Delta]) -> None:
        if self._details is not None and delta.get(DETAILS):
            for piece in as_objects(delta[DETAILS]):
                self._text(*self._details.add(piece), deltas)
        else:
            self._text(_REASONING, reasoning_of(delta), deltas)

    def _answer(self, delta: Object, content: str, deltas: list[Delta]) -> None:
        """The answer's text, which may begin with reasoning between tags."""
        if self._think is not None and is_separated(delta):
            self._settle(deltas)
        if self._think is None:
            self._text(_TEXT, content, deltas)
            return
        reasoning, text = self._think.feed(content)
        self._text(_REASONING, reasoning, deltas)
        if self._think.decided:
            self._think = None
            self._text(_TEXT, text, deltas)

    def _settle(self, deltas: list[Delta]) -> None:
        """No tag will come any more."""
        if self._think is not None:
            reasoning, text = self._think.finish()
            self._think = None
            self._text(_REASONING, reasoning, deltas)
            self._text(_TEXT, text, deltas)

    def _text(self, block: int, text: str, deltas: list[Delta]) -> None:
        """Text or reasoning, whose block is begun if another was open."""
        text = self._halves.mend(block, text)
        if text:
            self._write(block, text, deltas)

    def _write(self, block: int, text: str, deltas: list[Delta]) -> None:
        if self._open != block:
            self._close(deltas)
            self._open = block
            start = TextStart(self._next(), block) if block == _TEXT else self._reasoning_start(block)
            deltas.append(start)
        if block == _TEXT:
            deltas.append(TextDelta(self._next(), block, text))
        else:
            deltas.append(ReasoningDelta(self._next(), block, text))

    def _reasoning_start(self, block: int) -> ReasoningStart:
        return ReasoningStart(self._next(), block, self._origin)

    def _tool_call(self, fragment: Object, deltas: list[Delta]) -> None:
        function = as_object(fragment.get("function"))
        name = mend(text_of(function, "name") or "")
        call = self._calls.find(fragment, name)
        if call is None:
            self._close(deltas)
            call = self._calls.begin(fragment, name)
            options = read_options(mended(fragment), TOOL_CALL_FIELDS, self._provider)
            id, options = self._ids.give(call.received, call.block - _FIRST_CALL, options)
            deltas.append(ToolCallStart(self._next(), call.block, id, name, options))
        arguments = self._halves.mend(call.block, text_of(function, "arguments") or "")
        if arguments:
            deltas.append(ToolCallDelta(self._next(), call.block, arguments))

    def _flush_halves(self, deltas: list[Delta]) -> None:
        for block in list(self._halves):
            rest = self._halves.rest(block)
            if block >= _FIRST_CALL:
                deltas.append(ToolCallDelta(self._next(), block, rest))
            else:
                self._write(block, rest, deltas)

    def _close(self, deltas: list[Delta]) -> None:
        if self._open is not None:
            block, self._open = self._open, None
            deltas.append(TextEnd(self._next(), block) if block == _TEXT else ReasoningEnd(self._next(), block))

    def _add_logprobs(self, logprobs: Any) -> None:
        if not isinstance(logprobs, dict):
            return
        gathered: dict[str, Any] = self._metadata.setdefault("logprobs", {})
        for name, tokens in as_object(logprobs).items():
            if isinstance(tokens, list) and gathered.get(name) is not None:
                gathered[name].extend(cast("list[Any]", tokens))
            elif gathered.get(name) is None:
                gathered[name] = tokens
