"""`JsonSchemaType`: answers as JSON data that a JSON Schema describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from ..errors import InvalidInputError, MissingExtraError
from ..schema import JSONObject, OutputSchema, SchemaError, freeze_object
from ..schema.base_error import install_hint, shortened
from .output_types import WRAPPER_KEY, AnswerProblem, InvalidAnswerError, OutputType, problem
from .python_type import is_object, schema_name

_DEFINITIONS = ("$defs", "definitions")
_POINTER = re.compile(r"#(?!/(?:\$defs|definitions)/)(/.*)?")
"""A reference to a place of the same schema that moves when the schema becomes that of a property."""
_LATEST = "https://json-schema.org/draft/2020-12/schema"


class JsonSchemaType(OutputType):
    """JSON data that `jsonschema` validates: drafts 3 to 2020-12, by the schema's `$schema`. References to other
    documents are never fetched.

    Raises `InvalidInputError` with the path of what is not a valid schema, and `MissingExtraError` without the package.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            given = cast("dict[str, Any]", _copy(freeze_object(schema, "response_model")))
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path, hint=error.hint) from None
        self._validator = _validator(given)
        title = given.get("title")
        self.label = title if isinstance(title, str) and title else "answer"
        self.is_wrapped = not is_object(cast(JSONObject, given))
        sent = _wrap(given) if self.is_wrapped else given
        self.schema = OutputSchema(schema_name(self.label), cast(JSONObject, sent))
        self._items: Any = None

    def value(self, text: str) -> Any:
        """Returns the value of a JSON text; raises `InvalidAnswerError`."""
        data = _data(text)
        if not self.is_wrapped:
            return _valid(self._validator, data)
        if isinstance(data, dict) and cast("dict[str, Any]", data).keys() == {WRAPPER_KEY}:
            inner = cast("dict[str, Any]", data)[WRAPPER_KEY]
            if self._validator.is_valid(inner) or not self._validator.is_valid(data):
                return _valid(self._validator, inner)
        return _valid(self._validator, data)

    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises `InvalidAnswerError`."""
        if self._items is None:
            self._items = self._validator.evolve(schema=self._validator.schema.get("items", True))
        return _valid(self._items, _data(text))

    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless the schema is that of an array whose items have one schema."""
        schema = self._validator.schema
        if schema.get("type") != "array" or "prefixItems" in schema or isinstance(schema.get("items"), list):
            message = "elements are the items of an array, and this schema is not that of one"
            hint = "Use {'type': 'array', 'items': SCHEMA}."
            raise InvalidInputError(message, path="response_model", hint=hint)


def _copy(node: Any) -> Any:
    """Returns frozen JSON as lists and dictionaries, which validators read."""
    if isinstance(node, Mapping):
        return {name: _copy(each) for name, each in cast("Mapping[str, Any]", node).items()}
    return [_copy(each) for each in cast("list[Any]", node)] if isinstance(node, list | tuple) else node


def _validator(schema: dict[str, Any]) -> Any:
    """Returns the validator of the schema's draft, with no access to other documents."""
    try:
        import jsonschema
        from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]
        from referencing.exceptions import Unresolvable
    except ImportError as error:
        hint = f"Pass a Python type, or: {install_hint('jsonschema', extra='jsonschema')}"
        message = "response_model= with a JSON Schema requires jsonschema, which is not installed."
        raise MissingExtraError(message, hint=hint) from error
    named: Any = schema.get("$schema", _LATEST)
    library: Any = jsonschema
    kind = library.validators.validator_for({"$schema": named}, default=None) if isinstance(named, str) else None
    if kind is None:
        hint = f"Leave it out, or write {_LATEST!r}."
        raise InvalidInputError("is not a known draft", path="response_model.$schema", hint=hint)
    try:
        kind.check_schema(schema)
    except library.SchemaError as error:
        path = ".".join(["response_model", *map(str, error.absolute_path)])
        raise InvalidInputError(shortened(error.message, 300), path=path) from None
    validator = kind(schema, registry=REGISTRY, format_checker=kind.FORMAT_CHECKER)
    for path, reference in _references(schema):
        try:
            validator._resolver.lookup(reference)  # there is no public access to the resolver of a validator
        except Unresolvable:
            message = f"{shortened(reference, 200)!r} is not in this schema; other documents are never fetched"
            raise InvalidInputError(
                message, path=path, hint="Write what it refers to under '$defs', and refer to '#/$defs/NAME'."
            ) from None
    return validator


def _references(node: Any, path: str = "response_model") -> Iterable[tuple[str, str]]:
    """Yields the `$ref`s of a schema with their paths. Those after an `$id` are relative to another place."""
    if isinstance(node, list):
        for index, each in enumerate(cast("list[Any]", node)):
            yield from _references(each, f"{path}[{index}]")
    elif isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        if "$id" in fields:
            return
        for name, each in fields.items():
            if name == "$ref" and isinstance(each, str):
                yield f"{path}.$ref", each
            elif name not in ("const", "enum", "default", "examples"):
                yield from _references(each, f"{path}.{name}")


def _wrap(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of an object with `schema` as its property `value`."""
    kept = ("$schema", *_DEFINITIONS)
    inner = _move({name: each for name, each in schema.items() if name not in kept})
    return {
        **{name: _move(schema[name]) for name in kept if name in schema},
        "type": "object",
        "properties": {WRAPPER_KEY: inner},
        "required": [WRAPPER_KEY],
        "additionalProperties": False,
    }


def _move(node: Any) -> Any:
    """Returns a part of the schema, whose references follow it to its new place."""
    if isinstance(node, list):
        return [_move(each) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    return {name: _moved_reference(each) if name == "$ref" else _move(each) for name, each in _items(node)}


def _moved_reference(reference: Any) -> Any:
    found = _POINTER.fullmatch(reference) if isinstance(reference, str) else None
    return reference if found is None else f"#/properties/{WRAPPER_KEY}{found[1] or ''}"


def _items(node: Any) -> Iterable[tuple[str, Any]]:
    return cast("dict[str, Any]", node).items()


def _data(text: str) -> Any:
    from pydantic_core import from_json

    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidAnswerError([AnswerProblem("the answer", f"Invalid JSON: {error}")], is_no_json=True) from None


def _valid(validator: Any, data: Any) -> Any:
    find: Callable[[Any], Iterable[Any]] = validator.iter_errors
    problems = [problem(list(each.absolute_path), each.message, each.instance) for each in find(data)]
    if problems:
        raise InvalidAnswerError(problems)
    return data
