"""Continued tool loops: what `llm.resume` is given is checked, and becomes the loop's call with the tools of now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ..engine import Prepare, Prepared
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..ports import Runtime
from ..registry import Registry
from ..schema import (
    AllowedCall,
    CallWarning,
    GenerateResponse,
    MediaProgress,
    OutputSchema,
    PendingCall,
    ToolAnswer,
    ToolCall,
    ToolLoop,
    ToolSpec,
)
from ..schema.base_error import shown
from ..tools.toolset import ToolSet
from .call_tools import CallTools, check_run_tools

if TYPE_CHECKING:
    from ..verification.quoted_output import QuotedOutput

_ENDED = ("answered", "final")


def read_loop(given: object, run_tools: object) -> ToolLoop:
    """Returns the loop that `given` is or has; raises `InvalidInputError` unless it can go on.

    With a journal in `run_tools` it may have ended: a process may have been lost between the answer and its use.
    """
    loop = cast("GenerateResponse[object]", given).loop if isinstance(given, GenerateResponse) else given
    if not isinstance(loop, ToolLoop):
        hint = "Pass a response of a call with run_tools, or from_json(text) of what to_json(response.loop) wrote."
        got = shown(cast(object, given)) if loop is given and given is not None else "that of a call without run_tools"
        raise InvalidInputError(f"expected a ToolLoop, got {got}", path="loop", hint=hint)
    if loop.status in _ENDED and getattr(run_tools, "journal", None) is None:
        hint = "For a further question: llm.generate(prompt, messages=[*messages, *response.messages])."
        raise InvalidInputError(f"the loop has ended: {loop.status}", path="loop.status", hint=hint)
    _check_steps(loop)
    _check_waiting(loop)
    return loop


def _check_steps(loop: ToolLoop) -> None:
    """Raises `InvalidInputError` unless each call of earlier rounds has one result, and each result a call."""
    calls = {(index, call.id): call for index, reply in enumerate(loop.replies) for call in reply.tool_calls}
    seen: set[tuple[int, str]] = set()
    for index, step in enumerate(loop.steps):
        key = (step.round, step.call.id)
        call = calls.get(key)
        if call is None or call.name != step.call.name or step.result.call_id != call.id:
            raise _changed_state(f"loop.steps[{index}]", f"is of no call of round {step.round}")
        if key in seen:
            raise _changed_state(f"loop.steps[{index}]", f"is a second result of the call {shown(call.id)}")
        seen.add(key)
    for index, reply in enumerate(loop.replies[:-1]):
        for call in reply.tool_calls:
            if (index, call.id) not in seen:
                raise _changed_state("loop.steps", f"lack the result of the call {shown(call.id)} of round {index}")


def _check_waiting(loop: ToolLoop) -> None:
    """Raises `InvalidInputError` unless the pending calls are open calls of the last reply, unchanged."""
    open_calls = {call.id: call for call in loop.open_calls}
    waiting: set[str] = set()
    for name in ("pending", "allowed"):
        items: Sequence[PendingCall | AllowedCall] = getattr(loop, name)
        for index, item in enumerate(items):
            call = open_calls.get(item.call.id)
            path = f"loop.{name}[{index}]"
            if call is None or item.call.id in waiting:
                raise _changed_state(
                    path, "is not an open call of the last reply, or is a second one for the same call"
                )
            if _name_and_arguments(item.requested or item.call) != _name_and_arguments(call):
                raise _changed_state(path, "is not as the model made it")
            if isinstance(item, PendingCall) and (item.loop, item.round) != (loop.id, len(loop.replies) - 1):
                raise _changed_state(path, "is of another loop or round")
            waiting.add(item.call.id)
    if loop.status == "suspended" and waiting != open_calls.keys():
        raise _changed_state("loop.pending", "lack an open call of a suspended loop")


def _name_and_arguments(call: ToolCall) -> tuple[str, str]:
    return call.name, call.arguments_text


def _changed_state(path: str, problem: str) -> InvalidInputError:
    hint = "Pass the state as to_json(response.loop) wrote it."
    return InvalidInputError(f"{problem}: the state was changed", path=path, hint=hint)


def read_answers(answers: object, loop: ToolLoop) -> Mapping[str, ToolAnswer]:
    """Returns the answers by the id of their call; raises `InvalidInputError` for one to no pending call."""
    if not isinstance(answers, Sequence):
        hint = "For example: [pending.allow() for pending in loop.pending]."
        raise InvalidInputError(f"expected a list, got {type(answers).__name__}", path="answers", hint=hint)
    pending = {each.call.id: each for each in loop.pending}
    read: dict[str, ToolAnswer] = {}
    for index, answer in enumerate(cast("Sequence[object]", answers)):
        path = f"answers[{index}]"
        if not isinstance(answer, ToolAnswer):
            hint = "Answers are made by pending calls: pending.allow(), .deny(reason), .edit(arguments), .result(text)."
            raise InvalidInputError(f"expected a ToolAnswer, got {shown(answer)}", path=path, hint=hint)
        waits = pending.get(answer.call_id)
        if waits is None:
            known = ", ".join(pending) or "none"
            raise InvalidInputError(
                f"no call {shown(answer.call_id)} waits for an answer (waiting: {known})",
                path=path,
                hint="An answer can be used once: take the loop of the latest response.",
            )
        if answer.digest != waits.digest:
            raise InvalidInputError(
                f"the answer is to another call of {shown(waits.call.name)}: of other arguments, or another loop",
                path=f"{path}.digest",
                hint="Show the pending call again, and make the answer from it.",
            )
        if answer.call_id in read:
            raise InvalidInputError(f"two answers to the call {shown(answer.call_id)}", path=path)
        read[answer.call_id] = answer
    return read


def _check_runnable(answers: Mapping[str, ToolAnswer], loop: ToolLoop, runnable: Collection[str]) -> None:
    """Raises `InvalidInputError` for an answer that lets a tool run that is not in `runnable`."""
    names = {pending.call.id: pending.call.name for pending in loop.pending}
    for index, answer in enumerate(answers.values()):
        if answer.kind in ("allow", "edit", "input") and names[answer.call_id] not in runnable:
            raise InvalidInputError(
                f"{shown(names[answer.call_id])} cannot be run here: its function is not among the tools",
                path=f"answers[{index}]",
                hint="Pass it with tools=[...], or answer with pending.result(...).",
            )


def _changed_tools(loop: ToolLoop, given: Sequence[object]) -> tuple[CallWarning, ...]:
    """Returns warnings for tools that are not as the loop offers them, which stays what the model is given."""
    offered = {tool.name: tool for tool in loop.call.tools}
    warnings: list[CallWarning] = []
    for spec in given:
        if not isinstance(spec, ToolSpec):
            continue
        known = offered.get(spec.name)
        if known is None:
            message = f"{spec.name} was not offered in the call that is continued: the model does not get it"
            warnings.append(CallWarning("tool_left_out", f"tools.{spec.name}", message))
        elif (known.parameters, known.labels) != (spec.parameters, spec.labels):
            what = "parameters" if known.parameters != spec.parameters else "labels"
            message = f"the {what} of {spec.name} have changed since the call: the model is given those of then"
            warnings.append(CallWarning("tool_changed", f"tools.{spec.name}", message))
    return tuple(warnings)


def changed_output(loop: ToolLoop, given: OutputSchema) -> tuple[CallWarning, ...]:
    """Returns a warning for a type of the answer that is not as the loop asks for it, which stays what it asks for."""
    asked = loop.call.output
    if asked is None or (asked.schema, asked.name) == (given.schema, given.name):
        return ()
    message = "the type of the answer has changed since the call: the model is given the schema of then"
    return (CallWarning("output_changed", "response_model", message),)


@dataclass(frozen=True, slots=True)
class ResumedCall:
    """A loop, the answers to its pending calls, and the tools that are given anew.

    `first` prepares the call of the loop, `timeout` is in seconds. `changed` are warnings of what differs from the
    first call.
    """

    loop: ToolLoop
    first: Prepare
    tools: CallTools
    timeout: float | None
    changed: tuple[CallWarning, ...]
    on_media_progress: Callable[[MediaProgress], object] | None

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the call of the loop with the tools of now; raises `ToolServerError`."""
        first = await self.first(runtime)
        found, served_warnings = await self.tools.complete(runtime, self.timeout)
        changed = (*served_warnings, *_changed_tools(self.loop, found.specs), *self.changed)
        return replace(
            first,
            warnings=(*changed, *first.warnings),
            tools=found.tools,
            on_media_progress=self.on_media_progress,
        )


def resumed_tools(
    tools: object,
    run_tools: object,
    deps: object,
    loop: ToolLoop,
    answers: Mapping[str, ToolAnswer],
    registry: Registry,
) -> CallTools:
    """Returns the tools of a continuation; raises `InvalidInputError` if a call that may run is of none of them."""

    def check(found: ToolSet) -> None:
        check_run_tools(run_tools, found)
        _check_runnable(answers, loop, found.tools)

    return CallTools(() if tools is None else tools, registry, deps, check)


def quoted_of_loop(loop: ToolLoop, output: OutputType | None) -> QuotedOutput | None:
    """Returns the type of the answer with quotes, of a loop that was begun with evidence.

    Raises `InvalidInputError` for an answer type of a loop that was begun without one.
    """
    if output is not None and loop.call.output is None:
        hint = "Pass response_model to the call of generate that begins the loop."
        raise InvalidInputError("the loop was begun without response_model", path="response_model", hint=hint)
    if output is None or loop.call.output == output.schema:
        return None
    from ..verification.quoted_output import resumed_quoted_output

    return resumed_quoted_output(output, loop.call)
