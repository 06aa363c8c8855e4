"""Provider options of a call, both ways: fields of the body, and of some objects in it."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError

from ...common.call_options import duplicate_option_error
from ...common.reading import Object, as_object
from .dialect import ConverseDialect
from .model_fields import FIELDS, OUTPUT, reads_a_field
from .vocabulary import PROVIDER

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
