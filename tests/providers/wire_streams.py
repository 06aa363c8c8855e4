"""Streamed answers of each vendor, in frames of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from abstractcore.ports import Transpiler
from abstractcore.schema import ModelCall, ModelReply, Part, TextPart, WireRequest
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import LAST_CHUNK, ReceivedRequest, answer, chunk, stream_head
from tests.providers.formats.anthropic_messages import wire as anthropic
from tests.providers.formats.bedrock_converse import wire as bedrock
from tests.providers.formats.cohere_chat import wire as cohere
from tests.providers.formats.gemini import wire as gemini
from tests.providers.formats.gemini_interactions import wire as interactions
from tests.providers.formats.ollama import wire as ollama
from tests.providers.formats.openai_chat import wire as chat
from tests.providers.formats.openai_responses import wire as responses
from tests.providers.published import provider_of, stream_of

Frames = list[Any]
INPUT, OUTPUT = 3, 2
"""What a stream reports of tokens, if it does."""


@dataclass(frozen=True)
class Piece:
    """A fragment of a tool call's arguments; the first of a call has its name, and its id if the vendor sends one."""

    index: int
    arguments: str
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Speech:
    """How a vendor streams. `begin` may hold counts; `end` takes the frames before it, its word for why, and counts."""

    begin: Frames
    text: Callable[[Sequence[str]], Frames]
    calls: Callable[[Sequence[Piece]], Frames]
    end: Callable[[Frames, str | None, bool], Frames]
    stop: str
    error: Any
    """An event that reports an overload."""


def in_blocks(
    begun: Callable[[Piece], Frames], more: Callable[[Piece], Frames], over: Callable[[Piece], Frames]
) -> Callable[[Sequence[Piece]], Frames]:
    """Calls that start, continue and end: at a repeated index, or when complete."""

    def calls(pieces: Sequence[Piece]) -> Frames:
        frames: Frames = []
        open_calls: dict[int, Piece] = {}
        for piece in pieces:
            if piece.name is not None:
                if piece.index in open_calls:
                    frames += over(open_calls[piece.index])
                open_calls[piece.index] = Piece(piece.index, "", piece.name, piece.id)
                frames += begun(piece)
            known = open_calls[piece.index]
            open_calls[piece.index] = Piece(known.index, known.arguments + piece.arguments, known.name, known.id)
            frames += more(piece)
        return frames + [frame for piece in open_calls.values() for frame in over(piece)]

    return calls


def in_one_piece(pieces: Sequence[Piece]) -> list[Piece]:
    """The calls, each with all its arguments, for vendors that send them whole."""
    whole: list[Piece] = []
    for piece in pieces:
        if piece.name is not None:
            whole.append(piece)
        else:
            place = max(i for i, known in enumerate(whole) if known.index == piece.index)
            known = whole[place]
            whole[place] = Piece(known.index, known.arguments + piece.arguments, known.name, known.id)
    return whole


def named(piece: Piece, field: str = "id") -> dict[str, str]:
    return {} if piece.id is None else {field: piece.id}


# Anthropic


def anthropic_text(pieces: Sequence[str]) -> Frames:
    return anthropic.text(0, *pieces)


def anthropic_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts: Any = {"output_tokens": OUTPUT} if counted else {}
    return anthropic.end(reason, **counts)


anthropic_calls = in_blocks(
    lambda piece: [
        {
            "type": "content_block_start",
            "index": piece.index,
            "content_block": {"type": "tool_use", "name": piece.name, "input": {}, **named(piece)},
        }
    ],
    lambda piece: [
        {
            "type": "content_block_delta",
            "index": piece.index,
            "delta": {"type": "input_json_delta", "partial_json": piece.arguments},
        }
    ],
    lambda piece: [{"type": "content_block_stop", "index": piece.index}],
)


# Bedrock


def bedrock_text(pieces: Sequence[str]) -> Frames:
    return [*(bedrock.delta(0, text=piece) for piece in pieces), bedrock.stop(0)]


def bedrock_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    over = [{"messageStop": {"stopReason": reason}}] if reason is not None else []
    counts = {"inputTokens": INPUT, "outputTokens": OUTPUT, "totalTokens": INPUT + OUTPUT}
    return [*over, {"metadata": {"usage": counts}}] if counted else over


