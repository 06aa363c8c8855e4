"""How sessions are filled: from files, from JSON, with added messages. What vendors would refuse is repaired."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import schema
from ..errors import InvalidInputError, JournalError, SessionError
from ..schema import CallWarning, Message, check_pairs, repair_pairs
from ..tools.file_journal import loop_after
from .documents import read_document
from .history import SessionExchange, SessionHistory
from .journal import SessionJournal
from .state import SessionSettings, SessionState

if TYPE_CHECKING:
    from .file import SessionFile


def take_file(state: SessionState, file: SessionFile, system_prompt: str | None, *, strict: bool) -> None:
    """Fills a session from its file. Raises `SessionError`."""
    history = file.history()
    state.history, state.notes = _repaired(history, strict, f"{file.path}")
    id, kept = file.setting("id"), file.setting("system_prompt")
    state.system_prompt = system_prompt if system_prompt is not None else kept
    if not file.read_only:
        if id is None:
            file.set("id", state.id)
        if state.system_prompt != kept:
            file.set("system_prompt", state.system_prompt)
    state.id = id or state.id
    state.file = file
    _find_cut_off_loop(file, state.history)


def _find_cut_off_loop(file: SessionFile, history: SessionHistory) -> None:
    """Adds the exchange of a tool loop that a crash has cut off, or the state of one that waits for answers."""
    last = history.last

    def read(context: Sequence[Message]) -> schema.ToolLoop | None:
        try:
            return loop_after(SessionJournal(file, lambda: context).open())
        except JournalError as error:
            raise SessionError(error.message, hint=error.hint) from None

    loop = read(history.context)
    if loop is None:
        return
    if last is not None and last.messages and loop.messages == last.messages[last.asked :]:
        loop = read(history.context[: len(history.context) - len(last.messages)])
        history.replace_last(replace(last, loop=loop))
        return
    question = loop.call.messages[-1:] if loop.call.messages[-1].role == "user" else ()
    rounds = tuple(loop.messages)
    history.add(
        SessionExchange(history.next_number, (*question, *rounds), asked=len(question), partial=True, loop=loop)
    )


def take_document(state: SessionState, settings: SessionSettings, data: Any, *, strict: bool) -> None:
    """Fills a session from JSON data. Raises `SessionError`."""
    if isinstance(data, list) or (isinstance(data, dict) and "format" not in data and "messages" in data):
        given = cast("object", data if isinstance(data, list) else data["messages"])
        if not isinstance(given, list):
            raise SessionError("the file is not a session: expected a list of messages.")
        _take_messages(state, settings, cast("Sequence[Any]", given), strict)
        return
    if not isinstance(data, dict):
        raise SessionError("the file is not a session: expected an object or a list of messages.")
    history, state.id, prompt = read_document(cast("Mapping[str, Any]", data))
    state.history, state.notes = _repaired(history, strict, "the session")
    if state.system_prompt is None:
        state.system_prompt = prompt


def _take_messages(state: SessionState, settings: SessionSettings, given: Sequence[Any], strict: bool) -> None:
    try:
        messages = [*settings.llm.read_messages([*given])] if given else []
    except InvalidInputError as error:
        raise SessionError(f"the conversation is damaged: {error.message}", hint=error.hint) from None
    if messages and messages[0].role == "system":
        prompt = messages.pop(0).text
        state.system_prompt = state.system_prompt or prompt
    repaired, state.notes = _repaired_messages(messages, strict, "the conversation")
    state.add_messages(repaired, settings)
    state.unwritten.clear()


def write_fork(state: SessionState, path: str | os.PathLike[str], original: SessionState) -> None:
    """Writes a fork to a file: that of the original is copied, another history is written."""
    from .file import SessionFile

    if Path(path).exists():
        raise SessionError(f"{path} exists already.", hint="Give the path of a new file.")
    settings = {"id": state.id, "system_prompt": state.system_prompt}
    is_copy = original.file is not None and not original.unwritten
    if original.file is not None and is_copy:
        original.file.copy_to(path, settings)
    file = SessionFile(path)
    try:
        state.file = file
        if not is_copy:
            for name, value in settings.items():
                file.set(name, value)
            for exchange in state.history.exchanges:
                state.keep(exchange)
            state.write()
            for spent in state.history.spent or (SessionExchange(0, ()),):
                file.compact(state.history.groups, spent)
        elif (last := state.history.last) is not None and last.loop is not None:
            state.keep(last)  # of a loop that a crash has cut off, the file has the journal only
            state.write()
    except BaseException:
        file.close()
        raise


def may_be_added(before: Sequence[Message], added: Sequence[Message], system_prompt: str | None) -> Sequence[Message]:
    """Returns messages as they are added; raises `InvalidInputError` for the first fault that they bring."""
    if system_prompt is not None and any(message.role == "system" for message in added):
        raise InvalidInputError("the session has a system prompt already", path="messages")
    last = next((place for place in range(len(before) - 1, -1, -1) if before[place].role == "user"), 0)
    turn = before[last:]  # what is added cannot break what is before the last question
    known = {(fault.code, fault.path) for fault in check_pairs(turn)}
    faults = [each for each in check_pairs((*turn, *added)) if (each.code, each.path) not in known]
    for fault in faults:
        if fault.code != "begins_with_answer":
            raise InvalidInputError(fault.message, path="messages", hint="schema.repair_pairs(messages) repairs them.")
    return repair_pairs(added)[0] if faults else added


def _repaired(history: SessionHistory, strict: bool, what: str) -> tuple[SessionHistory, tuple[CallWarning, ...]]:
    """Returns a history whose context keeps the invariant, and notes of what was changed."""
    if not check_pairs(history.context):
        return history, ()
    _, notes = _repaired_messages(history.context, strict, what)
    groups = [replace(group, messages=repair_pairs(group.messages)[0]) for group in history.groups]
    repaired = [*history.exchanges]
    for index in range(history.compacted, len(repaired)):
        messages = _repair_exchange(repaired[index], is_last=index == len(repaired) - 1)
        repaired[index] = repaired[index].with_messages(messages)
    kept = [each for index, each in enumerate(repaired) if each.messages or index < history.compacted]
    left = [each.without_messages() for each in repaired[history.compacted :] if not each.messages]
    return SessionHistory(kept, groups, (*history.spent, *left)), notes


def _repair_exchange(exchange: SessionExchange, *, is_last: bool) -> tuple[Message, ...]:
    return repair_pairs((Message.user("?"), *exchange.messages), complete=not is_last)[0][1:]


def _repaired_messages(
    messages: Sequence[Message], strict: bool, what: str
) -> tuple[tuple[Message, ...], tuple[CallWarning, ...]]:
    faults = check_pairs(messages)
    if faults and strict:
        raise SessionError(f"{what} is not a valid conversation: {faults[0]}", hint="Load it without strict=True.")
    return repair_pairs(messages)
