"""`PythonType`: answers as a pydantic model, a dataclass, a TypedDict, or any type that pydantic supports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from ..errors import InvalidInputError
from ..schema import JSONObject, OutputSchema
from ..schema.base_error import shortened, shown
from .output_types import WRAPPER_KEY, InvalidAnswerError, OutputType, first_line, pydantic_problems

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import ErrorDetails

LONGEST_NAME = 64
"""The maximum length of the name of an output schema at OpenAI, of letters, digits, `_` and `-`."""

_TYPING = frozenset({"typing", "typing_extensions"})


class PythonType(OutputType):
    """A type that pydantic validates, with `context` for its validators.

    Raises `InvalidInputError` for a value that is not a type, and for a type without a JSON Schema.
    """

    def __init__(self, response_model: Any, context: Any = None) -> None:
        from pydantic import TypeAdapter, create_model

        _check_is_type(response_model)
        self.label = _label(response_model)
        name = schema_name(self.label)
        self._type = response_model
        self._context = context
        self._wrapper: TypeAdapter[Any] | None = None
        self._item: TypeAdapter[Any] | None = None
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(response_model)
            schema = self._adapter.json_schema()
            if not is_object(schema):
                self._wrapper = TypeAdapter(cast(Any, create_model)(name, **{WRAPPER_KEY: (response_model, ...)}))
                schema = self._wrapper.json_schema()
            self.schema = OutputSchema(name, schema)
        except Exception as error:  # hooks of the type may raise any exception
            raise InvalidInputError(
                f"{shortened(self.label, 200)} has no JSON Schema: {first_line(error)}",
                path="response_model",
                hint="Use types with a JSON Schema: str, int, float, bool, None, list, dict, Literal, Enum, "
                "dataclasses, TypedDicts and pydantic models of these.",
            ) from error
        self.is_wrapped = self._wrapper is not None

    def value(self, text: str) -> Any:
        """Returns the value of a JSON text; raises `InvalidAnswerError`, and exceptions of validators."""
        from pydantic import ValidationError

        if self._wrapper is not None:
            try:
                return getattr(self._wrapper.validate_json(text, context=self._context), WRAPPER_KEY)
            except ValidationError as error:
                if _is_no_json(error) or _has_wrapper(error):
                    raise _invalid(error, skipped=_has_wrapper(error)) from None
        return self._valid(self._adapter, text)

    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises `InvalidAnswerError`, and exceptions of validators."""
        if self._item is None:
            from pydantic import TypeAdapter

            self._item = TypeAdapter(get_args(_without_annotation(self._type))[0])
        return self._valid(self._item, text)

    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless the type is `list[X]`."""
        given = _without_annotation(self._type)
        if get_origin(given) not in (list, Iterable) or not get_args(given):
            hint = f"Use response_model=list[{shortened(self.label, 60)}]."
            message = f"elements are the items of a list, and {shortened(self.label, 200)} is none"
            raise InvalidInputError(message, path="response_model", hint=hint)

    def _valid(self, adapter: TypeAdapter[Any], text: str) -> Any:
        from pydantic import ValidationError

        try:
            return adapter.validate_json(text, context=self._context)
        except ValidationError as error:
            raise _invalid(error) from None


def schema_name(label: str) -> str:
    """Returns the name of the schema of a type that is labelled so."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", label).strip("_")[:LONGEST_NAME] or "output"


def is_object(schema: JSONObject) -> bool:
    """Returns whether the root is the schema of an object, or refers to one."""
    node: Any = schema
    for _ in range(len(schema.get("$defs", ())) + 1):  # type: ignore[arg-type]
        if not isinstance(node, Mapping) or "$ref" not in node:
            break
        name = str(cast("Mapping[str, Any]", node)["$ref"]).removeprefix("#/$defs/")
        node = cast(Any, schema).get("$defs", {}).get(name)
    return isinstance(node, Mapping) and cast("Mapping[str, Any]", node).get("type") == "object"


def _check_is_type(given: object) -> None:
    """Raises `InvalidInputError`, with a hint, for a value that is not a type."""
    if isinstance(given, type) or get_origin(given) is not None or type(given).__module__ in _TYPING:
        return
    name = given if isinstance(given, str) and given.isidentifier() else type(given).__name__
    example = "" if callable(given) or len(name) > LONGEST_NAME else f", as in response_model={name}"
    hint = f"Pass the class itself{example}, or a type such as list[str]."
    raise InvalidInputError(f"expected a type, got {shown(given)}", path="response_model", hint=hint)


def _without_annotation(type_: Any) -> Any:
    return get_args(type_)[0] if get_origin(type_) is Annotated else type_


def _label(type_: Any) -> str:
    """Returns the type as written in code, without modules: `list[City]`."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is None:
        return "None" if type_ is type(None) else str(getattr(type_, "__name__", None) or "output")
    if origin is Annotated:
        return _label(arguments[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    labels = [_label(argument) for argument in arguments]
    if origin in (Union, UnionType):
        return " | ".join(labels)
    return f"{_label(origin)}[{', '.join(labels)}]"


def _invalid(error: ValidationError, *, skipped: bool = False) -> InvalidAnswerError:
    return InvalidAnswerError(pydantic_problems(error, int(skipped)), is_no_json=_is_no_json(error))


def _first(error: ValidationError) -> ErrorDetails:
    return error.errors(include_url=False, include_input=False)[0]


def _is_no_json(error: ValidationError) -> bool:
    return _first(error)["type"] == "json_invalid"


def _has_wrapper(error: ValidationError) -> bool:
    """Returns whether the error is inside the wrapper object, so that the answer has one."""
    first = _first(error)
    return first["loc"][:1] == (WRAPPER_KEY,) and (first["loc"], first["type"]) != ((WRAPPER_KEY,), "missing")
