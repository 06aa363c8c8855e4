"""The tool loop as data: what the model is asked next, and what happens to the calls of its reply. Pure functions.

`engine/tool_rounds.py` runs it.

Tool search in this program: the model finds deferred tools by words of their names and descriptions. The warning of a
tool loop that stopped at a limit: without it, an empty answer would be the only sign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from ..errors import InvalidInputError
from ..schema import (
    CallWarning,
    HostedTool,
    HostedToolCall,
    JSONValue,
    LoopStatus,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    ToolCall,
    ToolChoice,
    ToolLoop,
    ToolOutcome,
    ToolResult,
    ToolSpec,
    ToolStep,
    Usage,
    canonical_json,
)
from ..schema.base_error import one_line
from ..schema.calls import canonical_messages
from ..schema.json_values import check_items
from ..schema.replies import CallIds
from ..schema.reprs import with_valid
from ..schema.tool_loops import added_messages
from ..schema.tools import check_tool_names
from .long_results import READ_RESULT
from .policy import ToolPolicy

_WORD = re.compile(r"[^\W_]+")
_MOST_FOUND = 5
SEARCH_TOOLS = ToolSpec(
    "search_tools",
    "Finds further tools by what they do. Tools that it returns can be called from then on.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that describe what the tool should do, or its name."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    read_only=True,
    idempotent=True,
)
"""The tool that a loop offers where tools are deferred. Lowering removes it where the provider searches them."""
_HOSTED_SEARCH = "tool_search"
"""The beginning of the names that providers give their tool search in replies."""


def found_tools(query: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Returns up to five of `tools`, those with the most words of `query` in their name and description first.

    A word counts for the beginning of another, as "mail" for "mails"; words of the name count twice.
    """
    words = {word.lower() for word in _WORD.findall(query)}
    matches = ((2 * _matches(words, tool.name) + _matches(words, tool.description)) for tool in tools)
    scores = [(score, -index) for index, score in enumerate(matches)]
    best = sorted((score for score in scores if score[0] > 0), reverse=True)[:_MOST_FOUND]
    return [tools[-index] for _, index in best]


def given_tools(
    tools: Sequence[ToolSpec], messages: Iterable[Message], chosen: str | None = None
) -> tuple[ToolSpec, ...]:
    """Returns the tools that the model is given while this program searches: without the deferred ones, but for those
    that `messages` call and the one that the model must call, `chosen`. These come last, and are not deferred any more.
    """
    deferred = {tool.name: tool for tool in tools if tool.defer}
    called = [call.name for message in messages for call in message.tool_calls]
    wanted = called if chosen is None else [*called, chosen]
    known = (replace(deferred[name], defer=False) for name in dict.fromkeys(wanted) if name in deferred)
    return (*(tool for tool in tools if not tool.defer), *known)


def has_hosted_search(messages: Iterable[Message]) -> bool:
    """Returns whether a provider has searched tools in `messages`."""
    return any(
        (isinstance(part, HostedToolCall) and part.name.startswith(_HOSTED_SEARCH))
        or (isinstance(part, OpaquePart) and part.kind.startswith(_HOSTED_SEARCH))
        for message in messages
        if message.role == "assistant"
        for part in message.parts
    )


def _matches(words: set[str], text: str) -> int:
    held = {word.lower() for word in _WORD.findall(text)}
    return sum(1 for word in words if any(each.startswith(word) or word.startswith(each) for each in held))


ENDED: tuple[LoopStatus, ...] = ("answered", "final")
"""The states of a loop that cannot go on."""
_FREE_CHOICE = ("auto", "none")
_STOPPED = ("content_filter", "refusal", "error")
"""Finish reasons of replies that are not to be acted on."""


def with_reply(loop: ToolLoop, reply: ModelReply, usage: Usage, status: LoopStatus = "running") -> ToolLoop:
    """Returns the loop with the reply of one more round. Its calls get ids of their own where the model repeats one."""
    reply = CallIds(loop.call.messages, loop.replies).in_reply(reply)
    return with_valid(loop, replies=(*loop.replies, reply), usage=loop.usage + usage, status=status, requests=0)


def repeated_request(loop: ToolLoop) -> tuple[CallWarning, ...]:
    """Returns a warning for a request that is sent again, since a crash has left no reply to it."""
    if not loop.requests:
        return ()
    times = "once" if loop.requests == 1 else f"{loop.requests} times"
    message = (
        f"the request of round {len(loop.replies) + 1} was sent {times} before a crash, and its reply was not noted: "
        "it is sent again, and may be charged again"
    )
    return (CallWarning("request_repeated", "loop.requests", message),)


