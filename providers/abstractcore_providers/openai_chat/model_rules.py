"""What single models refuse, though their vendor's other models take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, ModelCall, ThinkingLevel

Asked = ThinkingLevel | int | None


@dataclass(frozen=True, slots=True)
class ModelRules:
    """What models of one family refuse on chat completions.

    `thinks_unasked` says whether they think where a call does not say how much. `unthinking_options` are those of a
    call's options that they take only while they do not think. `tools` says when they take tools: always, if they are
    not told how much to think, if they do not think, or never.
    """

    thinks_unasked: bool = False
    unthinking_options: frozenset[str] = frozenset()
    tools: Literal["always", "unasked", "unthinking", "never"] = "always"

    def refused_options(self, thinking: Asked) -> frozenset[str]:
        """The options that are not taken with this much thinking."""
        return self.unthinking_options if self._thinks(thinking) else frozenset()

    def thinking_with_tools(self, call: ModelCall, warnings: list[CallWarning]) -> Asked:
        """How much to ask for in a call, with a warning if its tools allow no thinking, or no say in it.

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
        if not self._thinks(call.thinking) or (call.thinking is None and self.tools == "unasked"):
            return call.thinking
        allowed: Asked = "off" if self.tools == "unthinking" else None
        what = "does not think" if self.tools == "unthinking" else "is not told how much to think"
        message = f"{call.model} takes tools on chat completions only while it {what}: 'openai-responses' has both"
        warnings.append(CallWarning("thinking_changed", "thinking", message, call.thinking, allowed))
        return allowed

    def _thinks(self, thinking: Asked) -> bool:
        return self.thinks_unasked if thinking is None else thinking != "off"


NO_RULES = ModelRules()
