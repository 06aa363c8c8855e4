"""The arguments of functions and types, validated by pydantic, which this module imports.

JSON Schemas of arguments, written by pydantic: without titles of its own making, the same in every process.
"""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter as Given
from typing import Annotated, Any, Optional, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from ..errors import InvalidInputError
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import JSONObject, freeze_object
from ..schema.base_error import one_line, shortened, shown
from .names import CONTEXT, ArgumentsError, PreparedArguments
from .signatures import OMITTED, Parameter, Signature, documentation_of

_DEFINITIONS = "#/$defs/"


def object_schema(given: type[BaseModel] | TypeAdapter[Any]) -> dict[str, Any]:
    """Returns the JSON Schema of an object; raises `TypeError` for a type that is none."""
    write = given.model_json_schema if isinstance(given, type) else given.json_schema
    schema: dict[str, Any] = write(schema_generator=_Generator)
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    while "$ref" in schema:  # a recursive type
        schema = {**definitions[schema["$ref"].removeprefix(_DEFINITIONS)], "$defs": definitions}
    if schema.get("type") != "object":
        raise TypeError(f"the arguments of a tool are an object, not {schema.get('type', 'one of several types')}")
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


class _Generator(GenerateJsonSchema):
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as in its base

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Returns False: a title that repeats the name of its field costs tokens."""
        return False

    def encode_default(self, dft: Any) -> Any:
        """Returns a default as JSON; the items of a set sorted, since their order differs between processes."""
        return super().encode_default(_sort_sets(dft))


def _sort_sets(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((_sort_sets(item) for item in cast("set[Any]", value)), key=repr)
    if type(value) in (list, tuple):
        return [_sort_sets(item) for item in value]
    if type(value) is dict:
        return {key: _sort_sets(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_MOST_PROBLEMS = 20
_LONGEST_INPUT = 80
_CONFIG = ConfigDict(extra="forbid", protected_namespaces=())


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument: `key` in the JSON of a call, `field` in the model, `name` in Python.

    `is_passed_always` is set if pydantic has the default, not the function.
    """

    name: str
    key: str
    field: str
    default: Any
    is_passed_always: bool


class FunctionArguments:
    """The arguments of a function. Raises `InvalidInputError` for a type without a JSON Schema.

    A pydantic model has a field for each parameter, with a name of its own: a parameter may have any name.
    """

    def __init__(self, label: str, signature: Signature, texts: Mapping[str, str]) -> None:
        self._signature = signature
        self._allows_others = signature.others is not None
        arguments: list[_Argument] = []
        fields: dict[str, Any] = {}
        for index, parameter in enumerate(signature.parameters):
            argument, fields[f"p{index}"] = _field(parameter, f"p{index}", texts.get(parameter.name))
            arguments.append(argument)
        self._arguments = {argument.name: argument for argument in arguments}
        self._keys = {argument.key for argument in arguments}
        try:
            self._model = create_model("Arguments", __base__=_base(signature.others), **fields)
            self.schema = freeze_object(object_schema(self._model))
        except Exception as error:  # hooks of types may raise any exception
            raise _without_schema(label, signature, error) from error

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns validated arguments; those that are not given are left to the function's defaults."""
        unknown = [] if self._allows_others else [key for key in arguments if key not in self._keys]
        if unknown:
            arguments = {key: value for key, value in arguments.items() if key in self._keys}
        try:
            values = self._model.model_validate_json(_as_json(arguments))
        except ValidationError as error:
            raise ArgumentsError(tool, [*self._unknown_lines(unknown), *problems_of(error)]) from None
        if unknown:
            raise ArgumentsError(tool, self._unknown_lines(unknown))
        return self._prepared_arguments(values)

    def _prepared_arguments(self, values: BaseModel) -> PreparedArguments:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        given, content = values.model_fields_set, vars(values)
        for name, kind in self._signature.order:
            argument = self._arguments.get(name)
            if argument is None:
                value: Any = CONTEXT
            elif argument.field in given or argument.is_passed_always:
                value = content[argument.field]
            elif kind == "positional":
                value = argument.default
            else:
                continue
            if kind == "positional":
                positional.append(value)
            else:
                keywords[name] = value
        if values.model_extra:
            keywords.update(values.model_extra)
        return PreparedArguments(tuple(positional), keywords)

    def _unknown_lines(self, names: list[str]) -> list[str]:
        lines: list[str] = []
        for name in names[:_MOST_PROBLEMS]:
            near = nearest_names(name[:_LONGEST_INPUT], self._keys)
            known = did_you_mean(near) if near else f"The arguments are: {', '.join(sorted(self._keys)) or 'none'}."
            lines.append(f"{one_line(name, _LONGEST_INPUT)}: unknown argument. {known}")
        more = len(names) - _MOST_PROBLEMS
        return [*lines, f"... and {more:,} more unknown arguments"] if more > 0 else lines


