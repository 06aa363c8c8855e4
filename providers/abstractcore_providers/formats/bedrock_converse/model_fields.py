"""Fields that the format leaves to each maker's models: thinking, `top_k`, and forbidding tool calls.

Provider options of a call, both ways: fields of the body, and of some objects in it.

Source: the makers' pages in the user guides of Amazon Bedrock and Amazon Nova.
"""

from __future__ import annotations

from typing import Any, cast, get_args

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall, ThinkingLevel, ToolChoice

from ...common.call_options import duplicate_option_error
from ...common.reading import Object, as_object, count_of
from ...common.thinking import (
    BINDING_BETA,
    EFFORTS,
    Thinking,
    ThinkingOption,
    has_thinking,
    highest_effort_without_thinking,
    nearest_level,
    read_claude_thinking,
    write_claude_thinking,
)
from .vocabulary import PROVIDER, ConverseDialect, ThinkingField, TopKField

FIELDS, OUTPUT = "additionalModelRequestFields", "outputConfig"
BETAS = "anthropic_beta"
_OPTIONS = f"provider_options.{PROVIDER}"
_CLAUDE, _AMAZON = "thinking", "reasoningConfig"
_AMAZONS: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
"""The levels of Amazon's models."""
_OTHER_FIELDS = tuple(field for field in get_args(ThinkingField) if field not in ("", _CLAUDE))
_NONE: Object = {"type": "none"}
_LEVELS: tuple[ThinkingLevel, ...] = tuple(level for level in get_args(ThinkingLevel) if level != "off")
_OFF = "none"
"""The word for thinking that is off, in fields that have a level as their value."""


def fit_thinking(call: ModelCall, dialect: ConverseDialect, warnings: list[CallWarning]) -> Thinking:
    """Returns the thinking to send, as far as the model has a field for it; None if it has none."""
    asked, field = call.thinking, dialect.thinking_field
    if asked is None:
        return None
    if field == _CLAUDE:
        return nearest_level(asked, EFFORTS, warnings)
    if not field or isinstance(asked, int):
        message = f"no field for this thinking is known for {call.model}"
        warnings.append(CallWarning("unsupported_option", "thinking", message, asked))
        return None
    return nearest_level(asked, _AMAZONS, warnings) if field == _AMAZON else asked


def replays_thinking(dialect: ConverseDialect, messages: Any) -> bool:
    """Whether messages of a request contain thinking that the model checks against the conversation."""
    return dialect.block_binding and has_thinking(messages, frozenset({"reasoningContent"}))


def write_thinking(
    asked: Thinking, dialect: ConverseDialect, body: Object, options: Object, warnings: list[CallWarning]
) -> None:
    """Adds the thinking that `fit_thinking` returned to `body`. The field of Claude's models is merged with the one in
    `options`, the provider options, which is removed there.
    """
    field = dialect.thinking_field
    if field == _CLAUDE:
        _write_claude(asked, dialect, body, options, warnings)
    elif field == _AMAZON and asked is not None:
        config = {"type": "disabled"} if asked == "off" else {"type": "enabled", "maxReasoningEffort": asked}
        _put(body, _AMAZON, config)
    elif field and asked is not None:
        _put(body, field, _OFF if asked == "off" else asked)


def _write_claude(
    asked: Thinking, dialect: ConverseDialect, body: Object, options: Object, warnings: list[CallWarning]
) -> None:
    fields, output = as_object(options.get(FIELDS)), as_object(options.get(OUTPUT))
    group = f"{_OPTIONS}.{FIELDS}"
    whole = f"{group}.{_CLAUDE}" if len(fields) > 1 else group
    given = ThinkingOption(fields.get(_CLAUDE), f"{group}.{_CLAUDE}", output.get("effort"), whole)
    written, effort = write_claude_thinking(
        asked,
        given,
        replays=replays_thinking(dialect, body["messages"]),
        settings=dialect,
        warnings=warnings,
    )
    if _CLAUDE in fields:
        options[FIELDS] = {name: value for name, value in fields.items() if name != _CLAUDE}
    if written is not None:
        _put(body, _CLAUDE, written)
        if "block_binding" in as_object(written):
            _add_beta(body, options, warnings)
    if effort is not None:
        body.setdefault(OUTPUT, {})["effort"] = effort
    path = f"{_OPTIONS}.{OUTPUT}.effort"
    most = highest_effort_without_thinking(output.get("effort"), asked, path, dialect, warnings)
    if most != output.get("effort"):
        options[OUTPUT] = {**output, "effort": most}


