"""The answer of an agent as content for the model and data for the caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from a2a.types import Artifact, Part, TaskState

from abstractcore import Blob, ContentPart, TextPart, ToolOutput, ToolResult, canonical_json
from abstractcore.schema import MEDIA_PART_BY_KIND, media_kind_of
from abstractcore.toolservers import cleaned_name

from .addresses import origin_of
from .cards import CONTEXT_ID
from .tasks import TaskView, data_of, json_of

_BINARY_TYPE = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9.+_-]{1,100}/[A-Za-z0-9.+_-]{1,100}(; ?[ -~]{1,200})?")
_ADDRESS = re.compile(r"[!-~]{1,4000}")
_LONGEST_ID = 200
_ENDINGS = {
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_REJECTED: "was rejected",
    TaskState.TASK_STATE_CANCELED: "was cancelled",
}


def output_of(view: TaskView, agent: str, call_id: str) -> ToolOutput:
    """Returns the content that the model reads of an answer, and the rest as data.

    The model reads the agent's message, or the last status of the task and then its artifacts, and the id that
    continues the conversation. A task that did not complete is an error result. `data` has `contextId`, and for tasks
    `taskId`, `state` and `artifacts`; `data`, the list of structured values in the order of the content, only if there
    are some.
    """
    ending = _ENDINGS.get(view.status.state) if view.message is None else None
    said = view.said
    artifacts = list(view.artifacts.values())
    if artifacts and all(part.HasField("text") for part in said) and _texts(said) == _texts(_parts(artifacts)):
        said = []  # agents say their answer twice
    parts: list[ContentPart] = []
    if ending is not None:
        parts.append(TextPart(f"The task of the agent {agent} {ending}."))
    parts += _content(said)
    for artifact in artifacts:
        if len(artifacts) > 1 and (title := _title(artifact)):
            parts.append(TextPart(f"[{title}]"))
        parts += _content(artifact.parts)
    if not parts:
        parts.append(TextPart("The agent completed the task without a result."))
    if _is_shown(view.context_id):
        parts.append(TextPart(f"[{CONTEXT_ID}: {view.context_id}]"))
    return ToolOutput(ToolResult(call_id, tuple(_in_lines(parts)), is_error=ending is not None), _data(view, said))


def _data(view: TaskView, said: Iterable[Part]) -> dict[str, Any]:
    data: dict[str, Any] = {"contextId": view.context_id} if view.context_id else {}
    all_parts = [*said, *_parts(view.artifacts.values())]
    if view.message is None:
        data["taskId"] = view.task_id
        data["state"] = TaskState.Name(view.status.state).removeprefix("TASK_STATE_").lower()
        data["artifacts"] = [
            {key: value for key, value in json_of(each).items() if key != "parts"} for each in view.artifacts.values()
        ]
    values = [data_of(part) for part in all_parts if part.HasField("data")]
    if values:
        data["data"] = values
    return data


def _content(parts: Iterable[Part]) -> Iterator[ContentPart]:
    for part in parts:
        if part.HasField("text"):
            if part.text:
                yield TextPart(part.text)
        elif part.HasField("data"):
            yield TextPart(canonical_json(data_of(part)))
        elif part.HasField("raw") or part.HasField("url"):
            yield _file(part)


def _file(part: Part) -> ContentPart:
    """Returns a file of bytes or an http address; a line of text for another address."""
    name = cleaned_name(part.filename[:_LONGEST_ID]) or None
    media_type = part.media_type if _MEDIA_TYPE.fullmatch(part.media_type) else _BINARY_TYPE
    if part.HasField("raw"):
        blob = Blob.from_bytes(part.raw, media_type, name=name)
    elif _ADDRESS.fullmatch(part.url) and origin_of(part.url) is not None:
        blob = Blob.from_url(part.url, media_type, name=name)
    else:
        return TextPart(f"[file: {', '.join(each for each in (name, cleaned_name(part.url[:_LONGEST_ID])) if each)}]")
    return MEDIA_PART_BY_KIND[media_kind_of(media_type)](blob)


def _in_lines(parts: Iterable[ContentPart]) -> Iterator[ContentPart]:
    """Yields the parts with a line break between adjacent texts, which would be joined."""
    last: ContentPart | None = None
    for part in parts:
        if isinstance(part, TextPart) and isinstance(last, TextPart):
            yield TextPart("\n")
        yield part
        last = part


def _title(artifact: Artifact) -> str:
    return ": ".join(each for each in (cleaned_name(artifact.name), cleaned_name(artifact.description)) if each)


def _parts(artifacts: Iterable[Artifact]) -> Iterator[Part]:
    for artifact in artifacts:
        yield from artifact.parts


def _texts(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts)


def _is_shown(context_id: str) -> bool:
    return 0 < len(context_id) <= _LONGEST_ID and context_id == cleaned_name(context_id) and "]" not in context_id
