"""Runs one tool call: validates its arguments, calls the function within its time limit, and makes a step of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, cast

from ..concurrency import name_of
from ..concurrency.functions import is_async
from ..concurrency.time_limits import is_of_call
from ..errors import InputRequired, StreamInterruptedError, ToolError, ToolFailed, ToolRetry
from ..ports import Runtime, ToolContext
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import (
    CallWarning,
    ContentPart,
    ErrorRecord,
    TextPart,
    ToolCall,
    ToolLabel,
    ToolOutcome,
    ToolResult,
    ToolStep,
)
from ..schema.base_error import one_line, shown_seconds
from ..scrubbing import Secrets
from .names import ArgumentsError, PreparedArguments
from .results import IsolatedError, NoContentError, ProcessEndedError, content_of, message_of, record_of, traceback_of
from .tool import Tool

_NO_SECRETS = Secrets()


@dataclass(frozen=True, slots=True)
class _ToolException:
    """An exception of a tool, as the value of its call: what comes out of the runtime is then of the runtime."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class _CallEnding:
    """How a call ended, without its times."""

    outcome: ToolOutcome
    content: tuple[ContentPart, ...]
    is_error: bool = True
    data: Any = None
    error: ErrorRecord | None = None
    traceback: str | None = None
    warnings: tuple[CallWarning, ...] = ()


async def execute(
    tool: Tool[..., Any] | None,
    call: ToolCall,
    context: ToolContext[Any],
    runtime: Runtime,
    *,
    round: int = 0,
    timeout: float | None = None,
    secrets: Secrets | None = None,
    known: Collection[str] = (),
    prepared: PreparedArguments | None = None,
) -> ToolStep:
    """Runs `call` and returns its step; `round` is the step's. Without a tool the step says so, and suggests one of the
    `known` names. `prepared` are its arguments, if they have been validated.

    `timeout` is in seconds, for a tool without one. Whatever goes wrong is an error result for the model, without
    credentials: only cancellation, the time limit of the whole call and Ctrl-C are raised, and exceptions of a tool
    with `on_error="raise"`, as `ToolError`; and `InputRequired`, for a tool that asks the user.
    """
    start, started_at = runtime.now(), time.time()
    ending = await _run_call(tool, call, context, runtime, timeout, secrets or _NO_SECRETS, known, prepared)
    result = ToolResult(call.id, ending.content, ending.is_error)
    labels: tuple[ToolLabel, ...] = ()
    if tool is not None and tool.spec.labels and ending.outcome in ("done", "failed", "retry"):
        labels = tuple(label for label in tool.spec.labels if label != "sends")
    return ToolStep(
        call,
        result,
        round,
        ending.outcome,
        started_at,
        runtime.now() - start,
        ending.data,
        ending.error,
        ending.traceback,
        labels,
        warnings=ending.warnings,
    )


def prepared_or_refused(tool: Tool[..., Any], call: ToolCall, *, round: int = 0) -> PreparedArguments | ToolStep | None:
    """Returns the validated arguments of a call, or the step of one that cannot be run because of them. None if
    validation fails with an exception: `execute` validates again, and handles it as one of the function."""
    try:
        prepared = _prepare(tool, call)
    except Exception:
        return None
    if not isinstance(prepared, _CallEnding):
        return prepared
    result = ToolResult(call.id, prepared.content, is_error=True)
    return ToolStep(call, result, round, prepared.outcome, time.time(), error=prepared.error)


async def _run_call(
    tool: Tool[..., Any] | None,
    call: ToolCall,
    context: ToolContext[Any],
    runtime: Runtime,
    timeout: float | None,
    secrets: Secrets,
    known: Collection[str],
    validated: PreparedArguments | None,
) -> _CallEnding:
    if tool is None:
        return _unknown_tool(call.name, known)
    try:
        prepared = validated or _prepare(tool, call)
    except Exception as error:  # a validator of a type raised it
        return _failure(tool, error, secrets)
    if isinstance(prepared, _CallEnding):
        return prepared
    if tool.timeout is not None:
        timeout = tool.timeout
    try:
        function = _isolated_function(tool, call, context) if tool.isolate else tool.bound(prepared, call, context)
        value = await runtime.invoke(_guard(function), timeout=timeout)
    except TimeoutError as error:
        if is_of_call(error):
            raise
        return _problem("timed_out", f"{call.name} did not finish in {shown_seconds(timeout or 0.0)}: it timed out")
    except (CancelledError, StreamInterruptedError):
        raise
    except Exception as error:  # the runtime could not call it
        return _failure(tool, error, secrets)
    if isinstance(value, _ToolException):
        if isinstance(value.error, InputRequired):
            raise value.error
        return _failure(tool, value.error, secrets)
    if tool.isolate:
        return _ending_of_step(tool, value, secrets)
    try:
        content = content_of(value, returns_none=value is None and tool.returns_none)
    except NoContentError as error:
        return _failure(tool, error, secrets)
    data = value if tool.is_type else content.data
    outcome: ToolOutcome = "failed" if content.is_error else "done"
    return _CallEnding(outcome, content.parts, content.is_error, data, warnings=content.warnings)


