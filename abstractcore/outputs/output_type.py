"""`OutputType`: the type of an answer, given as `response_model`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
)

from ..errors import InvalidInputError, OutputValidationError
from ..schema import JSONObject, ModelReply, OutputSchema
from ..schema.quoting import shortened, shown
from .answer_json import json_in

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import ErrorDetails
    from typing_extensions import TypeForm

ResponseModel: TypeAlias = "TypeForm[Any]"
"""A class, or a type expression: `list[City]`, `City | None`, `Literal["yes", "no"]`."""

WRAPPER_KEY: Final = "value"
"""The property that holds an answer that is not an object."""

_LONGEST_NAME = 64
"""The maximum length of the name of an output schema at OpenAI, of letters, digits, `_` and `-`."""

_TYPING = frozenset({"typing", "typing_extensions"})
_CUT = "it was truncated at max_output_tokens"


class OutputType:
    """The type of an answer: a pydantic model, a dataclass, a TypedDict, or any type that pydantic supports.

    Most vendors accept only schemas of objects. A list, a number, a choice or a union is requested as an object with
    the property `value`, and read with or without that object. Raises `InvalidInputError` for a value that is not a
    type, and for a type without a JSON Schema.
    """

    def __init__(self, response_model: ResponseModel) -> None:
        from pydantic import TypeAdapter, create_model

        _check_is_type(response_model)
        self._label = _label(response_model)
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", self._label).strip("_")[:_LONGEST_NAME] or "output"
        self._wrapper: TypeAdapter[Any] | None = None
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(response_model)
            schema = self._adapter.json_schema()
            if not _is_object(schema):
                self._wrapper = TypeAdapter(cast(Any, create_model)(name, **{WRAPPER_KEY: (response_model, ...)}))
                schema = self._wrapper.json_schema()
            self.schema = OutputSchema(name, schema)
        except Exception as error:  # hooks of the type may raise any exception
            raise InvalidInputError(
                f"{shortened(self._label, 200)} has no JSON Schema: {_first_line(error)}",
                path="response_model",
                hint="Use types with a JSON Schema: str, int, float, bool, None, list, dict, Literal, Enum, "
                "dataclasses, TypedDicts and pydantic models of these.",
            ) from error

    def read(self, reply: ModelReply) -> Any:
        """Returns the answer as this type, also from a code block or text with one JSON value.

        Raises `OutputValidationError` with the reply in `partial`; an exception of a validator is its cause.
        """
        from pydantic import ValidationError

        try:
            return self._found(reply)
        except ValidationError as error:
            where, problem = self._first_problem(error)
            is_cut = reply.finish_reason == "length"
            raise self._refusal(_CUT if is_cut else f"{where}: {problem}", reply, is_cut=is_cut) from None
        except Exception as error:  # validators of the type may raise any exception
            raise self._refusal(f"its validator raised {type(error).__name__}: {_first_line(error)}", reply) from error

    def _refusal(self, problem: str, reply: ModelReply, *, is_cut: bool = False) -> OutputValidationError:
        more = "Allow more with max_output_tokens=NUMBER. " if is_cut else ""
        return OutputValidationError(
            f"the answer is not a valid {shortened(self._label, 200)}: {problem}",
            hint=f"{more}The error's `partial` holds the answer.",
            partial=reply,
        )

    def _found(self, reply: ModelReply) -> Any:
        """Returns the value of an answer; raises pydantic's error, and exceptions of validators."""
        from pydantic import ValidationError

        try:
            return self._value(reply.text)
        except ValidationError as error:
            is_cut = reply.finish_reason == "length"
            found = json_in(reply.text) if _is_no_json(error) and not is_cut else None
            if found is None:
                raise
        return self._value(found)

    def _value(self, text: str) -> Any:
        """Returns the value of a JSON text; raises pydantic's error."""
        from pydantic import ValidationError

        if self._wrapper is None:
            return self._adapter.validate_json(text)
        try:
            return getattr(self._wrapper.validate_json(text), WRAPPER_KEY)
        except ValidationError as error:
            if _is_no_json(error) or _has_wrapper(error):
                raise
        return self._adapter.validate_json(text)

    def _first_problem(self, error: ValidationError) -> tuple[str, str]:
        """Returns the path and the message of the first error."""
        first = _first(error)
        location = first["loc"][1:] if self._wrapper is not None and _has_wrapper(error) else first["loc"]
        return shortened(".".join(map(str, location)), 200) or "the answer", first["msg"]


def no_output(reply: ModelReply) -> None:
    """Returns None, the output of a call without `response_model`."""
    return


def _check_is_type(given: object) -> None:
    """Raises `InvalidInputError`, with a hint, for a value that is not a type."""
    if isinstance(given, type) or get_origin(given) is not None or type(given).__module__ in _TYPING:
        return
    if isinstance(given, Mapping):
        message = "expected a type, got a mapping"
        hint = (
            "Pass the type that the schema describes: a pydantic model, a dataclass, a TypedDict, list[str]. "
            "For a JSON Schema alone: llm.run(llm.build(prompt).with_(output=OutputSchema('answer', schema)))."
        )
    else:
        message = f"expected a type, got {shown(given)}"
        name = given if isinstance(given, str) and given.isidentifier() else type(given).__name__
        example = "" if callable(given) or len(name) > _LONGEST_NAME else f", as in response_model={name}"
        hint = f"Pass the class itself{example}, or a type such as list[str]."
    raise InvalidInputError(message, path="response_model", hint=hint)


def _is_object(schema: JSONObject) -> bool:
    """Returns whether the root is the schema of an object, or refers to one."""
    node: Any = schema
    for _ in range(len(schema.get("$defs", ())) + 1):  # type: ignore[arg-type]
        if not isinstance(node, Mapping) or "$ref" not in node:
            break
        name = str(cast("Mapping[str, Any]", node)["$ref"]).removeprefix("#/$defs/")
        node = cast(Any, schema)["$defs"].get(name)
    return isinstance(node, Mapping) and cast("Mapping[str, Any]", node).get("type") == "object"


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


def _first(error: ValidationError) -> ErrorDetails:
    return error.errors(include_url=False, include_input=False)[0]


def _is_no_json(error: ValidationError) -> bool:
    return _first(error)["type"] == "json_invalid"


def _has_wrapper(error: ValidationError) -> bool:
    """Returns whether the error is inside the wrapper object, so that the answer has one."""
    first = _first(error)
    return first["loc"][:1] == (WRAPPER_KEY,) and (first["loc"], first["type"]) != ((WRAPPER_KEY,), "missing")


def _first_line(error: Exception) -> str:
    try:
        return str(error).partition("\n")[0]
    except Exception:
        return type(error).__name__
