"""Guards of the tools that the server runs: what they are called with, before they run, and all that they return. The
tools are those of a real MCP server, the client is the openai package.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import openai
import pytest
from openai.types.responses import Response
from openai.types.responses.response_output_item import McpCall

from abstractcore import ModelCall, ModelReply, TextPart, ToolResult
from abstractcore.ports import Edit, GuardContext, Refusal, TextPiece, with_texts
from abstractcore.testing import ScriptedReply
from abstractcore_server import GuardSettings, ModelSettings, ServerLimits, ServerSettings, Settings, server_services
from abstractcore_server.configuration.settings import MCPSettings
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.server.guard_doubles import FAILURES, Double, leaving, reset
from tests.server.serving import Served, serving

SHOP = Path(__file__).parents[2] / "core" / "mcp" / "shop.py"
DOUBLES = {
    "calls": Double("calls", ("check_call",)),
    "replies": Double("replies", ("check_reply",)),
    "texts": Double("texts", ("check_text",)),
    "looks": Double("looks", ("check_text",), read_only=True),
}
TOOLS: Any = [{"type": "mcp", "server_label": "shop", "require_approval": "never"}]
PRICE = ScriptedReply.tool_call("price", {"item": "tea"})


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarded_tools") / "audit.jsonl"


@pytest.fixture(scope="module")
def running(audit: Path) -> Iterator[Served]:
    guards = {
        **{name: GuardSettings(name, models=(name,), timeout_seconds=60) for name in DOUBLES},
        "first": GuardSettings("texts", models=("two",)),
        "second": GuardSettings("looks", models=("two",)),
    }
    for name in ("replies", "texts"):
        open_or_hasty = {"open": 60.0, "hasty": 0.1}
        for policy, seconds in open_or_hasty.items():
            guards[f"{name}-{policy}"] = GuardSettings(
                name, on_failure="open", timeout_seconds=seconds, models=(f"{name}-{policy}",)
            )
    shop = MCPSettings(command=sys.executable, args=(str(SHOP),), approval="never", attached=("*",))
    models = {name: ModelSettings(("scripted",)) for name in (*guards, "two")}
    settings = Settings(
        ServerSettings(audit_log=str(audit)),
        ServerLimits(tool_rounds=3),
        models=models,
        guards=guards,
        mcp={"shop": shop},
    )
    services = server_services(settings, environment={}, random=lambda: 0.0)
    for double in DOUBLES.values():
        services.registry.add_guard(double)
    with serving(settings, services=services) as served:
        yield served


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    reset(DOUBLES.values())


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def chat(client: openai.OpenAI, model: str) -> str:
    """The text of an answer in chat completions, whose tools are those that are attached to the model."""
    made = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "?"}])
    return made.choices[0].message.content or ""


def read(served: Served) -> str:
    """What the model has read as the result of the last tool."""
    (result,) = served.calls[-1].messages[-1].parts
    assert isinstance(result, ToolResult)
    return result.as_text


def decisions(audit: Path) -> list[tuple[str, str, str]]:
    """Those of the last request in the audit log."""
    last = json.loads(audit.read_text().splitlines()[-1])
    return [(each["guard"], each["checked"], each["outcome"]) for each in last.get("guards", [])]


def arguments(make: Callable[[str], Any]) -> Callable[..., Any]:
    """A check of texts and replies that is about the arguments of calls, as text."""

    def check(subject: Any, context: GuardContext) -> Any:
        if isinstance(subject, TextPiece):
            return make(subject.text) if subject.kind == "arguments" else None
        if isinstance(subject, ModelReply) and subject.tool_calls:
            return make(subject.tool_calls[0].arguments_text)
        return None

    return check


def coffee(text: str) -> list[Edit]:
    return [Edit(0, 3, "coffee")] if text == "tea" else []


def refused_if(word: str, reason: str) -> Callable[[str], Any]:
    return lambda text: Refusal(reason) if word in text else None


def more_coffee(reply: ModelReply, context: GuardContext) -> ModelReply | None:
    return with_texts(reply, lambda text, kind: text.replace("tea", "coffee"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["replies", "texts"])
def test_arguments_are_changed_before_the_tool_runs(
    served: Served, client: openai.OpenAI, audit: Path, name: str, stream: bool
):
    DOUBLES[name].do = more_coffee if name == "replies" else arguments(coffee)
    served.script(PRICE, "There.")
    asked: Any = {"model": name, "input": "?", "tools": TOOLS, "store": False}
    if stream:
        with client.responses.stream(**asked) as events:
            for event in events:
                assert "tea" not in repr(event)
            made = cast("Response", events.get_final_response())
    else:
        made = cast("Response", client.responses.create(**asked))
    (call,) = [item for item in made.output if isinstance(item, McpCall)]
    assert (json.loads(call.arguments), call.output, call.status) == ({"item": "coffee"}, "600", "completed")
    assert read(served) == "600"
    whole = "stream" if stream else "reply"
    assert wait_until(
        lambda: sorted(decisions(audit)) == sorted([(name, "tool_call", "changed"), (name, whole, "changed")])
    )


@pytest.mark.parametrize("name", ["replies", "texts"])
def test_tool_whose_call_is_refused_does_not_run(
    served: Served, client: openai.OpenAI, audit: Path, name: str, tmp_path: Path
):
    touched = tmp_path / "touched"
    die = ScriptedReply.tool_call("die_once", {"path": str(touched)})
    DOUBLES[name].do = arguments(refused_if("touched", "not there"))
    served.script(die, "I see.")
    assert chat(client, name) == "I see."
    assert read(served) == f"the guard '{name}' refused the call of the tool: not there"
    assert not touched.exists()
    assert decisions(audit) == [(name, "tool_call", "refused"), (name, "reply", "allowed")]


def on_arguments(check: Callable[..., Any]) -> Callable[..., Any]:
    """A check that fails for the arguments of calls alone."""

    def checked(subject: Any, context: GuardContext) -> Any:
        return arguments(lambda _: check(subject, context))(subject, context)

    return checked


@pytest.mark.process
@pytest.mark.parametrize("name", ["replies", "texts"])
def test_guard_that_fails_lets_the_tool_run_only_if_it_may(served: Served, client: openai.OpenAI, name: str):
    for failure, check in FAILURES.items():
        DOUBLES[name].do = hangs_on_arguments if failure == "hangs" else on_arguments(check)
        served.script(PRICE, "I see.")
        assert chat(client, f"{name}-{'hasty' if failure == 'hangs' else 'open'}") == "I see.", failure
        assert read(served) == "300", failure
        if failure != "hangs":
            served.script(PRICE, "I see.")
            assert chat(client, name) == "I see.", failure
            assert read(served) == f"the guard {name!r} failed, and nothing is answered without it", failure


async def hangs_on_arguments(subject: Any, context: GuardContext) -> None:
    if (isinstance(subject, TextPiece) and subject.kind == "arguments") or getattr(subject, "tool_calls", ()):
        await asyncio.Event().wait()


CHANGES: list[tuple[dict[str, str], str]] = [
    ({"name": "die"}, "failed"),
    ({"id": "other"}, "failed"),
    ({"arguments_text": "[1]"}, "not a JSON object any more"),
    ({"arguments_text": '{"item": 7}'}, "item"),
    ({}, "failed"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_guard_changes_nothing_but_arguments(
    served: Served, client: openai.OpenAI, change: dict[str, str], message: str
):
    def check(reply: ModelReply, context: GuardContext) -> ModelReply | None:
        if not reply.tool_calls:
            return None
        return replace(reply, parts=(replace(reply.tool_calls[0], **change) if change else TextPart("no call"),))

    DOUBLES["replies"].do = check
    served.script(PRICE, "I see.")
    assert chat(client, "replies") == "I see."
    assert message in read(served)
    assert "300" not in read(served)


def test_call_that_a_client_has_approved_and_calls_at_once_are_guarded(
    served: Served, client: openai.OpenAI, audit: Path, tmp_path: Path
):
    touched, tool = tmp_path / "touched", cast("Any", {**TOOLS[0], "require_approval": "always"})
    die, answer = ScriptedReply.tool_call("die_once", {"path": str(touched)}), ScriptedReply.text("I see.")
    served.script(PRICE + die)
    first = client.responses.create(model="texts", input="?", tools=[tool])
    requests = [item for item in first.output if item.type == "mcp_approval_request"]
    assert len(requests) == 2
    DOUBLES["texts"].do = arguments(lambda text: coffee(text) or refused_if("touched", "not there")(text))
    served.script(answer)
    given: Any = [
        {"type": "mcp_approval_response", "approval_request_id": each.id, "approve": True} for each in requests
    ]
    with pytest.raises(openai.BadRequestError, match="refused the answer: not there"):  # its item has the arguments
        client.responses.create(model="texts", input=given, tools=[tool], previous_response_id=first.id)
    results = [part.as_text for part in served.calls[-1].messages[-1].parts if isinstance(part, ToolResult)]
    assert results == ["600", "the guard 'texts' refused the call of the tool: not there"]
    assert not touched.exists()
    assert sorted(each[2] for each in decisions(audit) if each[1] == "tool_call") == ["changed", "refused"]


def test_second_guard_sees_the_arguments_that_the_first_has_left(served: Served, client: openai.OpenAI, audit: Path):
    DOUBLES["texts"].do = arguments(coffee)
    DOUBLES["looks"].do = arguments(refused_if("coffee", "no coffee"))
    served.script(PRICE, "I see.")
    assert chat(client, "two") == "I see."
    assert "the guard 'second' refused the call of the tool: no coffee" in read(served)
    assert decisions(audit)[:2] == [("first", "tool_call", "changed"), ("second", "tool_call", "refused")]


def test_client_that_leaves_while_a_guard_looks_is_not_answered_by_a_tool(
    served: Served, client: openai.OpenAI, audit: Path, tmp_path: Path
):
    touched, asked = tmp_path / "touched", threading.Event()

    async def check(piece: TextPiece, context: GuardContext) -> None:
        asked.set()
        await asyncio.Event().wait()

    DOUBLES["texts"].do = check
    served.script(ScriptedReply.tool_call("die_once", {"path": str(touched)}))
    with leaving(served, {"model": "texts", "messages": [{"role": "user", "content": "?"}], "stream": True}):
        assert asked.wait(PATIENCE_SECONDS)
    assert wait_until(lambda: decisions(audit) == [("texts", "stream", "allowed"), ("texts", "tool_call", "cancelled")])
    assert not touched.exists()


def test_refusal_of_a_result_stays_as_it_was(served: Served, client: openai.OpenAI, audit: Path):
    def check(call: ModelCall, context: GuardContext) -> Refusal | None:
        return Refusal("no") if call.messages[-1].role == "tool" else None

    DOUBLES["calls"].do = check
    served.script(PRICE, "I see.")
    assert chat(client, "calls") == "I see."
    assert "refused the result of the tool: no" in read(served)
    assert decisions(audit) == [("calls", "call", "allowed"), ("calls", "result", "refused")]


@pytest.mark.process
def test_errors_that_a_tool_server_causes_are_guarded_as_results(served: Served, client: openai.OpenAI):
    seen: list[str] = []

    def check(call: ModelCall, context: GuardContext) -> Any:
        if call.messages[-1].role != "tool":
            return None
        (result,) = call.messages[-1].parts
        assert isinstance(result, ToolResult)
        seen.append(result.as_text)
        return with_texts(call, lambda text, kind: "(hidden)" if kind == "result" else text)

    DOUBLES["calls"].do = check
    served.script(ScriptedReply.tool_call("die", {}), "I see.")
    assert chat(client, "calls") == "I see."
    assert "may have taken effect" in seen[0]
    assert read(served) == "(hidden)"
    (result,) = served.calls[-1].messages[-1].parts
    assert isinstance(result, ToolResult)
    assert result.is_error
