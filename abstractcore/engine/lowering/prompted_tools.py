"""Writes tools, calls and their results into the messages, for models that are not sent tools as such."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from ...errors import InvalidInputError
from ...ports import ModelProfile
from ...schema import (
    CachePoint,
    CallWarning,
    Message,
    ModelCall,
    Part,
    ProviderOptions,
    ReplyReading,
    TextPart,
    ToolCall,
    ToolResult,
    to_data,
)
from ...schema.parts import MEDIA_PARTS
from ...schema.quoting import shown
from .tools import forbids_tools

if TYPE_CHECKING:
    from ...tools.prompted import ToolFormat

_CONSTRAINS = frozenset({"grammar", "json_schema", "response_format"})
"""Fields with which the user constrains the reply."""
GRAMMAR_FORMATS = frozenset({"hermes"})
"""Formats with a grammar of their calls."""
_MOST_STOPS = 4
"""The number of stop sequences that all providers accept (OpenAI's API reference, "Create chat completion", stop)."""


def write_tools(
    call: ModelCall, name: str, profile: ModelProfile
) -> tuple[ModelCall, ReplyReading | None, list[CallWarning]]:
    """Returns the call with its tools in a system message and its history as text in the format `name`, how to read the
    reply, and warnings. Raises `InvalidInputError` for an unknown format, and for a tool that it cannot call.
    """
    from ...tools.prompted import tool_format

    chosen = tool_format(name)
    _refuse_names(call, chosen)
    messages = _written_messages(call, chosen)
    provider_options, warnings = _with_grammar(call, name, profile)
    reading = None
    if call.tools:
        position = sum(1 for _ in takewhile(lambda message: message.role == "system", messages))
        # With examples, a small model that has results repeats their calls.
        examples = profile.tool_examples and not (call.messages and call.messages[-1].role == "tool")
        messages.insert(position, Message("system", (_described(call, chosen, examples=examples),)))
        message = f"{call.model} has its tools described in a system message, in the format {name!r}"
        warnings.insert(0, CallWarning("tools_as_prompt", "tools", message, sent=name))
        warnings += _not_enforced(call, constrained=provider_options is not call.provider_options)
        if not forbids_tools(call):
            reading = ReplyReading(name, call.tools, call.rescue, single=call.parallel_tool_calls is False)
    sampling = call.sampling
    if reading is not None and (stop := _stops(call, chosen, profile)):
        sampling = replace(sampling, stop=stop)
    lowered = call.with_(
        messages=tuple(messages),
        tools=(),
        tool_choice=call.tool_choice if call.hosted_tools else None,
        parallel_tool_calls=call.parallel_tool_calls if call.hosted_tools else None,
        sampling=sampling,
        provider_options=provider_options,
        tool_format=None,
        rescue=True,
    )
    return lowered, reading, warnings


def _refuse_names(call: ModelCall, chosen: ToolFormat) -> None:
    for index, tool in enumerate(call.tools):
        if not chosen.can_call(tool.name):
            raise InvalidInputError(
                f"a tool named {shown(tool.name)} cannot be called in the format {chosen.name!r}",
                path=f"tools[{index}].name",
                hint="Use letters, digits, _ and - in the name, or tool_format='hermes'.",
            )


def _described(call: ModelCall, chosen: ToolFormat, *, examples: bool) -> TextPart:
    """Returns the description of the tools, with the last cache point that a tool has."""
    points = [tool.cache for tool in call.tools if tool.cache is not None]
    text = chosen.describe(call.tools, call.tool_choice, call.parallel_tool_calls, examples=examples)
    return TextPart(text, cache=points[-1] if points else None)


def _not_enforced(call: ModelCall, *, constrained: bool) -> list[CallWarning]:
    """Returns a warning for each tool that is strict, and of a choice that forces a call, unless a grammar does."""
    message = "the arguments of a tool in the prompt are not enforced"
    warnings = [
        CallWarning("unsupported_option", f"tools[{index}].strict", message, True)
        for index, tool in enumerate(call.tools)
        if tool.strict
    ]
    choice = call.tool_choice
    if choice is not None and choice.mode in ("required", "tool") and not constrained:
        message = "the prompt says that the model must call a tool, but nothing enforces it"
        warnings.append(CallWarning("unsupported_option", "tool_choice", message, to_data(choice)))
    return warnings


def _stops(call: ModelCall, chosen: ToolFormat, profile: ModelProfile) -> tuple[str, ...]:
    """Returns the stop sequences with those of the format, which keep a model from inventing results."""
    if "stop" in profile.refused | profile.refused_with_thinking | profile.no_effect:
        return ()
    given = call.sampling.stop
    stops = (*given, *(stop for stop in chosen.stop if stop not in given))
    return stops if chosen.stop and len(stops) <= _MOST_STOPS else ()


def _with_grammar(call: ModelCall, name: str, profile: ModelProfile) -> tuple[ProviderOptions, list[CallWarning]]:
    """Returns the provider options with a grammar of the calls, where the server accepts one and the call has none, and
    a warning where it accepts one and the format has none.
    """
    given = call.provider_options.get(call.provider, {})
    constrained = _CONSTRAINS.isdisjoint(given) and call.output is None and not call.hosted_tools
    if profile.grammar is None or not call.tools or not constrained or forbids_tools(call):
        return call.provider_options, []
    if name not in GRAMMAR_FORMATS:
        message = f"the format {name!r} has no grammar: calls are not held to the schemas of their tools"
        return call.provider_options, [CallWarning("calls_not_constrained", "tool_format", message, sent=name)]
    from ...tools.prompted.grammar import call_grammar

    grammar = call_grammar(call.tools, call.tool_choice, call.parallel_tool_calls, plain=call.rescue)
    if grammar is None:
        return call.provider_options, []
    return {**call.provider_options, call.provider: {**given, "grammar": grammar}}, []


def _written_messages(call: ModelCall, chosen: ToolFormat) -> list[Message]:
    """Returns the messages with calls and results as text. Results are the beginning of the user message after them."""
    written: list[Message] = []
    names: dict[str, str] = {}
    results: list[Part] = []
    for message in call.messages:
        if message.role == "tool":
            results = [*results, *_result_parts(message, names, chosen)]
            continue
        if results and message.role == "user":
            message = replace(message, parts=(*results, TextPart("\n\n"), *message.parts))
        elif results:
            written.append(Message("user", tuple(results)))
        results = []
        if message.tool_calls:
            names = {each.id: each.name for each in message.tool_calls}
            message = replace(message, parts=_without_calls(message, call, chosen))
        written.append(message)
    return [*written, Message("user", tuple(results))] if results else written


def _without_calls(message: Message, call: ModelCall, chosen: ToolFormat) -> tuple[Part, ...]:
    """Returns the parts of an assistant message with its calls as one text, in place of the first of them."""
    calls = message.tool_calls
    points = [each.cache for each in calls if each.cache is not None]
    parts: list[Part] = []
    for part in message.parts:
        if not isinstance(part, ToolCall):
            parts.append(part)
        elif part is calls[0]:
            before = "\n" if parts and isinstance(parts[-1], TextPart) else ""
            parts.append(_text(before + chosen.write_calls(calls, call.tools), points))
    return tuple(parts)


def _result_parts(message: Message, names: dict[str, str], chosen: ToolFormat) -> list[Part]:
    """Returns results as one text, with their files after it."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    points = [each.cache for each in results if each.cache is not None]
    text = chosen.write_results([(names.get(each.call_id, each.call_id), each) for each in results])
    files = [part for each in results for part in each.content if isinstance(part, MEDIA_PARTS)]
    return [_text(text, points), *files]


def _text(text: str, points: list[CachePoint]) -> TextPart:
    return TextPart(text, cache=points[-1] if points else None)
