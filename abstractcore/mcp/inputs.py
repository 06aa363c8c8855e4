"""What a server asks of the user, as `Question`s, and the answers as the protocol has them.

`RunningCalls`: the calls that run on a connection, and which of them a question of the server is of.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp_types import CreateMessageResult, ElicitResult

from ..errors import InputRequired, ToolFailed
from ..outputs import canonical_json
from ..schema import InputResponse, JSONObject, Question

if TYPE_CHECKING:
    from mcp_types import CreateMessageResult, ElicitRequestParams, InputRequiredResult, InputResponses

STATE_KEY = "requestState"
_SAMPLED_KEY = "sampled"
_ANSWERED_KEY = "answered"


def question_of(key: str, params: ElicitRequestParams) -> Question:
    """Returns the question of an elicitation, which asks for a form to be filled in, or for a page to be visited."""
    if params.mode == "url":
        return Question(key, params.message, url=params.url)
    return Question(key, params.message, params.requested_schema)


def input_required(
    result: InputRequiredResult, sampled: Mapping[str, CreateMessageResult] | None = None
) -> InputRequired:
    """Returns the exception that suspends a call; its state keeps what the model has answered (`sampled`) by key.

    Raises `ToolFailed` for requests that this client does not take.
    """
    questions: list[Question] = []
    for key, request in (result.input_requests or {}).items():
        if sampled and key in sampled:
            continue
        if request.method != "elicitation/create":
            raise ToolFailed(f"the server asks for {request.method}, which is not offered to it")
        questions.append(question_of(key, request.params))
    state: dict[str, Any] = {STATE_KEY: result.request_state}
    if sampled:
        dumped = {key: each.model_dump(mode="json", by_alias=True, exclude_none=True) for key, each in sampled.items()}
        state[_SAMPLED_KEY] = dumped
    return InputRequired(*questions, state=state)


def responses_of(given: InputResponse) -> InputResponses:
    """Returns the answers of the user, and those of the model, by the keys of the server."""
    sampled = cast("JSONObject", _state(given).get(_SAMPLED_KEY, {}))
    answers: InputResponses = {
        key: CreateMessageResult.model_validate_json(canonical_json(each)) for key, each in sampled.items()
    }
    return {**answers, **{question.key: _elicit_result(question, answer) for question, answer in _answered(given)}}


def is_of_result(given: InputResponse) -> bool:
    """Returns whether the questions were the result of a call, whose answers are sent with the next one."""
    return STATE_KEY in _state(given)


def request_state_of(given: InputResponse) -> str | None:
    """Returns the server's state of a suspended call, as it gave it."""
    return _state(given).get(STATE_KEY)


class CallAnswers:
    """The user's answers to the questions of a server while a call runs, and the questions that have none.

    The call is made again after each answer: the server asks the earlier questions again, in the same order.
    """

    def __init__(self, given: InputResponse | None) -> None:
        self.questions: list[Question] = []
        self._answered: list[tuple[Question, JSONObject | None]] = []
        if given is not None and not is_of_result(given):
            earlier = cast("list[Mapping[str, Any]]", _state(given).get(_ANSWERED_KEY, ()))
            self._answered = [(Question(**each["question"]), each["answer"]) for each in earlier] + _answered(given)
        self._unused = list(self._answered)

    def answer(self, params: ElicitRequestParams) -> ElicitResult:
        """Returns the user's next answer to the question; without one notes the question, and dismisses it."""

        for index, (question, answer) in enumerate(self._unused):
            if question_of(question.key, params) == question:
                del self._unused[index]
                return _elicit_result(question, answer)
        self.questions.append(question_of(f"question_{len(self.questions) + 1}", params))
        return ElicitResult(action="cancel")

    def required(self) -> InputRequired:
        """Returns the exception that suspends the call."""
        answered = [
            {
                "question": {"key": each.key, "message": each.message, "schema": each.schema, "url": each.url},
                "answer": answer,
            }
            for each, answer in self._answered
        ]
        return InputRequired(*self.questions, state={_ANSWERED_KEY: answered} if answered else None)


def _state(given: InputResponse) -> Mapping[str, Any]:
    return cast("Mapping[str, Any] | None", given.state) or {}


def _answered(given: InputResponse) -> list[tuple[Question, JSONObject | None]]:
    return list(zip(given.request.questions, given.answers, strict=True))


def _elicit_result(question: Question, answer: JSONObject | None) -> ElicitResult:
    """Returns the answer to an elicitation; None declines it. Only that to a form has content."""

    if answer is None:
        return ElicitResult(action="decline")
    return ElicitResult(
        action="accept", content=None if question.url is not None else cast("dict[str, Any]", dict(answer))
    )


class RunningCalls:
    """The calls that run on one connection. Servers before revision 2026-07-28 do not say which a question is of."""

    def __init__(self) -> None:
        self._running: list[CallAnswers] = []
        self._asking = 0
        self._is_exclusive = False
        self._changed = anyio.Event()

    def __bool__(self) -> bool:
        """Returns whether any call runs."""
        return bool(self._running)

    @asynccontextmanager
    async def with_others(self, running: CallAnswers, *, is_exclusive: bool) -> AsyncGenerator[None]:
        """Notes a call while it runs. An exclusive one runs beside no other: the user's answers to its questions must
        not answer those of another call.
        """
        while self._is_exclusive or (is_exclusive and self._running):
            await self._changed.wait()
        self._is_exclusive = is_exclusive
        self._running.append(running)
        try:
            yield
        finally:
            self._running.remove(running)
            self._is_exclusive = False
            self._notify_changed()

    async def answer(self, params: ElicitRequestParams) -> ElicitResult:
        """Answers a question that a server asks while a call runs.

        The call is suspended, and made again with the answer: the server learns that the question was dismissed. The
        question may be of any call that has none yet: it waits until the others have ended, or ask too.
        """
        self._asking += 1
        self._notify_changed()
        try:
            while len(self._without_questions()) > self._asking:
                await self._changed.wait()
            asking = self._without_questions() or self._running
            return asking[0].answer(params) if asking else ElicitResult(action="cancel")
        finally:
            self._asking -= 1
            self._notify_changed()

    def _without_questions(self) -> list[CallAnswers]:
        return [each for each in self._running if not each.questions]

    def _notify_changed(self) -> None:
        """Wakes all who wait for a change of the running calls and their questions."""
        self._changed.set()
        self._changed = anyio.Event()
