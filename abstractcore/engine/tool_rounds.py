"""`Rounds`: asks the model, runs the calls of its reply, and asks again, until it has answered."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..concurrency.time_limits import InTime, out_of_time
from ..errors import AbstractCoreError, OutputValidationError
from ..outputs import OutputType
from ..ports import CallContext, ConvertedFiles, FetchedFile, Interruption, Runtime
from ..schema import (
    EMPTY,
    CallWarning,
    GenerateResponse,
    JournalEntry,
    LoopStatus,
    ModelReply,
    ToolAnswer,
    ToolEvent,
    ToolLoop,
)
from ..telemetry.costs import Bill
from ..tools.file_journal import journal_of
from ..tools.loop_rules import (
    ENDED,
    close_loop,
    continues,
    failed_repeatedly,
    limit_reached,
    limit_warning,
    next_call,
    repeated_request,
    with_reply,
)
from .endings import outcome_of
from .loop_journal import LoopJournal
from .output_rounds import OutputCheck, OutputRounds
from .pipeline import Pipeline
from .prepared import OutputReader, Prepare, Prepared
from .round_records import RoundRecords
from .round_totals import RoundTotals
from .tool_calls import ToolCalls
from .tool_decisions import ToolSetup

_log = logging.getLogger("abstractcore")
_NOTHING: Any = EMPTY
_numbers = itertools.count(1)


def _ignore(event: ToolEvent) -> None:
    """Events that nobody watches."""


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """How a call of several rounds is made. Without `setup`, tool calls are given back.

    `loop` is the state to continue, with `answers` to its pending calls by id.
    """

    setup: ToolSetup | None
    output_retries: int = 0
    output_check: OutputCheck | None = None
    output_type: OutputType | None = None
    loop: ToolLoop | None = None
    answers: Mapping[str, ToolAnswer] = field(default=_NOTHING)


class Rounds:
    """A call that may take several rounds. `loop` is its state, and stays valid after an exception.

    Use: `prepare` gives the next round, None at the end; `take` its response; `run_calls` runs its tool calls;
    `response` is the result. `end` must be called with an exception that ends it early.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        prepare: Prepare,
        timeout: float | None,
        read_output: OutputReader | None,
        plan: RoundsPlan,
    ) -> None:
        self.loop: ToolLoop | None = plan.loop
        self._pipeline = pipeline
        self._runtime: Runtime = pipeline.runtime
        self._prepare = prepare
        self._timeout = timeout
        self._read = read_output
        self._outputs: OutputRounds | None = None
        self._single: GenerateResponse[Any] | None = None
        self._plan = plan
        self._setup = plan.setup
        self._start = pipeline.runtime.now()
        self._deadline = None if timeout is None else self._start + timeout
        self._totals = RoundTotals(plan.loop)
        self._converted: ConvertedFiles = {}
        self._downloads: dict[str, FetchedFile] = {}
        self._first: Prepared | None = None
        self._context: CallContext | None = None
        """Of the round whose response is still to be taken."""
        self._output: Any = None
        self._answers_now = False
        journal = None if plan.setup is None else journal_of(plan.setup.policy.journal)
        self._calls: ToolCalls | None = None
        self._interruption = Interruption()
        self._has_ended = False
        self._journal = None if journal is None else LoopJournal(journal, self._runtime)
        self._has_begun = False
        self._repeated: tuple[CallWarning, ...] = ()
        self._records = RoundRecords(pipeline)
        self._conversation = ""

    async def begin(self, emit: Callable[[ToolEvent], object] = _ignore) -> None:
        """Prepares the first call, and runs the calls of a resumed loop that have an answer."""
        self._first = (await self._prepare(self._runtime)).in_span()
        if self._setup is not None and self._first.tools is not None:
            self._setup = replace(self._setup, tools=self._first.tools)
        is_separate = self._pipeline.separates_output(self._first.call)
        check, retries = self._plan.output_check, self._plan.output_retries
        self._outputs = OutputRounds(self._read, retries, check, is_separate=is_separate)
        given = self._plan.loop
        noted = None if self._journal is None else await self._journal.open(given)
        # Without tools the id is that of the first round, which is all of the call if its answer is valid.
        loop = noted or given or ToolLoop(self._new_id(), self._first.call)
        self._repeated = repeated_request(loop)
        self.loop = self._with_policy(loop.with_(requests=0) if loop.requests else loop)
        tools = None if self._setup is None else self._setup.tools
        self._records.begin(self._first, self.loop, tools, is_resumed=given is not None)
        self._has_begun = True
        if self._journal is not None and (noted is None or noted != self.loop):
            await self._journal.note(JournalEntry("start", loop=self.loop))
        if given is not None:
            self._outputs.begin(self.loop)
            await self._continue(emit)

    def _new_id(self) -> str:
        setup = self._setup
        return "" if setup is None else setup.policy.loop_id or self._pipeline.new_id()

    def _with_policy(self, loop: ToolLoop) -> ToolLoop:
        """Returns the state with what stays of the policy when the loop is resumed."""
        setup = self._setup
        if setup is None:
            return loop
        if setup.policy.approve is None and not setup.policy.content_labels:
            return loop
        labels = (*loop.content_labels, *setup.policy.content_labels)
        needs_approval = loop.needs_approval or setup.policy.approve is not None
        return loop.with_(content_labels=labels, needs_approval=needs_approval)

    async def _continue(self, emit: Callable[[ToolEvent], object]) -> None:
        """Goes on where the loop stopped. Answers to calls that wait no more have been used."""
        assert self._first is not None
        self._totals = RoundTotals(self._state, (*self._repeated, *self._first.warnings))
        if self._state.status in ENDED:
            self._read_again(self._state)
            return
        self.loop = self._state.with_(status="running")
        waiting = {pending.digest for pending in self.loop.pending}
        await self.run_calls(emit, {k: each for k, each in self._plan.answers.items() if each.digest in waiting})
        if self._state.status == "running" and self._setup is not None:
            self._apply_limits(self._setup)

    def _read_again(self, loop: ToolLoop) -> None:
        """Reads the answer of a loop that had ended when the process that ran it was lost."""
        final = [step for step in loop.steps if step.final]
        if final:
            self._output = final[-1].data
        elif self._read is not None:
            self._output = self._read(loop.replies[-1])

    def next_round(self) -> Prepare | None:
        """Returns the function that prepares the call of the next round; None if the loop has ended."""
        loop, first = self._state, self._first
        assert first is not None
        if loop.status != "running":
            return None
        stream = first.call.stream
        call = next_call(loop, stream=stream, answer_now=self._answers_now) if loop.id else loop.call
        call = self._reader.call(call, answer_now=self._answers_now)
        warnings: tuple[CallWarning, ...] = () if loop.replies else first.warnings
        added = len(call.messages) - len(loop.call.messages)
        conversation = self._conversation = self._conversation or loop.id or f"rounds-{next(_numbers)}"

        async def prepare(runtime: Runtime) -> Prepared:
            return replace(
                first,
                input=call,
                warnings=warnings,
                converted=self._converted,
                downloads=self._downloads,
                added_messages=added,
                tools=None,
                begun=self._note_begun,
                hold_end=first.hold_end if self._plan.output_check is None else self._records.hold_end,
                interaction=self._records.interaction,
                trace_context=self._records.trace_context,
                conversation=conversation,
                corrects=bool(loop.output_attempts and loop.output_attempts[-1].problem),
            )

        return prepare

    def _note_begun(self, context: CallContext) -> None:
        self._context = context
        self._records.begin_round(context)
        if self._journal is not None:
            context.before_request = partial(self._journal.note_request, context)

    def seconds_left(self) -> float | None:
        """Returns the seconds for what is left, or None; raises `RequestTimeoutError` if there are none."""
        if self._deadline is None:
            return None
        left = self._deadline - self._runtime.now()
        if left <= 0:
            raise out_of_time(self._timeout)
        return left

    def read_output(self, reply: ModelReply) -> Any:
        """Reads the answer of a round. An invalid one that will be asked for again is kept; the last one is raised.
        A reply that calls tools has none.
        """
        if self._calls_tools(reply):
            return None
        output = self._reader.read(reply, self._state)
        self._note_attempt()
        return output

    async def check_output(self, response: GenerateResponse[Any]) -> None:
        """Calls the user's check of a valid answer; raises as `read_output` does."""
        reply = response.reply
        if self._plan.output_check is None:
            return
        try:
            if not self._calls_tools(reply):
                await self._check_output(response)
        finally:
            self._records.release()

    async def _check_output(self, response: GenerateResponse[Any]) -> None:
        try:
            async with InTime(self._runtime, self.seconds_left(), self._timeout):
                await self._reader.check(response.reply, self._state, self._runtime)
        except OutputValidationError as error:
            error.response, error.attempts = replace(response, output=None), response.attempts
            raise
        self._note_attempt()

    def _note_attempt(self) -> None:
        attempt = self._reader.attempt
        if attempt is not None:
            self._records.ask_again(discarded=bool(attempt.problem))

    def _calls_tools(self, reply: ModelReply) -> bool:
        if self._runs_tools:
            return continues(reply) and not self._answers_now
        return bool(reply.tool_calls) and reply.finish_reason == "tool_calls"

    async def take(self, response: GenerateResponse[Any]) -> None:
        """Takes the response of a round, and decides whether the loop goes on."""
        reply = response.reply
        corrected = None if self._calls_tools(reply) else self._reader.correction(self._state)
        if not self._runs_tools and corrected is None and not self._state.replies:
            self._single = response
            self.loop = self._state.with_(status="answered")
            return
        self._totals.add(response)
        self._context = None
        goes_on = corrected is not None or (self._runs_tools and self._calls_tools(reply))
        status: LoopStatus = "running" if goes_on else "answered"
        loop = with_reply(corrected or self._state, reply, response.usage, status)
        if not loop.id:
            loop = loop.with_(id=response.trace_id)
        if not goes_on:
            self._output = self._reader.output
            if self._runs_tools and loop.open_calls:
                loop = close_loop(loop, "the loop has ended", "answered")
        self.loop = loop
        self._records.end_runs(loop)
        if self._journal is not None:
            attempt = None if corrected is None else corrected.output_attempts[-1]
            await self._journal.note(
                JournalEntry("reply", None, loop.replies[-1], loop.usage, attempt, **self._totals.cost()._asdict())
            )

    async def run_calls(
        self, emit: Callable[[ToolEvent], object] = _ignore, answers: Mapping[str, ToolAnswer] = _NOTHING
    ) -> None:
        """Runs the open calls of the latest reply, if tools are run here, and applies the limits."""
        setup = self._setup
        if setup is None or self._state.status != "running" or not self._state.open_calls:
            return
        policy, setup = setup.policy, self._with_credentials_of_call(setup)
        if len(self._state.replies) >= policy.max_rounds and policy.on_limit == "stop":
            self.loop = close_loop(self._state, f"the limit of {policy.max_rounds} rounds is reached", "max_rounds")
            self._records.end_runs(self.loop)
            return
        note = None if self._journal is None else self._journal.note
        self._calls = calls = ToolCalls(self._state, setup, self._runtime, self._deadline, emit, note, self._records)
        with self._interruption.of_this_call():
            async with InTime(self._runtime, self.seconds_left(), self._timeout):
                await calls.run(answers)
        self._totals.tool_charges = self._records.charges
        if not self._has_ended:
            self.loop, self._calls = calls.loop, None
            self._apply_limits(setup)

    def _with_credentials_of_call(self, setup: ToolSetup) -> ToolSetup:
        """Returns the setup with the credentials in the headers of this call, which tools may quote in their errors."""
        if self._first is None or not self._first.headers:
            return setup
        return replace(setup, secrets=setup.secrets.and_those_in(self._first.headers))

    def _apply_limits(self, setup: ToolSetup) -> None:
        loop, policy = self._state, setup.policy
        if loop.status == "suspended":
            return
        latest = [step for step in loop.steps if step.round == len(loop.replies) - 1]
        final = [step for step in latest if step.final]
        if final:
            self._output = final[-1].data
            self.loop = loop.with_(status="final")
        elif failed_repeatedly(loop, policy):
            self.loop = loop.with_(status="repeated_failure")
        elif (status := limit_reached(loop, policy)) is not None:
            self._answers_now = policy.on_limit == "answer"
            self.loop = loop if self._answers_now else loop.with_(status=status)

    async def response(self) -> GenerateResponse[Any]:
        """Returns the response for all rounds."""
        if self._single is not None:
            return self._single
        self.loop = self._totals.with_cost(self._state)
        if self._journal is not None:
            await self._journal.finish(self.loop)
        seconds = self._runtime.now() - self._start
        warning = None if self._setup is None else limit_warning(self.loop, self._setup.policy)
        warnings = () if warning is None else (warning,)
        response = self._totals.response(self.loop, self._output, seconds, warnings, with_state=self._runs_tools)
        self._records.end("done", self.loop, response)
        return response

    def end(self, error: BaseException, *, closed_early: bool = False) -> None:
        """Gives every open call a result, and `error` the state of the loop as its attribute `loop`, with the attempts
        of all rounds. An error of the first round of a call without tools gets none.

        What the calls wait for is interrupted: in sync calls their tools may run on in other threads. With
        `closed_early` the reader of a stream has closed it, or the call was interrupted.
        """
        self._interruption.set()
        self._records.release()
        if self.loop is None or not (self._runs_tools or self.loop.replies):
            return
        if self._has_begun and not self._has_ended:
            self._has_ended = True
            calls = self._calls
            if calls is not None:
                calls.end()
            loop, begun = (self.loop, ()) if calls is None else (calls.loop, calls.begun)
            cancelled = closed_early or not isinstance(error, Exception)
            why = "cancelled" if cancelled else "the call ended with an error"
            loop = close_loop(loop, why, "cancelled" if cancelled else "failed", begun)
            self._records.end_runs(loop, {} if calls is None else calls.approvals)
            self._totals.tool_charges = self._records.charges
            if isinstance(error, AbstractCoreError):
                error.attempts = (*self._totals.attempts, *error.attempts)
                error.output_attempts = error.output_attempts or loop.output_attempts
            self.loop = self._totals.with_cost(self._with_broken_round(loop))
            self._note_end()
            outcome = outcome_of(error)
            self._records.fail("abandoned" if outcome == "failed" and closed_early else outcome, self.loop, error)
        error.loop = self.loop  # pyright: ignore[reportAttributeAccessIssue]

    def _with_broken_round(self, loop: ToolLoop) -> ToolLoop:
        """Returns the loop with what a round has used whose response was not taken. What a request has cost that the
        provider refused is unknown.
        """
        context, self._context = self._context, None
        if context is None:
            return loop
        bill = Bill(context)
        self._totals.add_broken(partial(bill.cost, context.pricing or self._pipeline.pricing))
        return loop.with_(usage=loop.usage + bill.usage)

    def _note_end(self) -> None:
        if self._journal is not None:
            try:
                self._journal.end(self._state)
            except Exception:  # another error is on its way, which may have this cause
                _log.exception("the end of a tool loop could not be noted in its journal")

    def note_first_deltas(self) -> None:
        """Notes that the first deltas of a stream have arrived."""
        self._records.note_first_deltas()

    @property
    def output_type(self) -> OutputType | None:
        """The type of the output, if one was requested."""
        return self._plan.output_type

    def accept_answer(self) -> None:
        """Has the current answer, of which parts are in use, never asked for again."""
        self._reader.retries = 0

    @property
    def _state(self) -> ToolLoop:
        assert self.loop is not None
        return self.loop

    @property
    def _reader(self) -> OutputRounds:
        assert self._outputs is not None
        return self._outputs

    @property
    def _runs_tools(self) -> bool:
        return self._setup is not None


async def generate_in_rounds(rounds: Rounds, pipeline: Pipeline) -> GenerateResponse[Any]:
    """Returns the response to a call of several rounds."""
    try:
        await rounds.begin()
        while (prepare := rounds.next_round()) is not None:
            response = await pipeline.generate(prepare, rounds.seconds_left(), rounds.read_output)
            await rounds.check_output(response)
            await rounds.take(response)
            await rounds.run_calls()
        return await rounds.response()
    except BaseException as error:
        rounds.end(error, closed_early=outcome_of(error) == "cancelled")
        raise
