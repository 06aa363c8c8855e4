"""`SessionTurn`: one call of a session, from its request to its exchange; written once for sync and async calls."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ..client.option_values import enclosing_tags
from ..client.options import RESUME_FIELDS
from ..client.pipelines import PreparedRequest
from ..engine import Pipeline, Prepare, Prepared
from ..errors import ContextOverflowError, InvalidInputError, SessionError
from ..ports import Runtime
from ..schema import (
    GenerateResponse,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolAnswer,
    ToolLoop,
    Usage,
    repair_pairs,
)
from ..tools.policy import read_policy
from .handles import RECALL, recall_tool
from .history import SessionExchange, has_open_calls
from .journal import SessionJournal
from .room import ContextRoom, has_files
from .state import SessionSettings, SessionState, loop_waits, request_on, run_once

_log = logging.getLogger("abstractcore")
_ENDED = ("answered", "final")
_OF_RESUMPTIONS = RESUME_FIELDS | {"response_model"}


class SessionTurn:
    """One call. `prepared` is its request; `answer` makes it, or a stream reads it and calls `finish` or `fail`."""

    def __init__(
        self,
        state: SessionState,
        settings: SessionSettings,
        prompt: str | None,
        request: Mapping[str, Any],
        *,
        stream: bool,
        answers: Sequence[ToolAnswer] | None = None,
    ) -> None:
        self._state = state
        self._settings = settings
        self._prompt = prompt
        self._request = request
        self._stream = stream
        self._answers = answers
        self._journal: SessionJournal | None = None
        self._can_recall = False
        self._options = self._merged_options()
        self._room = ContextRoom(state, settings, self._options, prompt, can_recall=self._can_recall)
        self._call: ModelCall | None = None
        self._context: tuple[Message, ...] = ()
        self._pipeline: Pipeline | None = None
        self._resumed: SessionExchange | None = None
        self._seen: tuple[Message, ...] = ()
        """The context that the request was prepared for."""

    @property
    def is_stale(self) -> bool:
        """Whether the history has changed since the request was prepared."""
        return self._seen is not self._state.history.context

    def prepared(self) -> PreparedRequest:
        """Returns the request, validated; raises as `LLM.generate` does before anything is sent."""
        history, llm = self._state.history, self._settings.llm
        last = history.last
        self._seen, self._resumed = history.context, None
        if self._answers is not None:
            return self._resumption(self._answers, "resume")
        if last is not None and last.loop is not None:
            if last.partial and self._asks_again(last):
                return self._resumption((), "ask")
            if not last.partial:
                raise loop_waits("prompt")
        elif has_open_calls(history.context) and self._room.has_question:
            hint = "Add them first: session.add(call.result(...)), then session.ask(); or session.undo()."
            raise InvalidInputError("calls of tools have no result yet", path="prompt", hint=hint)
        self._context = self._context_to_send()
        prepared = llm.prepared(self._prompt, self._request_on(self._context), stream=self._stream)
        return prepared._replace(prepare=self._watched(prepared.prepare))

    async def answer(self, pipeline: Pipeline) -> GenerateResponse[Any]:
        """Makes the call, and adds its exchange to the history."""
        self.begin(pipeline)
        try:
            while True:
                try:
                    response = await self.prepared().response(pipeline)
                    break
                except ContextOverflowError as error:
                    if not self.may_try_again(error):
                        raise
        except BaseException as error:
            self.fail(error)
            raise
        return await self.finish(response)

    def begin(self, pipeline: Pipeline) -> None:
        """Begins the call; raises `SessionBusyError` while another one runs."""
        self._state.begin()
        self._pipeline = pipeline

    def may_try_again(self, error: ContextOverflowError) -> bool:
        """Returns whether a call that was too long may be made again, with a context that is compacted."""
        if self._room.has_overflowed or self._settings.compact is None or self._resumed is not None:
            return False
        if len(self._state.history.context) == 0 or (error.loop is not None and error.loop.replies):
            return False  # tools may have run: they are not run again
        self._forget_loop()
        _log.debug("the context of a session was too long, and is compacted: %s", error)
        self._room.has_overflowed = True
        return True

    async def finish(self, response: GenerateResponse[Any]) -> GenerateResponse[Any]:
        """Adds the exchange to the history, writes it, and ends the call; returns the response.

        Raises `SessionError`, which has the response, if the file cannot be written.
        """
        assert self._pipeline is not None
        try:
            exchange = self._exchange_of(response)
            if exchange.messages:
                self._add(exchange)
                self._learn(response, exchange)
            else:
                self._state.history.charge(exchange)
            if self._state.file is not None:
                await self._write(self._pipeline.runtime, exchange, response)
            return response
        finally:
            self._state.end()

    def fail(
        self, error: BaseException | None, partial: ModelReply | None = None, loop: ToolLoop | None = None
    ) -> None:
        """Ends a call that failed or was left. What had arrived is kept if the session is to keep it."""
        try:
            self._end_journal()
            self._keep_partial(error, partial, loop)
        except SessionError as problem:
            _log.warning("the file of a session was not written: %s", problem)
        finally:
            self._state.end()

    def _merged_options(self) -> dict[str, Any]:
        """Returns the options of the call over those of the session."""
        request, settings = self._request, self._settings
        if "messages" in request:
            hint = "Add them: session.add(*messages)."
            raise InvalidInputError("a session has its own messages", path="messages", hint=hint)
        given: Mapping[str, Any] = request.get("options") or {}
        options = {name: value for name, value in settings.defaults.items() if name not in given}
        options |= request
        if options.get("system_prompt") is None and self._state.system_prompt is not None:
            options["system_prompt"] = self._state.system_prompt
        if options.get("tools") is None and settings.tools:
            options["tools"] = settings.tools
        if options.get("run_tools") is None and settings.run_tools:
            options["run_tools"] = settings.run_tools
        tags: list[Any] = [each.get("tags") or {} for each in (settings.defaults, given, request)]
        if all(isinstance(each, Mapping) for each in tags):
            merged: dict[str, Any] = {}
            for each in tags:
                merged |= each
            if "session" not in merged and "session" not in enclosing_tags():
                merged["session"] = self._state.id
            options["tags"] = merged
        return self._with_own_tools(options)

    def _with_own_tools(self, options: dict[str, Any]) -> dict[str, Any]:
        """Adds the tool `recall`, and the journal of the file, to a call whose tools are run."""
        if not options.get("run_tools") or not options.get("tools"):
            return options
        is_compacted = self._settings.compact is not None and self._settings.limit(None) is not None
        if is_compacted and RECALL not in map(_name_of, options["tools"]):  # else a tool of the user has the name
            options["tools"] = (*options["tools"], recall_tool(lambda: self._state.history.messages))
            self._can_recall = True
        file = self._state.file
        policy = read_policy(options["run_tools"])
        if file is not None and policy is not None and policy.journal is None:
            self._journal = SessionJournal(file, lambda: self._context)
            options["run_tools"] = replace(policy, journal=self._journal)
        return options

    def _request_on(self, context: tuple[Message, ...]) -> dict[str, Any]:
        return request_on(context, self._options, has_system=self._state.history.has_system)

    def _asks_again(self, last: SessionExchange) -> bool:
        """Returns whether this is the question of a loop that a crash has cut off."""
        question = last.question[-1:] if last.question else ()
        if self._prompt is None or not question:
            return self._prompt is None and not question
        texts = [part for part in question[0].parts if isinstance(part, TextPart)]
        return question[0].text == self._prompt and (len(texts) == len(question[0].parts)) != has_files(self._options)

    def _context_to_send(self) -> tuple[Message, ...]:
        """Returns the messages before the question: without an exchange that a crash has cut off."""
        history = self._state.history
        last = history.last
        if last is not None and last.loop is not None and last.partial:
            return history.context[: len(history.context) - len(last.messages)]
        return history.context

    def _resumption(self, answers: Sequence[ToolAnswer], verb: str) -> PreparedRequest:
        last = self._state.history.last
        if last is None or last.loop is None:
            raise InvalidInputError("no tool loop of this session waits or was cut off", path=verb)
        self._resumed = last
        context = self._state.history.context
        self._context = context[: len(context) - len(last.messages)]
        options = {name: value for name, value in self._options.items() if name in _OF_RESUMPTIONS}
        options["run_tools"] = options.get("run_tools") or True
        return self._settings.llm.resumption(last.loop, answers, options, stream=self._stream)

    def _watched(self, prepare: Prepare) -> Prepare:
        """Returns the function that builds the call, on a context that has room for it."""

        async def watched(runtime: Runtime) -> Prepared:
            self._leave_cut_off_exchange()
            prepared = await prepare(runtime)
            assert self._pipeline is not None
            warnings = await self._room.make(prepared.call, self._pipeline)
            context = self._state.history.context
            if context is not self._context and context != self._context:
                prepared = replace(prepared, input=_with_messages(prepared.call, self._context, context))
                self._context = context
            self._call = prepared.call
            return replace(prepared, warnings=(*warnings, *prepared.warnings)) if warnings else prepared

        return watched

    def _leave_cut_off_exchange(self) -> None:
        """Removes the exchange of a loop that a crash has cut off: another question was asked."""
        last = self._state.history.last
        if last is None or last.loop is None or not last.partial:
            return
        names = sorted({step.call.name for step in last.loop.steps})
        if names:
            _log.warning("a question that a crash has cut off is left out of the session; tools had run: %s", names)
        self._state.history.undo()
        self._forget_loop()

    def _forget_loop(self) -> None:
        if self._state.file is not None:
            self._state.file.forget_loop()

    def _end_journal(self) -> None:
        """Has a thread that was left behind note nothing in the file any more."""
        if self._journal is not None:
            self._journal.end()

    def _exchange_of(self, response: GenerateResponse[Any]) -> SessionExchange:
        """Returns the exchange of a response; of an empty answer without messages: its question is not kept either."""
        history, resumed, answer = self._state.history, self._resumed, response.messages
        added, _ = repair_pairs((*_QUESTION, *answer))
        if resumed is not None:
            question, number = resumed.question, resumed.number
        else:
            assert self._call is not None
            question = self._question
            number = history.next_number
        messages = (*question, *added[len(_QUESTION) :]) if answer else ()
        loop = response.loop if response.loop is not None and response.loop.status not in _ENDED else None
        return SessionExchange(
            number,
            messages,
            asked=len(question) if messages else 0,
            usage=response.usage,
            calls=len(response.steps),
            cost=response.cost,
            estimated_cost=response.estimated_cost,
            saved_cost=response.costs.saved or None,
            provider=response.provider,
            model=response.model,
            tokens=self._settings.tokens_of(messages),
            loop=loop if loop is not None and loop.pending else None,
        )

    def _add(self, exchange: SessionExchange) -> None:
        history = self._state.history
        last = history.last
        if self._resumed is not None:
            history.replace_last(exchange)
        elif not self._room.has_question and last is not None and len(history.exchanges) > history.compacted:
            history.replace_last(last.continued_by(exchange))
            exchange = history.exchanges[-1]
        else:
            history.add(exchange)
        self._state.keep(exchange)

    def _learn(self, response: GenerateResponse[Any], exchange: SessionExchange) -> None:
        if self._call is not None:
            size = self._state.history.tokens + self._room.instructions
            asked = size - exchange.tokens + self._settings.tokens_of(exchange.question)
            self._settings.meter.learn(response, asked, size)

    async def _write(self, runtime: Runtime, exchange: SessionExchange, response: GenerateResponse[Any]) -> None:
        """Writes the exchange. A call that is cancelled meanwhile keeps it: its answer is whole."""
        state, file = self._state, self._state.file

        def write() -> None:
            if file is not None and not exchange.messages:
                file.compact(state.history.groups, exchange)
            state.write(ends_loop=exchange.loop is None)

        try:
            await run_once(runtime, write)
        except SessionError as error:
            error.response = cast("GenerateResponse[object]", response)
            error.hint = f"error.response is the answer. {error.hint or ''}".strip()
            raise

    @property
    def _question(self) -> tuple[Message, ...]:
        """The message that the call adds, once it has been built."""
        return self._call.messages[-1:] if self._call is not None and self._room.has_question else ()

    def _keep_partial(self, error: BaseException | None, partial: ModelReply | None, loop: ToolLoop | None) -> None:
        state = self._state
        exchange = self._partial_exchange(error, partial, loop) if self._settings.keep_partial else None
        if exchange is not None:
            self._add(exchange)
            self._settings.meter.forget()
        if state.file is not None and (self._resumed is None or exchange is not None):
            if state.unwritten:
                state.write()
            else:
                state.file.forget_loop()

    def _partial_exchange(
        self, error: BaseException | None, partial: ModelReply | None, loop: ToolLoop | None
    ) -> SessionExchange | None:
        """Returns the exchange of what had arrived; None if nothing had. A resumed loop that is as before goes on."""
        settings, resumed = self._settings, self._resumed
        before = None if resumed is None else resumed.loop
        loop = loop or getattr(error, "loop", None) or before
        arrived = partial or getattr(error, "partial", None)
        answer = [*_arrived_messages(arrived, loop)]
        if answer in ([], [*_arrived_messages(None, before)]) or (resumed is None and self._call is None):
            return None
        question = self._question if resumed is None else resumed.question
        messages = (*question, *answer)
        return SessionExchange(
            self._state.history.next_number if resumed is None else resumed.number,
            messages,
            asked=len(question),
            usage=loop.usage if loop is not None else arrived.usage if arrived is not None else Usage(),
            calls=1,
            cost=None if loop is None else loop.cost,
            estimated_cost=None if loop is None else loop.estimated_cost,
            saved_cost=None if loop is None else loop.costs.saved or None,
            provider=settings.llm.provider,
            model=settings.llm.model,
            partial=True,
            tokens=settings.tokens_of(messages),
        )


_QUESTION = (Message.user("?"),)
"""What stands for a question where answers are checked alone."""


def _arrived_messages(partial: ModelReply | None, loop: ToolLoop | None) -> Sequence[Message]:
    """Returns what had arrived of an answer: the whole rounds of its tools, and its text so far."""
    latest = loop.replies[-1] if loop is not None and loop.replies else None
    text = "" if partial is None or partial is latest else partial.text
    rounds = [] if loop is None else [*repair_pairs((*_QUESTION, *loop.messages), complete=True)[0][1:]]
    return [*rounds, Message.assistant(text)] if text.strip() else rounds


def _with_messages(call: ModelCall, before: tuple[Message, ...], context: tuple[Message, ...]) -> ModelCall:
    """Returns a call with another context in place of `before`."""
    messages = call.messages
    first = int(bool(messages) and messages[0].role == "system" and messages[:1] != before[:1])
    return call.with_(messages=(*messages[:first], *context, *messages[first + len(before) :]))


def _name_of(tool: object) -> object:
    """Returns the name of a tool in any form that the option `tools` takes; None for a source of tools."""
    return getattr(tool, "name", None) or getattr(tool, "__name__", None)
