"""`lower`: adapts a call to its model in one pure function."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from ...errors import InvalidInputError
from ...files.parts import media_parts
from ...ports import MediaHandler, ModelProfile, Transpiler
from ...registry import did_you_mean
from ...schema import CallWarning, HostedToolCall, Lowered, Message, ModelCall, ToolSearch
from .options import (
    SAMPLING_OPTIONS,
    lower_modalities,
    lower_options,
    lower_thinking,
    room_to_think,
    thinking_within_turn,
)

if TYPE_CHECKING:
    from ...files.contents import MadeFiles
    from ...files.facts import FactsByFile
    from ...files.policies import MediaDefaults
    from ...schema import MediaDecision, ReplyReading

_DAY_SECONDS = 86_400


def lower(
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    time: float | None = None,
    configured: Set[str] = frozenset(),
    facts: FactsByFile | None = None,
    defaults: Callable[[], MediaDefaults] | None = None,
    added: int = 0,
    made: MadeFiles | None = None,
    transpiler: Transpiler | None = None,
) -> Lowered:
    """Decides how each file of `call` is sent, and adapts the call to the profile of its model: thinking,
    cache points, sampling, tools and structured output. Pure: nothing is read, converted or sent.

    `time` is that of the call, in seconds since the epoch: a model that is retired by then has a warning. `configured`
    are the names of the options for media fallbacks that are set. `facts` is what was measured of files: limits on what
    is not known are not applied. `defaults` returns what is configured for kinds of files, which holds where the call
    sets nothing; it is called if the call has files. The last `added` messages belong to the turn before them.

    `made` is what the files of the same call have become by earlier decisions: these are then changed, never back,
    until all files keep the limits. What cannot be known before is so decided by the same rules.

    `transpiler` is that of the model's wire format, which knows the schemas that it can express.

    Raises `UnsupportedContentError` for a file that the model or the policy does not allow, naming the choices, and
    for tools that the model never accepts, `MediaError` for a file that must be converted and is given as a URL or a
    provider file, and `InvalidInputError` for a call that ends with an assistant message, if the model does not support
    prefill.
    """
    if not profile.accepts_prefill:
        _refuse_prefill(call.messages)
    call, of_system = _lower_system_messages(call, profile)
    call, reading, tool_search, warnings = _lower_tools_and_output(call, profile, transpiler)
    call, _ = _lower_system_messages(call, profile)  # instructions that were added
    warnings += of_system
    if call.cache or _has_cache_points(call):
        from .cache_points import lower_cache

        call, of_cache = lower_cache(call, profile)
        warnings += of_cache
    if not profile.known or profile.retires is not None:
        warnings += _about_the_model(call.model, profile, time)
    decisions: tuple[MediaDecision, ...] = ()
    if call.media_policy or media_parts(call):
        from ...files.controls import lower_controls
        from ...files.routes import lower_media

        call, decisions, of_files = lower_media(call, profile, handlers, configured, facts, defaults, added, made)
        call, of_controls = lower_controls(call, decisions, profile, handlers)
        warnings += [*of_files, *of_controls]
    changes, of_options = _options(call, profile)
    warnings += of_options
    return Lowered(call.with_(**changes) if changes else call, decisions, tuple(warnings), reading, tool_search)


def _lower_system_messages(call: ModelCall, profile: ModelProfile) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with at most one system message, its first message, if the server accepts no other."""
    if not profile.one_system_message or not any(message.role == "system" for message in call.messages[1:]):
        return call, []
    from .system_messages import with_one_system_message

    return with_one_system_message(call)


def _lower_tools_and_output(
    call: ModelCall, profile: ModelProfile, transpiler: Transpiler | None
) -> tuple[ModelCall, ReplyReading | None, ToolSearch | None, list[CallWarning]]:
    """Returns the call with its tools and answer type as the model takes them, how the reply is read then, and where
    tools are searched; and warnings.
    """
    tool_search, of_search = None, list[CallWarning]()
    if call.tool_search is not None or any(tool.defer for tool in call.tools):
        from .tools import lower_tool_search

        call, tool_search, of_search = lower_tool_search(call, profile)
    mode_requested = call.output_mode is not None
    output_tool, plan, of_output = None, None, list[CallWarning]()
    if call.output is not None:
        from .output import lower_output_tool

        call, output_tool, plan, of_output = lower_output_tool(call, call.output, profile, transpiler)
    elif mode_requested:
        call = call.with_(output_mode=None)
    reading, warnings = None, list[CallWarning]()
    if _may_have_tools(call):
        from .tools import lower_tools

        call, reading, warnings = lower_tools(call, profile)
    if output_tool is not None:
        from ...schema import ReplyReading

        reading = replace(reading or ReplyReading(), output_tool=output_tool)
    warnings += [*of_search, *of_output]
    if call.output is not None and plan is not None and plan.strategy != "native":
        from .output import lower_instruction

        # Before files, whose paths are those of the messages as they are sent.
        instructed, of_output = lower_instruction(call, mode_requested, plan)
        call = call.with_(**instructed) if instructed else call
        warnings += of_output
    return call, reading, tool_search, warnings


