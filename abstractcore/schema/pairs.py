"""The invariant of conversations: every tool result follows its call, every call has its result, and no item that
vendors want back in one piece is torn apart. Pure functions, for all that cuts, loads and compacts conversations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .base_error import shown
from .calls import Message
from .parts import HostedToolCall, HostedToolResult, Part, ReasoningPart, TextPart, ToolCall, ToolResult
from .replies import CallWarning
from .reprs import Immutable

PairCode = Literal[
    "result_without_call",
    "call_without_result",
    "second_result",
    "repeated_call_id",
    "hosted_result_without_call",
    "reasoning_without_item",
    "begins_with_answer",
    "answer_after_answer",
]
"""What is wrong: a result without its call in the assistant's turn before; a call without its result, which a later
turn follows; a second result of a call; two calls of one turn with one id; a result of a hosted tool without its call;
signed reasoning that nothing follows in its turn; an answer of the assistant before any message of the user; calls
directly after another answer."""


@dataclass(frozen=True, slots=True)
class PairFault(Immutable):
    """A place where a conversation breaks the invariant. `path` is that of the message or part."""

    code: PairCode
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message} [{self.code}]"


def check_pairs(messages: Sequence[Message], *, complete: bool = False) -> tuple[PairFault, ...]:
    """Returns where a conversation would be refused by vendors, in order; nothing for a valid one.

    The calls of its last turn may be open, since their results are still to come, unless it is to be `complete`. Linear
    in the number of parts.
    """
    return tuple(_faults(messages, complete))


def _faults(messages: Sequence[Message], complete: bool) -> Iterator[PairFault]:
    turn = _NO_TURN
    has_user = False
    hosted = set[str]()
    for index, message in enumerate(messages):
        if message.role == "tool":
            yield from turn.take(message, index)
        elif message.role == "assistant":
            if turn.calls:
                yield from turn.unanswered()
            before, turn = turn, _PLAIN_ANSWER
            if has_user and len(message.parts) == 1 and type(message.parts[0]) is TextPart:
                continue  # as most answers, without anything that could be torn
            turn = _Turn(index, message)
            yield from turn.repeated()
            if not has_user:
                text = "the assistant answers before any message of the user"
                yield PairFault("begins_with_answer", f"messages[{index}]", text)
                has_user = True
            elif message.tool_calls and before.is_whole_answer:
                text = "calls of tools follow another turn of the assistant"
                yield PairFault("answer_after_answer", f"messages[{index}]", text)
            yield from _torn_items(message, index, hosted)
        elif message.role == "user":
            if turn.calls:
                yield from turn.unanswered()
            turn, has_user = _NO_TURN, True
            if hosted:
                hosted = set[str]()
    if complete:
        yield from turn.unanswered()


class _Turn:
    """The calls of the latest turn of the assistant, and those that have their result."""

    def __init__(self, index: int, message: Message | None = None) -> None:
        self.index = index
        self._message = message
        self.calls = () if message is None else message.tool_calls
        self._ids = {call.id for call in self.calls} if self.calls else set[str]()
        self._answered: set[str] = set()

    @property
    def is_whole_answer(self) -> bool:
        """Whether it is a turn of the assistant that is not to go on in the next message."""
        return self._message is not None and not self.calls and not _is_paused(self._message)

    def repeated(self) -> Iterator[PairFault]:
        if len(self._ids) < len(self.calls):
            yield PairFault("repeated_call_id", f"messages[{self.index}]", "two tool calls have one id")

    def take(self, message: Message, index: int) -> Iterator[PairFault]:
        for place, part in enumerate(message.parts):
            id = part.call_id if isinstance(part, ToolResult) else ""
            path = f"messages[{index}].parts[{place}]"
            if id not in self._ids:
                yield PairFault("result_without_call", path, f"no call {shown(id)} is in the turn before")
            elif id in self._answered:
                yield PairFault("second_result", path, f"the call {shown(id)} has a result already")
            if self.calls:
                self._answered.add(id)

    def unanswered(self) -> Iterator[PairFault]:
        for call in self.calls:
            if call.id not in self._answered:
                text = f"the call {shown(call.id)} of {shown(call.name)} has no result"
                yield PairFault("call_without_result", f"messages[{self.index}]", text)


_NO_TURN = _Turn(0)
_PLAIN_ANSWER = _Turn(0, Message.assistant("."))
"""Stands for each answer of one text: its place is in no fault."""


def _is_paused(message: Message) -> bool:
    """Returns whether a hosted tool still runs: the provider goes on with the turn in the next message."""
    done = {part.call_id for part in message.parts if isinstance(part, HostedToolResult)}
    return any(part.id not in done for part in message.parts if isinstance(part, HostedToolCall))


def _torn_items(message: Message, index: int, hosted: set[str]) -> Iterator[PairFault]:
    """Yields results of hosted tools whose call is not in the turn, and reasoning at its end. A paused turn goes on in
    the next message: `hosted` are the calls of the turn so far.
    """
    for place, part in enumerate(message.parts):
        path = f"messages[{index}].parts[{place}]"
        if isinstance(part, HostedToolCall):
            hosted.add(part.id)
        elif isinstance(part, HostedToolResult) and part.call_id not in hosted:
            text = f"no call {shown(part.call_id)} of a hosted tool is before its result"
            yield PairFault("hosted_result_without_call", path, text)
    for place in _loose_reasoning(message.parts):
        path = f"messages[{index}].parts[{place}]"
        yield PairFault("reasoning_without_item", path, "nothing follows the signed reasoning in its turn")


def _loose_reasoning(parts: Sequence[Part]) -> Sequence[int]:
    """Returns the places of signed reasoning at the end of a turn."""
    last = len(parts)
    while last and isinstance(parts[last - 1], ReasoningPart):
        last -= 1
    return [place for place in range(last, len(parts)) if not _is_plain(parts[place])]


def _is_plain(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and part.is_plain


NO_RESULT = "There is no result: the conversation was cut before it arrived."
NO_QUESTION = "[The conversation begins here.]"
NO_MESSAGE = "[Messages are missing here.]"


def repair_pairs(
    messages: Sequence[Message], *, complete: bool = False
) -> tuple[tuple[Message, ...], tuple[CallWarning, ...]]:
    """Returns a conversation that keeps the invariant, and a note for each change; a valid one is returned as it is.

    Results without a call, second results and torn items are left out; before an answer that the conversation begins
    with, and between turns where one is missing, a message of the user says so; a call without a result gets an error
    as its result, so that the model knows; one of the last turn too, if the conversation is to be `complete`. Results
    are moved behind their turn.
    """
    if not check_pairs(messages, complete=complete):
        return tuple(messages), ()
    repair = _Repair()
    for index, message in enumerate(messages):
        repair.add(message, index)
    repair.end_turn(may_be_open=not complete)
    return tuple(repair.messages), tuple(repair.notes)


class _Repair:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.notes: list[CallWarning] = []
        self._turn: Message | None = None
        self._place = 0
        self._index = 0
        self._results: dict[str, ToolResult] = {}
        self._renamed: dict[str, list[str]] = {}
        self._hosted: set[str] = set()
        self._has_user = False

    def add(self, message: Message, index: int) -> None:
        if message.role == "tool":
            self._take_results(message, index)
        elif message.role == "assistant":
            self.end_turn()
            self._begin_turn(message, index)
        else:
            if message.role == "user":
                self.end_turn()
                self._has_user, self._hosted = True, set()
            self.messages.append(message)

    def end_turn(self, *, may_be_open: bool = False) -> None:
        """Puts the results of the latest turn behind it."""
        turn, self._turn = self._turn, None
        if turn is None or not turn.tool_calls:
            return
        missing = [call for call in turn.tool_calls if call.id not in self._results]
        if not may_be_open:
            for call in missing:
                self._results[call.id] = ToolResult.text(call.id, NO_RESULT, is_error=True)
                self._note("result_added", f"the call {shown(call.id)} had no result: it has an error now", self._index)
        found = [self._results[call.id] for call in turn.tool_calls if call.id in self._results]
        if found:
            self.messages.insert(self._place, Message.tool(*found))

    def _take_results(self, message: Message, index: int) -> None:
        for part in message.parts:
            if not isinstance(part, ToolResult):
                continue
            id = self._id_of_result(part)
            if id is None:
                self._note(
                    "result_left_out", f"the result of {shown(part.call_id)} has no call, or a second one", index
                )
            else:
                self._results[id] = part if id == part.call_id else replace(part, call_id=id)

    def _id_of_result(self, part: ToolResult) -> str | None:
        """Returns the id of the call that a result is of: the next one of those that had one id."""
        calls = () if self._turn is None else self._turn.tool_calls
        for id in (part.call_id, *self._renamed.get(part.call_id, ())):
            if id not in self._results and any(call.id == id for call in calls):
                return id
        return None

    def _begin_turn(self, message: Message, index: int) -> None:
        self._results, self._renamed, self._index = {}, {}, index
        parts = [*self._whole_parts(message.parts, index)]
        loose = set(_loose_reasoning(parts))
        if loose:
            self._note("reasoning_left_out", "nothing follows the signed reasoning in its turn", index)
        parts = [part for place, part in enumerate(parts) if place not in loose]
        if not parts:
            return
        if not self._has_user:
            self._note("question_added", "the conversation begins with an answer: a message of the user says so", index)
            self.messages.append(Message.user(NO_QUESTION))
            self._has_user = True
        elif self._follows_answer(parts):
            self._note(
                "question_added", "calls follow another answer: a message of the user between them says so", index
            )
            self.messages.append(Message.user(NO_MESSAGE))
        self._turn = replace(message, parts=tuple(parts))
        self.messages.append(self._turn)
        self._place = len(self.messages)

    def _follows_answer(self, parts: Sequence[Part]) -> bool:
        before = next((each for each in reversed(self.messages) if each.role != "system"), None)
        has_calls = any(isinstance(part, ToolCall) for part in parts)
        return (
            has_calls
            and before is not None
            and _Turn(0, before if before.role == "assistant" else None).is_whole_answer
        )

    def _whole_parts(self, parts: Iterable[Part], index: int) -> Iterator[Part]:
        """Yields the parts without results of hosted tools that have no call, and with an own id for each call."""
        ids = {part.id for part in parts if isinstance(part, ToolCall)}
        seen: set[str] = set()
        for part in parts:
            if isinstance(part, HostedToolCall):
                self._hosted.add(part.id)
            elif isinstance(part, HostedToolResult) and part.call_id not in self._hosted:
                self._note("result_left_out", f"the result of {shown(part.call_id)} has no call", index)
                continue
            elif isinstance(part, ToolCall) and part.id in seen:
                new = next(id for n in range(2, len(ids) + 3) if (id := f"{part.id}_{n}") not in ids)
                ids.add(new)
                self._renamed.setdefault(part.id, []).append(new)
                self._note(
                    "call_renamed", f"two calls had the id {shown(part.id)}: the later one is {shown(new)}", index
                )
                part = replace(part, id=new)
            if isinstance(part, ToolCall):
                seen.add(part.id)
            yield part

    def _note(self, code: str, message: str, index: int) -> None:
        self.notes.append(CallWarning(code, f"messages[{index}]", message))
