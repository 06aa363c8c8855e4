"""`output_retries` and `output_check`: corrections, attempts, what is not asked for again; in all four ways."""

import threading
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationInfo

from abstractcore import (
    InvalidInputError,
    ModelReply,
    OutputValidationError,
    OverloadedError,
    Price,
    RequestTimeoutError,
    TextPart,
    ToolRetry,
    Usage,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.engine.output_rounds import correction_of
from abstractcore.testing import ScriptedReply
from tests.core.tools.loops import Way, scripted


class City(BaseModel):
    name: str
    people: int


@tool(read_only=True)
def look() -> str:
    """Looks."""
    return "seen"


VALID = '{"name": "Bern", "people": 134000}'
WRONG = '{"name": 3, "people": "many"}'


def test_invalid_answer_is_corrected_once_by_default(way: Way):
    llm = scripted(WRONG, VALID)
    response = way.generate(llm, response_model=City)
    assert response.output == City(name="Bern", people=134000)
    (attempt,) = response.output_attempts
    assert (attempt.round, attempt.text) == (0, WRONG)
    assert [message.role for message in llm.calls[1].messages] == ["user", "assistant", "user"]
    assert llm.calls[1].messages[-1].text == attempt.correction
    assert len(response.steps) == 2
    assert llm.calls[1].parent_id == response.trace_id


def test_correction_names_every_problem_with_path_and_value(way: Way):
    llm = scripted(WRONG, VALID)
    way.generate(llm, response_model=City)
    correction = llm.calls[1].messages[-1].text
    assert "- name: Input should be a valid string, got 3" in correction
    assert "- people: Input should be a valid integer" in correction
    assert "got 'many'" in correction
    assert "errors.pydantic.dev" not in correction


def test_correction_is_bounded_whatever_the_answer(way: Way):
    items = ", ".join([f'"{"x" * 500}"'] * 500)
    llm = scripted(f"[{items}]", "[1]")
    way.generate(llm, response_model=list[int])
    correction = llm.calls[1].messages[-1].text
    assert len(correction) < 5000
    assert "and 480 more problems" in correction
    error = OutputValidationError("invalid")
    error.problems = ("p" * 390,) * 20
    assert len(correction_of(error)) < 4300


def test_last_error_has_every_attempt(way: Way):
    llm = scripted(WRONG, "no", '{"name": "Ulm"}')
    with pytest.raises(OutputValidationError, match="people: Field required") as caught:
        way.generate(llm, response_model=City, output_retries=2)
    attempts = caught.value.output_attempts
    assert [each.text for each in attempts] == [WRONG, "no", '{"name": "Ulm"}']
    assert [bool(each.correction) for each in attempts] == [True, True, False]
    assert all(each.usage.output is not None for each in attempts)
    assert caught.value.problems == ("people: Field required",)
    assert caught.value.partial is not None


def test_without_retries_the_first_invalid_answer_is_an_error(way: Way):
    llm = scripted(WRONG, VALID)
    with pytest.raises(OutputValidationError):
        way.generate(llm, response_model=City, output_retries=0)
    assert len(llm.calls) == 1


@pytest.mark.parametrize(
    ("reason", "message"),
    [("length", "truncated at max_output_tokens"), ("content_filter", "content filter"), ("refusal", "refused")],
)
def test_answer_that_would_end_in_the_same_way_is_not_asked_for_again(way: Way, reason: Any, message: str):
    llm = create_llm("scripted", replies=[ModelReply((TextPart('{"name": "Be'),), reason), VALID])
    with pytest.raises(OutputValidationError, match=message) as caught:
        way.generate(llm, response_model=City)
    assert len(llm.calls) == 1
    assert len(caught.value.output_attempts) == 1


def test_usage_and_cost_are_those_of_all_attempts(way: Way):
    replies = [ScriptedReply.text(WRONG, usage=Usage(100, 10)), ScriptedReply.text(VALID, usage=Usage(200, 20))]
    llm = create_llm("scripted", replies=replies, price=Price(input=1, output=10))
    response = way.generate(llm, response_model=City)
    assert (response.usage.input, response.usage.output) == (300, 30)
    assert response.cost == Decimal("0.0006")
    assert response.output_attempts[0].usage == Usage(100, 10)


def test_single_round_is_the_response_itself(way: Way):
    llm = scripted(VALID)
    response = way.generate(llm, response_model=City)
    assert (response.output_attempts, len(response.steps), response.loop) == ((), 1, None)
    assert llm.calls[0].parent_id is None


def test_response_with_attempts_survives_json():
    response = scripted(WRONG, VALID).generate("hi", response_model=City)
    read = from_json(to_json(response))
    assert read.output_attempts == response.output_attempts


@pytest.mark.parametrize("kind", ["value", "retry", "message", "async"])
def test_output_check_asks_for_a_correction(way: Way, kind: str):
    def check(city: City) -> str | None:
        if city.people > 0:
            return None
        if kind == "value":
            raise ValueError("people must be positive")
        if kind == "retry":
            raise ToolRetry("people must be positive")
        return "people must be positive"

    async def check_later(city: City) -> str | None:
        return check(city)

    llm = scripted('{"name": "Bern", "people": 0}', VALID)
    response = way.generate(llm, response_model=City, output_check=check_later if kind == "async" else check)
    assert response.output.people == 134000
    assert "- people must be positive" in llm.calls[1].messages[-1].text


def test_output_that_never_passes_its_check_is_an_error(way: Way):
    llm = scripted(VALID, VALID)
    with pytest.raises(OutputValidationError, match="not in France") as caught:
        way.generate(llm, response_model=City, output_check=lambda city: "not in France")
    assert len(caught.value.output_attempts) == 2
    assert caught.value.provider == "scripted"


def test_exception_of_a_check_is_the_cause_of_our_error(way: Way):
    def check(city: City) -> None:
        raise KeyError("atlas")

    llm = scripted(VALID, VALID)
    with pytest.raises(OutputValidationError, match="output_check raised KeyError") as caught:
        way.generate(llm, response_model=City, output_check=check)
    assert isinstance(caught.value.__cause__, KeyError)
    assert len(llm.calls) == 1


def test_validators_see_the_validation_context(way: Way):
    def known(name: str, info: ValidationInfo) -> str:
        assert info.context is not None
        if name not in info.context["cities"]:
            raise ValueError(f"choose one of {sorted(info.context['cities'])}")
        return name

    kind = list[Annotated[str, AfterValidator(known)]]
    llm = scripted('["Ulm"]', '["Bern"]')
    response = way.generate(llm, response_model=kind, validation_context={"cities": {"Bern", "Basel"}})
    assert response.output == ["Bern"]
    assert "choose one of ['Basel', 'Bern']" in llm.calls[1].messages[-1].text


@pytest.mark.parametrize(("name", "value"), [("output_check", print), ("validation_context", {})])
def test_options_of_an_output_need_one(name: str, value: Any):
    with pytest.raises(InvalidInputError, match="without response_model") as caught:
        scripted().generate("hi", **{name: value})
    assert caught.value.path == name


def test_time_limit_of_the_call_is_no_failure_of_its_check(way: Way):
    ended = threading.Event()
    try:
        with pytest.raises(RequestTimeoutError):
            way.generate(
                scripted(VALID), response_model=City, output_check=lambda city: str(ended.wait(30)), timeout=0.1
            )
    finally:
        ended.set()


def test_check_that_is_no_function_is_refused():
    with pytest.raises(InvalidInputError, match="expected a function"):
        scripted().generate("hi", response_model=City, output_check="people > 0")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="returned False"):
        scripted(VALID).generate("hi", response_model=City, output_check=lambda city: False)


