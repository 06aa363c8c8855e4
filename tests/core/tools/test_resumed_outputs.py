"""Typed answers of loops that are continued: as those of `generate`, in all four ways of a call."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationInfo, field_validator

from abstractcore import (
    InvalidInputError,
    Message,
    OutputValidationError,
    SchemaError,
    Suspend,
    ToolLoop,
    ToolPolicy,
    UnknownOptionError,
    create_llm,
    from_json,
    to_json,
    tool,
)
from tests.core.tools.loops import Way, calls, scripted

PRIMES = {"type": "array", "items": {"type": "integer"}}


@tool
def look() -> str:
    """Looks."""
    return "seen"


class Seat(BaseModel):
    row: int

    @field_validator("row")
    @classmethod
    def is_free(cls, row: int, info: ValidationInfo) -> int:
        if row not in info.context:
            raise ValueError(f"row {row} is taken")
        return row


def suspended(way: Way, response_model: Any = None, **request: Any) -> ToolLoop:
    """Returns the state of a loop in which `look` waits, as another process reads it."""
    policy = ToolPolicy(approve=lambda pending: Suspend())
    llm = scripted(calls(("look", {})))
    loop = way.generate(llm, tools=[look], run_tools=policy, response_model=response_model, **request).loop
    read = from_json(to_json(loop))
    assert isinstance(read, ToolLoop)
    return read


def resumed(way: Way, loop: ToolLoop, *answers: str, **request: Any) -> Any:
    waiting = [pending.allow() for pending in loop.pending]
    return way.resume(scripted(*answers), loop, waiting, tools=[look], **request)


def test_json_schema_is_the_type_of_a_resumed_answer(way: Way):
    response = resumed(way, suspended(way, PRIMES), '["two"]', "[2, 3]", response_model=PRIMES)
    assert response.output == [2, 3]
    assert len(response.output_attempts) == 1


def test_output_check_and_validation_context_are_used_by_a_resumed_loop(way: Way):
    def check(seat: Seat) -> str | None:
        return "not by the window" if seat.row == 2 else None

    given: Any = {"response_model": Seat, "validation_context": {2, 3}}
    loop = suspended(way, **given)
    answers = ('{"row": 1}', '{"row": 2}', '{"row": 3}')
    response = resumed(way, loop, *answers, output_check=check, output_retries=2, **given)
    assert response.output == Seat.model_construct(row=3)
    assert ["taken" in response.output_attempts[0].problem, "window" in response.output_attempts[1].problem] == [
        True
    ] * 2


def test_async_output_check_is_awaited_by_a_resumed_loop(way: Way):
    async def check(numbers: list[int]) -> bool:
        return True

    assert resumed(way, suspended(way, list[int]), "[2]", response_model=list[int], output_check=check).output == [2]


def test_resumed_loop_asks_again_as_often_as_its_llm_says(way: Way):
    loop = suspended(way, int)
    llm = create_llm("scripted", replies=["a", "b", "3"], output_retries=2)
    answers = [pending.allow() for pending in loop.pending]
    assert way.resume(llm, loop, answers, tools=[look], response_model=int).output == 3
    with pytest.raises(OutputValidationError):
        resumed(way, loop, "a", "3", response_model=int, output_retries=0)


def test_response_model_of_a_loop_begun_without_one_is_refused(way: Way):
    with pytest.raises(InvalidInputError, match="begun without response_model") as caught:
        resumed(way, suspended(way), "3", response_model=int)
    assert caught.value.path == "response_model"


def test_changed_type_of_the_answer_is_a_warning(way: Way):
    response = resumed(way, suspended(way, list[int]), '["a"]', response_model=list[str])
    assert response.output == ["a"]
    assert [warning.code for warning in response.warnings] == ["output_changed"]
    same = resumed(way, suspended(way, list[int]), "[1]", response_model=list[int])
    assert not same.warnings


@pytest.mark.parametrize("given", [{"output_check": len}, {"validation_context": 1}], ids=str)
def test_options_of_the_output_need_a_response_model(way: Way, given: dict[str, Any]):
    with pytest.raises(InvalidInputError, match="without response_model"):
        resumed(way, suspended(way, int), "3", **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"output_chek": len}, "resume has no option 'output_chek'. Did you mean output_check?"),
        ({"tool": []}, "resume has no option 'tool'. Here it is named tools: tools=..."),
        ({"temperature": 1}, "The loop keeps that of its first call: llm.generate(..., temperature=...)."),
        ({"messages": []}, "The loop keeps that of its first call: llm.generate(..., messages=...)."),
        ({"max_round": 3}, "Did you mean run_tools=ToolPolicy(max_rounds=...)?"),
        ({"max_rounds": 3}, "It is a field of ToolPolicy: run_tools=ToolPolicy(max_rounds=...)."),
        ({"headers": {}}, "It is an option of create_llm: create_llm(..., headers=...)."),
        ({"qqq": 1}, "help(llm.resume) lists the options."),
    ],
    ids=str,
)
def test_unknown_options_of_resume_hint_at_what_to_write(given: dict[str, Any], message: str):
    loop = suspended_once()
    with pytest.raises(UnknownOptionError) as caught:
        scripted("3").resume(loop, tools=[look], **given)
    assert message in str(caught.value)


def suspended_once() -> ToolLoop:
    with Way.of("sync-whole") as way:
        return suspended(way)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"stream": "yes"}, "stream"),
        ({"timeout": "3"}, "timeout"),
        ({"timeout": -1}, "timeout"),
        ({"output_retries": "3"}, "output_retries"),
        ({"response_model": int, "output_check": 3}, "output_check"),
        ({"tools": look}, "tools"),
        ({"run_tools": 5}, "run_tools"),
    ],
    ids=str,
)
def test_invalid_values_of_resume_have_their_path(given: dict[str, Any], path: str):
    with Way.of("sync-whole") as way:
        loop = suspended(way, int)
    with pytest.raises(InvalidInputError) as caught:
        scripted("3").resume(loop, **given)
    assert caught.value.path == path


def test_misspelt_field_of_a_policy_is_found_among_the_options_of_a_call():
    with pytest.raises(UnknownOptionError, match=r"Did you mean run_tools=ToolPolicy\(max_rounds=\.\.\.\)\?"):
        scripted("3").generate("x", run_tools=True, max_round=3)  # type: ignore[call-arg]


def test_response_is_continued_as_its_loop_is(way: Way):
    policy = ToolPolicy(approve=lambda pending: Suspend())
    response = way.generate(scripted(calls(("look", {}))), tools=[look], run_tools=policy)
    assert response.loop is not None
    assert response.pending == response.loop.pending != ()
    answers = [pending.allow() for pending in response.pending]
    done = way.resume(scripted("Done."), response, answers, tools=[look], run_tools=policy)
    assert (done.content, done.pending) == ("Done.", ())


def test_response_without_a_loop_cannot_be_resumed(way: Way):
    response = way.generate(scripted("Hello."))
    assert response.pending == ()
    for given in (response, response.loop):
        with pytest.raises(
            InvalidInputError, match="expected a ToolLoop, got that of a call without run_tools"
        ) as caught:
            way.resume(scripted("-"), given)
        assert caught.value.path == "loop"


def test_state_of_another_class_names_both():
    with pytest.raises(SchemaError, match="expected a ToolLoop, got a Message"):
        from_json(to_json(Message.user("hi")), ToolLoop)