def _add_beta(body: Object, options: Object, warnings: list[CallWarning]) -> None:
    """Adds the beta that `block_binding` needs to those of the provider options."""
    fields = as_object(options.get(FIELDS))
    asked: Any = fields.get(BETAS, [])
    if not isinstance(asked, list):
        return
    names = cast("list[Any]", asked)
    if BINDING_BETA in names:
        path = f"{_OPTIONS}.{FIELDS}.{BETAS}"
        path = f"{path}[{names.index(BINDING_BETA)}]" if len(names) > 1 else path
        warnings.append(CallWarning("beta_left_out", path, "it is already listed", BINDING_BETA))
    _put(body, BETAS, [*(name for name in names if name != BINDING_BETA), BINDING_BETA])
    options[FIELDS] = {name: value for name, value in fields.items() if name != BETAS}


def take_thinking(dialect: ConverseDialect, body: Object) -> Thinking:
    """Removes the thinking from `body` and returns it; None, with the rest left in `body`, if a call cannot express
    it.
    """
    fields = as_object(body.get(FIELDS))
    asked = _take_claude(dialect, body, fields) if dialect.thinking_field == _CLAUDE else None
    return _take_others(dialect, fields) if asked is None else asked


def _take_others(dialect: ConverseDialect, fields: Object) -> Thinking:
    others = [field for field in _OTHER_FIELDS if field == dialect.thinking_field or dialect.reads_all]
    for field in others:
        level = _take_amazon(fields) if field == _AMAZON else _take_level(fields, field)
        if level is not None:
            return level
    return None


def _take_amazon(fields: Object) -> ThinkingLevel | None:
    config = as_object(fields.get(_AMAZON))
    level = "off" if config == {"type": "disabled"} else _level(config.get("maxReasoningEffort"), _AMAZONS)
    if level is None or (level != "off" and config != {"type": "enabled", "maxReasoningEffort": level}):
        return None
    del fields[_AMAZON]
    return level


def _take_level(fields: Object, field: str) -> ThinkingLevel | None:
    value = _get(fields, field)
    level = "off" if value == _OFF else _level(value, _LEVELS)
    if level is not None:
        _remove(fields, field)
    return level


def _take_claude(dialect: ConverseDialect, body: Object, fields: Object) -> Thinking:
    output, given = as_object(body.get(OUTPUT)), fields.get(_CLAUDE)
    bound = "block_binding" in as_object(given)
    replays = replays_thinking(dialect, body.get("messages"))
    asked, rest = read_claude_thinking(given, output.get("effort"), replays=replays, settings=dialect)
    if rest is not None:
        fields[_CLAUDE] = rest
    elif _CLAUDE in fields:
        del fields[_CLAUDE]
    if isinstance(asked, str) and asked != "off":
        del output["effort"]
    if bound and isinstance(fields.get(BETAS), list) and BINDING_BETA in fields[BETAS]:
        fields[BETAS] = [name for name in fields[BETAS] if name != BINDING_BETA]
        if not fields[BETAS]:
            del fields[BETAS]
    return asked


def _level(value: Any, levels: tuple[ThinkingLevel, ...]) -> ThinkingLevel | None:
    return value if value in levels else None


def write_top_k(top_k: int, model: str, dialect: ConverseDialect, body: Object, warnings: list[CallWarning]) -> None:
    """Adds `top_k` to `body`, for models with a field for it."""
    if dialect.top_k_field:
        _put(body, dialect.top_k_field, top_k)
    else:
        message = f"no field for top_k is known for {model}"
        warnings.append(CallWarning("unsupported_option", "sampling.top_k", message, top_k))


def take_top_k(dialect: ConverseDialect, body: Object) -> int | None:
    """Removes `top_k` from `body` and returns it."""
    fields = as_object(body.get(FIELDS))
    for field in filter(None, get_args(TopKField) if dialect.reads_all else (dialect.top_k_field,)):
        group, _, name = field.rpartition(".")
        value = count_of(as_object(fields.get(group)) if group else fields, name)
        if value is not None:
            _remove(fields, field)
            return value
    return None


def forbid_tools(body: Object) -> None:
    """Adds the field that forbids tool calls; the format's own `toolChoice` is not allowed beside it."""
    _put(body, "tool_choice", dict(_NONE))


