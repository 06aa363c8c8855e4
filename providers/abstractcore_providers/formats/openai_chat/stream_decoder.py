"""Decodes `chat.completion.chunk` events, as real servers send them, to deltas.

Matches fragments of a stream with tool calls, in the ways in which servers number and name them. Reasoning objects
that are streamed in chunks (OpenRouter). Collects audio that is streamed in chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    Delta,
    ReasoningDelta,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCall,
    Usage,
)

from ...common.conversations import ReceivedIds, arguments_piece
from ...common.endpoints import RIGHT_ADDRESS
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.openai_errors import error_in_answer
from ...common.reading import Object, as_object, count_of, mend, mend_texts, object_of, objects_of, text_of
from ...common.response_bodies import NO_ERROR
from .content import REPLY_AUDIO_TYPE, call_options, called_in, calls_of, content_pieces
from .decode import ThinkTags, audio_bytes, details_in, is_separated, signature_and_data, signature_for, text_and_rest
from .dialect import PIECES, TAGS, ChatDialect
from .vocabulary import (
    FINISH_REASONS,
    PART_ORDER,
    REASONING_PLACES,
    citations_to_ours,
    has_details,
    reasoning_of,
    reply_fields,
    sources_to_ours,
    token_counts,
)


@dataclass(slots=True)
class StreamedChatCall:
    """A call that was begun, with the server's id, which may be empty. It is started when its name is known."""

    received: str
    name: str
    block: int
    fields: Object = field(default_factory=dict[str, Any])
    """The fields of its fragments until then; those that were not empty count."""
    has_arguments: bool = False

    def add(self, fragment: Object, name: str) -> None:
        """Adds a fragment before the call is started."""
        self.fields |= {key: value for key, value in fragment.items() if value or key not in self.fields}
        self.received = mend(text_of(self.fields, "id") or "")
        self.name = name


class StreamedCalls:
    """The calls of one stream, in their order; their blocks are numbered from `first_block`."""

    __slots__ = ("_at", "_first_block", "begun")

    def __init__(self, first_block: int) -> None:
        self.begun: list[StreamedChatCall] = []
        self._first_block = first_block
        self._at: dict[int, list[StreamedChatCall]] = {}

    def find(self, fragment: Object, name: str) -> StreamedChatCall | None:
        """Returns the call that `fragment` continues; None if it starts one.

        Calls are distinguished by index, by id if the index repeats, and else by a different name.
        """
        index, id = count_of(fragment, "index"), text_of(fragment, "id") or ""
        here = self._at.get(index or 0)
        if not here:
            return None
        last = here[-1]
        if id:
            id = mend(id)
            same = next((call for call in here if call.received == id), None)
            return last if same is None and not last.received and not (name and last.name) else same
        return None if name and last.name and (index is None or name != last.name) else last

    def begin(self, fragment: Object) -> StreamedChatCall:
        """Adds a new call."""
        call = StreamedChatCall("", "", self._first_block + len(self.begun))
        self.begun.append(call)
        self._at.setdefault(count_of(fragment, "index") or 0, []).append(call)
        return call


ROOM = 1_000_000
"""The largest number of objects: each is a block, and comes before the answer's text."""


class StreamedDetails:
    """The objects of one stream. Adjacent chunks of an object have the same type and index."""

    __slots__ = ("_has_text", "_rests")

    def __init__(self) -> None:
        self._rests: list[Object] = []
        self._has_text: list[bool] = []

    def add(self, piece: Object) -> tuple[int, str]:
        """Returns the block of the object that `piece` belongs to, and the chunk's text."""
        text, rest = text_and_rest(piece)
        if self._rests and _continues(self._rests[-1], rest):
            self._rests[-1].update({name: value for name, value in rest.items() if value is not None})
        else:
            self._rests.append(rest)
            self._has_text.append(False)
        self._has_text[-1] |= text != ""
        return len(self._rests) - 1, text

    def signatures(self) -> list[tuple[int, str | None, str | None]]:
        """Returns the complete blocks, each with its signature and its redacted data."""
        pairs = (
            signature_and_data(mend_texts(rest), has_text)
            for rest, has_text in zip(self._rests, self._has_text, strict=True)
        )
        return [(number, *pair) for number, pair in enumerate(pairs)]


def _continues(before: Object, piece: Object) -> bool:
    """Whether `piece` continues the object before it. Encrypted data is never chunked."""
    if "data" in piece or "data" in before:
        return False
    ids = (before.get("id"), piece.get("id"))
    return (None in ids or ids[0] == ids[1]) and all(before.get(key) == piece.get(key) for key in ("type", "index"))


