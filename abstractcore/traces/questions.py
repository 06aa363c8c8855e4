"""Stored questions that can be asked again: their first call, the results of their tools, and what was answered.

Nothing is sent here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ..errors import AbstractCoreError, InvalidInputError
from ..schema import (
    MEDIA_PARTS,
    Blob,
    CallRecord,
    CostSums,
    InteractionRecord,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolCall,
    ToolRecord,
    ToolResult,
    Verification,
    canonical_json,
)
from .queries import TraceNode
from .store import TraceStore
from .times import When

RERUN_TAG: Final = "rerun_of"
"""The tag of calls that ask a stored question again."""
_LOOPS: Final = ("tools", "correction")
CallKey: TypeAlias = tuple[str, str]
"""The name of a tool, and its arguments as JSON."""


@dataclass(slots=True)
class StoredQuestion:
    """A stored call, or a loop with its tool runs. `missing` says why it cannot be asked again."""

    id: str
    calls: list[CallRecord]
    tools: list[ToolRecord] = field(default_factory=list[ToolRecord])
    seconds: float = 0.0

    @property
    def call(self) -> ModelCall:
        """The first call: only for a question that lacks nothing."""
        first = self.calls[0].call
        assert first is not None
        return first

    @property
    def reply(self) -> ModelReply | None:
        """The last answer."""
        return self.calls[-1].reply

    @property
    def verification(self) -> Verification | None:
        """The checks of the answer against its files, if the call had asked for them."""
        return next((record.verification for record in reversed(self.calls) if record.verification is not None), None)

    @property
    def costs(self) -> CostSums:
        """What its calls had cost."""
        return sum(map(CostSums.of, self.calls), CostSums())

    @property
    def tool_calls(self) -> list[CallKey]:
        """What the model called, in its order."""
        return keys(call for record in self.calls if record.reply is not None for call in record.reply.tool_calls)

    @property
    def missing(self) -> str | None:
        """What a stored question lacks; None if it can be asked again."""
        records = self.calls
        if any(record.capture == "redacted" for record in (*records, *self.tools)):
            return "only the sizes of its content were kept"
        if any(record.call is None for record in records) or any(run.result is None for run in self.tools):
            return "its content was not kept"
        messages = [message for record in records if record.call is not None for message in record.call.messages]
        blobs = [part.blob for message in messages for part in message.parts if isinstance(part, MEDIA_PARTS)]
        if any(blob.form == "artifact" or blob.location == "redacted:" for blob in blobs):
            return "its files were not kept"
        stores = {str(blob.provider) for blob in blobs if blob.form == "provider_file"}
        if stores:
            return f"its files are in the file store of {', '.join(sorted(stores))}"
        return next(filter(None, map(_lost_file, blobs)), None)


class StoredResults:
    """What tools had returned: the same calls get the same results, in their order. Nothing is run."""

    def __init__(self, tools: Iterable[ToolRecord]) -> None:
        self._results: dict[CallKey, list[ToolResult]] = {}
        self.unknown = 0
        """How many calls had no stored result."""
        for record in tools:
            if record.result is not None:
                self._results.setdefault((record.tool, _canonical(record.arguments)), []).append(record.result)

    def __bool__(self) -> bool:
        return bool(self._results)

    def result(self, call: ToolCall) -> ToolResult:
        """Returns the stored result of a call, or an error."""
        (key,) = keys([call])
        found = self._results.get(key)
        if not found:
            self.unknown += 1
            text = TextPart("This call has no stored result, and the tool is not run. Answer without it.")
            return ToolResult(call.id, (text,), is_error=True)
        stored = found.pop(0) if len(found) > 1 else found[0]
        return ToolResult(call.id, stored.content, stored.is_error)

    def message(self, calls: Iterable[ToolCall]) -> Message:
        """Returns the message with the results of calls."""
        return Message("tool", tuple(self.result(call) for call in calls))


def find_questions(
    store: TraceStore,
    text: str | None = None,
    *,
    since: When = None,
    until: When = None,
    model: str | None = None,
    tags: Mapping[str, str] | None = None,
    failed: bool | None = None,
    limit: int = 100,
) -> list[StoredQuestion]:
    """Returns the stored questions with some words, each once, the newest first, without reruns of others. `text` may
    also be the id of a record: that of its question.

    The other arguments choose calls as those of `TraceStore.calls` do. Raises what that raises. The arguments are those
    of `TraceStore.calls`; `failed` finds only calls that failed, or only others.
    """
    if text is not None:
        ids = list[str]()
        with suppress(InvalidInputError):  # else these are words
            ids = [node.record.trace_id for node in store.trace(text) if node.record.trace_id == text]
        if ids:
            found = _question(store, ids[0])
            return [] if found is None else [found]
    by_id: dict[str, StoredQuestion] = {}
    for summary in store.calls(
        since=since, until=until, model=model, operation="chat", tags=tags, failed=failed, text=text, limit=limit
    ):
        if RERUN_TAG not in summary.tags and (question := _question(store, summary.trace_id)) is not None:
            by_id.setdefault(question.id, question)
    return [*by_id.values()]


def keys(calls: Iterable[ToolCall]) -> list[CallKey]:
    """Returns calls of tools such that those with the same arguments are equal."""
    return [
        (call.name, _canonical(call.arguments_text if call.arguments is None else call.arguments)) for call in calls
    ]


def _question(store: TraceStore, id: str) -> StoredQuestion | None:
    """Returns the question that a record is part of: its loop, or the call alone."""
    nodes = {node.record.trace_id: node for node in store.trace(id)}
    node: TraceNode | None = nodes[id]
    if isinstance(node.record, CallRecord) and node.record.parent_id in nodes:
        above = nodes[node.record.parent_id]
        node = above if _is_loop(above) else node
    elif isinstance(node.record, ToolRecord):
        node = nodes.get(node.record.parent_id)
    if node is None:
        return None
    record = node.record
    if isinstance(record, CallRecord):
        return StoredQuestion(record.trace_id, [record], seconds=record.seconds) if record.operation == "chat" else None
    calls = [child.record for child in node.children if isinstance(child.record, CallRecord)]
    calls = [call for call in calls if call.operation == "chat"]
    tools = [child.record for child in node.children if isinstance(child.record, ToolRecord)]
    return StoredQuestion(record.trace_id, calls, tools, record.seconds) if calls else None


def _lost_file(blob: Blob) -> str | None:
    """Returns what became of the file of a part, which is kept as its path and hash; None if it is as it was."""
    if blob.form != "file" or blob.location is None:
        return None
    if not os.path.isfile(blob.location):
        return f"its file is gone: {blob.location}"
    try:
        blob.check_unchanged()
    except (OSError, AbstractCoreError):
        return f"its file has changed, or cannot be read: {blob.location}"
    return None


def _is_loop(node: TraceNode) -> bool:
    return isinstance(node.record, InteractionRecord) and node.record.kind in _LOOPS


def _canonical(arguments: Any) -> str:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            return arguments
    return canonical_json(arguments or {})
