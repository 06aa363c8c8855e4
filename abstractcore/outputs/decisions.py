"""`Decision` and `Score`: a choice of a model, with its probability where the provider reports log probabilities."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from ..errors import InvalidInputError
from ..schema import GenerateResponse
from ..schema.base_error import shown

if TYPE_CHECKING:
    from .token_probabilities import ChoiceMasses

C = TypeVar("C")
MOST_CHOICES = 100


@dataclass(frozen=True, slots=True)
class Decision(Generic[C]):
    """The choice of a model. `probability` is that of the choice, `probabilities` those of all choices, which add up to
    1; both are None where the provider reports no log probabilities of the answer.

    Providers report a number of the most probable tokens. A probability that these leave open by more than a hundredth
    is None, and missing in `probabilities`, which then add up to less than 1.
    """

    choice: C
    probability: float | None
    response: GenerateResponse[str]
    probabilities: Mapping[C, float] | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A score of a model. `mean` is the mean of all scores, weighted with their probabilities: finer than `score`. It
    is None where the provider reports no log probabilities of the answer, or so few of its most probable tokens that
    the mean is open by more than a hundredth of the range of scores.
    """

    score: int
    mean: float | None
    response: GenerateResponse[str]


class Choices:
    """What a model chooses from: texts, the members of an enum, or names with descriptions.

    Raises `InvalidInputError` for fewer than two choices, more than 100, and two of one name.
    """

    def __init__(self, choices: object) -> None:
        described = _named_choices(choices)
        if not 2 <= len(described) <= MOST_CHOICES:
            message = f"expected 2 to {MOST_CHOICES} choices, got {len(described)}"
            raise InvalidInputError(message, path="choices")
        self._described = described
        self.by_name = {name: choice for name, choice, _ in described}
        if len(self.by_name) != len(described):
            raise InvalidInputError("two choices have the same name", path="choices")

    @property
    def response_model(self) -> Any:
        """The type of the answer: one of the names."""
        return cast(Any, Literal)[tuple(self.by_name)]

    def prompt(self, prompt: str | None) -> str:
        """Returns the prompt with the choices, and the form of the answer."""
        lines = [f"- {name}: {text}" if text else f"- {name}" for name, _, text in self._described]
        form = json.dumps({"value": next(iter(self.by_name))}, ensure_ascii=False)
        asked = "\n".join(["Choose one of:", *lines, f"Answer with JSON, such as {form}."])
        return f"{prompt}\n\n{asked}" if prompt else asked

    def decision(self, response: GenerateResponse[str]) -> Decision[Any]:
        """Returns the decision in a response."""
        masses = self._masses(response)
        found = None if masses is None else masses.probabilities()
        choice = self.by_name[response.output]
        if found is None:
            return Decision(choice, None, response)
        probabilities = {self.by_name[name]: probability for name, probability in found.items()}
        return Decision(choice, found.get(response.output), response, probabilities)

    def _masses(self, response: GenerateResponse[str]) -> ChoiceMasses | None:
        from .token_probabilities import choice_masses

        return choice_masses(response.reply, response.output, list(self.by_name))


class Scores(Choices):
    """The whole numbers from `low` to `high`. Raises `InvalidInputError` for other bounds."""

    def __init__(self, low: object, high: object) -> None:
        for name, bound in (("low", low), ("high", high)):
            if type(bound) is not int:
                raise InvalidInputError(f"expected a whole number, got {shown(bound)}", path=name)
        lowest, highest = cast(int, low), cast(int, high)
        if not lowest < highest < lowest + MOST_CHOICES:
            message = f"expected a number above low, by less than {MOST_CHOICES}; got {lowest} and {highest}"
            raise InvalidInputError(message, path="high")
        super().__init__([str(number) for number in range(lowest, highest + 1)])
        self._range = f"Answer with a whole number from {lowest} (lowest) to {highest} (highest)"

    def prompt(self, prompt: str | None) -> str:
        """Returns the prompt with the bounds, and the form of the answer."""
        form = json.dumps({"value": next(iter(self.by_name))})
        asked = f"{self._range}, as JSON such as {form}."
        return f"{prompt}\n\n{asked}" if prompt else asked

    def score(self, response: GenerateResponse[str]) -> Score:
        """Returns the score in a response."""
        masses = self._masses(response)
        mean = None if masses is None else masses.mean({name: int(name) for name in self.by_name})
        return Score(int(response.output), mean, response)


def _named_choices(choices: object) -> list[tuple[str, Any, str]]:
    """Returns the name, the value and the description of each choice."""
    if isinstance(choices, type) and issubclass(choices, Enum):
        return [(each.value if isinstance(each.value, str) else each.name, each, "") for each in choices]
    if isinstance(choices, Mapping):
        named = cast("Mapping[object, object]", choices)
        return [(_text(name), name, _text(text)) for name, text in named.items()]
    if isinstance(choices, Sequence) and not isinstance(choices, str | bytes):
        return [(_text(name), name, "") for name in cast("Sequence[object]", choices)]
    hint = "For example ['yes', 'no'], an Enum, or {'spam': 'unwanted advertising', 'ham': 'anything else'}."
    message = f"expected a list, an Enum or a mapping, got {shown(cast(object, choices))}"
    raise InvalidInputError(message, path="choices", hint=hint)


def _text(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidInputError(f"expected texts, got {shown(given)}", path="choices")
    return given