def check_names_of_tools(tools: Sequence[ToolSpec | HostedTool]) -> None:
    """Raises `InvalidInputError` for a tool with the name of one that the loop may add."""
    specs = [tool for tool in tools if isinstance(tool, ToolSpec)]
    own = {READ_RESULT.name} | ({SEARCH_TOOLS.name} if any(spec.defer for spec in specs) else set[str]())
    for index, spec in enumerate(specs):
        if spec.name in own:
            raise InvalidInputError(
                f"{spec.name!r} is the name of a tool of the loop itself",
                path=f"tools[{index}].name",
                hint="Give the tool another name, as in @tool(name='my_tool').",
            )


def tools_of_round(loop: ToolLoop) -> tuple[ToolSpec, ...]:
    """Returns the tools of the next round before it is lowered: those of the call, and our own. Deferred ones that were
    found by `search_tools` are not deferred any more.

    Lowering decides where the others are searched. Tools are only ever added at the end.
    """
    tools = loop.call.tools
    deferred = {tool.name: tool for tool in tools if tool.defer}
    if deferred:
        found = [replace(deferred[name], defer=False) for name in loop.found if name in deferred]
        names = {tool.name for tool in found}
        tools = (*(tool for tool in tools if tool.name not in names), SEARCH_TOOLS, *found)
    return (*tools, READ_RESULT) if any(step.artifact for step in loop.steps) else tools


def callable_tools(loop: ToolLoop) -> tuple[ToolSpec, ...]:
    """Returns the tools that the latest reply may call: those that it was given, and deferred ones if the provider has
    searched them.
    """
    tools = tools_of_round(loop)
    if not any(tool.defer for tool in loop.call.tools):
        return tools
    before = (*loop.call.messages, *added_messages(loop.replies[:-1], loop.steps))
    latest = loop.replies[-1].message() if loop.replies else None
    if not has_hosted_search((*before, *([] if latest is None else [latest]))):
        choice = loop.call.tool_choice
        tools = given_tools(tools, before, None if choice is None else choice.tool)
    own = {tool.name: tool for tool in loop.call.tools}
    return tuple(own.get(tool.name, tool) for tool in tools)


def next_call(loop: ToolLoop, *, stream: bool = False, answer_now: bool = False) -> ModelCall:
    """Returns the call of the next round. A forced tool choice holds for the first round only; with `answer_now` the
    model must answer without tools.
    """
    choice = loop.call.tool_choice
    if answer_now:
        choice = ToolChoice("none")
    elif loop.replies and choice is not None and choice.mode not in _FREE_CHOICE:
        choice = None
    tools, added = tools_of_round(loop), loop.messages
    if tools is not loop.call.tools:
        check_tool_names(tools)
    return with_valid(
        loop.call,
        messages=canonical_messages((*loop.call.messages, *added)) if added else loop.call.messages,
        tools=tools,
        tool_choice=choice,
        parent_id=loop.call.parent_id or loop.id,
        stream=stream,
    )


def continues(reply: ModelReply) -> bool:
    """Returns whether the model waits for results of tools, or has paused its turn. Calls of a reply that was stopped
    by a filter, a refusal or an error are not run.
    """
    return (bool(reply.tool_calls) and reply.finish_reason not in _STOPPED) or reply.finish_reason == "paused"


def limit_reached(loop: ToolLoop, policy: ToolPolicy) -> LoopStatus | None:
    """Returns the limit that keeps the loop from going on, if any."""
    if len(loop.replies) >= policy.max_rounds:
        return "max_rounds"
    latest = [step for step in loop.steps if step.round == len(loop.replies) - 1]
    refused = any(step.outcome == "not_run" for step in latest)
    return "max_calls" if refused and calls_run(loop.steps) >= policy.max_calls else None


def calls_run(steps: Sequence[ToolStep]) -> int:
    """Returns the number of calls that count towards `max_calls`: all but those refused for another limit."""
    return sum(1 for step in steps if step.outcome != "not_run")


def refusal(loop: ToolLoop, call: ToolCall, before: Sequence[ToolCall], policy: ToolPolicy) -> str | None:
    """Returns why `call` must not run: a limit, a tool choice, or a reply that was cut off; None if it may.

    `before` are the calls of its round that come before it.
    """
    reply, choice = loop.replies[-1], loop.call.tool_choice
    if reply.finish_reason == "length" and reply.parts[-1] == call:
        return "the reply ended at its limit of tokens, so that the call may be incomplete"
    if choice is not None and choice.mode == "none":
        return "this conversation does not allow tool calls"
    most = policy.max_uses.get(call.name)
    if most is not None:
        uses = Counter(step.call.name for step in loop.steps if step.outcome != "not_run")
        uses.update(each.name for each in before)
        if uses[call.name] >= most:
            return f"the limit of {most} {'use' if most == 1 else 'uses'} of {call.name} is reached"
    if calls_run(loop.steps) + len(before) >= policy.max_calls:
        return f"the limit of {policy.max_calls} tool calls is reached"
    return None


