"""What a server asks of the user, as `Question`s, and the answers as the protocol has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ..errors import InputRequired, ToolFailed
from ..schema import InputResponse, JSONObject, Question

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult, InputRequiredResult, InputResponses

STATE_KEY = "requestState"


def question_of(key: str, params: ElicitRequestParams) -> Question:
    """Returns the question of an elicitation, which asks for a form to be filled in, or for a page to be visited."""
    if params.mode == "url":
        return Question(key, params.message, url=params.url)
    return Question(key, params.message, params.requested_schema)


def input_required(result: InputRequiredResult) -> InputRequired:
    """Returns the exception that suspends a call; raises `ToolFailed` for requests that this client does not take."""
    questions: list[Question] = []
    for key, request in (result.input_requests or {}).items():
        if request.method != "elicitation/create":
            raise ToolFailed(f"the server asks for {request.method}, which is not offered to it")
        questions.append(question_of(key, request.params))
    return InputRequired(*questions, state={STATE_KEY: result.request_state})


def responses_of(given: InputResponse) -> InputResponses:
    """Returns the user's answers by the keys of the server."""
    return {
        question.key: elicited(answer) for question, answer in zip(given.request.questions, given.answers, strict=True)
    }


def request_state_of(given: InputResponse) -> str | None:
    """Returns the server's state of a suspended call, as it gave it."""
    state = cast("Mapping[str, Any] | None", given.state)
    return None if state is None else state.get(STATE_KEY)


def elicited(answer: JSONObject | None) -> ElicitResult:
    """Returns the answer to an elicitation; None declines it."""
    from mcp_types import ElicitResult

    if answer is None:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=cast("dict[str, Any]", dict(answer)) or None)
