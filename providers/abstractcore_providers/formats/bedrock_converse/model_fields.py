"""Fields that the format leaves to each maker's models: thinking, and `top_k`.

Source: the makers' pages in the user guides of Amazon Bedrock and Amazon Nova.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, cast

from abstractcore.schema import CallWarning, ModelCall, ThinkingLevel

from ...common.claude_thinking import EFFORTS, Thinking, read_claude_thinking, write_claude_thinking
from ...common.json_reading import Object, as_object, count_of
from ...common.thinking_levels import nearest_level

Maker: TypeAlias = Literal["anthropic", "amazon", "openai", "other"]

FIELDS, OUTPUT = "additionalModelRequestFields", "outputConfig"
_MAKER = re.compile(r"(?:^|[./])(anthropic|amazon|openai)\.")
_OTHER_MAKER = re.compile(r"(?:^|/)[a-z0-9-]+\.[a-z]")
_LEVELS: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
"""The levels of models of Amazon, and of gpt-oss."""


def maker_of(model: str) -> Maker:
    """Returns the maker of a model. An unrecognized id counts as one of Anthropic's, as most thinking models are."""
    named = _MAKER.search(model)
    if named is not None:
        return cast(Maker, named[1])
    return "other" if _OTHER_MAKER.search(model) else "anthropic"


def fit_thinking(call: ModelCall, warnings: list[CallWarning]) -> Thinking:
    """Returns the thinking to send, as far as the model's maker has a field for it; None if it has none."""
    asked = call.thinking
    maker = maker_of(call.model)
    if maker == "anthropic":
        return nearest_level(asked, EFFORTS, warnings)
    if asked is None:
        return None
    if isinstance(asked, int) or maker == "other" or (maker == "openai" and asked == "off"):
        message = f"no field for this thinking is known for {call.model}"
        warnings.append(CallWarning("unsupported_option", "thinking", message, asked))
        return None
    return nearest_level(asked, _LEVELS, warnings)


def write_thinking(asked: ThinkingLevel | int, model: str, off: str, body: Object) -> None:
    """Adds the thinking that `fit_thinking` returned to `body`."""
    maker = maker_of(model)
    if maker == "anthropic":
        fields, effort = write_claude_thinking(asked, off)
        _put(body, FIELDS, "thinking", fields)
        if effort is not None:
            _put(body, OUTPUT, "effort", effort)
    elif maker == "amazon":
        config = {"type": "disabled"} if asked == "off" else {"type": "enabled", "maxReasoningEffort": asked}
        _put(body, FIELDS, "reasoningConfig", config)
    else:
        _put(body, FIELDS, "reasoning_effort", asked)


def take_thinking(model: str, off: str, body: Object) -> Thinking:
    """Removes the thinking from `body` and returns it; None, with `body` unchanged, if a call cannot express it."""
    fields, output = as_object(body.get(FIELDS)), as_object(body.get(OUTPUT))
    maker = maker_of(model)
    if maker == "anthropic":
        asked = read_claude_thinking(fields.get("thinking"), output.get("effort"), off)
        if asked is not None:
            del fields["thinking"]
        if isinstance(asked, str) and asked != "off":
            del output["effort"]
        return asked
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


def _level(value: Any) -> ThinkingLevel | None:
    return value if value in _LEVELS else None


def write_top_k(top_k: int, model: str, body: Object, warnings: list[CallWarning]) -> None:
    """Adds `top_k` to `body`, for makers whose models accept it."""
    maker = maker_of(model)
    if maker == "anthropic":
        _put(body, FIELDS, "top_k", top_k)
    elif maker == "amazon":
        _put(body, FIELDS, "inferenceConfig", {"topK": top_k})
    else:
        message = f"no field for top_k is known for {model}"
        warnings.append(CallWarning("unsupported_option", "sampling.top_k", message, top_k))


def take_top_k(model: str, body: Object) -> int | None:
    """Removes `top_k` from `body` and returns it."""
    fields, maker = as_object(body.get(FIELDS)), maker_of(model)
    holder = as_object(fields.get("inferenceConfig")) if maker == "amazon" else fields
    name = "topK" if maker == "amazon" else "top_k"
    value = count_of(holder, name) if maker in ("anthropic", "amazon") else None
    if value is None:
        return None
    del holder[name]
    if maker == "amazon" and not holder:
        del fields["inferenceConfig"]
    return value


def _put(body: Object, group: str, name: str, value: Any) -> None:
    body.setdefault(group, {})[name] = value
