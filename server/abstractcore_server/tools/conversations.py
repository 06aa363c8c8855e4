"""`Conversation`: the items of a request of the Responses API, without those of MCP servers, which no provider has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError

from ..items import Item
from ..reasoning import opened_id
from .items import LIST_TOOLS, MCP_CALL, REQUEST, RESPONSE
from .offers import Approval
from .servers import ServedTool

_KINDS = (MCP_CALL, LIST_TOOLS, REQUEST)
_DENIED = "not run: the call was not approved"
_NOT_AN_ITEM: Item = {}
_TEXTS = dict.fromkeys(_KINDS, ("id", "server_label")) | {RESPONSE: ("approval_request_id",)}
"""The fields by which items of these types are known again."""


class Conversation:
    """The items of a request, of which those of the servers `labels` are this server's own.

    Raises `InvalidInputError` for items without the texts by which they are known again and, with `is_strict`, for an
    answer to a question that is not among the items.
    """

    def __init__(self, items: Sequence[object], labels: Collection[str], *, is_strict: bool) -> None:
        self._items = [cast("Item", item) if isinstance(item, dict) else _NOT_AN_ITEM for item in items]
        self._given = items
        _check_texts(self._items)
        self._labels = labels
        self._requests = {
            item["id"]: item for item in self._items if item.get("type") == REQUEST and self._is_ours(item)
        }
        self._answers = self._read_answers(is_strict=is_strict)
        done = (item.get("approval_request_id") for item in self._items if item.get("type") == MCP_CALL)
        self._done = {id for id in done if isinstance(id, str)}

    def _is_ours(self, item: Item) -> bool:
        return item["server_label"] in self._labels

    def _read_answers(self, *, is_strict: bool) -> dict[str, tuple[int, Approval]]:
        """Returns the answers to questions, by the ids of these, with the place of each."""
        found: dict[str, tuple[int, Approval]] = {}
        for index, item in enumerate(self._items):
            if item.get("type") != RESPONSE:
                continue
            id, approve, reason = item["approval_request_id"], item.get("approve"), item.get("reason")
            path = f"input[{index}]"
            if id not in self._requests:
                if is_strict:
                    problem = "it is the id of no mcp_approval_request of this conversation"
                    raise InvalidInputError(problem, path=f"{path}.approval_request_id")
                continue
            if not isinstance(approve, bool):
                raise InvalidInputError("expected true or false", path=f"{path}.approve")
            if id in found:
                raise InvalidInputError("a second answer to the same request", path=f"{path}.approval_request_id")
            if reason is not None and not isinstance(reason, str):
                raise InvalidInputError("expected a text", path=f"{path}.reason")
            found[id] = index, Approval(id, approve, reason or "")
        return found

    @property
    def has_listing(self) -> frozenset[str]:
        """The servers whose tools the conversation lists."""
        listed = (item.get("server_label") for item in self._items if item.get("type") == LIST_TOOLS)
        return frozenset(label for label in listed if isinstance(label, str))

    @property
    def approvals(self) -> dict[str, Approval]:
        """What was decided about calls that wait, by the ids of these: answers after which the model said nothing."""
        last = max((index for index, item in enumerate(self._items) if _is_of_model(item)), default=-1)
        return {
            opened_id(id)[0]: approval
            for id, (index, approval) in self._answers.items()
            if index > last and id not in self._done
        }

    def written(self, names: Mapping[tuple[str, str], str]) -> list[Any]:
        """Returns the items with function calls in place of this server's own, which any model reads. A call that waits
        is one without an output. `names` are the names that the model has for tools, by server and tool.

        Raises `InvalidInputError` for a call that may run now, of a tool that is not offered.
        """
        waiting = self.approvals
        found: list[Any] = []
        for index, (given, item) in enumerate(zip(self._given, self._items, strict=True)):
            kind = item.get("type")
            if kind == RESPONSE and item["approval_request_id"] in self._requests:
                continue
            if kind not in _KINDS or not self._is_ours(item):
                found.append(given)
            elif kind == MCP_CALL:
                found += _pair(item, names, _output(item))
            elif kind == REQUEST and item["id"] not in self._done:
                if opened_id(item["id"])[0] in waiting:
                    _check_offered(item, names, index)
                    found.append(_function_call(item, names))
                else:
                    found += _pair(item, names, _DENIED)
        return found


def _check_texts(items: Iterable[Item]) -> None:
    for index, item in enumerate(items):
        kind = item.get("type")
        for name in _TEXTS.get(kind, ()) if isinstance(kind, str) else ():
            if not isinstance(item.get(name), str):
                raise InvalidInputError("expected a text", path=f"input[{index}].{name}")


def _is_of_model(item: Item) -> bool:
    kind = item.get("type", "message")
    if kind == "message":
        return item.get("role") == "assistant"
    return isinstance(kind, str) and not kind.endswith(("_output", "_response"))


def _check_offered(item: Item, names: Mapping[tuple[str, str], str], index: int) -> None:
    label, name = str(item.get("server_label")), str(item.get("name"))
    if (label, name) not in names:
        problem = f"the call that was answered is of {name[:100]!r} of {label!r}, which this request does not offer"
        hint = f'Give tools=[{{"type": "mcp", "server_label": "{label}"}}] again.'
        raise InvalidInputError(problem, path=f"input[{index}]", hint=hint)


def _pair(item: Item, names: Mapping[tuple[str, str], str], output: str) -> list[Item]:
    call = _function_call(item, names)
    return [call, {"type": "function_call_output", "call_id": call["call_id"], "output": output}]


def _function_call(item: Item, names: Mapping[tuple[str, str], str]) -> Item:
    name = str(item.get("name", ""))
    return {
        "type": "function_call",
        "call_id": item.get("id"),
        "name": names.get((str(item.get("server_label")), name), name),
        "arguments": item.get("arguments"),
    }


def _output(item: Item) -> str:
    """Returns what the model read of a call."""
    error = item.get("error")
    if error is None:
        return str(item.get("output") or "")
    content = cast("Item", error).get("content") if isinstance(error, dict) else None
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    texts = (cast("Item", each).get("text") for each in blocks if isinstance(each, dict))
    return "".join(text for text in texts if isinstance(text, str)) or "the call failed"


def names_by_tool(tools: Mapping[str, ServedTool]) -> dict[tuple[str, str], str]:
    """Returns the names that the model has for tools, by server and tool."""
    return {(each.server, each.name): name for name, each in tools.items()}
