"""`llm.decide` and `llm.score`: the choice, and its probability from the log probabilities of the answer's tokens."""

import json
import math
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import InvalidInputError, ModelReply, TextPart, create_llm
from abstractcore.outputs.decisions import choice_masses
from abstractcore.testing import AsyncCalls, CallStyle
from tests.chaos_server import completion
from tests.core.tools.loops import scripted


class Mood(Enum):
    GLAD = "glad"
    ANGRY = "angry"


def decide(style: CallStyle, llm: Any, *arguments: Any, **request: Any) -> Any:
    if isinstance(style, AsyncCalls):
        return style.run(llm.adecide(*arguments, **request))
    return llm.decide(*arguments, **request)


def token(text: str, probability: float, **others: float) -> dict[str, Any]:
    """A token with its alternatives, as in OpenAI's format."""
    both = {text: probability, **others}
    tops = [{"token": each, "logprob": math.log(value)} for each, value in both.items()]
    return {"token": text, "logprob": math.log(probability), "top_logprobs": tops}


BEFORE = [token('{"', 0.9), token("value", 0.9), token('":"', 0.9)]
AFTER = [token('"}', 1.0)]


def reply(answer: str, *tokens: dict[str, Any]) -> ModelReply:
    text = json.dumps({"value": answer}, separators=(",", ":"))
    metadata = {"logprobs": {"content": [*BEFORE, *tokens, *AFTER]}}
    return ModelReply((TextPart(text),), "stop", provider_metadata=metadata)  # type: ignore[arg-type]


def choice_probabilities(reply: ModelReply, chosen: str, names: list[str]) -> Any:
    masses = choice_masses(reply, chosen, names)
    return None if masses is None else masses.probabilities()


def test_choice_without_log_probabilities_has_none(call_style: CallStyle):
    decision = decide(call_style, scripted('{"value": "ham"}'), "Spam?", ["spam", "ham"])
    assert (decision.choice, decision.probability, decision.probabilities) == ("ham", None, None)
    assert decision.response.output == "ham"


def test_choices_and_descriptions_are_in_the_prompt(call_style: CallStyle):
    llm = scripted('{"value": "ham"}')
    decide(call_style, llm, "Spam?", {"spam": "unwanted advertising", "ham": "anything else"}, temperature=0)
    prompt = llm.calls[0].messages[0].text
    assert prompt.startswith("Spam?\n\nChoose one of:\n- spam: unwanted advertising\n- ham: anything else")
    assert llm.calls[0].sampling.temperature == 0
    assert llm.calls[0].output is not None


def test_member_of_an_enum_is_returned(call_style: CallStyle):
    assert decide(call_style, scripted('{"value": "angry"}'), "Mood?", Mood).choice is Mood.ANGRY


def test_probability_is_that_of_the_choices_tokens(call_style: CallStyle):
    llm = create_llm("scripted", replies=[reply("ham", token("ham", 0.6, spam=0.2, maybe=0.1))])
    decision = decide(call_style, llm, "Spam?", ["spam", "ham"])
    assert decision.choice == "ham"
    assert decision.probability == pytest.approx(0.75)
    assert decision.probabilities == pytest.approx({"spam": 0.25, "ham": 0.75})


def test_choices_that_begin_alike_differ_in_a_later_token():
    found = choice_probabilities(
        reply("not spam", token("not", 0.8, yes=0.2), token(" spam", 0.5, **{" sure": 0.5})),
        "not spam",
        ["yes", "not spam", "not sure"],
    )
    assert found == pytest.approx({"yes": 0.2, "not spam": 0.4, "not sure": 0.4})


def test_choice_that_another_one_begins_with_is_ended_by_the_quotation_mark():
    tokens = [token("no", 0.9, yes=0.1), token('"}', 0.75, t=0.25)]
    metadata = {"logprobs": {"content": [*BEFORE, *tokens]}}
    given = ModelReply((TextPart('{"value":"no"}'),), "stop", provider_metadata=metadata)  # type: ignore[arg-type]
    found = choice_probabilities(given, "no", ["yes", "no", "not"])
    assert found == pytest.approx({"yes": 0.1, "no": 0.675, "not": 0.225})


def test_token_with_the_quotation_mark_is_compared_with_such_tokens():
    tokens = [token('{"value":', 1.0), token(' "yes', 0.6, **{' "no': 0.3, " maybe": 0.1}), token('"}', 1.0)]
    given = ModelReply((), "stop", provider_metadata={"logprobs": tokens})  # type: ignore[arg-type]
    assert choice_probabilities(given, "yes", ["yes", "no"]) == pytest.approx({"yes": 2 / 3, "no": 1 / 3})


def test_log_probabilities_of_gemini_are_read():
    def candidate(text: str, probability: float) -> dict[str, Any]:
        return {"token": text, "logProbability": math.log(probability)}

    chosen = [candidate('{"value": "', 1.0), candidate("a", 0.8), candidate('"}', 1.0)]
    tops = [{"candidates": []}, {"candidates": [candidate("a", 0.8), candidate("b", 0.2)]}, {"candidates": []}]
    metadata = {"logprobsResult": {"chosenCandidates": chosen, "topCandidates": tops}}
    given = ModelReply((), "stop", provider_metadata=metadata)  # type: ignore[arg-type]
    assert choice_probabilities(given, "a", ["a", "b"]) == pytest.approx({"a": 0.8, "b": 0.2})


@pytest.mark.parametrize("logprobs", [[{"token_ids": [1], "logprobs": [-0.1]}], {"content": None}, 3, [1]])
def test_log_probabilities_of_another_form_are_none(logprobs: Any):
    given = ModelReply((TextPart('{"value":"a"}'),), "stop", provider_metadata={"logprobs": logprobs})
    assert choice_probabilities(given, "a", ["a", "b"]) is None


