"""`ResponseFields`: what a response repeats of its request, and the counts that every `usage` has."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

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
"""The fields of a response that tell how it was made, with the API's value for those that a request leaves out
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

    def completed(self, response: Mapping[str, Any]) -> dict[str, Any]:
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
        return _LINE + compact({**event, "response": self.completed(event["response"])})


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
