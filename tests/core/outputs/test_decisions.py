"""`llm.decide` and `llm.score`: the choice, and its probability from the log probabilities of the answer's tokens."""

import json
import math
from enum import Enum
from typing import Any

import pytest

from abstractcore import InvalidInputError, ModelReply, TextPart, create_llm
from abstractcore.outputs.token_probabilities import choice_probabilities
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
