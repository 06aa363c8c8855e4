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
from ..errors import AbstractCoreError, ContextOverflowError, InvalidInputError, SessionError
from ..ports import Runtime
from ..schema import (
    CallWarning,
    GenerateResponse,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolAnswer,
    ToolLoop,
    Usage,
    repair_pairs,
    text_tokens,
)
from ..tools.policy import read_policy
from ..tools.tool import Tool
from .compaction import Compacted, Compactor
from .handles import RECALL, recall_tool
from .history import SessionExchange, has_open_calls
from .journal import SessionJournal
from .state import SessionSettings, SessionState

_log = logging.getLogger("abstractcore")
_AFTER_COMPACTION = (0.6, 0.85)
"""How full a context is after it was compacted, as shares of its limit, so that the next calls need not do it again:
after a summary, and after results and files were set aside, if that is enough.
"""
_AFTER_OVERFLOW = 0.6
"""As the limit of a context that was too long, against the estimate."""
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
        self._options = self._merged_options()
        self._call: ModelCall | None = None
        self._context: tuple[Message, ...] = ()
        self._pipeline: Pipeline | None = None
        self._has_overflowed = False
        self._resumed: SessionExchange | None = None

    def prepared(self) -> PreparedRequest:
        """Returns the request, validated; raises as `LLM.generate` does before anything is sent."""
        history, llm = self._state.history, self._settings.llm
        last = history.last
        if self._answers is not None:
            return self._resumption(self._answers, "resume")
        if last is not None and last.loop is not None:
            if last.partial and self._asks_again(last):
                return self._resumption((), "ask")
            if not last.partial:
                hint = "session.resume([pending.allow() for pending in response.pending]), or session.undo()."
                raise InvalidInputError("calls of tools wait for an answer", path="prompt", hint=hint)
        elif has_open_calls(history.context) and (self._prompt is not None or self._options.get("media")):
            hint = "Add them first: session.add(call.result(...)), then session.ask(); or session.undo()."
            raise InvalidInputError("calls of tools have no result yet", path="prompt", hint=hint)
        self._context = self._context_to_send()
        options = {**self._options, "messages": self._context}
        prepared = llm.prepared(self._prompt, options, stream=self._stream)
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
        if self._has_overflowed or self._settings.compact is None or self._resumed is not None:
            return False
        if len(self._state.history.context) == 0:
            return False
        _log.debug("the context of a session was too long, and is compacted: %s", error)
        self._has_overflowed = True
        return True

    async def finish(self, response: GenerateResponse[Any]) -> GenerateResponse[Any]:
        """Adds the exchange to the history, writes it, and ends the call; returns the response.

        Raises `SessionError`, which has the response, if the file cannot be written.
        """
        assert self._pipeline is not None
        try:
            exchange = self._exchange_of(response)
            if exchange is not None:
                self._add(exchange)
                self._learn(response, exchange)
            if self._state.file is not None:
                ends_loop = exchange is None or exchange.loop is None
                await self._write(self._pipeline.runtime, ends_loop, response)
            return response
        finally:
            self._state.end()

    def fail(
        self, error: BaseException | None, partial: ModelReply | None = None, loop: ToolLoop | None = None
    ) -> None:
        """Ends a call that failed or was left. What had arrived is kept if the session is to keep it."""
        try:
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
            if "session" not in {**enclosing_tags(), **merged}:
                merged["session"] = self._state.id
            options["tags"] = merged
        return self._with_own_tools(options)

    def _with_own_tools(self, options: dict[str, Any]) -> dict[str, Any]:
        """Adds the tool `recall`, and the journal of the file, to a call whose tools are run."""
        if not options.get("run_tools") or not options.get("tools"):
            return options
        if self._settings.compact is not None and self._settings.limit(options) is not None:
            options["tools"] = (*options["tools"], recall_tool(lambda: self._state.history.messages))
        file = self._state.file
        policy = read_policy(options["run_tools"])
        if file is not None and policy is not None and policy.journal is None:
            options["run_tools"] = replace(policy, journal=SessionJournal(file, self._context_of_loop))
        return options

    @property
    def _can_recall(self) -> bool:
        tools = self._options.get("tools") or ()
        return any(isinstance(tool, Tool) and tool.name == RECALL for tool in tools)

    def _context_of_loop(self) -> tuple[Message, ...]:
        return self._context

    def _asks_again(self, last: SessionExchange) -> bool:
        """Returns whether this is the question of a loop that a crash has cut off."""
        question = last.question[-1:] if last.question else ()
        if self._prompt is None or not question:
            return self._prompt is None and not question
        texts = [part for part in question[0].parts if isinstance(part, TextPart)]
        return question[0].text == self._prompt and (len(texts) == len(question[0].parts)) == (
            not self._options.get("media")
        )

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
            warnings = await self._make_room(prepared.call, runtime)
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
        if self._state.file is not None:
            self._state.file.forget_loop()

    async def _make_room(self, call: ModelCall, runtime: Runtime) -> tuple[CallWarning, ...]:
        """Compacts the context if the call is larger than it may be; returns warnings of what was done."""
        settings, history = self._settings, self._state.history
        limit = settings.limit(self._request)
        if settings.compact is None or not history.context or (limit is None and not self._has_overflowed):
            return ()
        question = call.messages[-1:] if self._has_question else ()
        new = settings.tokens_of(question)
        size = settings.meter.tokens(history.tokens + new + self._instructions)
        if self._has_overflowed:
            limit = int(min(limit or size, size) * _AFTER_OVERFLOW)
        else:
            assert limit is not None
            enough = limit if settings.meter.is_known else limit // 2
            if size <= enough or not await self._counts_more(limit, history.tokens + new + self._instructions):
                return ()
        target, enough = (int(limit * share) - int(settings.meter.margin * new) for share in _AFTER_COMPACTION)
        compactor = self.compactor(runtime, limit)
        compacted = await compactor.to_fit(history.all_groups, max(1, target), max(1, enough))
        return () if compacted is None else await self.compact(compacted, runtime)

    @property
    def _has_question(self) -> bool:
        return self._prompt is not None or bool(self._options.get("media"))

    @property
    def _instructions(self) -> int:
        """About the tokens of the system prompt."""
        prompt = self._options.get("system_prompt")
        return text_tokens(prompt) if isinstance(prompt, str) else 0

    async def _counts_more(self, limit: int, estimated: int) -> bool:
        """Returns whether the call is larger than the limit, by the provider's count if there is one."""
        assert self._pipeline is not None
        meter = self._settings.meter
        options = {name: value for name, value in self._options.items() if name not in ("run_tools", "response_model")}
        request = {**options, "messages": self._context}
        try:
            count = await self._settings.llm.counted_in(self._pipeline, self._prompt, request)
        except AbstractCoreError as error:
            _log.debug("the tokens of a session were not counted, and are estimated: %s", error)
            return meter.tokens(estimated) > limit
        if count.estimated:
            return meter.tokens(estimated) > limit
        meter.take_count(int(count), estimated)
        return int(count) > limit

    def compactor(self, runtime: Runtime, limit: int) -> Compactor:
        """Returns what compacts the context."""
        settings = self._settings

        async def ask(prompt: str, *, system_prompt: str, max_output_tokens: int) -> GenerateResponse[Any]:
            options = {**settings.defaults, "system_prompt": system_prompt, "max_output_tokens": max_output_tokens}
            return await settings.llm.answered_in(runtime, prompt, options)

        margin = settings.meter.margin
        return Compactor(settings.compact, limit, margin, self._can_recall, settings.tokens_of, ask, runtime.invoke)

    async def compact(self, compacted: Compacted, runtime: Runtime) -> tuple[CallWarning, ...]:
        """Puts a smaller context into the history and the file; returns the warnings."""
        state = self._state
        history = state.history
        groups = history.without_untouched(compacted.groups)
        if state.file is not None:
            await runtime.call(state.file.compact, groups, compacted.spent, kind="files")
        history.compact(groups, compacted.spent)
        self._settings.meter.forget()
        return compacted.warnings

    def _exchange_of(self, response: GenerateResponse[Any]) -> SessionExchange | None:
        """Returns the exchange of a response; None for an empty answer, whose question is not kept either."""
        history, resumed = self._state.history, self._resumed
        added, _ = repair_pairs((*_QUESTION, *response.messages))
        if not response.messages:
            return None
        if resumed is not None:
            question, number = resumed.question, resumed.number
        else:
            assert self._call is not None
            question = self._call.messages[-1:] if self._has_question else ()
            number = history.next_number
        messages = (*question, *added[len(_QUESTION) :])
        loop = response.loop if response.loop is not None and response.loop.status not in _ENDED else None
        return SessionExchange(
            number,
            messages,
            asked=len(question),
            usage=response.usage,
            calls=len(response.steps),
            cost=response.cost,
            estimated_cost=response.estimated_cost,
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
        elif not self._has_question and last is not None and len(history.exchanges) > history.compacted:
            history.replace_last(last.continued_by(exchange))
            exchange = history.exchanges[-1]
        else:
            history.add(exchange)
        self._state.unwritten.append(exchange.number)

    def _learn(self, response: GenerateResponse[Any], exchange: SessionExchange) -> None:
        if self._call is not None:
            size = self._state.history.tokens + self._instructions
            asked = size - exchange.tokens + self._settings.tokens_of(exchange.question)
            self._settings.meter.learn(response, asked, size)

    async def _write(self, runtime: Runtime, ends_loop: bool, response: GenerateResponse[Any]) -> None:
        write = self._state.write
        try:
            await runtime.call(lambda: write(ends_loop=ends_loop), kind="files")
        except (SessionError, OSError, AbstractCoreError) as error:
            raise _not_written(error, response) from error

    def _keep_partial(self, error: BaseException | None, partial: ModelReply | None, loop: ToolLoop | None) -> None:
        state, settings = self._state, self._settings
        if self._resumed is None and settings.keep_partial and self._call is not None:
            loop = loop or getattr(error, "loop", None)
            arrived = partial or getattr(error, "partial", None)
            answer = [*_arrived_messages(arrived, loop)]
            if answer:
                question = self._call.messages[-1:] if self._has_question else ()
                messages = (*question, *answer)
                usage = loop.usage if loop is not None else arrived.usage if arrived is not None else Usage()
                number = state.history.next_number
                exchange = SessionExchange(
                    number,
                    messages,
                    asked=len(question),
                    provider=settings.llm.provider,
                    model=settings.llm.model,
                    partial=True,
                    tokens=settings.tokens_of(messages),
                    usage=usage,
                    calls=1,
                )
                self._add(exchange)
                settings.meter.forget()
        if self._resumed is None and state.file is not None:
            if state.unwritten:
                state.write()
            else:
                state.file.forget_loop()


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


def _not_written(error: Exception, response: GenerateResponse[Any]) -> SessionError:
    text = error.message if isinstance(error, AbstractCoreError) else str(error)
    problem = f"{text} The exchange is in the session's memory, and is written with the next one."
    failed = SessionError(problem, hint="error.response is the answer; session.save(path) writes it elsewhere.")
    failed.response = cast("GenerateResponse[object]", response)
    return failed
