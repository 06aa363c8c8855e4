"""`OutputType`: the type of an answer, how answers are read as it, and what is wrong with those that are not valid."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ..errors import AbstractCoreError, OutputValidationError
from ..schema import ModelReply, OutputSchema, ToolCall
from ..schema.base_error import one_line, shortened, shown
from ..schema.json_values import repaired_json

if TYPE_CHECKING:
    from pydantic import ValidationError

WRAPPER_KEY: Final = "value"
"""The property that holds an answer that is not an object."""

_ENDINGS: Final[Mapping[str, tuple[str, str]]] = {
    "length": ("it was truncated at max_output_tokens", "Allow more with max_output_tokens=NUMBER. "),
    "content_filter": ("the provider's content filter stopped it", "Change the prompt. "),
    "refusal": ("the model refused to answer", "Change the prompt. "),
}
OUTPUT_CALL: Final = "output_call"
"""The field of `ModelReply.provider_metadata` that names the call of the output tool whose arguments the text is."""
_CODE_FENCE = "```"
_OPENING_BRACKET = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)
_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 300
_LONGEST_PATH = 200
_WHOLE = "the answer"
_NOTHING: Any = object()


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
            return self._value_of_text(text, is_cut=reply.finish_reason == "length")
        except InvalidAnswerError as error:
            problem, hint = _ENDINGS.get(reply.finish_reason, ("", ""))
            first = error.problems[0]
            raise self._refusal(
                problem or f"{first.path}: {first.message}", reply, () if problem else error.problems, hint
            ) from None
        except Exception as error:  # validators of the type may raise any exception
            raise self._validator_error(error, reply) from error

    def read_item(self, index: int, text: str, partial: Callable[[], ModelReply]) -> Any:
        """Returns an item of the list that the answer is, from its JSON. Raises `OutputValidationError`, with what
        `partial` returns: the reply so far.
        """
        try:
            return _with_mended_json(self.item_value, text)
        except InvalidAnswerError as error:
            problems = [each._replace(path=_inside(index, each.path)) for each in error.problems]
            raise self._refusal(f"{problems[0].path}: {problems[0].message}", partial(), problems) from None
        except Exception as error:
            raise self._validator_error(error, partial()) from error

    @abstractmethod
    def value(self, text: str) -> Any:
        """Returns the value of a JSON text; raises `InvalidAnswerError`, and exceptions of validators."""

    @abstractmethod
    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises `InvalidAnswerError`, and exceptions of validators."""

    @abstractmethod
    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless answers are lists whose items can be validated one by one."""

    def _value_of_text(self, text: str, *, is_cut: bool) -> Any:
        try:
            return _with_mended_json(self.value, text)
        except InvalidAnswerError as error:
            found = extract_json(text) if error.is_no_json and not is_cut else None
            if found is None:
                raise
        return self.value(found)

    def _validator_error(self, error: Exception, reply: ModelReply) -> OutputValidationError:
        problem = f"its validator raised {type(error).__name__}: {first_line(error)}"
        return self._refusal(problem, reply, [AnswerProblem("the answer", problem)])

    def _refusal(
        self, problem: str, reply: ModelReply, problems: tuple[AnswerProblem, ...] | list[AnswerProblem], hint: str = ""
    ) -> OutputValidationError:
        error = OutputValidationError(
            f"the answer is not a valid {shortened(self.label, 200)}: {problem}",
            hint=f"{hint}The error's `partial` holds the answer.",
            partial=reply,
        )
        error.problems = tuple(map(str, problems))
        return error


def _with_mended_json(value: Callable[[str], Any], text: str) -> Any:
    """Returns the value of a text that is JSON, or can be mended."""
    try:
        return value(text)
    except InvalidAnswerError as error:
        mended = repaired_json(text) if error.is_no_json else None
        if mended is None:
            raise
    return value(mended)


def first_line(error: Exception) -> str:
    """Returns the first line of an exception's message."""
    try:
        return str(error).partition("\n")[0]
    except Exception:
        return type(error).__name__


