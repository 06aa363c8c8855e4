"""What the format leaves to each maker's models: how much to think, and `top_k`.

Source: the makers' pages in the user guides of Amazon Bedrock and Amazon Nova.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

from abstractcore.schema import CallWarning, ModelCall, Sampling, ThinkingLevel

from ...common.claude_families import rules_of
from ...common.claude_rules import ClaudeRules, fit_thinking
from ...common.claude_rules import fit_sampling as fit_claude_sampling
from ...common.json_reading import Object, as_object, count_of

Maker: TypeAlias = Literal["anthropic", "amazon", "openai", "other"]
Asked: TypeAlias = "ThinkingLevel | int | None"

FIELDS, OUTPUT = "additionalModelRequestFields", "outputConfig"
_MAKER = re.compile(r"(?:^|[./])(anthropic|amazon|openai)\.")
_OTHER_MAKER = re.compile(r"(?:^|/)[a-z0-9-]+\.[a-z]")
_CLAUDE = re.compile(r"(?:^|[./])anthropic\.(claude-.*)")
_NOT_BESIDE_HIGH = ("max_output_tokens", "temperature", "top_p")
"""What Amazon's models refuse with the highest effort (Amazon Nova 2 User Guide, "Extended thinking")."""
_LEVELS: dict[str, ThinkingLevel] = {"low": "low", "medium": "medium", "high": "high"}


def maker_of(model: str) -> Maker:
    """Whose model it is. An id that does not show it is taken for one of Anthropic's, as most are that think."""
    named = _MAKER.search(model)
    if named is not None:
        return cast(Maker, named[1])
    return "other" if _OTHER_MAKER.search(model) else "anthropic"


@lru_cache(maxsize=64)
def claude_rules_of(model: str) -> ClaudeRules:
    """What a model refuses of all that Claude's take."""
    named = _CLAUDE.search(model)
    return rules_of(named[1] if named else "")


def fit_model_options(call: ModelCall, warnings: list[CallWarning]) -> ModelCall:
    """The call with as much thinking and of its sampling as the model's maker has words for, and takes together."""
    thinking = _fit_thinking(call, warnings)
    call = call if thinking == call.thinking else call.with_(thinking=thinking)
    if thinking == "high" and maker_of(call.model) == "amazon":
        sampling = _without(call.sampling, _NOT_BESIDE_HIGH, warnings)
    else:
        sampling = fit_claude_sampling(call.sampling, claude_rules_of(call.model), claude_thinks(call), warnings)
    return call if sampling is call.sampling else call.with_(sampling=sampling)


def _fit_thinking(call: ModelCall, warnings: list[CallWarning]) -> Asked:
    asked = call.thinking
    if asked is None:
        return None
    maker = maker_of(call.model)
    if maker == "anthropic":
        return fit_thinking(asked, call.sampling.max_output_tokens, warnings)
    if isinstance(asked, int) or maker == "other" or (maker == "openai" and asked == "off"):
        message = f"nothing is known of how {call.model} is asked to think like this"
        warnings.append(CallWarning("unsupported_option", "thinking", message, asked))
        return None
    return fit_thinking(asked, None, warnings)


def _without(sampling: Sampling, names: tuple[str, ...], warnings: list[CallWarning]) -> Sampling:
    given = {name: getattr(sampling, name) for name in names if getattr(sampling, name) is not None}
    for name, value in given.items():
        message = f"this model takes no {name} beside the highest effort"
        warnings.append(CallWarning("unsupported_option", f"sampling.{name}", message, value))
    return replace(sampling, **dict.fromkeys(given)) if given else sampling


def claude_thinks(call: ModelCall) -> bool:
    """Whether a model is asked to think as one of Anthropic's is."""
    return call.thinking not in (None, "off") and maker_of(call.model) == "anthropic"


def write_thinking(asked: ThinkingLevel | int, model: str, body: Object) -> None:
    """Put into `body` how much the model is to think, as `fit_model_options` has it."""
    maker = maker_of(model)
    if maker == "anthropic":
        _write_claude(asked, model, body)
    elif maker == "amazon":
        config = {"type": "disabled"} if asked == "off" else {"type": "enabled", "maxReasoningEffort": asked}
        _put(body, FIELDS, "reasoningConfig", config)
    else:
        _put(body, FIELDS, "reasoning_effort", asked)


def _write_claude(asked: Asked, model: str, body: Object) -> None:
    """A budget; or a level, at which the model decides by itself how much it takes."""
    if isinstance(asked, int):
        _put(body, FIELDS, "thinking", {"type": "enabled", "budget_tokens": asked})
    elif asked == "off":
        _put(body, FIELDS, "thinking", {"type": claude_rules_of(model).off})
    else:
        _put(body, FIELDS, "thinking", {"type": "adaptive"})
        _put(body, OUTPUT, "effort", asked)


def take_thinking(model: str, body: Object) -> Asked:
    """How much the model is to think, taken out of `body`; None, with all left there, if that is said otherwise."""
    fields, output = as_object(body.get(FIELDS)), as_object(body.get(OUTPUT))
    maker = maker_of(model)
    if maker == "anthropic":
        return _take_claude(fields, output, model)
    if maker == "amazon":
        config = as_object(fields.get("reasoningConfig"))
        if config == {"type": "disabled"}:
            del fields["reasoningConfig"]
            return "off"
        level = _level(config.get("maxReasoningEffort"))
        if level is None or config != {"type": "enabled", "maxReasoningEffort": level}:
            return None
        del fields["reasoningConfig"]
        return level
    level = _level(fields.get("reasoning_effort")) if maker == "openai" else None
    if level is not None:
        del fields["reasoning_effort"]
    return level


def _take_claude(fields: Object, output: Object, model: str) -> Asked:
    thinking = as_object(fields.get("thinking"))
    budget, level = count_of(thinking, "budget_tokens"), _level(output.get("effort"))
    if thinking == {"type": claude_rules_of(model).off}:
        del fields["thinking"]
        return "off"
    if budget is not None and budget >= 0 and thinking == {"type": "enabled", "budget_tokens": budget}:
        del fields["thinking"]
        return budget
    if level is not None and thinking == {"type": "adaptive"}:
        del fields["thinking"], output["effort"]
        return level
    return None


def _level(value: Any) -> ThinkingLevel | None:
    return _LEVELS.get(value) if isinstance(value, str) else None


def write_top_k(top_k: int, model: str, body: Object, warnings: list[CallWarning]) -> None:
    """Put `top_k` into `body`, for makers whose models take it."""
    maker = maker_of(model)
    if maker == "anthropic":
        _put(body, FIELDS, "top_k", top_k)
    elif maker == "amazon":
        _put(body, FIELDS, "inferenceConfig", {"topK": top_k})
    else:
        message = f"nothing is known of how {model} is told top_k"
        warnings.append(CallWarning("unsupported_option", "sampling.top_k", message, top_k))


def take_top_k(model: str, body: Object) -> int | None:
    """`top_k`, taken out of `body`."""
    fields, maker = as_object(body.get(FIELDS)), maker_of(model)
    holder = as_object(fields.get("inferenceConfig")) if maker == "amazon" else fields
    name = "topK" if maker == "amazon" else "top_k"
    value = count_of(holder, name) if maker in ("anthropic", "amazon") else None
    if value is None or value < 0:
        return None
    del holder[name]
    if maker == "amazon" and not holder:
        del fields["inferenceConfig"]
    return value


def _put(body: Object, group: str, name: str, value: Any) -> None:
    body.setdefault(group, {})[name] = value
