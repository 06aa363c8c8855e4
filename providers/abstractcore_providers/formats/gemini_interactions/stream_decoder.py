"""Decodes the events of an interaction to deltas; a whole interaction is read like them."""

from __future__ import annotations

from collections.abc import Callable

import jiter

from abstractcore.framing import ServerSentEvent
from abstractcore.schema import Delta

from ...common.conversations import WrittenArguments
from ...common.error_table import reports_error
from ...common.frame_decoder import FrameDecoder
from ...common.reading import Cut, Object, as_object, count_of, mend_texts, object_of, objects_of, text_of
from ...common.response_bodies import NO_ERROR
from .errors import RIGHT_ADDRESS, error_in_answer, error_of_failed
from .steps import OpenStep, Steps
from .vocabulary import ARGUMENTS, FAILED, extra_usage, finish_reason_to_ours, metadata_to_ours, usage_to_ours

_CUT: Cut = {
    "delta": {"text": {}, "arguments": {}, "content": {"text": {}}},
    "step": {"content": {"text": {}}, "summary": {"text": {}}},
}


class InteractionDecoder(FrameDecoder):
    """Decodes one stream. It is complete when the interaction is, or waits for a result or a continuation."""

    def __init__(self, provider: str) -> None:
        super().__init__(RIGHT_ADDRESS, "the stream ended before the interaction was complete", cut=_CUT)
        self._provider = provider
        self._steps = Steps(provider, self._out)
        self._began = False
        self._interaction: Object = {}
        self._usage: Object = {}
        self._last = -1
        self._step: OpenStep | None = None
        """The step of the last text, at this index."""
        self._handlers: dict[str, Callable[[Object, WrittenArguments], None]] = {
            "interaction.created": self._add_interaction,
            "interaction.status_update": self._update,
            "interaction.completed": self._complete_interaction,
            "step.start": self._start,
            "step.delta": self._add,
            "step.stop": self._stop,
            "error": self._fail,
        }

    def feed(self, frame: ServerSentEvent) -> list[Delta]:
        """Returns the deltas of one event; raises `ServerError` for one that is not JSON, or the error it contains."""
        self._count += 1
        try:
            event = jiter.from_json(frame.data, allow_inf_nan=False)
        except ValueError:
            if not frame.data or frame.data == b"[DONE]":
                return []
            return self._deltas_of(self._event, self._object(self._read_with_care(frame.data)), frame)
        try:
            # Fast path: nearly all events append to the open text.
            delta, step = event["delta"], self._step
            text = delta["text"]
            if (
                step is not None
                and event["index"] == self._last
                and delta["type"] == "text"
                and text
                and type(text) is str
                and "metadata" not in event
            ):
                piece = self._steps.more_text(step, text)
                if piece is not None:
                    return [piece]
        except (KeyError, TypeError):
            return self._deltas_of(self._event, self._object(event), frame)
        return self._deltas_of(self._event, self._object(event), frame)

    def whole(self, data: Object, body: bytes) -> list[Delta]:
        """Returns the deltas of an interaction, whose JSON is `body`; raises its error if it failed, `SchemaError`."""
        self._add_interaction({"interaction": data}, WrittenArguments(body, ARGUMENTS))
        self._read_steps(data, body)
        self._check_failure()
        self._end()
        return self._out.take()

    def _event(self, event: Object, frame: ServerSentEvent) -> None:
        kind = text_of(event, "event_type") or frame.event
        if event.get("error") not in NO_ERROR:
            kind = "error"
        handler = self._handlers.get(kind)
        if handler is None:
            if reports_error(event):
                raise error_in_answer(as_object(mend_texts(event)))
            if "event_type" not in event:
                self._ignore(event)
            return
        if not self._began and kind not in ("interaction.created", "interaction.completed", "error"):
            self._begin({})
        handler(event, WrittenArguments(frame.data, ARGUMENTS))
        if event.get("usage") is not None:
            self._add_usage(object_of(event, "usage"))
        elif event.get("metadata") is not None:
            self._add_usage(object_of(object_of(event, "metadata"), "total_usage"))

    def _end(self) -> None:
        self._steps.end()
        self._count_tokens()
        metadata = metadata_to_ours(self._interaction)
        extra = extra_usage(self._usage)
        if extra:
            metadata["usage"] = extra
        status = text_of(self._interaction, "status")
        self._out.end_reply(finish_reason_to_ours(status, self._steps.calls > 0), status, metadata)

    def _begin(self, data: Object) -> None:
        self._began = True
        model = text_of(data, "model") or text_of(data, "agent")
        self._out.start_reply(model, self._provider, text_of(data, "id"))

    def _add_interaction(self, event: Object, written: WrittenArguments) -> None:
        data = object_of(event, "interaction")
        if not self._began or self._out.awaits_start:
            self._begin(data)
        self._interaction |= {name: value for name, value in data.items() if name != "steps" and value is not None}
        self._add_usage(object_of(data, "usage"))

    def _update(self, event: Object, written: WrittenArguments) -> None:
        for name in ("status", "continuation_token"):
            if event.get(name) is not None:
                self._interaction[name] = event[name]
        self._check_failure()

    def _complete_interaction(self, event: Object, written: WrittenArguments) -> None:
        self._add_interaction(event, written)
        data = object_of(event, "interaction")
        if not self._steps.count and data.get("steps"):
            self._read_steps(data, b"")
        self._steps.end()
        self._check_failure()
        self.complete = True

    def _check_failure(self) -> None:
        if text_of(self._interaction, "status") == FAILED:
            raise error_of_failed(self._interaction, self._steps.error)

    def _read_steps(self, data: Object, body: bytes) -> None:
        self._steps.read(objects_of(data, "steps"), WrittenArguments(body, ARGUMENTS))

    def _start(self, event: Object, written: WrittenArguments) -> None:
        self._last = self._index(event)
        self._step = self._steps.start(self._last, object_of(event, "step"), written)

    def _add(self, event: Object, written: WrittenArguments) -> None:
        self._last = self._index(event)
        self._step = self._steps.add(self._last, object_of(event, "delta"), written)

    def _stop(self, event: Object, written: WrittenArguments) -> None:
        self._steps.stop(self._index(event))
        self._step = None

    def _index(self, event: Object) -> int:
        index = count_of(event, "index")
        return max(self._last, 0) if index is None else index

    def _add_usage(self, usage: Object) -> None:
        """Keeps the usage so far, and writes it if it changed."""
        if usage and usage != self._usage:
            self._usage = usage
            self._count_tokens()

    def _count_tokens(self) -> None:
        tier = text_of(self._interaction, "service_tier")
        if self._usage or tier:
            self._out.count(usage_to_ours(self._usage, tier))

    def _fail(self, event: Object, written: WrittenArguments) -> None:
        raise error_in_answer(event)
