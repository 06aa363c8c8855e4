"""The pipeline from `ModelCall` to `GenerateResponse`, written once for sync and async calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..concurrency import is_large, off_loop
from ..concurrency.time_limits import InTime, last_moment, remaining, time_given
from ..errors import AbstractCoreError, ConfigurationError, OutputValidationError, ProviderError
from ..files.parts import sizes_decide
from ..ports import (
    CHAT,
    Answer,
    AnyInput,
    Attempt,
    CallContext,
    CallEnd,
    Clock,
    DeltaStream,
    Middleware,
    Operation,
    OperationResult,
    Pricing,
    ProviderSession,
    Runtime,
    Transport,
)
from ..ports.middleware import NestedCall, call_in, enclosing_call, with_call
from ..schema import CallWarning, Encoded, GenerateResponse, Lowered, ModelCall, ModelReply, TextPart
from ..schema.costs import defer_cost
from ..schema.replies import with_unique_ids
from ..scrubbing import Secrets
from ..telemetry.costs import Bill
from .endings import as_response, close_streams, end_call, outcome_of, with_origin
from .exchange import Exchange, locate
from .lowering import lower
from .lowering.changes import refuse_losses, without_sampling_warnings
from .prepared import OutputReader, Prepare, Prepared
from .response_reading import ResponseReader

if TYPE_CHECKING:
    from ..files.call_files import CallFiles
    from ..files.contents import MadeFiles
    from ..files.facts import FactsByFile
    from ..files.uploads import FileUploads
    from ..schema import Delta, OperationInput
    from ..telemetry import Tracer


Output = TypeVar("Output")
R = TypeVar("R")
In = TypeVar("In")
Out = TypeVar("Out")


class Pipeline:
    """Runs the calls of one LLM, either sync or async."""

    def __init__(
        self,
        session: ProviderSession,
        pricing: Pricing,
        runtime: Runtime,
        transport: Transport,
        *,
        files: CallFiles,
        middleware: Sequence[Middleware],
        new_id: Callable[[], str],
        clock: Clock,
        secrets: Secrets,
        tracer: Callable[[], Tracer | None],
    ) -> None:
        self.runtime = runtime
        self._session = session
        self.pricing = pricing
        self.files = files
        self.new_id = new_id
        self.clock = clock
        self.secrets = secrets
        self.tracer = tracer
        self.transport = transport
        self._middleware = middleware
        read = ResponseReader(session, pricing)
        exchange = Exchange(session.endpoint, transport, clock, read, session=session, pricing=pricing)
        self.operation: Operation[Any, Any] = Operation(
            CHAT, ModelCall, session.transpiler.encode, lambda response, call: session.transpiler.decode(response)
        )
        self._around_call = _compose(middleware, "around_call", self._perform)
        taking_over = [each for each in middleware if not getattr(each, "only_own_calls", False)]
        self._around_call_of_another = _compose(taking_over, "around_call", self._perform)
        self._around_attempt = _compose(middleware, "around_attempt", exchange)

    def generate(
        self, prepare: Prepare, timeout: float | None, read_output: OutputReader | None = None
    ) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns the response to the call that `prepare` makes; `timeout` in seconds for all of it."""
        return self._run(
            self.operation, prepare, timeout, lambda answer, context: self._respond(answer, context, read_output)
        )

    def answered_by(
        self,
        operation: Operation[Any, Any],
        pricing: Pricing,
        answer: Callable[[Attempt], Awaitable[Answer]],
    ) -> Pipeline:
        """Returns a pipeline through the same middleware whose calls are of `operation`, and answered by `answer` in
        place of the provider. What the operation encodes stands for the request, in attempts and cassettes.
        """
        around_attempt = _compose(self._middleware, "around_attempt", answer)

        async def perform(context: CallContext) -> Answer:
            context.pricing = pricing
            given = context.input
            return await around_attempt(Attempt(context, operation.encode(given).request, operation, encoded=given))

        other = self.performed_by(perform)
        other.operation, other.pricing = operation, pricing
        return other

    def performed_by(self, perform: Callable[[CallContext], Awaitable[Answer]]) -> Pipeline:
        """Returns a pipeline through the same middleware around calls, whose calls `perform` makes."""
        other = copy(self)
        other._around_call = _compose(self._middleware, "around_call", perform)
        return other

    def separates_output(self, call: ModelCall) -> bool:
        """Returns whether the typed answer of `call` takes a call of its own, without its tools."""
        if call.output is None:
            return False
        from .lowering.output import output_plan

        return output_plan(call, self._session.profile, self._session.transpiler).strategy == "separate"

    def operate(
        self, operation: Operation[Any, Output], prepare: Prepare, timeout: float | None
    ) -> Coroutine[Any, Any, OperationResult[Output]]:
        """Returns the result of an operation other than chat, for the input that `prepare` makes."""
        return self._run(operation, prepare, timeout, self._result)

    def operate_on(
        self, operation: Operation[Any, Output], given: AnyInput, headers: Mapping[str, str], timeout: float | None
    ) -> Coroutine[Any, Any, OperationResult[Output]]:
        """Returns the result of an operation for an input that is built, with the user's headers."""

        async def prepare(runtime: Runtime) -> Prepared:
            return Prepared(given, headers=headers)

        return self.operate(operation, prepare, timeout)

    async def _run(
        self,
        operation: Operation[Any, Any],
        prepare: Prepare,
        timeout: float | None,
        finish: Callable[[Answer, CallContext], R],
    ) -> R:
        """Makes a call through both middleware rings; `finish` turns the answer into the result for the user."""
        context = await self.begin(operation, prepare, timeout)
        try:
            async with InTime(self.runtime, last_moment(context), time_given(context)):
                answer = await self._around_call(context)
                if not isinstance(answer, _WHOLE):
                    from .delta_reading import read_to_end

                    answer = await read_to_end(answer)
            result = finish(answer, context)
        except BaseException as error:
            fail(context, error)
            if isinstance(error, AbstractCoreError):
                from ..tracebacks import shorten

                shorten(error)
            raise
        finally:
            if context.streams or context.middleware_streams:
                await close_streams(context)
        end_call(context, "done", answer=answer)
        return result

    async def begin(self, operation: Operation[Any, Any], prepare: Prepare, timeout: float | None) -> CallContext:
        """Begins the call that `prepare` builds. Errors before that are not recorded."""
        start, started_at = self.runtime.now(), self.clock.time_of_day()
        deadline = None if timeout is None else start + timeout
        prepared, trace_id, secrets = await prepare(self.runtime), self.new_id(), self.secrets
        if prepared.headers:
            secrets = secrets.and_those_in(prepared.headers)
        context = CallContext(
            prepared.input, self.runtime, start, started_at, deadline, trace_id, operation, secrets=secrets
        )
        if operation.natively:
            policy = {**context.call.media_policy, **dict.fromkeys(operation.natively, "native")}
            context.call = context.call.with_(media_policy=policy)
        context.warnings += prepared.warnings
        context.headers = prepared.headers
        context.on_media_progress = prepared.on_media_progress
        context.hold_end = prepared.hold_end
        context.interaction = prepared.interaction
        context.priority = prepared.priority
        context.trace_context = prepared.span
        if prepared.converted is not None:
            context.converted = prepared.converted
        if prepared.downloads is not None:
            context.downloads = prepared.downloads
        context.added_messages = prepared.added_messages
        outer = enclosing_call.get()
        if outer is not None:
            context.at_end.append(partial(self._end_nested, context, outer))
        context.conversation, context.corrects = prepared.conversation, prepared.corrects
        if prepared.begun is not None:
            prepared.begun(context)
        return context

    def _end_nested(self, context: CallContext, outer: CallContext, end: CallEnd) -> None:
        """Adds a call that has ended to the call that it was made for."""
        bill = Bill(context)
        outer.nested.append(NestedCall(bill.usage, partial(bill.cost, context.pricing or self.pricing)))

    async def open(self, context: CallContext) -> DeltaStream:
        """Returns a stream of the reply, with its first deltas read."""
        async with InTime(self.runtime, last_moment(context), time_given(context)):
            answer = await self._around_call(context)
        if isinstance(answer, OperationResult):
            raise _wrong_answer(answer, context)
        if not isinstance(answer, ModelReply):
            return answer
        from .delta_reading import WholeReply

        return WholeReply(answer)

    def take_over(self, context: CallContext, operation: Operation[Any, Any] | None = None) -> Awaitable[Answer]:
        """Returns the answer to a chat, or to another operation of this wire format, that was begun in the pipeline of
        another model, and is charged by this one's prices. Its input names this model.
        """
        context.operation, context.pricing = operation or self.operation, self.pricing
        context.stored, context.is_taken_over = {}, True
        return self._around_call_of_another(context)

    async def _perform(self, context: CallContext) -> Answer:
        """The innermost function of the outer ring: lowers, converts files, encodes, and makes attempts."""
        if not isinstance(context.input, context.operation.input):
            raise _wrong_input(context)
        if not context.operation.takes_call:
            return await self._perform_without_call(context, cast("OperationInput", context.input))
        lowered, encoded = await self._encode_call(context)
        context.terms = self._session.terms(context.call)
        _add_warnings(context, (*lowered.warnings, *encoded.warnings))
        context.decisions = lowered.decisions
        answer = await self._make_attempts(context, lowered, encoded)
        if encoded.names is not None:
            from .delta_reading import restore_names

            answer = restore_names(answer, encoded.names, context)
        if lowered.reading is None:
            return answer
        from .reply_reading import read_answer

        return read_answer(answer, lowered.reading, context)

    async def _perform_without_call(self, context: CallContext, given: OperationInput) -> Answer:
        """Encodes an input without a call, in which there is nothing to lower or to convert, and makes attempts."""
        encode = context.operation.encode
        if given.files:
            from ..files.execution import encoded_with_files

            encoded = await self.runtime.call(encoded_with_files, encode, given, kind="files")
        else:
            from ..schema import size_of

            encoded = await off_loop(self.runtime, size_of(given) > _MOST_TEXT, encode, given)
        context.terms = self._session.terms(given)
        _add_warnings(context, encoded.warnings)
        return await self._around_attempt(Attempt(context, encoded.request, context.operation, encoded=given))

    async def _make_attempts(self, context: CallContext, lowered: Lowered, encoded: Encoded) -> Answer:
        """Makes attempts. If the provider has lost files that were uploaded for the request, they are uploaded again,
        and it is sent once more.
        """
        try:
            return await self._around_attempt(_attempt(context, lowered, encoded))
        except ProviderError as error:
            if not (context.stored and await self.file_uploads().forget_missing(error, context)):
                raise
        lowered, encoded = await self._encode_call(context)
        context.decisions = lowered.decisions
        return await self._around_attempt(_attempt(context, lowered, encoded))

    def file_uploads(self) -> FileUploads:
        """Returns the uploader of files to the provider's store."""
        return self.files.uploads(self.runtime, self.clock, self.operate_on)

    async def _encode_call(self, context: CallContext) -> tuple[Lowered, Encoded]:
        """Returns the lowered call with converted files, and its request.

        Raises `UnsupportedOptionError` for what a strict call would lose before any file is converted.
        """
        encode = _encoder(context)
        profile, files = self._session.profile, self.files
        facts = await self._facts(context) if sizes_decide(context.call, profile) else None

        def lowered_after(made: MadeFiles | None) -> Lowered:
            lowered = lower(
                context.call,
                profile,
                files.handlers,
                context.started_at,
                files.options.keys(),
                facts,
                files.defaults,
                context.added_messages,
                made,
                self._session.transpiler,
            )
            if not context.operation.is_chat:
                lowered = replace(lowered, warnings=without_sampling_warnings(lowered.warnings))
            if context.call.strict:
                refuse_losses(lowered.warnings, context.call)
            return lowered

        large = _is_large(context.call)
        lowered = await off_loop(self.runtime, large, lowered_after, None)
        if not lowered.decisions:
            return lowered, await off_loop(self.runtime, large, encode, lowered.call)
        async with InTime(self.runtime, remaining(context), time_given(context)):
            return await self._with_converted_files(lowered, lowered_after, encode, context)

    async def _facts(self, context: CallContext) -> FactsByFile:
        """Returns the facts of the files of a call that decide how they are sent."""
        async with InTime(self.runtime, remaining(context), time_given(context)):
            return await self.files.facts_of(context.call, self.runtime)

    async def _with_converted_files(
        self,
        lowered: Lowered,
        lower_again: Callable[[MadeFiles], Lowered],
        encode: Callable[[ModelCall], Encoded],
        context: CallContext,
    ) -> tuple[Lowered, Encoded]:
        """Returns the call and its request, as `_encode_call` does, of one with files: encoding reads native ones."""
        from ..files.execution import encoded_with_files

        token = enclosing_call.set(context)
        try:
            executed = await self.files.execute(lowered, lower_again, context, self.clock, self.operate_on)
        finally:
            enclosing_call.reset(token)
        return executed, await self.runtime.call(encoded_with_files, encode, executed.call, kind="files")

    def respond(
        self, reply: ModelReply, context: CallContext, read_output: OutputReader | None
    ) -> GenerateResponse[Any]:
        """Returns the response for a complete reply."""
        seconds = self.runtime.now() - context.monotonic_start
        try:
            output = None if read_output is None else read_output(reply)
        except OutputValidationError as error:
            error.response = as_response(reply, context, None, context.pricing or self.pricing, seconds)
            raise
        return as_response(reply, context, output, context.pricing or self.pricing, seconds)

    def _respond(self, answer: Answer, context: CallContext, read_output: OutputReader | None) -> GenerateResponse[Any]:
        if not isinstance(answer, ModelReply):
            raise _wrong_answer(answer, context)
        return self.respond(answer, context, read_output)

    def _result(self, answer: Answer, context: CallContext) -> OperationResult[Any]:
        if not isinstance(answer, OperationResult):
            raise _wrong_answer(answer, context)
        value, call = answer.value, call_in(context.input)
        if isinstance(value, ModelReply):
            value = with_origin(value, context.input)
            value = value if call is None else with_unique_ids(value, call)
        result = replace(answer, value=value, warnings=tuple(context.warnings))
        defer_cost(result, partial(Bill(context).cost, self.pricing))
        return result