def take_forbidden_tools(body: Object) -> ToolChoice | None:
    """Removes the field that forbids tool calls, and returns the choice."""
    fields = as_object(body.get(FIELDS))
    if fields.get("tool_choice") != _NONE:
        return None
    del fields["tool_choice"]
    return ToolChoice("none")


def check_thinking(asked: Thinking, dialect: ConverseDialect, body: Object) -> None:
    """Raises `InvalidInputError` if a provider option in `body` is read as another value of thinking than `asked`."""
    if dialect.thinking_field != _CLAUDE:
        return
    fields, output = as_object(body.get(FIELDS)), as_object(body.get(OUTPUT))
    replays = replays_thinking(dialect, body["messages"])
    read, _ = read_claude_thinking(fields.get(_CLAUDE), output.get("effort"), replays=replays, settings=dialect)
    if read != asked:
        raise duplicate_option_error(f"{_OPTIONS}.{FIELDS}.{_CLAUDE}")


def reads_a_field(name: str, value: Any, dialect: ConverseDialect) -> bool:
    """Whether a call has a field for an entry of `additionalModelRequestFields`."""
    copied: Any = dict(as_object(value)) if isinstance(value, dict) else value
    alone: Object = {FIELDS: {name: copied}}
    if take_forbidden_tools(alone) is not None or take_top_k(dialect, alone) is not None:
        return True
    return _take_others(dialect, alone[FIELDS]) is not None


def _put(body: Object, path: str, value: Any) -> None:
    """Sets an entry of `additionalModelRequestFields`; `path` may name one of an object in it."""
    group, _, name = path.rpartition(".")
    fields: Object = body.setdefault(FIELDS, {})
    (fields.setdefault(group, {}) if group else fields)[name] = value


def _get(fields: Object, path: str) -> Any:
    group, _, name = path.rpartition(".")
    return (as_object(fields.get(group)) if group else fields).get(name)


def _remove(fields: Object, path: str) -> None:
    """Removes an entry, and the object that held it if it was the only one."""
    group, _, name = path.rpartition(".")
    holder = fields[group] if group else fields
    del holder[name]
    if group and not holder:
        del fields[group]


_MODELLED = frozenset({"modelId", "messages", "system"})
_IN_GROUPS: dict[str, frozenset[str]] = {
    "inferenceConfig": frozenset({"maxTokens", "temperature", "topP", "stopSequences"}),
    "toolConfig": frozenset({"tools", "toolChoice"}),
    OUTPUT: frozenset(),
    FIELDS: frozenset(),
}
"""Objects of which a call models some entries: always those named, others as far as they can be read."""


def add_provider_options(body: Object, options: Object, dialect: ConverseDialect) -> None:
    """Adds the provider options to `body`; raises `InvalidInputError` for those that duplicate a field of the call."""
    for name, value in options.items():
        path = f"provider_options.{PROVIDER}.{name}"
        if name in _MODELLED:
            raise duplicate_option_error(path)
        if name in _IN_GROUPS:
            _add_group(body, name, value, dialect, path)
        else:
            body[name] = value


def _add_group(body: Object, group: str, value: Any, dialect: ConverseDialect, path: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=path)
    given = as_object(value)
    if not given:
        return
    written: Object = body.setdefault(group, {})
    for name in given:
        if name in written or _has_field(group, name, given[name], dialect):
            raise duplicate_option_error(f"{path}.{name}")
    written.update(given)


def _has_field(group: str, name: str, value: Any, dialect: ConverseDialect) -> bool:
    """Whether a `ModelCall` has a field for this entry."""
    if name in _IN_GROUPS[group]:
        return True
    if group == OUTPUT:
        return name == "textFormat" and is_json_schema(value)
    return group == FIELDS and reads_a_field(name, value, dialect)


def is_json_schema(text_format: Any) -> bool:
    """Whether it is an output schema."""
    structure = as_object(as_object(text_format).get("structure"))
    return isinstance(as_object(structure.get("jsonSchema")).get("schema"), str)


def options_left(body: Object) -> Object:
    """Returns the fields of a body that a call does not have."""
    left: Object = {}
    for name, value in body.items():
        if name in _MODELLED or value is None:
            continue
        if name in _IN_GROUPS and isinstance(value, dict):
            rest = {key: item for key, item in as_object(value).items() if key not in _IN_GROUPS[name]}
            if rest:
                left[name] = rest
        else:
            left[name] = value
    return left
