"""`Decision` and `Score`: a choice of a model, with its probability where the provider reports log probabilities.

The probabilities of choices, from the log probabilities of the tokens of an answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from ..errors import InvalidInputError
from ..schema import GenerateResponse, ModelReply
from ..schema.base_error import shown

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


_TOLERANCE = 0.01
"""Probabilities that could be further off are not given; means neither, as a part of the range of scores."""


class ChoiceMasses:
    """The probability of each name: `own` is that of the tokens that only this name continues with, `shared` that of
    tokens that each of several names continues with, `unreported` that of all tokens that were not reported.

    What was not reported belongs to the names that no reported token leads to; if there are none, to no name.
    """

    def __init__(
        self, own: Mapping[str, float], shared: Sequence[tuple[Sequence[str], float]], unreported: float
    ) -> None:
        reached = {name for names, _ in shared for name in names}
        unseen = [name for name, mass in own.items() if mass == 0 and name not in reached]
        self._own = own
        self._unreported = unreported if unseen else 0.0
        self._shared = [*shared, (unseen, unreported)] if self._unreported else shared
        self._total = sum(own.values()) + sum(mass for _, mass in self._shared)

    def probabilities(self) -> dict[str, float] | None:
        """Returns the probabilities that are known to within a hundredth; None if nothing is."""
        if not self._total > self._unreported:
            return None
        return {name: value for name in self._own if (value := self._probability_of(name)) is not None}

    def mean(self, values: Mapping[str, int]) -> float | None:
        """Returns the mean of the names' values if it is known to within a hundredth of their range."""
        if not self._total > self._unreported:
            return None
        lowest = highest = sum(mass * values[name] for name, mass in self._own.items())
        for names, mass in self._shared:
            lowest += mass * min(values[name] for name in names)
            highest += mass * max(values[name] for name in names)
        distance = max(values.values()) - min(values.values())
        is_known = (highest - lowest) / self._total / 2 <= _TOLERANCE * distance
        return (lowest + highest) / self._total / 2 if is_known else None

    def _probability_of(self, name: str) -> float | None:
        own = self._own[name]
        possible = [(names, mass) for names, mass in self._shared if name in names]
        lowest = own / self._total
        highest = (own + sum(mass for _, mass in possible)) / self._total
        if own:  # what was not reported may be no choice at all
            highest = max(highest, own / (self._total - self._unreported))
        middle = (own + sum(mass / len(names) for names, mass in possible)) / self._total
        return middle if max(highest - middle, middle - lowest) <= _TOLERANCE else None


class Token(NamedTuple):
    """A token of an answer, and the most probable tokens in its place with their log probabilities."""

    text: str
    logprob: float
    alternatives: Sequence[tuple[str, float]]


def choice_masses(reply: ModelReply, chosen: str, names: Sequence[str]) -> ChoiceMasses | None:
    """Returns the probability of each name, given that the answer is one of them; None without log probabilities.

    The tokens of the chosen name are compared with their alternatives, up to the token that makes the choice. A token
    that only one name continues with adds to that name; one that several continue with belongs to any of them, and what
    is not reported to any name that continues there.
    """
    tokens = answer_tokens(reply)
    texts = {name: json.dumps(name, ensure_ascii=False)[1:] for name in names}
    joined = "".join(token.text for token in tokens)
    at = joined.rfind(f'"{texts[chosen]}')
    return None if at < 0 else _masses(tokens, at + 1, texts, chosen)


def _masses(tokens: Sequence[Token], start: int, texts: Mapping[str, str], chosen: str) -> ChoiceMasses:
    """`start` is the position of the chosen name in the text."""
    own, shared, unreported = dict.fromkeys(texts, 0.0), list[tuple[Sequence[str], float]](), 0.0
    before, reached, end = 1.0, "", 0
    for token in tokens:
        begin, end = end, end + len(token.text)
        if end <= start:
            continue
        prefix = token.text[: max(start - begin, 0)]
        rest = 1.0 - math.exp(token.logprob)
        for text, logprob in token.alternatives:
            if text == token.text:
                continue
            mass = math.exp(logprob)
            rest -= mass
            if not text.startswith(prefix) or text == prefix:
                continue
            names = _possible_names(texts, reached + text[len(prefix) :])
            if len(names) == 1:
                own[names[0]] += before * mass
            elif names:
                shared.append((names, before * mass))
        unreported += before * max(0.0, rest)
        before *= math.exp(token.logprob)
        reached += token.text[len(prefix) :]
        possible = _possible_names(texts, reached)
        if possible == [chosen] or not possible:
            break
    own[chosen] += before
    return ChoiceMasses(own, shared, unreported)


def _possible_names(texts: Mapping[str, str], reached: str) -> list[str]:
    """Returns the names that an answer may still be when its text is `reached`."""
    return [name for name, text in texts.items() if text.startswith(reached) or reached.startswith(text)]


def answer_tokens(reply: ModelReply) -> list[Token]:
    """Returns the tokens of an answer as the wire formats keep them in `provider_metadata`; empty if there are none."""
    metadata = cast("Mapping[str, Any]", reply.provider_metadata)
    given = metadata.get("logprobs")
    if isinstance(given, Mapping):  # OpenAI's Chat Completions
        given = cast("Mapping[str, Any]", given).get("content")
    found = metadata.get("logprobsResult")
    try:
        if isinstance(found, Mapping):
            return _of_gemini(cast("Mapping[str, Any]", found))
        return [_token(each, "logprob", each.get("top_logprobs") or ()) for each in given or ()]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []  # another form: Cohere's has numbers in place of texts


def _of_gemini(found: Mapping[str, Any]) -> list[Token]:
    """https://ai.google.dev/api/generate-content#LogprobsResult"""
    tops = [each.get("candidates", ()) for each in found["topCandidates"]]
    chosen = found["chosenCandidates"]
    return [_token(each, "logProbability", top) for each, top in zip(chosen, tops, strict=True)]


def _token(given: Mapping[str, Any], field: str, alternatives: Sequence[Mapping[str, Any]]) -> Token:
    others = [(str(each["token"]), float(each[field])) for each in alternatives]
    return Token(str(given["token"]), float(given[field]), others)
