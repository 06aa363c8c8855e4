"""`OutputRounds`: reads the typed answer of a call's rounds, and decides whether the model is asked again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ..concurrency.time_limits import is_of_call
from ..errors import InvalidInputError, OutputValidationError, ToolRetry
from ..outputs.output_types import answer_text, first_line, output_call
from ..ports import Runtime
from ..schema import FinishReason, ModelCall, ModelReply, OutputAttempt, ToolLoop
from ..schema.base_error import shown
from .prepared import OutputReader

OutputCheck: TypeAlias = Callable[[Any], Awaitable[object] | object]
"""A function of an output: raises `ValueError` or `ToolRetry`, or returns a message, if it is wrong."""
_FINAL_FINISH_REASONS: Final[tuple[FinishReason, ...]] = ("length", "content_filter", "refusal", "paused")
"""How replies end that would end in the same way again: cut, filtered or refused answers cannot be corrected."""
_ASK_FOR_JSON: Final = "Now give this answer as JSON that matches the schema, and nothing else."
_LONGEST_CORRECTION = 4000


class OutputRounds:
    """Reads answers with `read`, checks them with `check`, and has invalid ones corrected up to `retries` times.

    `is_separate` says that the model cannot be given tools and a schema at once: it answers without the schema, and is
    then asked for the same answer in one further call with the schema, and without tools.
    """

    def __init__(
        self, read: OutputReader | None, retries: int, check: OutputCheck | None, *, is_separate: bool
    ) -> None:
        self.output: Any = None
        self.retries = retries
        self._read = read
        self._check = check
        self._is_separate = is_separate
        self._constrains = not is_separate
        self._attempt: OutputAttempt | None = None

    def begin(self, loop: ToolLoop) -> None:
        """Continues where `loop` stands: after an answer as text, the schema is sent."""
        self._constrains = not self._is_separate or any(not each.problem for each in loop.output_attempts)

    def call(self, call: ModelCall, *, answer_now: bool) -> ModelCall:
        """Returns the call of a round: with the schema or with the tools, if the model cannot be given both."""
        if not self._is_separate:
            return call
        if not self._constrains and not answer_now:
            return call.with_(output=None, output_mode=None)
        self._constrains = True
        return call.with_(tools=(), hosted_tools=(), tool_choice=None, parallel_tool_calls=None)

    def read(self, reply: ModelReply, loop: ToolLoop) -> Any:
        """Returns the output of a reply; None for one that is to be corrected. Raises `OutputValidationError`."""
        self.output, self._attempt = None, None
        if not self._constrains:
            self._attempt = OutputAttempt(len(loop.replies), reply.text, "", _ASK_FOR_JSON, reply.usage)
            return None
        try:
            self.output = None if self._read is None else self._read(reply)
        except OutputValidationError as error:
            self._keep(error, reply, loop)
        return self.output

    async def check(self, reply: ModelReply, loop: ToolLoop, runtime: Runtime) -> None:
        """Calls the user's check of a valid output. Raises `OutputValidationError`."""
        if self._check is None or self._attempt is not None:
            return
        try:
            found = await runtime.invoke(self._check, self.output)
        except (ValueError, ToolRetry) as error:
            message = first_line(error)
        except Exception as error:
            if isinstance(error, TimeoutError) and is_of_call(error):
                raise
            refusal = _refusal(f"output_check raised {type(error).__name__}: {first_line(error)}", reply, loop)
            raise self._last(refusal, reply, loop) from error
        else:
            if found is None or found is True:
                return
            if not isinstance(found, str):
                hint = "Return a message that says what is wrong, or None."
                raise InvalidInputError(f"returned {shown(found)}", path="output_check", hint=hint)
            message = found
        self.output = None
        error = _refusal(message, reply, loop)
        error.problems = (message,)
        self._keep(error, reply, loop)

    @property
    def attempt(self) -> OutputAttempt | None:
        """The latest answer, if the model will be asked again."""
        return self._attempt

    def correction(self, loop: ToolLoop) -> ToolLoop | None:
        """Returns the loop with the latest answer as an attempt; None if that answer stands."""
        if self._attempt is None:
            return None
        self._constrains = True
        return loop.with_(output_attempts=(*loop.output_attempts, self._attempt))

    def _keep(self, error: OutputValidationError, reply: ModelReply, loop: ToolLoop) -> None:
        """Keeps an answer that the model will be asked to correct; raises the error of the last one."""
        made = sum(1 for each in loop.output_attempts if each.problem)
        if error.__cause__ is not None:  # a validator failed, which no answer corrects
            raise self._last(error, reply, loop)
        if reply.finish_reason in _FINAL_FINISH_REASONS or made >= self.retries:
            raise self._last(error, reply, loop)
        self._attempt = replace(_attempt(error, reply, loop), correction=correction_of(error))

    def _last(self, error: OutputValidationError, reply: ModelReply, loop: ToolLoop) -> OutputValidationError:
        error.output_attempts = (*loop.output_attempts, _attempt(error, reply, loop))
        return error


def _attempt(error: OutputValidationError, reply: ModelReply, loop: ToolLoop) -> OutputAttempt:
    text, call = answer_text(reply), output_call(reply)
    round = len(loop.replies)
    return OutputAttempt(round, text, error.message, usage=reply.usage, tool_call=call)


def _refusal(problem: str, reply: ModelReply, loop: ToolLoop) -> OutputValidationError:
    error = OutputValidationError(
        f"the answer is not valid: {problem}", hint="The error's `partial` holds the answer.", partial=reply
    )
    error.provider, error.model = loop.call.provider or None, loop.call.model
    return error


def correction_of(error: OutputValidationError) -> str:
    """Returns the message that asks the model for a valid answer: every problem in a line, at most 4,000 characters."""
    lines = ["The answer is not valid:"]
    size = len(lines[0])
    for index, each in enumerate(error.problems):
        line = f"- {each}"
        size += len(line) + 1
        if size > _LONGEST_CORRECTION:
            lines.append(f"- ... and {len(error.problems) - index} more problems")
            break
        lines.append(line)
    if not error.problems:
        lines.append(f"- {error.message[:_LONGEST_CORRECTION]}")
    return "\n".join([*lines, "Answer again: the whole answer with these problems corrected, and nothing else."])