def step_not_run(call: ToolCall, why: str, round: int, outcome: ToolOutcome = "not_run") -> ToolStep:
    """Returns the step of a call that was not run: its result tells the model why."""
    return ToolStep(call, ToolResult.text(call.id, f"not run: {why}", is_error=True), round, outcome)


def with_steps(loop: ToolLoop, steps: Sequence[ToolStep], **changes: Any) -> ToolLoop:
    """Returns the loop with more steps, in the order of the calls, and with other changed fields."""
    order = {(r, call.id): i for r, reply in enumerate(loop.replies) for i, call in enumerate(reply.tool_calls)}
    together = sorted((*loop.steps, *steps), key=lambda step: (step.round, order.get((step.round, step.call.id), -1)))
    found = dict.fromkeys(loop.found)
    for step in steps:
        if step.call.name == SEARCH_TOOLS.name and step.data is not None:
            found.update(dict.fromkeys(cast("list[str]", step.data)))
    if loop.allowed:
        done = {step.call.id for step in steps if step.round == len(loop.replies) - 1}
        changes = {"allowed": tuple(each for each in loop.allowed if each.call.id not in done), **changes}
    return with_valid(loop, steps=tuple(together), found=check_items(tuple(found), str, "found"), **changes)


def close_loop(loop: ToolLoop, why: str, status: LoopStatus, begun: Collection[str] = ()) -> ToolLoop:
    """Returns the loop with a result for every open call, so that the conversation can be sent.

    Calls whose ids are `begun` may have taken effect; their results say so.
    """
    latest = len(loop.replies) - 1
    steps = [
        _cut_off(call, why, latest) if call.id in begun else step_not_run(call, why, latest) for call in loop.open_calls
    ]
    return with_steps(loop, steps, pending=(), allowed=(), status=status)


def _cut_off(call: ToolCall, why: str, round: int) -> ToolStep:
    text = f"interrupted: {why} while it ran; it may have taken effect"
    return ToolStep(call, ToolResult.text(call.id, text, is_error=True), round, "interrupted")


def failed_repeatedly(loop: ToolLoop, policy: ToolPolicy) -> list[ToolCall]:
    """Returns the calls that have failed `max_failures` times with the same arguments."""
    failed = [step.call for step in loop.steps if step.failed]
    failures = Counter(map(_same_call, failed))
    return [call for call in failed if failures[_same_call(call)] >= policy.max_failures]


def _same_call(call: ToolCall) -> tuple[str, str]:
    arguments: JSONValue = call.arguments if call.arguments is not None else call.arguments_text
    return call.name, canonical_json(arguments)


LIMIT_REACHED = "tool_limit_reached"


def limit_warning(loop: ToolLoop, policy: ToolPolicy) -> CallWarning | None:
    """Returns the warning that names the limit at which `loop` stopped, and what to do; None if it did not stop."""
    if loop.status == "max_rounds":
        number = policy.max_rounds
        return _to_raise("max_rounds", number, f"the model has replied {_times(number)} and has not answered")
    if loop.status == "max_calls":
        number = policy.max_calls
        return _to_raise("max_calls", number, f"tools were called {_times(number)}, and the model has not answered")
    if loop.status != "repeated_failure":
        return None
    number = policy.max_failures
    names = ", ".join(dict.fromkeys(one_line(call.name) for call in failed_repeatedly(loop, policy)))
    message = (
        f"the same call of {names} failed {_times(number)}, and the model has not answered: response.tool_steps has "
        "its results. Correct the tool or its description, or raise the limit with ToolPolicy(max_failures=...)"
    )
    return CallWarning(LIMIT_REACHED, "run_tools.max_failures", message, number)


def _to_raise(name: str, limit: int, what: str) -> CallWarning:
    message = (
        f"{what}. Raise the limit with ToolPolicy({name}=...), also to continue with llm.resume(response.loop, ...), "
        'or have the model answer with ToolPolicy(on_limit="answer")'
    )
    return CallWarning(LIMIT_REACHED, f"run_tools.{name}", message, limit)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