bedrock_calls = in_blocks(
    lambda piece: [bedrock.start(piece.index, toolUse={"name": piece.name, **named(piece, "toolUseId")})],
    lambda piece: [bedrock.delta(piece.index, toolUse={"input": piece.arguments})],
    lambda piece: [bedrock.stop(piece.index)],
)


# Cohere


def cohere_text(pieces: Sequence[str]) -> Frames:
    begun = cohere.event("content-start", 0, content={"type": "text", "text": ""})
    return [begun, *(cohere.text(piece) for piece in pieces), cohere.event("content-end", 0)]


def cohere_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts = {"tokens": {"input_tokens": float(INPUT), "output_tokens": float(OUTPUT)}}
    return [cohere.end(reason, **({"usage": counts} if counted else {}))]


cohere_calls = in_blocks(
    lambda piece: [cohere.begun(piece.index, piece.id, piece.name or "")],
    lambda piece: [cohere.arguments(piece.index, piece.arguments)],
    lambda piece: [cohere.event("tool-call-end", piece.index)],
)


# Interactions


def interactions_text(pieces: Sequence[str]) -> Frames:
    return [interactions.start(0, "model_output"), *map(interactions.text, pieces), interactions.stop(0)]


interactions_calls = in_blocks(
    lambda piece: [interactions.start(piece.index, "function_call", name=piece.name, arguments={}, **named(piece))],
    lambda piece: [interactions.delta(piece.index, "arguments_delta", arguments=piece.arguments)],
    lambda piece: [interactions.stop(piece.index)],
)


def interactions_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts = {"usage": {"total_input_tokens": INPUT, "total_output_tokens": OUTPUT}} if counted else {}
    return [interactions.completed(reason, **counts)]


# Gemini and Ollama, which send calls whole


def gemini_calls(pieces: Sequence[Piece]) -> Frames:
    bodies = [(piece, FRAGMENT_VALUES[piece.arguments]) for piece in in_one_piece(pieces)]
    return [gemini.chunk({"functionCall": {"name": p.name, "args": args, **named(p)}}) for p, args in bodies]


def gemini_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts = {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT}
    return [gemini.chunk(finish=reason, usage=counts if counted else None)]


def ollama_calls(pieces: Sequence[Piece]) -> Frames:
    known = [
        {"function": {"index": p.index, "name": p.name, "arguments": FRAGMENT_VALUES[p.arguments]}, **named(p)}
        for p in in_one_piece(pieces)
    ]
    return [ollama.line(tool_calls=known)]


def ollama_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts = {"prompt_eval_count": INPUT, "eval_count": OUTPUT} if counted else {}
    return [{**ollama.DONE, "done_reason": reason, **counts}]


FRAGMENT_VALUES: Mapping[str, Any] = {'{"a":1}': {"a": 1}, '{"b":2}': {"b": 2}, "{}": {}}
"""What the arguments that tests use say."""


# OpenAI


def chat_calls(pieces: Sequence[Piece]) -> Frames:
    known = [{"name": piece.name} if piece.name else {} for piece in pieces]
    return [
        chat.called(chat.fragment(piece.arguments, index=piece.index, **named(piece), **name))
        for piece, name in zip(pieces, known, strict=True)
    ]


def chat_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    counts = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    over = [chat.chunk(reason)] if reason is not None else []
    return [*over, {**chat.chunk(), "choices": [], "usage": counts}] if counted else over


def responses_text(pieces: Sequence[str]) -> Frames:
    item = responses.message("".join(pieces))
    deltas = [responses.delta("output_text", piece, content_index=0) for piece in pieces]
    return [responses.added({**item, "content": []}), *deltas, responses.done(item)]


def responses_item(piece: Piece) -> dict[str, Any]:
    item = {"type": "function_call", "name": piece.name, "arguments": piece.arguments}
    return item | named(piece, "call_id")


responses_calls = in_blocks(
    lambda piece: [responses.added(responses_item(Piece(piece.index, "", piece.name, piece.id)), piece.index)],
    lambda piece: [responses.delta("function_call_arguments", piece.arguments, piece.index)],
    lambda piece: [responses.done(responses_item(piece), piece.index)],
)