def _may_have_tools(call: ModelCall) -> bool:
    """Returns whether the call has tools, options of tools, or tool calls in its messages."""
    if call.tools or call.hosted_tools or call.tool_format is not None or not call.rescue:
        return True
    return any(message.role == "tool" or message.tool_calls for message in call.messages)


def _has_cache_points(call: ModelCall) -> bool:
    parts = (part for message in call.messages for part in message.parts)
    return any(getattr(holder, "cache", None) is not None for holder in chain(call.tools, parts))


def _refuse_prefill(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` for an assistant message at the end, unless it has a hosted tool: the provider may
    have paused it.
    """
    last = messages[-1]
    if last.role == "assistant" and not any(isinstance(part, HostedToolCall) for part in last.parts):
        raise InvalidInputError(
            "the last message has the role assistant: this model does not support prefill",
            path=f"messages[{len(messages) - 1}]",
            hint="Add a user message, such as 'Go on.'.",
        )


def _about_the_model(model: str, profile: ModelProfile, time: float | None) -> list[CallWarning]:
    warnings: list[CallWarning] = []
    if not profile.known:
        but = f", but for its family {profile.family!r}" if profile.family else ""
        message = f"the model {model!r} is unknown{but}: it may not support every option"
        message += f". {did_you_mean([*profile.similar])}" if profile.similar else ""
        warnings.append(CallWarning("unknown_model", "model", message, model))
    if profile.retires is not None and time is not None:
        warnings += retirement_warning(model, profile, time)
    return warnings


def _options(call: ModelCall, profile: ModelProfile) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the changed fields of the call, and warnings."""
    thinking, warnings = lower_thinking(call, profile)
    if call.tools:
        from .tools import thinking_beside_tools

        thinking, excluded = thinking_beside_tools(call, thinking, profile)
        if excluded is not None:
            warnings = [] if thinking == call.thinking else [excluded]
    thinking, lacking = thinking_within_turn(call, thinking, profile)
    if lacking is not None:
        warnings = [lacking]
    sampling = call.sampling
    if profile.sampling is not None:
        sampling = sampling.over(room_to_think(profile.sampling, thinking, profile))
    options, of_options = lower_options(call, sampling, thinking, profile)
    changes: dict[str, Any] = {}
    modalities, of_modalities = lower_modalities(call, profile)
    if modalities != call.modalities:
        changes["modalities"] = modalities
        of_options = [*of_options, *of_modalities]
    if options:
        sampled = {name: options.pop(name) for name in SAMPLING_OPTIONS if name in options}
        changes |= options
        sampling = replace(sampling, **sampled) if sampled else sampling
    if thinking != call.thinking:
        changes["thinking"] = thinking
    if sampling is not call.sampling:
        changes["sampling"] = sampling
    if "tool_choice" in options or call.tool_choice is None:
        return changes, [*warnings, *of_options]
    from .tools import lower_tool_choice

    choice, of_choice = lower_tool_choice(call, thinking, profile)
    if choice is not call.tool_choice:
        changes["tool_choice"] = choice
    return changes, [*warnings, *of_options, *of_choice]


def retirement_warning(model: str, profile: ModelProfile, time: float) -> list[CallWarning]:
    """Returns a warning from the day of the profile on, in UTC; `time` is in seconds since the epoch."""
    if profile.retires is None or _date_of(int(time // _DAY_SECONDS)) < profile.retires:
        return []
    instead = f": use {profile.replaced_by!r} instead" if profile.replaced_by else ""
    if profile.routed:
        instead = f": {profile.replaced_by!r} answers instead, by its own rules and at its price"
    message = f"the model {model!r} is retired as of {profile.retires}{instead}"
    return [CallWarning("retired_model", "model", message, model)]


@lru_cache(maxsize=8)
def _date_of(day: int) -> str:
    """Returns the date of a day since the epoch, as "2026-11-21"."""
    return strftime("%Y-%m-%d", gmtime(day * _DAY_SECONDS))