class StreamedChatAudio:
    """Collects chunks, each of which may have an id, transcript text, and base64 data."""

    __slots__ = ("_id", "_sound", "_transcript")

    def __init__(self) -> None:
        self._id: str | None = None
        self._sound: list[bytes] = []
        self._transcript: list[str] = []

    def add(self, audio: Object) -> None:
        """Adds a chunk; raises `ServerError` for data that is not base64."""
        self._id = text_of(audio, "id") or self._id
        self._sound.append(audio_bytes(text_of(audio, "data") or ""))
        self._transcript.append(text_of(audio, "transcript") or "")

    def part(self) -> AudioPart:
        """Returns the whole audio."""
        return AudioPart(Blob.from_bytes(b"".join(self._sound), REPLY_AUDIO_TYPE), "".join(self._transcript), self._id)


_MARKS = frozenset({"choices", "usage"})
"""Fields that only chunks of replies have."""


class ChatDecoder(FrameDecoder):
    """Decodes one stream: its first choice. Usage may come with its last chunk, after it, or never."""

    def __init__(self, dialect: ChatDialect) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended without a finish reason")
        self._dialect = dialect
        self._annotated = not dialect.search_results
        self._think = ThinkTags() if dialect.think_tags else None
        self._details = StreamedDetails() if has_details(dialect) else None
        self._places: set[str] = set()
        """Where reasoning came."""
        # Blocks have the order of parts in an unstreamed reply, so that both give the same reply.
        first = 0 if self._details is None else ROOM
        self._reasoning_block = first + PART_ORDER[ReasoningPart]
        self._text_block = first + PART_ORDER[TextPart]
        self._audio_block = first + PART_ORDER[AudioPart]
        self._first_call = first + PART_ORDER[ToolCall]
        self._calls = StreamedCalls(self._first_call)
        self._ids = ReceivedIds()
        self._audio: StreamedChatAudio | None = None
        self._citations: tuple[Citation, ...] = ()
        self._finish: str | None = None
        self._refused = False
        self._usage: Object = {}
        self._counted = Usage()
        """The last usage object, and its token counts."""
        self._fields: Object = {}
        """The other fields of the reply: metadata, and billing data."""

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            chunk = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            return self._read_unusual(frame)
        try:
            # Fast path: nearly all chunks append to the open text.
            out, block = self._out, self._text_block
            (choice,) = chunk["choices"]
            delta = choice["delta"]
            text = delta["content"]
            if (
                out.current == block
                and text
                and type(text) is str
                and len(delta) == 1
                and choice.get("finish_reason") is None
                and choice.get("logprobs") is None
                and not choice.get("index")
                and not chunk.get("usage")
                and chunk.get("error") is None
                and not out.surrogates
            ):
                sequence = out.sequence
                out.sequence = sequence + 1
                return [TextDelta(sequence, block, text)]
        except (KeyError, TypeError, ValueError):
            return self._read(self._object(chunk), frame.event)
        return self._read(self._object(chunk), frame.event)

    def _read_unusual(self, frame: ServerSentEvent) -> list[Delta]:
        """Reads an event that is not valid JSON: the end mark, an empty one, or one with a lone surrogate or NaN."""
        if frame.data == b"[DONE]":
            self.complete = True
            return []
        return self._read(self._object(self._read_with_care(frame.data)), frame.event) if frame.data else []

    def _read(self, chunk: Object, name: str) -> list[Delta]:
        if reports_error(chunk, name, _MARKS):
            raise error_in_answer(mend_texts(chunk))
        if _MARKS.isdisjoint(chunk):
            self._ignore(chunk)
        return self._deltas_of(self._chunk, chunk)

    def _is_begun(self) -> bool:
        return self._out.sequence > 0

    def _is_over(self) -> bool:
        return self._finish is not None

    def _end(self) -> None:
        out = self._out
        self._settle()
        self._flush_surrogates()
        out.end_current()
        if self._details is not None:
            for block, signature, redacted in self._details.signatures():
                out.start_reasoning(block)
                out.end_reasoning(block, signature, redacted)
        self._sign_reasoning()
        if not self._annotated:
            self._citations = sources_to_ours(self._fields)
        if self._citations:
            out.cite(self._text_block, self._citations)
        if self._audio is not None:
            out.part(self._audio_block, self._audio.part())
        for call in self._calls.begun:
            if call.block in out.held:
                self._start_call(call)
            out.end_call(call.block)
        calls = bool(self._calls.begun)
        reason = "refusal" if self._refused else FINISH_REASONS.read(self._finish, calls=calls)
        fields = as_object(mend_texts({**self._fields, "usage": self._usage}))
        billing = self._dialect.billing.read(fields)
        if billing is not None:
            out.count(replace(self._counted, billing=billing))
        out.end_reply(reason, self._finish, self._dialect.billing.rest(fields))

    def _sign_reasoning(self) -> None:
        """Ends the reasoning again with its signature, which names the field in which it came."""
        place = next((each for each in REASONING_PLACES if each in self._places), None)
        signature = signature_for(place, self._dialect)
        if signature is not None:
            self._out.start_reasoning(self._reasoning_block)
            self._out.end_reasoning(self._reasoning_block, signature)

    def _chunk(self, chunk: Object) -> None:
        if self._out.awaits_start:
            self._begin(chunk)
        for choice in objects_of(chunk, "choices"):
            if not choice.get("index") or not count_of(choice, "index"):
                self._choice(choice, chunk)
                break
        if chunk.get("usage") is not None:
            self._count_tokens(chunk)

    def _count_tokens(self, chunk: Object) -> None:
        usage = object_of(chunk, "usage")
        if usage:
            self._usage = usage
            self._counted = token_counts(usage)
            self._out.count(self._counted)
            self._add_fields(chunk)

    def _begin(self, chunk: Object) -> None:
        model, id = mend_texts(text_of(chunk, "model")), mend_texts(text_of(chunk, "id"))
        self._add_fields(chunk)
        self._out.start_reply(model, self._dialect.provider, id)

    def _add_fields(self, chunk: Object) -> None:
        """Keeps the other fields of a chunk; an empty one does not replace an earlier one."""
        self._fields |= {
            name: value for name, value in reply_fields(chunk).items() if value or name not in self._fields
        }

    def _choice(self, choice: Object, chunk: Object) -> None:
        if choice.get("error") not in NO_ERROR:
            raise error_in_answer(mend_texts(choice))
        delta = object_of(choice, "delta")
        content = delta.get("content")
        if content and isinstance(content, str):
            self._answer(delta, content)
        elif content is not None and content != "":
            for reasoning, text in content_pieces(delta):
                self._add_reasoning(reasoning, PIECES)
                self._add_text(text)
        if len(delta) > 1 or not content:
            self._rest(delta)
        finish = text_of(choice, "finish_reason")
        if finish is not None:
            self._finish = mend(finish)
            self._add_fields(chunk)
            self._refused = self._refused or delta == {"refusal": ""}
        logprobs = choice.get("logprobs")
        if logprobs is not None:
            self._add_logprobs(logprobs)

    def _rest(self, delta: Object) -> None:
        self._reasoning(delta)
        refusal = text_of(delta, "refusal")
        if refusal:
            self._refused = True
            self._settle()
            self._add_text(refusal)
        for call in calls_of(delta):
            self._tool_call(call)
        if delta.get("audio"):
            self._audio = self._audio or StreamedChatAudio()
            self._audio.add(object_of(delta, "audio"))
        if delta.get("annotations") is not None:
            self._annotated = True
            self._citations += citations_to_ours(delta)

    def _reasoning(self, delta: Object) -> None:
        details = details_in(delta, self._dialect)
        if self._details is not None and details:
            for piece in details:
                block, text = self._details.add(piece)
                self._out.add_current(block, ReasoningDelta, text)
        else:
            self._add_reasoning(*reasoning_of(delta))

    def _answer(self, delta: Object, content: str) -> None:
        """Reads the answer's text, which may start with reasoning between tags."""
        if self._think is not None and is_separated(delta):
            self._settle()
        if self._think is None:
            self._add_text(content)
            return
        reasoning, text = self._think.feed(content)
        self._add_reasoning(reasoning, TAGS)
        if self._think.decided:
            self._think = None
            self._add_text(text)

    def _settle(self) -> None:
        """Ends the search for tags."""
        if self._think is not None:
            reasoning, text = self._think.finish()
            self._think = None
            self._add_reasoning(reasoning, TAGS)
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        self._out.add_current(self._text_block, TextDelta, text)

    def _add_reasoning(self, text: str, place: str | None) -> None:
        if text and place is not None:
            self._places.add(place)
        self._out.add_current(self._reasoning_block, ReasoningDelta, text)

    def _tool_call(self, fragment: Object) -> None:
        called, field = called_in(fragment)
        name = text_of(called, "name") or ""
        name = name and mend(name)
        call = self._calls.find(fragment, name)
        if call is None:
            self._out.end_current()
            call = self._calls.begin(fragment)
            self._out.hold_call(call.block)
        if call.block in self._out.held:
            call.add(fragment, name)
            if name:
                self._start_call(call)
        arguments = arguments_piece(called, field, is_first=not call.has_arguments)
        if arguments:
            call.has_arguments = True
            self._out.add(call.block, arguments)

    def _start_call(self, call: StreamedChatCall) -> None:
        options = call_options(as_object(mend_texts(call.fields)), self._dialect.provider)
        id, options = self._ids.give(call.received, call.block - self._first_call, options)
        self._out.start_call(call.block, id, call.name, options)

    def _flush_surrogates(self) -> None:
        for block in list(self._out.surrogates):
            if block >= self._first_call:
                self._out.flush(block)
            else:
                self._out.flush_current(block, TextDelta if block == self._text_block else ReasoningDelta)

    def _add_logprobs(self, logprobs: Any) -> None:
        if not isinstance(logprobs, dict):
            return
        gathered: dict[str, Any] = self._fields.setdefault("logprobs", {})
        for name, tokens in as_object(logprobs).items():
            if isinstance(tokens, list) and gathered.get(name) is not None:
                gathered[name].extend(cast("list[Any]", tokens))
            elif gathered.get(name) is None:
                gathered[name] = tokens
