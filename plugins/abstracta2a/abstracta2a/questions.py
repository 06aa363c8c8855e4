"""What an agent asks of the user while a task waits, and the answer that continues the task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from a2a.types import Part, SendMessageRequest, TaskState

from abstractcore import InputRequired, InputResponse, Question, ToolFailed, canonical_json
from abstractcore.toolservers import cleaned

from .addresses import origin_of
from .requests import new_request
from .tasks import TaskView, data_of

KEY = "answer"
_FORM = {"type": "object", "properties": {KEY: {"type": "string"}}, "required": [KEY]}
_LONGEST_MESSAGE = 16_000
_LONGEST_URL = 4_000
_URL = re.compile(r"https?://[^\s<>\"'`)\]}]+")
_SIGNED_IN = "The user has signed in."


@dataclass(frozen=True, slots=True)
class Continuation:
    """The user's answer to a task that waits; `answer` is None for one that was declined.

    `asked` is the `TaskView.question_id` of the question. With `is_sign_in` the user was asked to sign in.
    """

    task_id: str
    context_id: str
    asked: str
    is_sign_in: bool
    answer: Mapping[str, Any] | None

    @classmethod
    def of(cls, given: InputResponse) -> Continuation:
        """Returns the continuation by the state of a suspended call and the user's answer; raises `ToolFailed` for
        another's.
        """
        state = cast("Mapping[str, Any]", given.state if isinstance(given.state, Mapping) else {})
        texts = [state.get(name) for name in ("taskId", "contextId", "asked")]
        if not all(isinstance(each, str) for each in texts):
            raise ToolFailed("the state of the suspended call is not one of an A2A agent")
        task_id, context_id, asked = cast("list[str]", texts)
        [answer] = given.answers
        return cls(task_id, context_id, asked, state.get("signIn") is True, answer)

    @property
    def is_declined(self) -> bool:
        """Whether the user declined to answer."""
        return self.answer is None

    def request(self, message_id: str) -> SendMessageRequest:
        """Returns the request that continues the task."""
        text = _SIGNED_IN if self.is_sign_in else str((self.answer or {}).get(KEY, ""))
        return new_request([Part(text=text)], message_id, context_id=self.context_id, task_id=self.task_id)


def input_required(view: TaskView, agent: str) -> InputRequired:
    """Returns the exception that suspends a call; raises `ToolFailed` for a sign-in without an address.

    Credentials are given on a page of the agent, not in messages
    (https://a2a-protocol.org/latest/specification/, "In-Task Authorization").
    """
    parts = view.said
    is_sign_in = view.status.state == TaskState.TASK_STATE_AUTH_REQUIRED
    text = cleaned("\n".join(_texts(parts))).strip()[:_LONGEST_MESSAGE]
    state = {"taskId": view.task_id, "contextId": view.context_id, "asked": view.question_id, "signIn": is_sign_in}
    if not is_sign_in:
        return InputRequired(Question(KEY, text or f"The agent {agent} asks for more.", _FORM), state=state)
    url = next(_urls(parts), None)
    if url is None:
        said = text.rstrip(".") or "it does not say how"
        problem = f"the agent {agent} requires a sign-in, and gives no address for it: {said}"
        raise ToolFailed(f"{problem}. Its caller can pass headers or auth")
    return InputRequired(Question(KEY, text or f"Sign in for the agent {agent}.", url=url), state=state)


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if part.HasField("text"):
            yield part.text
        elif part.HasField("data"):
            yield canonical_json(data_of(part))


def _urls(parts: Iterable[Part]) -> Iterator[str]:
    """Yields the http and https addresses of parts: those of their own first, then those in texts and data."""
    given = list(parts)
    candidates = [part.url for part in given if part.HasField("url")]
    for text in _texts(part for part in given if not part.HasField("url")):
        candidates += (each.rstrip(".,;:!?") for each in _URL.findall(text[:_LONGEST_MESSAGE]))
    for url in candidates:
        if len(url) <= _LONGEST_URL and url == cleaned(url) and origin_of(url) is not None:
            yield url
