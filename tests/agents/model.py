"""`StrictModel`: a vendor's model that does a task with the tools of any agent, and refuses what its vendor would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from abstractcore.testing.http_server import ReceivedRequest, Step, answer
from tests.server.conversations.upstreams import Body, Call, Said, Upstream

SECRETS = {"a.txt": "apple-4711", "b.txt": "berry-8154"}
"""The files that the agent is to read."""
WRITTEN = {"one.txt": "APPLE-4711", "two.txt": "BERRY-8154"}
"""The files that it is to write, one for each prompt."""
PROMPTS = (
    "Read a.txt and b.txt. Then write the words of a.txt in capitals into one.txt.",
    "Now write the words of b.txt in capitals into two.txt.",
)
DONE = ("one.txt is written.", "two.txt is written.")
_MOST_REQUESTS = 20
_ASIDE = Said("A task about files.")
"""The answer to requests without tools, as for the title of a conversation."""


@dataclass(frozen=True)
class Tools:
    """The tools of an agent: a call that reads a file, and one that writes a text into it: `command`, if the agent does
    not offer `write` to the model. Of an agent without tools, `edit` is the answer that writes a file.
    """

    read: Callable[[str], Call] | None = None
    write: Callable[[str, str], Call] | None = None
    command: Callable[[str, str], Call] | None = None
    edit: Callable[[str, str], str] | None = None


@dataclass
class StrictModel:
    """Answers the requests of one agent. `requests` counts those about the task, `problems` are those with them.

    `has_ids` is set if the agent gets the vendor's bytes: then calls have ids as the vendor makes them, else the same
    ones in every turn.
    """

    upstream: Upstream
    tools: Tools
    has_ids: bool
    requests: int = 0
    problems: list[str] = field(default_factory=list[str])

    def __call__(self, request: ReceivedRequest) -> Sequence[Step]:
        """Returns the script of a response."""
        if request.method != "POST":
            return [answer({"error": {"message": "not found", "type": "not_found_error"}}, 404)]
        body: Body = request.json
        if "count_tokens" in request.target or "countTokens" in request.target:
            return [answer({"input_tokens": 12, "totalTokens": 12})]
        broken = list(self.upstream.rules(body))
        self.problems += broken
        if broken:
            return [answer({"error": {"message": "; ".join(broken), "type": "invalid_request_error"}}, 400)]
        stream = bool(body.get("stream")) or "streamGenerateContent" in request.target
        return [self.upstream.reply(self._next(body), stream=stream)]

    def _next(self, body: Body) -> Said:
        history = json.dumps(body)
        if PROMPTS[0] not in history or not (body.get("tools") or self.tools.edit):
            return _ASIDE
        self.requests += 1
        turn = 1 if PROMPTS[1] in history else 0
        if self.requests > _MOST_REQUESTS:
            self.problems.append("the agent does not come to an end")
            return Said(DONE[turn])
        if DONE[turn] in history:
            self.problems.append(f"the prompt after {DONE[turn]!r} is not in the request")
            return _ASIDE
        if self.tools.edit is not None:
            return Said(f"{self.tools.edit(*_file(turn))}\n{DONE[turn]}")
        calls = list(_calls(self.upstream.format, body))
        written, _ = _file(turn)
        if not calls:
            return self._calling(calls, *map(self._reading, SECRETS))
        missing = [name for name, secret in SECRETS.items() if secret not in history]
        self.problems += (f"the content of {name} is not in the request" for name in missing)
        if not any(written in arguments for arguments in calls):
            return self._calling(calls, self._writing(body, *_file(turn)))
        return Said(DONE[turn], thinking="It is done.")

    def _reading(self, path: str) -> Call:
        assert self.tools.read is not None
        return self.tools.read(path)

    def _writing(self, body: Body, path: str, text: str) -> Call:
        assert self.tools.write is not None
        call = self.tools.write(path, text)
        is_offered = json.dumps(call.name) in json.dumps(body["tools"])
        return call if is_offered or self.tools.command is None else self.tools.command(path, text)

    def _calling(self, before: Sequence[str], *calls: Call) -> Said:
        if self.has_ids:
            calls = tuple(replace(each, id=f"{self._prefix}{len(before) + i}") for i, each in enumerate(calls))
        elif self.upstream.format in ("anthropic_messages", "openai_responses"):
            calls = tuple(replace(each, id=f"{self._prefix}{i}") for i, each in enumerate(calls))
        return Said(calls=calls, thinking="Let me see.")

    @property
    def _prefix(self) -> str:
        return "toolu_" if self.upstream.format == "anthropic_messages" else "call_"


def _file(turn: int) -> tuple[str, str]:
    return [*WRITTEN.items()][turn]


def _calls(format: str, body: Body) -> Iterator[str]:
    """Yields the arguments of all tool calls in the conversation of a request, as text."""
    if format == "openai_responses":
        yield from (item["arguments"] for item in body["input"] if item.get("type") == "function_call")
        return
    if format == "gemini":
        parts = (part for content in body["contents"] for part in content["parts"])
        yield from (json.dumps(part["functionCall"].get("args", {})) for part in parts if "functionCall" in part)
        return
    for message in body["messages"]:
        if format == "anthropic_messages":
            blocks: list[Mapping[str, Any]] = message["content"] if isinstance(message["content"], list) else []
            yield from (json.dumps(block["input"]) for block in blocks if block["type"] == "tool_use")
        else:
            yield from (json.dumps(call["function"]["arguments"]) for call in message.get("tool_calls") or ())


def named(
    read: str, path: str, write: str, target: str, content: str, folder: str = "", command: str | None = None
) -> Tools:
    """Returns tools that read and write files, with the names of their parameters; paths are in `folder`. The tool
    `command` runs commands.
    """

    def reading(name: str) -> Call:
        return Call(read, json.dumps({path: folder + name}))

    def writing(name: str, text: str) -> Call:
        return Call(write, json.dumps({target: folder + name, content: text}))

    def running(name: str, text: str) -> Call:
        return Call(command or "", json.dumps({"command": f"printf {text} > {name}", "description": "Writes."}))

    return Tools(reading, writing, None if command is None else running)


def of_shell(name: str, argument: str) -> Tools:
    """Returns a tool that runs commands."""
    return Tools(
        lambda path: Call(name, json.dumps({argument: f"cat {path}"})),
        lambda path, text: Call(name, json.dumps({argument: f"printf {text} > {path}"})),
    )


def whole_file(path: str, text: str) -> str:
    """Returns an edit of aider's format "whole"."""
    return f"{path}\n```\n{text}\n```"
