"""Writes a conversation as steps, with a warning for everything that the format cannot express.

Writes system messages, which are one text in this format, with a warning for everything else in them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from abstractcore.schema import (
    CallWarning,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import name_options_left_out, warn_of_merging, with_options
from ...common.conversations import (
    SentCallIds,
    append_block,
    origin_of,
    refuse_system_only,
    refuse_unanswered_calls,
    written_with,
)
from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .content import opaque_content, write_media, write_plain_text
from .known_steps import INPUT_FIELDS, RESULT_FIELDS, write_result
from .vocabulary import WARNINGS
from .write_steps import StepWriter


@dataclass(slots=True)
class _MessageSteps:
    """The steps of the message at `index`."""

    index: int
    role: str
    steps: list[Object]
    arguments: list[str]
    """The texts of the calls' arguments."""


def write_input(messages: Sequence[Message], model: str, writer: BodyWriter, stored: int | None) -> list[Object]:
    """Returns the steps of the conversation without system messages, and without the message at `stored`.

    Raises `UnsupportedContentError` for unsupported content, or if no step is left, and `InvalidInputError` for calls
    without results.
    """
    refuse_system_only(messages)
    refuse_unanswered_calls(messages)
    conversation = _Conversation(messages, model, _like(writer), stored)
    merged = conversation.merged()
    if merged:
        conversation = _Conversation(messages, model, _like(writer), stored, merged)
        conversation.merge()
    writer.warnings[:] = conversation.writer.warnings
    writer.arguments += [text for turn in conversation.turns for text in turn.arguments]
    steps = [step for turn in conversation.turns for step in turn.steps]
    if not steps:
        raise WARNINGS.nothing_left()
    return steps


def _like(writer: BodyWriter) -> BodyWriter:
    """Returns a writer with the warnings of `writer` so far."""
    return BodyWriter(writer.provider, writer.key, warnings=list(writer.warnings))