def _compose(
    middleware: Sequence[Middleware], ring: str, innermost: Callable[[In], Awaitable[Out]]
) -> Callable[[In], Awaitable[Out]]:
    """Returns `innermost` wrapped by the method `ring` of each middleware that has it, the first one outermost."""
    composed: Callable[..., Awaitable[Any]] = innermost
    for layer in reversed(middleware):
        method = getattr(layer, ring, None)
        if method is not None:
            composed = partial(method, next=composed)
    return composed


_WHOLE = (ModelReply, OperationResult)
_MOST_TEXT = 256 * 1024
"""Characters that are written in less than a millisecond."""


def _encoder(context: CallContext) -> Callable[[ModelCall], Encoded]:
    """Returns the function that encodes the input of a context with its lowered call."""
    encode, given = context.operation.encode, context.input
    return encode if isinstance(given, ModelCall) else lambda call: encode(with_call(given, call))


def _attempt(context: CallContext, lowered: Lowered, encoded: Encoded) -> Attempt:
    given = with_call(context.input, lowered.call)
    return Attempt(context, encoded.request, context.operation, encoded=given)


def _add_warnings(context: CallContext, warnings: Sequence[CallWarning]) -> None:
    """Adds new warnings, since a middleware may make a call twice. Raises `UnsupportedOptionError` for losses of a
    strict one.
    """
    if context.input.strict:
        refuse_losses(warnings, context.input)
    known = tuple(context.warnings)
    context.warnings += (each for each in warnings if each not in known)


