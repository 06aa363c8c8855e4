"""From `chat.completion.chunk` events to deltas, as real servers send them."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent
from abstractcore.schema import (
    Delta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)

from ..json_reading import Object, as_object, as_objects, count_of, read_json, text_of
from .failures import error_in_stream
from .vocabulary import finish_reason_to_ours, unmodelled, usage_to_ours


class ChatDecoder:
    """Decodes one stream.

    Tool calls are told apart by id where an index repeats. Usage may come with the last choice, after it, or never.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._sequence = 0
        self._blocks = 0
        self._events = 0
        self._open: tuple[str, int] | None = None
        self._origin: str | None = None
        self._calls: dict[int, tuple[str, int]] = {}
        self._open_calls: list[int] = []
        self._finish: str | None = None
        self._refused = False
        self._metadata: Object = {}

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """The deltas of one event; raises `ServerError` for one that is not JSON, or the error it reports."""
        if frame.data == b"[DONE]":
            return []
        try:
            chunk = as_object(read_json(frame.data))
        except ValueError:
            raise ServerError(f"event {self._events} of the stream is not JSON: {frame.data[:60]!r}") from None
        deltas: list[Delta] = []
        if self._events == 0:
            self._begin(chunk, deltas)
        self._events += 1
        if "error" in chunk:
            raise error_in_stream(chunk["error"])
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices:
            self._choice(as_object(choices[0]), deltas)
        usage = chunk.get("usage")
        if usage:
            deltas.append(UsageDelta(self._next(), usage_to_ours(as_object(usage))))
            self._metadata.update(unmodelled(chunk))
        return deltas

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if no finish reason came."""
        if self._finish is None:
            raise StreamInterruptedError("the stream ended without a finish reason")
        deltas: list[Delta] = []
        self._close(deltas)
        deltas += [ToolCallEnd(self._next(), block) for block in self._open_calls]
        reason = "refusal" if self._refused else finish_reason_to_ours(self._finish)
        deltas.append(ReplyEnd(self._next(), reason, self._finish, self._metadata))
        return deltas

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1

    def _begin(self, chunk: Object, deltas: list[Delta]) -> None:
        model = text_of(chunk, "model")
        self._origin = f"{self._provider}/{model}"
        self._metadata.update(unmodelled(chunk))
        deltas.append(ReplyStart(self._next(), model, self._provider, text_of(chunk, "id")))

    def _choice(self, choice: Object, deltas: list[Delta]) -> None:
        delta = as_object(choice.get("delta"))
        content = delta.get("content")
        if content and isinstance(content, str):
            deltas.append(TextDelta(self._next(), self._block("text", deltas), content))
        if len(delta) > 1 or not content:
            self._rest(delta, deltas)
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            self._finish = finish
        logprobs = choice.get("logprobs")
        if logprobs is not None:
            self._add_logprobs(as_object(logprobs))

    def _rest(self, delta: Object, deltas: list[Delta]) -> None:
        reasoning = text_of(delta, "reasoning_content") or text_of(delta, "reasoning")
        if reasoning:
            deltas.append(ReasoningDelta(self._next(), self._block("reasoning", deltas), reasoning))
        refusal = text_of(delta, "refusal")
        if refusal:
            self._refused = True
            deltas.append(TextDelta(self._next(), self._block("text", deltas), refusal))
        for call in as_objects(delta.get("tool_calls")):
            self._tool_call(call, deltas)

    def _tool_call(self, call: Object, deltas: list[Delta]) -> None:
        function = as_object(call.get("function"))
        index = count_of(call, "index") or 0
        id = text_of(call, "id")
        known = self._calls.get(index)
        if known is None or (id and id != known[0]):
            self._close(deltas)
            known = (id or f"call_{len(self._open_calls)}", self._new_block())
            self._calls[index] = known
            self._open_calls.append(known[1])
            deltas.append(ToolCallStart(self._next(), known[1], known[0], text_of(function, "name") or ""))
        arguments = text_of(function, "arguments")
        if arguments:
            deltas.append(ToolCallDelta(self._next(), known[1], arguments))

    def _block(self, kind: str, deltas: list[Delta]) -> int:
        """The number of the open block of this kind, which is begun if another was open."""
        if self._open is not None and self._open[0] == kind:
            return self._open[1]
        self._close(deltas)
        block = self._new_block()
        self._open = (kind, block)
        deltas.append(
            TextStart(self._next(), block) if kind == "text" else ReasoningStart(self._next(), block, self._origin)
        )
        return block

    def _new_block(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def _close(self, deltas: list[Delta]) -> None:
        if self._open is not None:
            kind, block = self._open
            deltas.append(TextEnd(self._next(), block) if kind == "text" else ReasoningEnd(self._next(), block))
            self._open = None

    def _add_logprobs(self, logprobs: Object) -> None:
        gathered: dict[str, Any] = self._metadata.setdefault("logprobs", {})
        for name, tokens in logprobs.items():
            if isinstance(tokens, list):
                gathered[name] = [*(gathered.get(name) or []), *tokens]  # pyright: ignore[reportUnknownVariableType]
            else:
                gathered.setdefault(name, tokens)
