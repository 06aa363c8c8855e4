"""`OutputType`: the type of an answer, given as `response_model`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Union, cast

from ..errors import InvalidInputError, OutputValidationError
from ..schema import JSONObject, ModelReply, OutputSchema
from ..schema.model_json import mended_json
from ..schema.quoting import shortened
from .answer_json import json_in
from .problems import InvalidAnswerError, Problem
from .reply_texts import answer_text

if TYPE_CHECKING:
    import typing_extensions

ResponseModel: TypeAlias = Union["typing_extensions.TypeForm[Any]", JSONObject]
"""A class, a type expression such as `list[City]`, `City | None`, `Literal["yes", "no"]`, or a JSON Schema."""

WRAPPER_KEY: Final = "value"
"""The property that holds an answer that is not an object."""

_ENDINGS: Final[Mapping[str, tuple[str, str]]] = {
    "length": ("it was truncated at max_output_tokens", "Allow more with max_output_tokens=NUMBER. "),
    "content_filter": ("the provider's content filter stopped it", "Change the prompt. "),
    "refusal": ("the model refused to answer", "Change the prompt. "),
}


class OutputType(ABC):
    """The type of an answer. `schema` is what the model is given.

    Most vendors accept only schemas of objects. A list, a number, a choice or a union is requested as an object with
    the property `value`, and read with or without that object (`is_wrapped`).
    """

    schema: OutputSchema
    label: str
    is_wrapped: bool

    def read(self, reply: ModelReply) -> Any:
        """Returns the answer as this type, also from a code block or text with one JSON value.

        Raises `OutputValidationError` with the reply in `partial`; an exception of a validator is its cause.
        """
        text = answer_text(reply)
        try:
            return self._found(text, is_cut=reply.finish_reason == "length")
        except InvalidAnswerError as error:
            problem, hint = _ENDINGS.get(reply.finish_reason, ("", ""))
            first = error.problems[0]
            raise self._refusal(
                problem or f"{first.path}: {first.message}", reply, () if problem else error.problems, hint
            ) from None
        except Exception as error:  # validators of the type may raise any exception
            raise self._raised(error, reply) from error

    def read_item(self, index: int, text: str, partial: Callable[[], ModelReply]) -> Any:
        """Returns an item of the list that the answer is, from its JSON. Raises `OutputValidationError`, with what
        `partial` returns: the reply so far.
        """
        try:
            return _lenient(self.item_value, text)
        except InvalidAnswerError as error:
            problems = [each._replace(path=_inside(index, each.path)) for each in error.problems]
            raise self._refusal(f"{problems[0].path}: {problems[0].message}", partial(), problems) from None
        except Exception as error:
            raise self._raised(error, partial()) from error

    @abstractmethod
    def value(self, text: str) -> Any:
        """Returns the value of a JSON text; raises `InvalidAnswerError`, and exceptions of validators."""

    @abstractmethod
    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises `InvalidAnswerError`, and exceptions of validators."""

    @abstractmethod
    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless answers are lists whose items can be validated one by one."""

    def _found(self, text: str, *, is_cut: bool) -> Any:
        try:
            return _lenient(self.value, text)
        except InvalidAnswerError as error:
            found = json_in(text) if error.is_no_json and not is_cut else None
            if found is None:
                raise
        return self.value(found)

    def _raised(self, error: Exception, reply: ModelReply) -> OutputValidationError:
        problem = f"its validator raised {type(error).__name__}: {first_line(error)}"
        return self._refusal(problem, reply, [Problem("the answer", problem)])

    def _refusal(
        self, problem: str, reply: ModelReply, problems: tuple[Problem, ...] | list[Problem], hint: str = ""
    ) -> OutputValidationError:
        error = OutputValidationError(
            f"the answer is not a valid {shortened(self.label, 200)}: {problem}",
            hint=f"{hint}The error's `partial` holds the answer.",
            partial=reply,
        )
        error.problems = tuple(map(str, problems))
        return error


def output_type(response_model: ResponseModel, context: Any = None) -> OutputType:
    """Returns the type of an answer: a JSON Schema is a mapping, anything else a Python type.

    `context` is pydantic's validation context. Raises `InvalidInputError` for a value that is neither, and for a type
    without a JSON Schema.
    """
    if isinstance(response_model, Mapping):
        from .json_schema_type import JsonSchemaType

        if context is not None:
            hint = "Use a pydantic model as response_model, or output_check=FUNCTION."
            message = "a JSON Schema has no validators that could use it"
            raise InvalidInputError(message, path="validation_context", hint=hint)
        return JsonSchemaType(cast("Mapping[str, Any]", response_model))
    from .python_type import PythonType

    return PythonType(response_model, context)


def _lenient(value: Callable[[str], Any], text: str) -> Any:
    """Returns the value of a text that is JSON, or can be mended."""
    try:
        return value(text)
    except InvalidAnswerError as error:
        mended = mended_json(text) if error.is_no_json else None
        if mended is None:
            raise
    return value(mended)


def no_output(reply: ModelReply) -> None:
    """Returns None, the output of a call without `response_model`."""
    return


def first_line(error: Exception) -> str:
    """Returns the first line of an exception's message."""
    try:
        return str(error).partition("\n")[0]
    except Exception:
        return type(error).__name__


def _inside(index: int, path: str) -> str:
    return str(index) if path == "the answer" else f"{index}.{path}"