def test_deltas_of_all_attempts_are_streamed(streamed_way: Way):
    llm = scripted(WRONG, VALID)
    streamed_way.generate(llm, response_model=City)
    texts = "".join(getattr(event, "text", "") for event in streamed_way.events)
    assert texts == WRONG + VALID


def test_constraint_of_a_field_is_in_the_correction(way: Way):
    class Rating(BaseModel):
        stars: Annotated[int, Field(ge=1, le=5)]

    llm = scripted('{"stars": 9}', '{"stars": 5}')
    assert way.generate(llm, response_model=Rating).output.stars == 5
    assert "stars: Input should be less than or equal to 5, got 9" in llm.calls[1].messages[-1].text


PAID = [
    ScriptedReply.text(WRONG, usage=Usage(100, 10)),
    ScriptedReply.text('{"name": 4}', usage=Usage(200, 20)),
    ScriptedReply.text('{"name": 5}', usage=Usage(400, 40)),
]


def paid(*replies: Any) -> Any:
    return create_llm("scripted", replies=list(replies), price=Price(input=1, output=10), max_retries=0)


def test_error_between_attempts_has_the_earlier_ones_with_their_usage_and_cost(way: Way):
    llm = paid(*PAID[:2], OverloadedError("busy"))
    with pytest.raises(OverloadedError) as caught:
        way.generate(llm, response_model=City, output_retries=5)
    error = caught.value
    assert [each.text for each in error.output_attempts] == [WRONG, '{"name": 4}']
    assert [each.error for each in error.attempts] == [None, None, "OverloadedError"]
    assert error.loop is not None
    assert (error.loop.status, error.loop.usage) == ("failed", Usage(300, 30))
    assert error.loop.cost == Decimal("0.0006")


