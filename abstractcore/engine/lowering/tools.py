"""Lowers the tools of a call, and what depends on them: thinking, a tool choice that forces a call, where deferred
tools are searched, and tools in the prompt.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ...errors import InvalidInputError, UnsupportedContentError
from ...ports import ModelProfile
from ...schema import (
    CachePoint,
    CallWarning,
    HostedTool,
    Message,
    ModelCall,
    Part,
    ProviderOptions,
    ReplyReading,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSearch,
    to_data,
)
from ...schema.base_error import shown
from ...schema.parts import MEDIA_PARTS
from ...tools.loop_rules import SEARCH_TOOLS, given_tools
from .changes import change_warning
from .options import ThinkingSetting, thinks

if TYPE_CHECKING:
    from ...tools.prompted import ToolFormat

DEFAULT_FORMAT = "hermes"
"""The format for models whose own is not known: plain JSON between tags."""
_AUTO = ToolChoice("auto")
_HOSTED = HostedTool("tool_search")
_CONSTRAINS = frozenset({"grammar", "json_schema", "response_format"})
"""Fields with which the user constrains the reply."""
GRAMMAR_FORMATS = frozenset({"hermes"})
"""Formats with a grammar of their calls."""
_MOST_STOPS = 4
"""The number of stop sequences that all providers accept (OpenAI's API reference, "Create chat completion", stop)."""


def lower_tools(call: ModelCall, profile: ModelProfile) -> tuple[ModelCall, ReplyReading | None, list[CallWarning]]:
    """Returns the call with its tools in a system message and its history as text, how to read the reply, and warnings,
    if the call or the profile says so. Raises `InvalidInputError` for an unknown format.

    Without a prompt of tools, a reply may have native calls as text: from servers of which the profile says so.
    """
    name = prompt_format(call, profile)
    if name is not None:
        return write_tools(call, name, profile)
    reading = None
    if profile.calls_as_text and call.rescue and call.tools and not forbids_tools(call):
        reading = ReplyReading(tools=call.tools, rescue=True, single=call.parallel_tool_calls is False)
    changed = call.tool_format is not None or not call.rescue
    return call.with_(tool_format=None, rescue=True) if changed else call, reading, []


def prompt_format(call: ModelCall, profile: ModelProfile) -> str | None:
    """Returns the format of the call's tools in the prompt; None if they are sent as such, or refused: beside hosted
    tools, which cannot be in a prompt, a model without tools has a prompt only if the call names its format.
    """
    name = call.tool_format
    if name is None:
        if call.tools and call.hosted_tools:
            return None
        if profile.tools != "never" or (profile.tools_provider is not None and call.tools):
            return None
        name = profile.tool_prompt or DEFAULT_FORMAT
    has_calls = any(message.role == "tool" or message.tool_calls for message in call.messages)
    return name if name != "native" and (call.tools or has_calls) else None


def forbids_tools(call: ModelCall) -> bool:
    """Returns whether the tool choice forbids calls."""
    return call.tool_choice is not None and call.tool_choice.mode == "none"


def thinking_beside_tools(
    call: ModelCall, thinking: ThinkingSetting, profile: ModelProfile
) -> tuple[ThinkingSetting, CallWarning | None]:
    """Returns the thinking to send beside the tools of `call`, with a warning if they exclude `thinking`, which is what
    would be sent without them.

    Raises `UnsupportedContentError` for tools that the model never accepts.
    """
    accepts = profile.tools
    if accepts is None or accepts == "always" or not call.tools:
        return thinking, None
    if accepts == "never":
        _refuse_tools(call, profile)
    if not thinks(thinking, profile.thinking) or (thinking is None and accepts == "thinking_unset"):
        return thinking, None
    allowed: ThinkingSetting = "off" if accepts == "without_thinking" else None
    message = f"{call.model} accepts tools only {'without thinking' if allowed else 'if thinking is not set'}"
    if profile.tools_provider is not None:
        message += f": {profile.tools_provider!r} has both"
    return allowed, change_warning("thinking_changed", "thinking", message, call.thinking, allowed)


def lower_tool_choice(
    call: ModelCall, thinking: ThinkingSetting, profile: ModelProfile
) -> tuple[ToolChoice | None, list[CallWarning]]:
    """Returns the tool choice, or "auto" in place of one that forces a call where the model does not accept that.

    "auto" is left out beside `parallel_tool_calls`, which implies it.
    """
    choice, accepts = call.tool_choice, profile.forced_tools
    if choice is None or accepts is None or accepts == "always" or choice.mode in ("auto", "none"):
        return choice, []
    if not (call.tools or call.hosted_tools):
        return choice, []
    if accepts == "without_budget" and (not isinstance(thinking, int) or thinking == 0):
        return choice, []
    if accepts == "without_thinking" and not thinks(thinking, profile.thinking):
        return choice, []
    auto_is_sent = call.parallel_tool_calls is None
    what = {"without_budget": " with a thinking budget", "without_thinking": " while it thinks"}.get(accepts, "")
    message = f"{call.model} does not accept a forced tool call{what}"
    sent = {"mode": "auto"} if auto_is_sent else None
    warning = change_warning("tool_choice_changed", "tool_choice", message, to_data(choice), sent)
    return _AUTO if auto_is_sent else None, [warning]


def _refuse_tools(call: ModelCall, profile: ModelProfile) -> NoReturn:
    hint = "Choose another model, leave the tools out, or leave out tool_format='native'."
    if call.hosted_tools:
        hint = "Choose another model, or leave out the hosted tools: the others are then described in the prompt."
    if profile.tools_provider is not None:
        hint = f"Use the provider {profile.tools_provider!r}, or tool_format='hermes' for tools in the prompt."
    raise UnsupportedContentError(
        f"tools: {call.model} accepts no tools at the provider {call.provider!r}.",
        hint=hint,
        provider=call.provider or None,
        model=call.model,
    )


class SearchLowered(NamedTuple):
    """A call whose deferred tools are those that the provider searches, and where they are searched."""

    call: ModelCall
    tool_search: ToolSearch | None
    warnings: list[CallWarning]


def lower_tool_search(call: ModelCall, profile: ModelProfile) -> SearchLowered:
    """Returns the call with the hosted tool `tool_search` beside its deferred tools, or without deferred tools.

    The provider searches if the call has that hosted tool, or the profile says that it can and `call.tool_search` is
    not "client". Otherwise the model is given `search_tools`, if the call has it: a loop adds it to run its calls.
    Without a loop nobody can search here, and all tools are sent, with a warning.
    """
    requested = call.tool_search
    if requested is not None:
        call = call.with_(tool_search=None)
    if not any(tool.defer for tool in call.tools):
        return SearchLowered(call, None, [])
    why_not = _why_not_hosted(call, requested, profile)
    if why_not is None:
        return SearchLowered(_with_hosted_search(call), "hosted", [])
    warnings: list[CallWarning] = []
    if requested == "hosted":
        warnings.append(change_warning("tool_search_changed", "tool_search", why_not, "hosted", "client"))
    if SEARCH_TOOLS in call.tools:
        choice = call.tool_choice
        tools = given_tools(call.tools, call.messages, None if choice is None else choice.tool)
        return SearchLowered(call.with_(tools=tools), "client", warnings)
    message = "deferred tools are sent as others are: without run_tools, nobody runs a search for them"
    warnings.append(CallWarning("tools_not_deferred", "tools", message))
    return SearchLowered(call.with_(tools=tuple(replace(tool, defer=False) for tool in call.tools)), None, warnings)


def _why_not_hosted(call: ModelCall, requested: ToolSearch | None, profile: ModelProfile) -> str | None:
    """Returns why the provider cannot or must not search; None if it does."""
    if any(tool.kind == _HOSTED.kind for tool in call.hosted_tools):
        return None
    if requested == "client":
        return "the call says so"
    if profile.tool_search is not True:
        return f"{call.model} is not known to have a tool search at the provider {call.provider!r}"
    if prompt_format(call, profile) is not None:
        return f"the tools of {call.model} are described in a system message"
    if call.tool_choice is not None and call.tool_choice.tool == SEARCH_TOOLS.name:
        return f"the tool choice forces a call of {SEARCH_TOOLS.name!r}"
    return None


def _with_hosted_search(call: ModelCall) -> ModelCall:
    """Returns the call for a provider that searches. A tool that the model must call is not deferred."""
    chosen = None if call.tool_choice is None else call.tool_choice.tool
    tools = (replace(tool, defer=False) if tool.name == chosen else tool for tool in call.tools if tool != SEARCH_TOOLS)
    given = any(tool.kind == _HOSTED.kind for tool in call.hosted_tools)
    hosted = call.hosted_tools if given else (*call.hosted_tools, _HOSTED)
    return call.with_(tools=tuple(tools), hosted_tools=hosted)


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
        messages.insert(position, Message("system", (_description_of(call, chosen, examples=examples),)))
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


def _description_of(call: ModelCall, chosen: ToolFormat, *, examples: bool) -> TextPart:
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
    from ...tools.prompted.descriptions import call_grammar

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
