"""What models of OpenAI, and others with the same APIs, refuse, and the call that they accept."""

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
"""The defaults of the API (OpenAI's API reference, "Create chat completion")."""


@dataclass(frozen=True, slots=True)
class ModelRules:
    """What models of one family refuse.

    `thinks_by_default` says whether they think if a call does not set `thinking`. `refused_while_thinking` are the
    sampling options that they accept only while they do not think, `refused` those that they never accept. `tools` says
    when they accept tools on chat completions: always, only if `thinking` is not set, only without thinking, or never.
    Without `encrypted_reasoning`, they refuse to return it in the Responses API.
    """

    thinks_by_default: bool = False
    refused_while_thinking: frozenset[str] = frozenset()
    tools: Literal["always", "unset", "off", "never"] = "always"
    refused: frozenset[str] = frozenset()
    encrypted_reasoning: bool = True

    def lower_for_chat(self, call: ModelCall) -> Lowered:
        """Returns the call as the model accepts it on chat completions: `ProviderSession.lower`.

        Raises `UnsupportedContentError` for tools that are never accepted.
        """
        warnings: list[CallWarning] = []
        thinking = self._thinking_with_tools(call, warnings)
        return _changed(call, thinking, self._fit_sampling(call, thinking, warnings), warnings)

    def lower_for_responses(self, call: ModelCall) -> Lowered:
        """Returns the call as the model accepts it in the Responses API, which has no thinking budgets."""
        warnings: list[CallWarning] = []
        thinking = None if isinstance(call.thinking, int) else call.thinking
        return _changed(call, call.thinking, self._fit_sampling(call, thinking, warnings), warnings)

    def _fit_sampling(self, call: ModelCall, thinking: Asked, warnings: list[CallWarning]) -> Sampling:
        """Returns the sampling options without those that are refused with this thinking, each with a warning:
        "no_effect" if its value is the default.
        """
        with_thinking = self.refused_while_thinking if self._thinks(thinking) else _NONE
        refused = with_thinking | self.refused if self.refused else with_thinking
        if not refused:
            return call.sampling
        left_out: dict[str, Any] = {}
        for name in SAMPLING_OPTIONS:
            value = getattr(call.sampling, name)
            if value in (None, ()) or name not in refused:
                continue
            left_out[name] = () if isinstance(value, tuple) else None
            warnings.append(_refusal(call.model, name, value, with_thinking))
        return replace(call.sampling, **left_out) if left_out else call.sampling

    def _thinking_with_tools(self, call: ModelCall, warnings: list[CallWarning]) -> Asked:
        """Returns the thinking to ask for on chat completions, with a warning if the tools exclude that of the call.

        Raises `UnsupportedContentError` for tools that are never accepted.
        """
        if not call.tools or self.tools == "always":
            return call.thinking
        if self.tools == "never":
            raise UnsupportedContentError(
                f"tools: {call.model} accepts no tools on chat completions.",
                hint="Use the provider 'openai-responses'.",
                provider=call.provider or None,
                model=call.model,
            )
        if not self._thinks(call.thinking) or (call.thinking is None and self.tools == "unset"):
            return call.thinking
        allowed: Asked = "off" if self.tools == "off" else None
        condition = "without thinking" if self.tools == "off" else "if thinking is not set"
        message = f"{call.model} accepts tools on chat completions only {condition}: 'openai-responses' has both"
        warnings.append(CallWarning("thinking_changed", "thinking", message, call.thinking, allowed))
        return allowed

    def _thinks(self, thinking: Asked) -> bool:
        return self.thinks_by_default if thinking is None else thinking != "off"


def _changed(call: ModelCall, thinking: Asked, sampling: Sampling, warnings: list[CallWarning]) -> Lowered:
    if thinking == call.thinking and sampling is call.sampling:
        return Lowered(call)
    return Lowered(call.with_(thinking=thinking, sampling=sampling), warnings=tuple(warnings))


def _refusal(model: str, name: str, value: Any, with_thinking: frozenset[str]) -> CallWarning:
    if value == _DEFAULTS.get(name):
        return CallWarning("no_effect", f"sampling.{name}", f"{value:g} is the default of {model}", value)
    when = " while it thinks" if name in with_thinking else ""
    return CallWarning("unsupported_option", f"sampling.{name}", f"{model} does not accept {name}{when}", value)