class TypeArguments:
    """The arguments of a tool that is a pydantic model, a dataclass or a TypedDict: they become a value of it."""

    def __init__(self, given: type) -> None:
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(given)
            schema = object_schema(self._adapter)
            documented = documentation_of(schema.pop("description", None))
            for name, text in documented.arguments.items():
                if name in schema["properties"]:
                    schema["properties"][name].setdefault("description", text)
            self.schema = freeze_object(schema)
        except Exception as error:  # hooks of the type may raise any exception
            raise _no_schema(given.__name__, error) from error
        self.description = documented.description

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns the value as the only argument."""
        try:
            return PreparedArguments((self._adapter.validate_json(_as_json(arguments)),))
        except ValidationError as error:
            raise ArgumentsError(tool, problems_of(error)) from None


def problems_of(error: ValidationError) -> list[str]:
    """Returns a line for each problem that pydantic found, the first ones if there are many."""
    found = error.errors(include_url=False, include_context=False)
    lines = [_problem(each["loc"], each["msg"], each["type"], each["input"]) for each in found[:_MOST_PROBLEMS]]
    more = len(found) - _MOST_PROBLEMS
    return [*lines, f"... and {more:,} more problems"] if more > 0 else lines


def _problem(location: tuple[int | str, ...], message: str, kind: str, value: object) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    got = "" if kind == "missing" else f", got {shown(value)}"
    return f"{one_line(path) or 'arguments'}: {shortened(message, 300)}{got}"


def _as_json(arguments: JSONObject) -> str:
    """Returns arguments as JSON: pydantic reads a date, a set or an enum member of JSON only from JSON."""
    return _ENCODER.encode(arguments)


def _field(parameter: Parameter, field: str, text: str | None) -> tuple[_Argument, Any]:
    """Returns an argument, and its annotation for `create_model`."""
    annotation, default = parameter.annotation, parameter.default
    infos = [each for each in (*_metadata(annotation), default) if isinstance(each, FieldInfo)]
    key = next((info.alias for info in reversed(infos) if info.alias), parameter.name)
    settings: dict[str, Any] = {"alias": key, "validation_alias": key}
    described = next((info.description for info in reversed(infos) if info.description), None)
    if description := described or _text_in(annotation) or text:
        settings["description"] = description
    if default is None and not _accepts_none(annotation):
        annotation = _or_none(annotation)
    if default is OMITTED:
        settings["default_factory"] = object
    elif isinstance(default, FieldInfo):
        annotation = Annotated[annotation, default]
    elif default is not Given.empty:
        settings["default"] = default
    is_passed_always = default is Given.empty or isinstance(default, FieldInfo)
    argument = _Argument(parameter.name, key, field, default, is_passed_always)
    return argument, Annotated[annotation, Field(**settings)]


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _text_in(annotation: Any) -> str | None:
    """Returns the text of `Annotated[X, "text"]`, or of a `Doc("text")` of PEP 727 in it."""
    for each in _metadata(annotation):
        text = getattr(each, "documentation", each)
        if isinstance(text, str):
            return text
    return None


def _or_none(annotation: Any) -> Any:
    """Returns an annotation that allows None too, with the metadata around it."""
    metadata = _metadata(annotation)
    optional: Any = Optional[get_args(annotation)[0] if metadata else annotation]  # noqa: UP045 - may be of any class
    return functools.reduce(lambda inner, each: Annotated[inner, each], metadata, optional)


def _accepts_none(annotation: Any) -> bool:
    try:
        TypeAdapter[Any](annotation).validate_python(None)
    except Exception:  # types without a schema are reported with the others
        return False
    return True


def _base(others: Any | None) -> type[BaseModel]:
    """Returns the class of the arguments' model, which says what further arguments may be."""

    def fill(namespace: dict[str, Any]) -> None:
        namespace["__module__"] = __name__
        namespace["model_config"] = _CONFIG if others is None else ConfigDict(_CONFIG, extra="allow")
        if others is not None:
            namespace["__annotations__"] = {"__pydantic_extra__": dict[str, others]}

    return types.new_class("Base", (BaseModel,), exec_body=fill)


def _without_schema(label: str, signature: Signature, error: Exception) -> InvalidInputError:
    """Returns the error for a function, which names the parameter whose type has no JSON Schema."""
    for parameter in signature.parameters:
        try:
            TypeAdapter(parameter.annotation).json_schema()
        except Exception as cause:  # hooks of types may raise any exception
            return _no_schema(f"the parameter {parameter.name!r} of {label}", cause)
    return _no_schema(label, error)


def _no_schema(what: str, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"{shortened(what, 200)} has no JSON Schema: {_first_line(error)}",
        path="tools",
        hint="Use types that JSON can hold: str, int, float, bool, None, list, dict, Literal, Enum, dataclasses, "
        "TypedDicts and pydantic models of these. Other objects come by a ToolContext parameter.",
    )


def _first_line(error: Exception) -> str:
    try:
        return str(error).partition("\n")[0]
    except Exception:
        return type(error).__name__
