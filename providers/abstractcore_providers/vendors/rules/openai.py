"""What single models refuse, though their vendor's other models take it, and a call without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, Lowered, ModelCall, Sampling, ThinkingLevel

from ...common.sampling_options import SAMPLING_OPTIONS

Asked = ThinkingLevel | int | None
_NONE = frozenset[str]()
_DEFAULTS: Mapping[str, float] = MappingProxyType(
    {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
)
"""What a request without the option means (OpenAI's API reference, "Create chat completion")."""


@dataclass(frozen=True, slots=True)
class ModelRules:
    """What models of one family refuse.

    `thinks_by_default` says whether they think if a call does not set `thinking`. `refused_while_thinking` are the
    sampling options that they accept only while they do not think, `refused` those that they never accept. `tools` says
    when they accept tools on chat completions: always, only if `thinking` is not set, only without thinking, or never.
    """

    thinks_by_default: bool = False
    refused_while_thinking: frozenset[str] = frozenset()
    tools: Literal["always", "unset", "off", "never"] = "always"
    refused: frozenset[str] = frozenset()

    def lower_for_chat(self, call: ModelCall) -> Lowered:
        """The call as the model takes it on chat completions: `ProviderSession.lower`.

        Raises `UnsupportedContentError` for tools that are never taken.
        """
        warnings: list[CallWarning] = []
        thinking = self._thinking_with_tools(call, warnings)
        return _changed(call, thinking, self._fit_sampling(call, thinking, warnings), warnings)

    def lower_for_responses(self, call: ModelCall) -> Lowered:
        """The call as the model takes it in the Responses API, which has no thinking budgets."""
        warnings: list[CallWarning] = []
        thinking = None if isinstance(call.thinking, int) else call.thinking
        return _changed(call, call.thinking, self._fit_sampling(call, thinking, warnings), warnings)

    def _fit_sampling(self, call: ModelCall, thinking: Asked, warnings: list[CallWarning]) -> Sampling:
        """The call's sampling without what is refused with this much thinking, each with a warning: "already_so" for an
        option whose value is the default.
        """
        beside_thinking = self.refused_while_thinking if self._thinks(thinking) else _NONE
        refused = beside_thinking | self.refused if self.refused else beside_thinking
        if not refused:
            return call.sampling
        left_out: dict[str, Any] = {}
        for name in SAMPLING_OPTIONS:
            value = getattr(call.sampling, name)
            if value in (None, ()) or name not in refused:
                continue
            left_out[name] = () if isinstance(value, tuple) else None
            warnings.append(_refusal(call.model, name, value, beside_thinking))
        return replace(call.sampling, **left_out) if left_out else call.sampling

    def _thinking_with_tools(self, call: ModelCall, warnings: list[CallWarning]) -> Asked:
        """How much to ask for on chat completions, with a warning if its tools allow no thinking, or no say in it.

        Raises `UnsupportedContentError` for tools that are never taken.
        """
        if not call.tools or self.tools == "always":
            return call.thinking
        if self.tools == "never":
            raise UnsupportedContentError(
                f"tools: {call.model} takes no tools on chat completions.",
                hint="Use the provider 'openai-responses'.",
                provider=call.provider or None,
                model=call.model,
            )
        if not self._thinks(call.thinking) or (call.thinking is None and self.tools == "unset"):
            return call.thinking
        allowed: Asked = "off" if self.tools == "off" else None
        what = "does not think" if self.tools == "off" else "is not told how much to think"
        message = f"{call.model} takes tools on chat completions only while it {what}: 'openai-responses' has both"
        warnings.append(CallWarning("thinking_changed", "thinking", message, call.thinking, allowed))
        return allowed

    def _thinks(self, thinking: Asked) -> bool:
        return self.thinks_by_default if thinking is None else thinking != "off"


def _changed(call: ModelCall, thinking: Asked, sampling: Sampling, warnings: list[CallWarning]) -> Lowered:
    if thinking == call.thinking and sampling is call.sampling:
        return Lowered(call)
    return Lowered(call.with_(thinking=thinking, sampling=sampling), warnings=tuple(warnings))


def _refusal(model: str, name: str, value: Any, beside_thinking: frozenset[str]) -> CallWarning:
    if value == _DEFAULTS.get(name):
        return CallWarning("already_so", f"sampling.{name}", f"{value:g} is the default of {model}", value)
    when = " while it thinks" if name in beside_thinking else ""
    return CallWarning("unsupported_option", f"sampling.{name}", f"{model} takes no {name}{when}", value)