def _is_large(call: ModelCall) -> bool:
    """Whether work on the whole of a call may take longer than an event loop should wait."""
    parts = [part for message in call.messages for part in message.parts]
    characters = sum(len(part.text) for part in parts if isinstance(part, TextPart))
    return characters > _MOST_TEXT or is_large(parts) or is_large(call.tools)


def _wrong_input(context: CallContext) -> ConfigurationError:
    expected, given = context.operation.input.__name__, type(context.input).__name__
    return ConfigurationError(
        f"a middleware set the input of the operation {context.operation.name!r} to a {given}: expected a {expected}.",
        hint="Set it to `context.input.with_(...)`.",
    )


def _wrong_answer(answer: Answer, context: CallContext) -> ConfigurationError:
    return ConfigurationError(
        f"a middleware answered the operation {context.operation.name!r} with a {type(answer).__name__}.",
        hint="Return `await next(...)` for operations that the middleware does not answer itself.",
    )


def explain(error: BaseException, context: CallContext) -> None:
    """Adds provider, model and request id to `error` before it is raised to the user, and removes credentials."""
    if isinstance(error, AbstractCoreError):
        locate(error, context)
    context.secrets.error(error)


def fail(
    context: CallContext, error: BaseException, deltas: Sequence[Delta] = (), seconds_to_first: float | None = None
) -> None:
    """Adds provider, model and request id to `error`, and ends the call with it."""
    explain(error, context)
    end_call(context, outcome_of(error), deltas=deltas, error=error, seconds_to_first=seconds_to_first)
