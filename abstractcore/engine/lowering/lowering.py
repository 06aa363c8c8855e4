"""`lower`: adapts a call to its model in one pure function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import InvalidInputError
from ...ports import MediaHandler, ModelProfile
from ...schema import CallWarning, HostedToolCall, Lowered, Message, ModelCall
from .cache_points import lower_cache
from .media_routes import lower_media
from .thinking import lower_thinking, room_to_think


def lower(
    call: ModelCall,
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    rules: Callable[[ModelCall], Lowered] = Lowered,
) -> Lowered:
    """Decides how each file of `call` is sent, and adapts thinking, cache points and sampling, then applies the model's
    own `rules`. Pure: nothing is read, converted or sent.

    Raises `UnsupportedContentError`, naming the choices, for a file that the model or the policy does not allow,
    `MediaError` for one that must be converted and is given as a URL or a provider file, and `InvalidInputError` for a
    call that ends with an assistant message, if the model does not support prefill.
    """
    if not profile.accepts_prefill:
        _refuse_prefill(call.messages)
    call, warnings = lower_cache(call, profile.cache_points)
    thinking, changed = lower_thinking(call.thinking, profile.thinking)
    warnings += changed
    if not profile.known:
        warnings.append(
            CallWarning(
                "unknown_model",
                "model",
                f"the model {call.model!r} is unknown: it may not support every option",
                call.model,
            )
        )
    decisions, of_files = lower_media(call, profile, handlers)
    warnings += of_files
    if thinking != call.thinking:
        call = call.with_(thinking=thinking)
    if profile.sampling is not None:
        recommended = room_to_think(profile.sampling, thinking, profile.thinking)
        call = call.with_(sampling=call.sampling.over(recommended))
    ruled = rules(call)
    return Lowered(ruled.call, decisions, (*warnings, *ruled.warnings))


def _refuse_prefill(messages: Sequence[Message]) -> None:
    """Refuses an assistant message at the end, unless it has a hosted tool: the provider may have paused it."""
    last = messages[-1]
    if last.role == "assistant" and not any(isinstance(part, HostedToolCall) for part in last.parts):
        raise InvalidInputError(
            "the last message has the role assistant: this model does not support prefill",
            path=f"messages[{len(messages) - 1}]",
            hint="Add a user message, such as 'Go on.'.",
        )
