"""What Claude's and Amazon's models refuse at Amazon Bedrock, and the call that they accept.

Sources: the makers' pages in the user guides of Amazon Bedrock and Amazon Nova; "Prompt caching for faster model
inference" there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from abstractcore.schema import CachePoint, CallWarning, Lowered, Message, ModelCall, Part, Sampling, ToolSpec

from ...common.cache_times import CACHE_TIMES, CacheTimes
from .claude import ClaudeRules, fit_choice, thinks

T = TypeVar("T", bound=Part | ToolSpec)

_REFUSED_WITH_HIGH = ("max_output_tokens", "temperature", "top_p")
"""Options that Amazon's models refuse with the highest effort (Amazon Nova 2 User Guide, "Extended thinking")."""


@dataclass(frozen=True, slots=True)
class BedrockRules:
    """What a model refuses: `claude` are the rules of one of Claude's models, None for one of Amazon's.

    Without `long_cache`, cache points last five minutes only.
    """

    claude: ClaudeRules | None = None
    long_cache: bool = True

    def lower(self, call: ModelCall) -> Lowered:
        """Returns the call as the model accepts it: `ProviderSession.lower`."""
        warnings: list[CallWarning] = []
        call = _of_nova(call, warnings) if self.claude is None else _of_claude(call, self.claude, warnings)
        if not self.long_cache:
            call = _with_short_cache(call, warnings)
        return Lowered(call, warnings=tuple(warnings))


def _of_claude(call: ModelCall, rules: ClaudeRules, warnings: list[CallWarning]) -> ModelCall:
    lowered = rules.lower_sampling(call)
    call = lowered.call
    warnings += lowered.warnings
    if call.tool_choice is None or not (call.tools or call.hosted_tools):
        return call
    choice = fit_choice(call.tool_choice, rules, thinks(call), warnings)
    return call if choice is call.tool_choice else call.with_(tool_choice=choice)


def _of_nova(call: ModelCall, warnings: list[CallWarning]) -> ModelCall:
    if any(tool.cache is not None for tool in call.tools):
        call = call.with_(tools=tuple(_uncached(tool, f"tools[{i}]", warnings) for i, tool in enumerate(call.tools)))
    if call.thinking != "high":
        return call
    sampling = _without(call.sampling, _REFUSED_WITH_HIGH, warnings)
    return call if sampling is call.sampling else call.with_(sampling=sampling)


def _uncached(tool: ToolSpec, path: str, warnings: list[CallWarning]) -> ToolSpec:
    if tool.cache is None:
        return tool
    warnings.append(
        CallWarning("cache_left_out", f"{path}.cache", "Amazon's models do not accept cache points after tools")
    )
    return replace(tool, cache=None)


def _without(sampling: Sampling, names: tuple[str, ...], warnings: list[CallWarning]) -> Sampling:
    given = {name: getattr(sampling, name) for name in names if getattr(sampling, name) is not None}
    for name, value in given.items():
        message = f"this model does not accept {name} with the highest effort"
        warnings.append(CallWarning("unsupported_option", f"sampling.{name}", message, value))
    return replace(sampling, **dict.fromkeys(given)) if given else sampling


def _with_short_cache(call: ModelCall, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call with cache points of five minutes at most."""
    times, before = CacheTimes(CACHE_TIMES["5m"]), len(warnings)
    tools = tuple(_timed(tool, f"tools[{i}]", times, warnings) for i, tool in enumerate(call.tools))
    messages = tuple(_with_timed_parts(message, i, times, warnings) for i, message in enumerate(call.messages))
    return call if len(warnings) == before else call.with_(tools=tools, messages=messages)


def _with_timed_parts(message: Message, index: int, times: CacheTimes, warnings: list[CallWarning]) -> Message:
    if all(getattr(part, "cache", None) is None for part in message.parts):
        return message
    paths = (f"messages[{index}].parts[{i}]" for i in range(len(message.parts)))
    parts = tuple(_timed(part, path, times, warnings) for part, path in zip(message.parts, paths, strict=True))
    return replace(message, parts=parts)


def _timed(holder: T, path: str, times: CacheTimes, warnings: list[CallWarning]) -> T:
    item: Any = holder
    cache: CachePoint | None = getattr(item, "cache", None)
    sent = times.fit(cache, path, warnings)
    return holder if sent is cache else replace(item, cache=sent)