class _Conversation:
    """The steps of all messages. The ids of calls in `merged` messages are new."""

    def __init__(
        self,
        messages: Sequence[Message],
        model: str,
        writer: BodyWriter,
        stored: int | None,
        merged: Collection[int] = (),
    ) -> None:
        self.writer = writer
        self._stored = stored
        self._origin = origin_of(writer.provider, model) or ""
        self._ids = SentCallIds(messages, lambda turn, id: turn not in merged and id)
        self._called: dict[str, tuple[str, str]] = {}
        turns = [self._turn(message, index) for index, message in enumerate(messages)]
        self.turns = [turn for turn in turns if turn.steps]

    def merged(self) -> frozenset[int]:
        """Returns the indexes of adjacent assistant messages, which the format does not separate."""
        return frozenset(turn.index for run in self._runs() for turn in run)

    def merge(self) -> None:
        """Writes adjacent assistant messages as one, with one warning for each instead of those for their parts."""
        from .parse import read_turn

        reason = "the Interactions format does not separate adjacent assistant messages"
        for run in self._runs():
            steps = [step for turn in run for step in turn.steps]
            body = written_with(steps, self.writer.key, (text for turn in run for text in turn.arguments))
            parts = read_turn(body, self.writer.provider, self._origin)
            warn_of_merging([turn.index for turn in run], parts, reason, self.writer.warnings)
            for turn in run:
                turn.steps, turn.arguments = [], []
            run[0].steps, run[0].arguments = self._as_one(parts)

    def _as_one(self, parts: Sequence[Part]) -> tuple[list[Object], list[str]]:
        """Returns the steps of parts that were read from steps, and the texts of their arguments."""
        writer = BodyWriter(self.writer.provider, self.writer.key)
        steps = StepWriter(writer)
        for part in parts:
            steps.add(part, "", part.id if isinstance(part, ToolCall) else "")
        return steps.finish(), writer.arguments

    def _runs(self) -> list[list[_MessageSteps]]:
        runs: list[list[_MessageSteps]] = []
        for turn in self.turns:
            if turn.role == "assistant" and runs and runs[-1][-1].role == "assistant":
                runs[-1].append(turn)
            else:
                runs.append([turn])
        return [run for run in runs if len(run) > 1]

    def _turn(self, message: Message, index: int) -> _MessageSteps:
        before = len(self.writer.arguments)
        steps = self._steps(message, index)
        return _MessageSteps(index, message.role, steps, self.writer.arguments[before:])

    def _steps(self, message: Message, index: int) -> list[Object]:
        path = f"messages[{index}]"
        if message.role == "system":
            return []
        if message.role == "assistant":
            return self._answer(message, index, path)
        if message.role == "tool":
            return [
                self._result(part, f"{path}.parts[{i}]")
                for i, part in enumerate(message.parts)
                if isinstance(part, ToolResult)
            ]
        return self._user(message, path)

    def _user(self, message: Message, path: str) -> list[Object]:
        provider, warnings = self.writer.provider, self.writer.warnings
        content: list[Object] = []
        for index, part in enumerate(message.parts):
            part_path = f"{path}.parts[{index}]"
            if isinstance(part, TextPart):
                append_block(content, write_plain_text(part, part_path, provider, warnings))
            elif isinstance(part, OpaquePart):
                own = opaque_content(part, provider)
                if own is None:
                    warnings.append(WARNINGS.part(part, part_path))
                else:
                    content.append(own)
            else:
                content.append(write_media(cast(MediaPart, part), part_path, provider, warnings))
        if not content:
            return []
        step: Object = {"type": "user_input", "content": content}
        return [with_options(step, message, path, provider, INPUT_FIELDS, warnings)]

    def _answer(self, message: Message, index: int, path: str) -> list[Object]:
        warnings = self.writer.warnings
        steps = StepWriter(self.writer)
        self._called = {call.id: (self._ids.of_call(index, call.id), call.name) for call in message.tool_calls}
        if index == self._stored:
            self._warn_of_stored(message, path)
            return []
        for number, part in enumerate(message.parts):
            part_path = f"{path}.parts[{number}]"
            if isinstance(part, ReasoningPart) and part.origin != self._origin:
                reason = f"reasoning of {part.origin or 'an unknown model'} is not sent to {self._origin}"
                warnings.append(CallWarning("part_left_out", part_path, reason))
            else:
                steps.add(part, part_path, self._called[part.id][0] if isinstance(part, ToolCall) else "")
        written = steps.finish()
        if written:
            reason = "the Interactions format has steps for the parts of such a message, but not for the message"
            name_options_left_out(message, path, self.writer.provider, reason, warnings)
        return written

    def _warn_of_stored(self, message: Message, path: str) -> None:
        """Warns of what is not sent of a turn that the provider stores: all but the ids and names of its calls."""
        provider, warnings = self.writer.provider, self.writer.warnings
        reason = "the provider has it in its stored conversation"
        name_options_left_out(message, path, provider, reason, warnings)
        for index, part in enumerate(message.parts):
            part_path = f"{path}.parts[{index}]"
            if not isinstance(part, ToolCall):
                warnings.append(CallWarning("part_left_out", part_path, reason))
                continue
            WARNINGS.fields(part, part_path, ("signature", "cache"), warnings)
            name_options_left_out(part, part_path, provider, reason, warnings)
            if part.arguments_text:
                where = f"{part_path}.arguments_text"
                warnings.append(CallWarning("arguments_left_out", where, reason, part.arguments_text, ""))

    def _result(self, part: ToolResult, path: str) -> Object:
        id, name = self._called[part.call_id]
        WARNINGS.fields(part, path, ("cache",), self.writer.warnings)
        step: Object = {"type": "function_result", "call_id": id, "name": name}
        step["result"] = write_result(part.content, path, self.writer)
        if part.is_error:
            step["is_error"] = True
        return with_options(step, part, path, self.writer.provider, RESULT_FIELDS, self.writer.warnings)


_REASON = "the Interactions format has one text for all system messages"


def write_system(messages: Sequence[Message], writer: BodyWriter) -> str:
    """Returns the system instruction, one text: all system messages, also later ones; empty if there are none."""
    texts: list[str] = []
    indexes: list[int] = []
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        text = _system_text(message, f"messages[{index}]", writer)
        if text:
            texts.append(text)
            indexes.append(index)
    joined = "\n\n".join(texts)
    if len(indexes) > 1:
        warn_of_merging(indexes, (TextPart(joined),), _REASON, writer.warnings)
    if indexes and any(message.role != "system" for message in messages[: indexes[0]]):
        path, reason = f"messages[{indexes[0]}]", "system messages are sent before the conversation"
        writer.warnings.append(CallWarning("reordered", path, reason, indexes[0], 0))
    return joined


def _system_text(message: Message, path: str, writer: BodyWriter) -> str:
    name_options_left_out(message, path, writer.provider, _REASON, writer.warnings)
    texts: list[str] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
            name_options_left_out(part, part_path, writer.provider, _REASON, writer.warnings)
            texts.append(part.text)
        else:
            writer.warnings.append(WARNINGS.part(part, part_path))
    return "".join(texts)
