"""`TaskView`: what an agent has reported about a task so far, or its message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from a2a.types import Artifact, Message, Part, Role, StreamResponse, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import Message as ProtobufMessage

from abstractcore import ToolFailed
from abstractcore.toolservers import cleaned, one_line, shown

FINAL = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
WAITING = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
_LONGEST_PROGRESS = 500


class TaskView:
    """A task, put together of events and answers; or the agent's message, where there is no task.

    The artifacts may have `longest` bytes. Raises `ToolFailed` for what is not of this task, or too long.
    """

    def __init__(self, agent: str, longest: int) -> None:
        self.task_id: str = ""
        self.context_id: str = ""
        self.status = TaskStatus()
        self.message: Message | None = None
        self.artifacts: dict[str, Artifact] = {}
        self._agent = agent
        self._longest = longest
        self._size = 0
        self._earlier: str | None = None
        self._latest: Iterable[Part] = ()
        self._may_be_replaced = False

    def continue_with(self, task_id: str, context_id: str, asked: str) -> None:
        """Begins with a task that waited for the user; `asked` is the `question_id` of that time.

        Some agents answer with a new task of the same conversation: it takes the place of this one.
        """
        self.task_id, self.context_id, self._earlier = task_id, context_id, asked
        self._may_be_replaced = True

    @property
    def question_id(self) -> str:
        """Tells apart the times that a task waits for the user."""
        status = self.status
        return f"{status.state} {status.timestamp.ToJsonString()} {status.message.message_id}"

    @property
    def is_waiting(self) -> bool:
        """Whether the agent waits for the user."""
        return self.message is None and self.status.state in WAITING and not self.is_as_before

    @property
    def is_as_before(self) -> bool:
        """Whether the task still shows the question that the user has answered."""
        return self._earlier is not None and self.question_id == self._earlier

    def forget_earlier(self) -> None:
        """Takes the question that was answered as asked again."""
        self._earlier = None

    @property
    def has_no_answer(self) -> bool:
        """Whether a task has completed, or waits for the user, and nothing is known of its result, or its question."""
        has_answered = self.status.state == TaskState.TASK_STATE_COMPLETED or self.is_waiting
        return has_answered and not self.artifacts and not self.said

    @property
    def said(self) -> list[Part]:
        """What the agent says: its message, that of the status, or else its last one in the history of the task."""
        if self.message is not None:
            return list(self.message.parts)
        return list(self.status.message.parts or ([] if self.artifacts else self._latest))

    @property
    def is_settled(self) -> bool:
        """Whether the agent has answered, or waits for the user."""
        return self.message is not None or self.status.state in FINAL or self.is_waiting

    def add(self, event: StreamResponse) -> str | None:
        """Adds an event, and returns what it says about progress."""
        kind = event.WhichOneof("payload")
        if kind == "task":
            return self.add_task(event.task)
        if kind == "message":
            self.message = event.message
            self.context_id = event.message.context_id or self.context_id
            return None
        if kind == "status_update":
            self._check_id(event.status_update.task_id)
            self.context_id = event.status_update.context_id or self.context_id
            return self._set_status(event.status_update.status)
        if kind == "artifact_update":
            update = event.artifact_update
            self._check_id(update.task_id)
            return self._add_artifact(update.artifact, append=update.append)
        return None  # an event of a later version of the protocol

    def add_task(self, task: Task) -> str | None:
        """Replaces what is known by a task as the agent has it now, and returns what it says about progress."""
        if not task.id:
            raise ToolFailed(f"the agent {self._agent} sent a task without an id")
        if self._may_be_replaced and task.id != self.task_id and self.context_id and self.context_id == task.context_id:
            self.task_id, self._earlier = task.id, None
        self._check_id(task.id)
        self._may_be_replaced = False
        self.context_id = task.context_id or self.context_id
        self.artifacts.clear()
        self._size = 0
        for artifact in task.artifacts:
            self._add_artifact(artifact, append=False)
        self._latest = next((each.parts for each in reversed(task.history) if each.role == Role.ROLE_AGENT), ())
        return self._set_status(task.status)

    def _set_status(self, status: TaskStatus) -> str | None:
        if status.state == TaskState.TASK_STATE_UNSPECIFIED or status.state not in TaskState.values():
            raise ToolFailed(f"the agent {self._agent} sent a task in no known state")
        self.status = status
        return text_of(status.message.parts) or TaskState.Name(status.state).removeprefix("TASK_STATE_").lower()

    def _add_artifact(self, artifact: Artifact, *, append: bool) -> str:
        known = self.artifacts.get(artifact.artifact_id)
        self._size += artifact.ByteSize()
        if append and known is not None:
            known.parts.extend(artifact.parts)
        else:
            self._size -= 0 if known is None else known.ByteSize()
            self.artifacts[artifact.artifact_id] = artifact
        if self._size > self._longest:
            raise ToolFailed(f"the agent {self._agent} sent artifacts of more than {self._longest:,} bytes")
        return f"artifact {cleaned(artifact.name)[:_LONGEST_PROGRESS]}".strip()

    def _check_id(self, task_id: str) -> None:
        if self.task_id and task_id and task_id != self.task_id:
            raise ToolFailed(f"the agent {self._agent} answered for another task, {shown(task_id)}")
        self.task_id = self.task_id or task_id


def text_of(parts: Iterable[Part]) -> str:
    """Returns the beginning of the texts of parts, without invisible characters."""
    return cleaned("\n".join(part.text[:_LONGEST_PROGRESS] for part in parts if part.HasField("text")))[
        :_LONGEST_PROGRESS
    ]


def data_of(part: Part) -> Any:
    """Returns the structured value of a part; raises `ToolFailed` for what JSON cannot hold."""
    return json_of(part.data)


def json_of(message: ProtobufMessage) -> Any:
    """Returns a message of the SDK as JSON; raises `ToolFailed` for what JSON cannot hold.

    The SDK holds all numbers as floats: whole ones are integers again.
    """
    try:
        return _with_integers(MessageToDict(message))
    except (SerializeToJsonError, ValueError, RecursionError) as error:
        raise ToolFailed(f"the agent sent data that JSON cannot hold: {one_line(str(error))}") from None


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in cast("list[Any]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value
