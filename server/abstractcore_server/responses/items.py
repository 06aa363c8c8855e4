"""Items of the Responses API, and the fields of its bodies."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from abstractcore.errors import InvalidInputError

from ..requests import RequestHead

DEFAULTS: Final[Mapping[str, Any]] = {
    "completed_at": None,
    "background": False,
    "conversation": None,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "usage": None,
}
"""The fields of a response about how it was made, with the API's value for those that a request leaves out
(https://www.openresponses.org/specification, `ResponseResource`).
"""
RESPONSE_FIELDS: Final = frozenset(
    {
        *DEFAULTS,
        "access_programs",
        "created_at",
        "error",
        "id",
        "image",
        "incomplete_details",
        "input_transformations",
        "model",
        "moderation",
        "object",
        "output",
        "prompt",
        "prompt_cache_diagnostics",
        "prompt_cache_options",
        "prompt_cache_retention",
        "status",
        "tool_usage",
        "user",
    }
)
"""The fields of a response."""
_SERVERS_OWN = {"completed_at", "service_tier", "usage"}
_REPEATED = tuple(name for name in DEFAULTS if name not in _SERVERS_OWN)
_NESTED = ("reasoning", "text")
_TOOL = {"description": None, "parameters": None, "strict": None}
_COUNTS = {
    "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
_RESPONSE = b'"response":{'
_LINE = b"data: "


class ResponseFields:
    """The fields of the responses to one request. `created` is the time of the request, in seconds since the epoch."""

    def __init__(self, request: Mapping[str, Any], created: int) -> None:
        self._created = created
        asked = {name: request[name] for name in _REPEATED if request.get(name) is not None}
        for name in _NESTED:
            if isinstance(asked.get(name), dict):
                asked[name] = {**DEFAULTS[name], **asked[name]}
        if isinstance(asked.get("conversation"), str):
            asked["conversation"] = {"id": asked["conversation"]}
        self._asked = asked

    def complete(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a response with all fields: as asked for, else as the provider gave them, else the defaults."""
        given = {name: value for name, value in response.items() if value is not None or name not in DEFAULTS}
        defaults = {name: value for name, value in DEFAULTS.items() if name not in given}
        whole: dict[str, Any] = {**given, **defaults, **self._asked}
        whole["created_at"] = whole.get("created_at") or self._created
        if whole.get("status") == "completed" and whole["completed_at"] is None:
            whole["completed_at"] = int(time.time())
        whole["tools"] = [_whole_tool(tool) for tool in whole["tools"]]
        if whole["usage"] is not None:
            whole["usage"] = _whole_usage(whole["usage"])
        return whole

    def in_events(self, events: bytes) -> bytes:
        """Returns server-sent events, with all fields in those that hold the response."""
        if _RESPONSE not in events:
            return events
        return b"\n".join(self._in_line(line) for line in events.split(b"\n"))

    def _in_line(self, line: bytes) -> bytes:
        if not line.startswith(_LINE) or _RESPONSE not in line:
            return line
        event = json.loads(line[len(_LINE) :])
        return _LINE + compact({**event, "response": self.complete(event["response"])})


def compact(value: Any) -> bytes:
    """Returns JSON without white space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def event_bytes(event: Mapping[str, Any]) -> bytes:
    """Returns an event as a server-sent one."""
    return b"event: " + str(event["type"]).encode() + b"\ndata: " + compact(event) + b"\n\n"


def events_of(data: bytes) -> Iterator[dict[str, Any]]:
    """Yields the events in whole server-sent ones."""
    for line in data.splitlines():
        if line.startswith(_LINE):
            yield json.loads(line[len(_LINE) :])


def _whole_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_TOOL, **tool} if tool.get("type") == "function" else tool


def _whole_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {name: {**least, **(usage.get(name) or {})} for name, least in _COUNTS.items()}
    return {**usage, **details}


Item = Mapping[str, Any]

_PREFIXES: Final = {
    "function_call": "fc_",
    "function_call_output": "fco_",
    "message": "msg_",
    "reasoning": "rs_",
}
_LONGEST_TEXT: Final = 200
"""The longest id or type of an item."""
_MOST: Final = 100
_USUAL: Final = 20


def new_id(prefix: str) -> str:
    """Returns an id that no one can guess, as in "conv_6f..."."""
    return f"{prefix}{secrets.token_hex(16)}"


def stored_items(value: object, path: str) -> list[Item]:
    """Returns the items of `input`, or of a conversation: a text is a message of the user, texts are content, and each
    item has an id. Raises `InvalidInputError` for anything else.
    """
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise InvalidInputError(f"expected a text or a list of items, got {type(value).__name__}", path=path)
    return [_stored_item(item, f"{path}[{index}]") for index, item in enumerate(cast("list[object]", value))]


def _stored_item(item: object, path: str) -> Item:
    if not isinstance(item, dict):
        raise InvalidInputError(f"expected an object, got {type(item).__name__}", path=path)
    given = cast("Item", item)
    kind = _text_at(given, "type", path) or "message"
    id = _text_at(given, "id", path) or new_id(_PREFIXES.get(kind, "item_"))
    found: dict[str, Any] = {**given, "id": id, "type": kind}
    if kind != "message":
        return found
    content = found.get("content")
    if isinstance(content, str):
        of_answer: Item = {"type": "output_text", "text": content, "annotations": []}
        of_others: Item = {"type": "input_text", "text": content}
        found["content"] = [of_answer if found.get("role") == "assistant" else of_others]
    return {"status": "completed", **found}


def _text_at(item: Item, name: str, path: str) -> str | None:
    value = item.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isprintable()):
        message = f"expected a text of up to {_LONGEST_TEXT} characters, none of them a control character"
        raise InvalidInputError(message, path=f"{path}.{name}")
    return value


def page(items: Sequence[Item], request: RequestHead, *, most: int = _MOST, usual: int = _USUAL) -> dict[str, Any]:
    """Returns a page of a list of items, by the parameters `order`, `after` and `limit` of the request.

    Raises `InvalidInputError` for invalid ones.
    """
    query = request.query_values()
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidInputError(f"expected asc or desc, got {order[:40]!r}", path="order")
    limit = query.get("limit", str(usual))
    if not (limit.isdecimal() and len(limit) < 6 and 1 <= int(limit) <= most):
        raise InvalidInputError(f"expected a number from 1 to {most}, got {limit[:40]!r}", path="limit")
    ordered = list(items) if order == "asc" else list(reversed(items))
    after = query.get("after")
    ids = [item["id"] for item in ordered]
    if after is not None and after not in ids:
        raise InvalidInputError(f"there is no item {after[:100]!r}", path="after")
    start = 0 if after is None else ids.index(after) + 1
    found = ordered[start : start + int(limit)]
    return {
        "object": "list",
        "data": found,
        "first_id": found[0]["id"] if found else None,
        "last_id": found[-1]["id"] if found else None,
        "has_more": start + len(found) < len(ordered),
    }
