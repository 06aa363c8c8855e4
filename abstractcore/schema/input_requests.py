"""`InputRequest`: what a tool asks the user before it can go on; `InputResponse`, the answers."""

from __future__ import annotations

from dataclasses import dataclass

from .base_error import SchemaError
from .frozen_json import EMPTY, freeze, freeze_object
from .immutable import Immutable
from .json_values import JSONObject, JSONValue, check_class, check_items, check_text


@dataclass(frozen=True, slots=True)
class Question(Immutable):
    """One question of a tool. `key` is the tool's name for it, `message` is shown to the user.

    `schema` is a JSON Schema of the answer, an object. With `url`, the user does something on that page instead, such
    as signing in, and the answer has no content.
    """

    key: str
    message: str
    schema: JSONObject = EMPTY
    url: str | None = None

    def __post_init__(self) -> None:
        for name in ("key", "message"):
            check_text(getattr(self, name), name)
        if self.url is not None:
            check_text(self.url, "url")
        object.__setattr__(self, "schema", freeze_object(self.schema, "schema"))


@dataclass(frozen=True, slots=True)
class InputRequest(Immutable):
    """The questions of a tool. `state` is its own, and given back to it with the answers."""

    questions: tuple[Question, ...]
    state: JSONValue = None

    def __post_init__(self) -> None:
        questions = check_items(self.questions, Question, "questions")
        keys = [question.key for question in questions]
        if len(set(keys)) < len(keys):
            raise SchemaError("two questions have the same key", "questions")
        object.__setattr__(self, "questions", questions)
        object.__setattr__(self, "state", freeze(self.state, "state"))


@dataclass(frozen=True, slots=True)
class InputResponse(Immutable):
    """The answers to an `InputRequest`, in the order of its questions; None for one that the user declined."""

    request: InputRequest
    answers: tuple[JSONObject | None, ...]

    def __post_init__(self) -> None:
        check_class(self.request, InputRequest, "request")
        given = check_items(self.answers, object, "answers")
        if len(given) != len(self.request.questions):
            raise SchemaError(f"has {len(given)} items for {len(self.request.questions)} questions", "answers")
        frozen = tuple(None if each is None else freeze_object(each, f"answers[{i}]") for i, each in enumerate(given))
        object.__setattr__(self, "answers", frozen)

    @property
    def state(self) -> JSONValue:
        """The state of the tool, as it gave it."""
        return self.request.state

    def __getitem__(self, key: str) -> JSONObject | None:
        """Returns the answer to the question `key`; None if the user declined it."""
        for question, answer in zip(self.request.questions, self.answers, strict=True):
            if question.key == key:
                return answer
        raise KeyError(key)