def test_log_probabilities_are_requested_where_the_provider_has_them(call_style, server, connect):
    server.script(completion('{"value": "a"}'))
    assert decide(call_style, connect(), "?", ["a", "b"]).probability is None
    assert server.requests[0].json["top_logprobs"] == 5
    server.script(completion('{"value": "a"}'))
    decision = decide(call_style, connect(facts={"refused": ["top_logprobs"]}), "?", ["a", "b"])
    assert "top_logprobs" not in server.requests[1].json
    assert not any("top_logprobs" in warning.path for warning in decision.response.warnings)


def test_choice_that_no_reported_token_leads_to_has_no_probability():
    found = choice_probabilities(reply("a", token("a", 0.6, b=0.2)), "a", ["a", "b", "c"])
    assert found == {}
    found = choice_probabilities(reply("a", token("a", 0.7, b=0.299)), "a", ["a", "b", "c"])
    assert found == pytest.approx({"a": 0.7, "b": 0.299, "c": 0.001})


def test_what_is_not_reported_is_no_choice_if_all_choices_are_reported():
    found = choice_probabilities(reply("a", token("a", 0.3, b=0.1)), "a", ["a", "b"])
    assert found == pytest.approx({"a": 0.75, "b": 0.25})


def test_token_that_several_choices_begin_with_is_given_to_none_of_them():
    found = choice_probabilities(reply("no", token("no", 0.7, may=0.3)), "no", ["no", "maybe", "mayor"])
    assert found == pytest.approx({"no": 0.7})


def test_decision_of_unknown_probability_has_none(call_style: CallStyle):
    llm = create_llm("scripted", replies=[reply("a", token("a", 0.3, b=0.2))])
    decision = decide(call_style, llm, "?", list("abcdefghij"))
    assert (decision.choice, decision.probability, decision.probabilities) == ("a", None, {})


@given(st.lists(st.floats(0.001, 1), min_size=3, max_size=12), st.integers(1, 12))
def test_given_probabilities_are_right_to_within_a_hundredth(weights: list[float], reported: int):
    names = [f"x{chr(97 + index)}" if index % 3 else f"{index}" for index in range(len(weights))]
    exact = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
    chosen = max(exact, key=exact.__getitem__)
    tops = dict(sorted(exact.items(), key=lambda each: -each[1])[:reported])
    made = reply(chosen, token(chosen, exact[chosen], **{name: p for name, p in tops.items() if name != chosen}))
    masses: Any = choice_masses(made, chosen, names)
    for name, probability in (masses.probabilities() or {}).items():
        assert probability == pytest.approx(exact[name], abs=0.0101)
    values = {name: index for index, name in enumerate(names)}
    mean = masses.mean(values)
    if mean is not None:
        real = sum(exact[name] * values[name] for name in names)
        assert mean == pytest.approx(real, abs=0.0101 * (len(names) - 1))


@pytest.mark.parametrize(
    ("provider", "most"),
    [
        ("openai", 20),
        ("openai-responses", 20),
        ("google", 20),
        ("ollama", 20),
        ("vllm", 20),
        ("deepseek", 20),
        ("together", 20),
        ("xai", 8),
        ("fireworks", 5),
        ("openai-compatible", 5),
    ],
)
def test_as_many_alternatives_are_requested_as_the_provider_accepts(provider: str, most: int):
    llm = create_llm(provider, model="m", api_key="k", base_url="http://localhost:1/v1")
    assert llm._most_alternatives(Literal["a", "b"], {}) == most


def test_alternatives_are_within_the_range_of_the_model():
    llm = create_llm("openai/m", api_key="k", facts={"ranges": {"top_logprobs": [0, 3]}})
    assert llm._most_alternatives(Literal["a", "b"], {}) == 3


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (["a"], "2 to 100 choices"),
        (["a", "a"], "same name"),
        ("ab", "expected a list"),
        ([1, 2], "expected texts"),
        ([str(number) for number in range(101)], "got 101"),
    ],
    ids=["one", "equal", "text", "numbers", "many"],
)
def test_invalid_choices_are_refused(choices: Any, message: str):
    with pytest.raises(InvalidInputError, match=message) as caught:
        scripted().decide("?", choices)
    assert caught.value.path == "choices"


@pytest.mark.parametrize(("reported", "mean"), [(0.99, 4.98), (0.9, None)])
def test_mean_is_given_if_what_is_not_reported_could_hardly_change_it(reported: float, mean: float | None):
    tokens = token("5", 0.5 * reported, **{"4": 0.4 * reported, "9": 0.1 * reported})
    score = create_llm("scripted", replies=[reply("5", tokens)]).score("?", 0, 9)
    assert score.mean == (None if mean is None else pytest.approx(mean, abs=0.09))


def test_score_has_the_mean_of_all_scores():
    llm = create_llm("scripted", replies=[reply("4", token("4", 0.5, **{"5": 0.25, "3": 0.25})), '{"value": "2"}'])
    first, second = llm.score("How good?", 1, 5), llm.score("How good?", 1, 5)
    assert (first.score, first.mean) == (4, pytest.approx(4.0))
    assert (second.score, second.mean) == (2, None)
    assert "from 1 (lowest) to 5 (highest)" in llm.calls[0].messages[0].text


@pytest.mark.parametrize(("low", "high"), [(5, 1), (1, 1), (0, 100), (0.5, 2), (True, 3)])
def test_invalid_bounds_are_refused(low: Any, high: Any):
    with pytest.raises(InvalidInputError):
        scripted().score("?", low, high)