def responses_end(said: Frames, reason: str | None, counted: bool) -> Frames:
    """The whole response once more; it has no word for a good end but its status."""
    items = [frame["item"] for frame in said if frame["type"] == "response.output_item.done"]
    counts = {"usage": {"input_tokens": INPUT, "output_tokens": OUTPUT}} if counted else {}
    if reason in ("completed", None):
        return [responses.end(*items, **counts)] if reason else []
    status = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return [{**responses.end(*items, **counts, **status), "type": "response.incomplete"}]


BUSY = {"message": "busy", "type": "overloaded_error"}
SPEECH: Mapping[str, Speech] = {
    "anthropic_messages": Speech(
        [anthropic.start(input_tokens=INPUT, output_tokens=1)],
        anthropic_text,
        anthropic_calls,
        anthropic_end,
        "end_turn",
        {"type": "error", "error": BUSY},
    ),
    "bedrock_converse": Speech(
        [bedrock.START],
        bedrock_text,
        bedrock_calls,
        bedrock_end,
        "end_turn",
        {"serviceUnavailableException": {"message": "busy"}},
    ),
    "cohere_chat": Speech(
        [cohere.START], cohere_text, cohere_calls, cohere_end, "COMPLETE", cohere.end("ERROR", error="busy")
    ),
    "gemini": Speech(
        [],
        lambda pieces: [gemini.chunk({"text": piece}) for piece in pieces],
        gemini_calls,
        gemini_end,
        "STOP",
        {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}},
    ),
    "gemini_interactions": Speech(
        [interactions.CREATED],
        interactions_text,
        interactions_calls,
        interactions_end,
        "completed",
        {"event_type": "error", "error": {"code": "service_unavailable", "message": "busy"}},
    ),
    "ollama": Speech(
        [],
        lambda pieces: [ollama.line(content=piece) for piece in pieces],
        ollama_calls,
        ollama_end,
        "stop",
        {"error": "busy"},
    ),
    "openai_chat": Speech(
        [chat.chunk(role="assistant", content="")],
        lambda pieces: [chat.chunk(content=piece) for piece in pieces],
        chat_calls,
        chat_end,
        "stop",
        {"error": {"message": "busy", "type": "server_error", "code": "server_error"}},
    ),
    "openai_responses": Speech(
        [responses.begin()],
        responses_text,
        responses_calls,
        responses_end,
        "completed",
        {"type": "error", "code": "server_error", "message": "busy"},
    ),
}


def said(format: str, frames: Frames, reason: str | None = "", *, counted: bool = True) -> Frames:
    """All frames of a stream; `reason` is the vendor's word for why it ends, None for no end at all."""
    speech = SPEECH[format]
    word = speech.stop if reason == "" else reason
    whole = deepcopy([*speech.begin, *frames])
    return whole if word is None else [*whole, *speech.end(whole, word, counted)]


def text_of(format: str, *pieces: str, reason: str | None = "", counted: bool = True) -> Frames:
    """A stream of these pieces."""
    return said(format, SPEECH[format].text(pieces), reason, counted=counted)


def in_bytes(format: str, frames: Frames) -> bytes:
    """The frames as the vendor sends them."""
    transpiler: Transpiler = FORMATS[format]()
    return stream_of(transpiler, frames)


def served(format: str, frames: Frames) -> bytes:
    """A whole streamed response."""
    return stream_head() + chunk(in_bytes(format, frames)) + LAST_CHUNK


def answered_with(format: str, *parts: Part) -> bytes:
    """A complete response without streaming, with the text "ok" unless it has other parts."""
    reply = ModelReply(parts or (TextPart("ok"),), "stop", model="m", provider=provider_of(format))
    return answer(FORMATS[format]().render(reply).body)


def reply_to(call_style: Any, llm: Any, **request: Any) -> ModelReply:
    """The whole reply of a stream that is read to its end."""
    with call_style.stream(llm, None if "messages" in request else "hi", **request) as stream:
        for _ in stream:
            pass
    return stream.response.reply


def call_in(format: str, request: ReceivedRequest) -> ModelCall:
    """The call in a request that the server got."""
    headers = {"content-type": "application/json"}
    return FORMATS[format]().parse(WireRequest(request.target, headers, request.body)).call