def _inside(index: int, path: str) -> str:
    return str(index) if path == "the answer" else f"{index}.{path}"


def answer_text(reply: ModelReply) -> str:
    """Returns the text of the answer; after text that the model wrote before it called the output tool."""
    metadata = _output_call_metadata(reply)
    return reply.text[metadata["start"] :] if metadata is not None else reply.text


def output_call(reply: ModelReply) -> ToolCall | None:
    """Returns the call of the output tool that the answer was, if it was one."""
    metadata = _output_call_metadata(reply)
    return None if metadata is None else ToolCall(metadata["id"], metadata["name"], answer_text(reply))


def _output_call_metadata(reply: ModelReply) -> Any:
    return cast("dict[str, Any]", reply.provider_metadata).get(OUTPUT_CALL)


def extract_json(text: str) -> str | None:
    """Returns the JSON value in `text` as text; None unless there is exactly one.

    It is the only code block of JSON, or, without code blocks, the only object or array in the text. Returns None if
    there are brackets that do not begin JSON, since the answer is then ambiguous.
    """
    blocks = [block for block in map(repaired_json, _code_blocks(text)) if block is not None]
    found = blocks or list(_json_values(text))
    return repaired_json(found[0]) if len(found) == 1 else None


def _code_blocks(text: str) -> Iterator[str]:
    """Yields the content of code blocks, fenced by three backticks and an optional language."""
    block: list[str] | None = None
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        if block is None:
            block = [] if mark.startswith(_CODE_FENCE) and _CODE_FENCE not in mark[len(_CODE_FENCE) :] else None
        elif mark == _CODE_FENCE:
            yield "".join(block)
            block = None
        else:
            block.append(line)


def _json_values(text: str) -> Iterator[str]:
    """Yields the objects and arrays in `text`, and an empty text for a bracket that does not begin one."""
    end = 0
    while (begins := _OPENING_BRACKET.search(text, end)) is not None:
        try:
            _, end = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            # Searching inside it could return a part of an invalid answer.
            yield ""
            return
        yield text[begins.start() : end]


class AnswerProblem(NamedTuple):
    """One problem of an answer. `got` is the value that is not valid, empty if there is none."""

    path: str
    message: str
    got: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}{f', got {self.got}' if self.got else ''}"


class InvalidAnswerError(AbstractCoreError):
    """Raised inside this package for an answer that does not match its type."""

    def __init__(self, problems: Iterable[AnswerProblem], *, is_no_json: bool = False) -> None:
        super().__init__("the answer does not match its type")
        self.problems = _first_problems(problems)
        self.is_no_json = is_no_json


def problem(location: Sequence[int | str], message: str, value: object = _NOTHING) -> AnswerProblem:
    """Returns a problem at `location`, with the value found there if it is given."""
    path = one_line(".".join(map(str, location)), _LONGEST_PATH) or _WHOLE
    return AnswerProblem(path, shortened(message, _LONGEST_PROBLEM), "" if value is _NOTHING else shown(value))


def pydantic_problems(error: ValidationError, skipped: int = 0) -> Iterable[AnswerProblem]:
    """Yields the problems that pydantic found; `skipped` steps at the beginning of each path are left out."""
    for each in error.errors(include_url=False, include_context=False):
        value = _NOTHING if each["type"] in ("missing", "json_invalid") else each["input"]
        yield problem(each["loc"][skipped:], each["msg"], value)


def _first_problems(problems: Iterable[AnswerProblem]) -> tuple[AnswerProblem, ...]:
    """Returns the first problems, and how many more there are."""
    given = iter(problems)
    kept = tuple(islice(given, _MOST_PROBLEMS))
    more = sum(1 for _ in given)
    return (*kept, AnswerProblem("...", f"and {more:,} more problems")) if more else kept