def _prepare(tool: Tool[..., Any], call: ToolCall) -> PreparedArguments | _CallEnding:
    """Returns the validated arguments of a call, or the end of one whose arguments are not valid. Raises what
    validators raise."""
    if call.arguments is None:
        return _problem("invalid_arguments", f"the arguments are not a JSON object: {call.arguments_error}")
    try:
        return tool.prepare(call.arguments)
    except ArgumentsError as error:
        return _problem("invalid_arguments", error.text)


def _guard(function: Callable[[], Awaitable[Any] | Any]) -> Callable[[], Awaitable[Any] | Any]:
    """Returns a function that returns the exceptions of `function`, also `SystemExit`, which would end the program."""
    guarded: Callable[[], Awaitable[Any] | Any]
    if is_async(function):

        async def guarded_async() -> Any:
            try:
                return await cast("Awaitable[Any]", function())
            except (Exception, SystemExit) as error:
                return _ToolException(error)

        guarded = guarded_async
    else:

        def guarded_sync() -> Any:
            try:
                result = function()
            except (Exception, SystemExit, GeneratorExit) as error:
                return _ToolException(error)
            return _await_guarded(cast("Awaitable[Any]", result)) if isinstance(result, Awaitable) else result

        guarded = guarded_sync
    guarded.__qualname__ = name_of(function)
    return guarded


async def _await_guarded(result: Awaitable[Any]) -> Any:
    try:
        return await result
    except (Exception, SystemExit) as error:
        return _ToolException(error)


def _isolated_function(
    tool: Tool[..., Any], call: ToolCall, context: ToolContext[Any]
) -> Callable[[], Awaitable[ToolStep]]:
    from .isolation import isolated_call

    return isolated_call(tool.function, call, context, takes_context=tool.takes_context is not None)


def _ending_of_step(tool: Tool[..., Any], step: ToolStep, secrets: Secrets) -> _CallEnding:
    """Returns the end of a call from the step of the process that ran it, which knows no credentials."""
    error = step.error
    content = step.result.content
    if error is not None:
        texts = [part.text for part in content if isinstance(part, TextPart)]
        content = tuple(TextPart(secrets.text(text)) for text in texts)
        error = replace(error, message=secrets.text(error.message))
    traceback = None if step.traceback is None else secrets.text(step.traceback)
    if error is not None and step.outcome == "failed" and tool.on_error == "raise" and error.type != "ToolFailed":
        raise ToolError(f"the tool {one_line(tool.name)!r} failed: {error.type}: {error.message}") from IsolatedError(
            traceback or ""
        )
    return _CallEnding(step.outcome, content, step.result.is_error, step.data, error, traceback, warnings=step.warnings)


def _failure(tool: Tool[..., Any], error: BaseException, secrets: Secrets) -> _CallEnding:
    """Returns the end of a call that raised `error`; raises `ToolError` for a tool with `on_error="raise"`."""
    message = message_of(error, secrets.text)
    if isinstance(error, ToolRetry):
        return _CallEnding("retry", (TextPart(message),), error=record_of(error, secrets.text))
    if not isinstance(error, ToolFailed) and tool.on_error == "raise":
        raise ToolError(f"the tool {one_line(tool.name)!r} failed: {message}") from secrets.cleaned(error)
    is_explained = isinstance(error, ToolFailed | NoContentError | ProcessEndedError)
    traceback = None if is_explained else traceback_of(error, secrets.text)
    return _CallEnding("failed", (TextPart(message),), error=record_of(error, secrets.text), traceback=traceback)


def _problem(outcome: ToolOutcome, message: str) -> _CallEnding:
    return _CallEnding(outcome, (TextPart(message),), error=ErrorRecord(_ERROR_TYPES[outcome], message))


def _unknown_tool(name: str, known: Collection[str]) -> _CallEnding:
    near = nearest_names(name[:_LONGEST_NAME], known)
    hint = did_you_mean(near) if near else f"The tools are: {', '.join(sorted(known)[:_MOST_NAMES]) or 'none'}."
    return _problem("unknown_tool", f"there is no tool {one_line(name)!r}. {hint}")


_LONGEST_NAME = 100
_MOST_NAMES = 20
_ERROR_TYPES: dict[ToolOutcome, str] = {
    "invalid_arguments": "ArgumentsError",
    "timed_out": "TimeoutError",
    "unknown_tool": "UnknownToolError",
}