def test_typed_answer_that_an_error_interrupted_is_continued(way: Way):
    llm = paid(PAID[0], OverloadedError("busy"), VALID)
    with pytest.raises(OverloadedError) as caught:
        way.generate(llm, response_model=City)
    assert caught.value.loop is not None
    response = way.resume(llm, caught.value.loop, response_model=City)
    assert response.output == City(name="Bern", people=134000)
    assert [each.text for each in response.output_attempts] == [WRONG]
    assert response.usage.input > 100


def test_last_invalid_answer_is_in_the_usage_and_cost_of_its_error(way: Way):
    with pytest.raises(OutputValidationError) as caught:
        way.generate(paid(*PAID), response_model=City, output_retries=2)
    error = caught.value
    assert error.loop is not None
    assert (error.loop.usage, error.loop.cost) == (Usage(700, 70), Decimal("0.0014"))
    assert error.response is not None
    assert (error.response.content, error.response.cost) == ('{"name": 5}', Decimal("0.0008"))
    assert len(error.attempts) == 3


def test_answer_that_a_check_refuses_is_in_the_usage_of_its_error(way: Way):
    replies = [ScriptedReply.text(VALID, usage=Usage(100, 10)), ScriptedReply.text(VALID, usage=Usage(200, 20))]
    with pytest.raises(OutputValidationError) as caught:
        way.generate(paid(*replies), response_model=City, output_check=lambda city: "too small")
    error = caught.value
    assert error.loop is not None
    assert (error.loop.usage, error.loop.cost, len(error.attempts)) == (Usage(300, 30), Decimal("0.0006"), 2)


def test_first_invalid_answer_has_its_response(way: Way):
    with pytest.raises(OutputValidationError) as caught:
        way.generate(paid(*PAID), response_model=City, output_retries=0)
    error = caught.value
    assert (error.loop, error.response is not None and error.response.cost) == (None, Decimal("0.0002"))


def test_error_of_the_first_answer_has_no_attempts(way: Way):
    with pytest.raises(OverloadedError) as caught:
        way.generate(paid(OverloadedError("busy")), response_model=City)
    assert (caught.value.output_attempts, caught.value.loop, len(caught.value.attempts)) == ((), None, 1)


def test_error_in_a_loop_has_the_attempts_usage_and_cost_of_earlier_rounds(way: Way):
    called = ScriptedReply.tool_call("look", {}, usage=Usage(100, 10))
    llm = paid(called, PAID[1], OverloadedError("busy"))
    with pytest.raises(OverloadedError) as caught:
        way.generate(llm, response_model=City, tools=[look], run_tools=True)
    error = caught.value
    assert error.loop is not None
    assert (error.loop.usage, error.loop.cost) == (Usage(300, 30), Decimal("0.0006"))
    assert ([step.call.name for step in error.loop.steps], len(error.attempts)) == (["look"], 3)
    assert [each.text for each in error.output_attempts] == ['{"name": 4}']
