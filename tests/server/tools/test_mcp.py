"""Tools of MCP servers that the server runs, with the openai package as the client, and real MCP servers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from openai.types.responses import Response

from abstractcore import (
    ConfigurationError,
    InvalidInputError,
    PendingCall,
    TextPart,
    ToolAnswer,
    ToolCall,
    ToolResult,
    Usage,
)
from abstractcore.mcp import listing
from abstractcore.schema import WireRequest
from abstractcore.testing import ScriptedReply
from abstractcore.tools.signatures import SignatureReader
from abstractcore_server import Settings, read_settings
from abstractcore_server.access.admission import FixedKeys
from abstractcore_server.calls.passthrough import Relay
from abstractcore_server.configuration.settings import MCPSettings, ModelSettings, ServerLimits, ServerSettings
from abstractcore_server.records import Receipt, ReceiptFolder
from abstractcore_server.stored_state import StoredState
from abstractcore_server.tools.servers import ApprovedToolCalls, Listing, MCPServers
from tests.chaos_server import (
    DONE,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    USAGE,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    event,
    raw_answer,
    stream_head,
    streamed,
)
from tests.leftovers import wait_until
from tests.server.serving import Served, serving

SERVERS = Path(__file__).parents[2] / "core" / "mcp"
RULES = {"pri*": "never", "fail": "never", "die": "never", "large": "never", "wait": "deny", "order": "never"}
TOOLS: Any = [{"type": "mcp", "server_label": "shop"}]
PRICE = ScriptedReply.tool_call("price", {"item": "tea"})
FUNCTION: Any = {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}
QUESTION: Any = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "shop",
    "name": "pack",
    "arguments": '{"count": 1}',
}
KEYS = ("first-key-0123456789", "other-key-0123456789")


def python(file: str, *args: str, **more: Any) -> MCPSettings:
    """A server that is a file of the tests of MCP."""
    program: dict[str, Any] = {"command": sys.executable, "args": (str(SERVERS / file), *args)}
    program |= {"approval": "never", "connect_seconds": PATIENCE_SECONDS, **more}
    return MCPSettings(**program)


def receipts_of(audit: Path) -> Path:
    """The folder of the receipts."""
    return audit.parent / "receipts"


def settings(audit: Path) -> Settings:
    servers = {
        "shop": python("shop.py", approval=RULES, attached=("chatty",), keys=("key1",)),
        "many": python("hostile.py", "many"),
        "mute": python("hostile.py", "mute", connect_seconds=0.5),
        "absent": MCPSettings(command="/no/such/program", required=False, attached=("hopeful",)),
        "dying": python("hostile.py", "die_amid"),
        "flooding": python("hostile.py", "flood_errors"),
        "vast": python("hostile.py", "surrogate", models=("openai/*",)),
    }
    groups = {name: ModelSettings(("scripted",)) for name in ("chatty", "hopeful")}
    return Settings(
        ServerSettings(audit_log=str(audit), receipts=str(receipts_of(audit))),
        ServerLimits(tool_rounds=3, tool_result_chars=1000),
        models=groups,
        mcp=servers,
    )


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def running(audit: Path) -> Iterator[Served]:
    with serving(settings(audit), access=FixedKeys(KEYS)) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=KEYS[0], max_retries=0) as client:
        yield client


def kinds(response: Response) -> list[str]:
    return [item.type for item in response.output]


def approval(request: str, *, approve: bool, **more: str) -> Any:
    return [{"type": "mcp_approval_response", "approval_request_id": request, "approve": approve, **more}]


def lines(served: Served) -> list[tuple[str, str]]:
    """The roles and texts of the messages of the last call, with calls and results in words."""
    parts: list[tuple[str, Any]] = [
        (message.role, part) for message in served.calls[-1].messages for part in message.parts
    ]
    words = {"text": "text", "tool_call": "arguments_text", "tool_result": "as_text"}
    return [(role, getattr(part, words[part.type])) for role, part in parts]


def test_tool_is_listed_called_and_its_result_is_read(served: Served, client: Any, audit: Path):
    served.script(
        ScriptedReply.text("Let me see.", usage=Usage(7, 3)) + PRICE, ScriptedReply.text("300.", usage=Usage(9, 1))
    )
    made = client.responses.create(
        model="scripted", input="What does tea cost?", tools=TOOLS, extra_body={"abstractcore": {}}
    )
    assert made.abstractcore["warnings"] == []
    listed, text, call, answer = made.output
    assert listed.type == "mcp_list_tools"
    assert listed.id.startswith("mcpl_")
    named = {tool.name: tool for tool in listed.tools}
    assert named["price"].description == "The price of an item in cents."
    assert named["price"].annotations == {"read_only": True}
    assert named["price"].input_schema["required"] == ["item"]
    assert "wait" not in named
    assert call.type == "mcp_call"
    assert (call.server_label, call.name, call.status) == ("shop", "price", "completed")
    assert (json.loads(call.arguments), call.output, call.error) == ({"item": "tea"}, "300", None)
    assert (text.type, answer.type, made.status, made.output_text) == (
        "message",
        "message",
        "completed",
        "Let me see.300.",
    )
    assert made.usage is not None
    assert (made.usage.input_tokens, made.usage.output_tokens) == (16, 4)
    assert made.tools[0].to_dict() == TOOLS[0]
    assert lines(served)[-1] == ("tool", "300")
    entry = json.loads(audit.read_text().splitlines()[-1])
    assert [(each["server"], each["tool"], each["outcome"]) for each in entry["tools"]] == [("shop", "price", "done")]
    assert entry["input_tokens"] == 16


def test_stream_has_the_events_of_the_vendor(served: Served, client: Any):
    served.script(ScriptedReply.text("Let me see.") + PRICE, "300.")
    with client.responses.stream(model="scripted", input="What does tea cost?", tools=TOOLS) as stream:
        events = list(stream)
        final = stream.get_final_response()
    seen = [event.type for event in events]
    assert [type for type in seen if "mcp" in type] == [
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
    ]
    assert (seen.count("response.created"), seen.count("response.completed")) == (1, 1)
    done = [event for event in events if event.type == "response.output_item.done"]
    assert [event.output_index for event in done] == [0, 1, 2, 3]
    assert [event.item.id for event in done] == [item.id for item in final.output]
    assert done[2].item.to_dict() == final.output[2].to_dict()
    assert kinds(final) == ["mcp_list_tools", "message", "mcp_call", "message"]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert kinds(client.responses.retrieve(final.id)) == kinds(final)


@pytest.mark.parametrize("streamed", [False, True])
def test_call_waits_for_approval_and_is_run_in_the_next_response(served: Served, client: Any, *, streamed: bool):
    def create(**request: Any) -> Response:
        if not streamed:
            return client.responses.create(model="scripted", tools=TOOLS, **request)
        with client.responses.stream(model="scripted", tools=TOOLS, **request) as stream:
            return stream.until_done().get_final_response()

    served.script(ScriptedReply.tool_call("pack", {"count": 2}), "Packed.", "Bye.")
    first = create(input="Pack two.")
    request = first.output[-1]
    assert kinds(first) == ["mcp_list_tools", "mcp_approval_request"]
    assert request.type == "mcp_approval_request"
    assert (request.server_label, request.name, json.loads(request.arguments)) == ("shop", "pack", {"count": 2})
    second = create(input=approval(request.id, approve=True), previous_response_id=first.id)
    call = second.output[0]
    assert kinds(second) == ["mcp_call", "message"]
    assert call.type == "mcp_call"
    assert (call.approval_request_id, call.output) == (request.id, "packed")
    create(input="Thanks.", previous_response_id=second.id)
    assert lines(served) == [
        ("user", "Pack two."),
        ("assistant", '{"count": 2}'),
        ("tool", "packed"),
        ("assistant", "Packed."),
        ("user", "Thanks."),
    ]


@pytest.mark.process
def test_approval_that_is_sent_again_does_not_run_the_call_again(served: Served, client: Any, audit: Path):
    served.script(ScriptedReply.tool_call("restock", {}), "There.", "There again.")
    first = client.responses.create(model="scripted", input="More.", tools=TOOLS)
    request: Any = {"input": approval(first.output[-1].id, approve=True), "previous_response_id": first.id}
    made = [client.responses.create(model="scripted", tools=TOOLS, **request).output[0] for _ in range(2)]
    assert [call.output for call in made] == ["there is tea"] * 2
    assert made[0].approval_request_id == made[1].approval_request_id
    served.script(ScriptedReply.tool_call("die", {}), "Gone.")
    tools: Any = [{**TOOLS[0], "require_approval": "always"}]
    first = client.responses.create(model="scripted", input="Die.", tools=tools)
    request = {"input": approval(first.output[-1].id, approve=True), "previous_response_id": first.id}
    gone = client.responses.create(model="scripted", tools=tools, **request)
    assert gone.output[0].status == "failed"
    served.script("Gone.")
    assert client.responses.create(model="scripted", tools=tools, **request).output[0].status == "failed"


def test_result_of_an_approved_call_is_for_its_own_client_and_arguments(served: Served, client: Any):
    tools: Any = [{**TOOLS[0], "require_approval": "always"}]

    def output(item: str) -> str:
        question = {**QUESTION, "name": "price", "arguments": json.dumps({"item": item})}
        served.script("Done.")
        given: Any = [{"role": "user", "content": "?"}, question, *approval("mcpr_1", approve=True)]
        made = client.responses.create(model="scripted", input=given, tools=tools, store=False)
        return next(item.output for item in made.output if item.type == "mcp_call")

    assert [output("tea"), output("milk"), output("tea")] == ["300", "400", "300"]
    pending = PendingCall(ToolCall("mcpr_1", "price", "{}"), "approval")

    stored = StoredState(None, 60)

    async def answers() -> list[ToolAnswer]:
        approved = ApprovedToolCalls(stored)
        first = await approved.answers("ann", [("mcpr_1", pending)])
        for _ in range(2):  # the second call has not begun with the first one
            with pytest.raises(InvalidInputError, match="'mcpr_1' has begun before, and no result is known"):
                await approved.answers("ann", [("mcpr_2", pending), ("mcpr_1", pending)])
        approved.keep("ann", "mcpr_1", pending.call, ToolResult("mcpr_1", (TextPart("a secret"),), is_error=True))
        again = await approved.answers("ann", [("mcpr_2", pending), ("mcpr_1", pending)])
        return [*first, *again, *await approved.answers("bob", [("mcpr_1", pending)])]

    with closing(stored):
        allowed, result = pending.allow(), pending.result("a secret", is_error=True)
        assert asyncio.run(answers()) == [allowed, allowed, result, allowed]


@pytest.mark.process
def test_approval_may_arrive_at_another_process_and_runs_the_call_once(tmp_path: Path):
    """Two servers with one database, as two workers have."""
    database = ServerSettings(database=f"sqlite:///{tmp_path}/server.db")
    shared = Settings(database, mcp={"shop": python("shop.py", approval=RULES)})
    with ExitStack() as stack:
        one, two = (stack.enter_context(serving(shared, access=FixedKeys(KEYS))) for _ in range(2))
        at_one, at_two = (
            stack.enter_context(openai.OpenAI(base_url=f"{each.url}/v1", api_key=KEYS[0], max_retries=0))
            for each in (one, two)
        )
        one.script(ScriptedReply.tool_call("restock", {}), "There.", "Tools?")
        two.script("There.", "Tools?")
        first: Any = at_one.responses.create(model="scripted", input="More.", tools=TOOLS)
        request: Any = {
            "model": "scripted",
            "tools": TOOLS,
            "input": approval(first.output[-1].id, approve=True),
            "previous_response_id": first.id,
        }
        made: list[Any] = [client.responses.create(**request) for client in (at_two, at_one)]
        assert [each.output[0].output for each in made] == ["there is tea"] * 2
        # The tool adds another one to the process of its server.
        for client in (at_one, at_two):
            client.responses.create(model="scripted", input="Which?", tools=TOOLS)
        has_run = ["tea" in {tool.name for tool in each.calls[-1].tools} for each in (one, two)]
        assert has_run == [False, True]


@pytest.mark.parametrize("tools", [TOOLS, []])
@pytest.mark.parametrize(
    ("items", "param"),
    [
        ([{**QUESTION, "id": None}], "input[0].id"),
        ([{name: value for name, value in QUESTION.items() if name != "id"}], "input[0].id"),
        ([{**QUESTION, "server_label": ["shop"]}], "input[0]"),
        ([{**QUESTION, "type": "mcp_call", "server_label": [1]}], "input[0]"),
        ([{**QUESTION, "type": "mcp_call", "id": None}], "input[0].id"),
        ([QUESTION, {**approval("", approve=True)[0], "approval_request_id": ["mcpr_1"]}], "input[1]"),
        ([QUESTION, QUESTION, *approval("mcpr_1", approve=True)], "input[0]"),
        ([QUESTION, *approval("mcpr_1", approve=True)], "input"),
    ],
)
def test_malformed_items_are_refused_with_their_place(
    http: httpx2.Client, items: list[Any], param: str, tools: list[Any]
):
    body = {"model": "scripted", "input": items, "tools": tools, "store": False}
    refused = http.post("/v1/responses", json=body, headers={"authorization": f"Bearer {KEYS[0]}"})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"].startswith(param)


def test_denied_call_is_not_run_and_the_model_reads_why(served: Served, client: Any):
    served.script(ScriptedReply.tool_call("pack", {"count": 2}), "As you wish.", "Bye.")
    first = client.responses.create(model="scripted", input="Pack two.", tools=TOOLS)
    answer = approval(first.output[-1].id, approve=False, reason="too many")
    second = client.responses.create(model="scripted", input=answer, tools=TOOLS, previous_response_id=first.id)
    assert kinds(second) == ["message"]
    assert lines(served)[-1] == ("tool", "not run: denied: too many")
    client.responses.create(model="scripted", input="Thanks.", tools=TOOLS, previous_response_id=second.id)
    assert lines(served)[2] == ("tool", "not run: the call was not approved")


def test_approval_works_without_stored_responses(served: Served, client: Any):
    served.script(ScriptedReply.tool_call("pack", {"count": 1}) + ScriptedReply.tool_call("weather", {}), "Packed.")
    tools = [*TOOLS, FUNCTION]
    first = client.responses.create(model="scripted", input="Pack one.", tools=tools, store=False)
    items: Any = [item.to_dict() for item in first.output]
    assert kinds(first) == ["mcp_list_tools", "function_call", "mcp_approval_request"]
    request, function = first.output[2], first.output[1]
    assert function.type == "function_call"
    answers = approval(request.id or "", approve=True)
    given: Any = [{"role": "user", "content": "Pack one."}, *items, *answers]
    with pytest.raises(openai.BadRequestError, match="has no function_call_output"):
        client.responses.create(model="scripted", input=given, tools=tools, store=False)
    given.append({"type": "function_call_output", "call_id": function.call_id, "output": "sun"})
    second = client.responses.create(model="scripted", input=given, tools=tools, store=False)
    assert kinds(second) == ["mcp_call", "message"]
    assert {text for role, text in lines(served) if role == "tool"} == {"packed", "sun"}


@pytest.mark.parametrize(
    ("changes", "problem", "param"),
    [
        ({"input": approval("mcpr_unknown", approve=True)}, "no mcp_approval_request", "input[0].approval_request_id"),
        (
            {"tools": [{**TOOLS[0], "server_url": "http://127.0.0.1:1/"}]},
            "own configuration only",
            "tools[0].server_url",
        ),
        ({"tools": [{**TOOLS[0], "headers": {"a": "b"}}]}, "sends its own", "tools[0].headers"),
        ({"tools": [{**TOOLS[0], "require_approval": "maybe"}]}, "expected 'always'", "tools[0].require_approval"),
        ({"tools": [{**TOOLS[0], "allowed_tools": [1]}]}, "names of tools", "tools[0].allowed_tools"),
        ({"tools": [{**TOOLS[0], "surprise": 1}]}, "no such field", "tools[0].surprise"),
        ({"tools": [*TOOLS, *TOOLS]}, "same server_label", "tools[1].server_label"),
        (
            {"model": "openai-responses/gpt-5.4", "tools": [*TOOLS, {"type": "custom", "name": "x"}]},
            "cannot be combined",
            "tools",
        ),
        ({"tools": [{"type": "mcp", "server_label": "many"}]}, "10,000 tools", "tools.allowed_tools"),
        ({"tool_choice": {"type": "mcp", "server_label": "shop", "name": "wait"}}, "not offer", "tool_choice.name"),
        ({"max_tool_calls": "many"}, "positive whole number", "max_tool_calls"),
    ],
)
def test_wrong_request_is_refused_before_the_model_is_called(
    served: Served, client: Any, changes: dict[str, Any], problem: str, param: str
):
    with pytest.raises(openai.BadRequestError, match=problem) as failed:
        client.responses.create(**{"model": "scripted", "input": "hi", "tools": TOOLS, **changes})
    assert failed.value.param == param
    assert not served.calls


def test_server_is_for_some_keys_and_models(served: Served, client: Any):
    other = client.with_options(api_key=KEYS[1])
    for who, label in ((other, "shop"), (client, "vast"), (client, "shoq")):
        with pytest.raises(openai.PermissionDeniedError, match=f"there is no MCP server '{label}'"):
            who.responses.create(model="scripted", input="hi", tools=[{"type": "mcp", "server_label": label}])


def test_client_may_choose_tools_and_tighten_approval(served: Served, client: Any):
    served.script(PRICE)
    tools: Any = [
        {
            **TOOLS[0],
            "allowed_tools": {"tool_names": ["price", "pack"], "read_only": True},
            "require_approval": {"never": {"tool_names": ["pack"]}},
        }
    ]
    choice: Any = {"type": "mcp", "server_label": "shop", "name": "price"}
    made = client.responses.create(model="scripted", input="hi", tools=tools, tool_choice=choice)
    assert [tool.name for tool in served.call.tools] == ["price"]
    assert served.call.tool_choice is not None
    assert served.call.tool_choice.tool == "price"
    assert kinds(made) == ["mcp_list_tools", "mcp_approval_request"]
    relaxed: Any = [{**TOOLS[0], "require_approval": "never", "allowed_tools": ["pack"]}]
    served.script(ScriptedReply.tool_call("pack", {"count": 1}))
    made = client.responses.create(model="scripted", input="hi", tools=relaxed)
    assert kinds(made)[-1] == "mcp_approval_request"


def test_name_of_a_function_of_the_client_stays_its_own(served: Served, client: Any):
    served.script(ScriptedReply.tool_call("shop_price", {"item": "tea"}), ScriptedReply.tool_call("price", {}))
    made = client.responses.create(model="scripted", input="hi", tools=[*TOOLS, {**FUNCTION, "name": "price"}])
    assert kinds(made) == ["mcp_list_tools", "mcp_call", "function_call"]
    call = made.output[1]
    assert call.type == "mcp_call"
    assert (call.name, call.output) == ("price", "300")


def test_custom_tools_of_the_client_go_back_to_it(served: Served, client: Any):
    custom: Any = {"type": "custom", "name": "apply_patch"}
    served.script(PRICE, ScriptedReply.tool_call("apply_patch", {"input": "*** Begin"}), "Done.")
    made = client.responses.create(model="scripted", input="hi", tools=[*TOOLS, custom])
    assert kinds(made) == ["mcp_list_tools", "mcp_call", "custom_tool_call"]
    call = made.output[2]
    assert (call.name, call.input) == ("apply_patch", "*** Begin")
    result = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "patched"}
    made = client.responses.create(
        model="scripted", input=[result], previous_response_id=made.id, tools=[*TOOLS, custom]
    )
    assert made.output_text == "Done."
    assert lines(served)[-2:] == [("assistant", '{"input": "*** Begin"}'), ("tool", "patched")]


@pytest.mark.process
@pytest.mark.parametrize(
    ("label", "tool", "arguments", "problem"),
    [
        ("shop", "fail", {}, "sold out"),
        ("shop", "price", {"item": 7}, "item"),
        ("shop", "die", {}, "was lost while the call ran; it may have taken effect"),
        ("dying", "ask", {}, "was lost while the call ran"),
        ("shop", "order", {"item": "tea"}, "asks the user a question"),
    ],
)
def test_failure_of_a_tool_is_an_error_that_the_model_reads(
    served: Served, client: Any, label: str, tool: str, arguments: dict[str, Any], problem: str
):
    served.script(ScriptedReply.tool_call(tool, arguments), "Sorry.")
    made = client.responses.create(
        model="scripted",
        input="hi",
        tools=[{"type": "mcp", "server_label": label}],
    )
    assert made.output_text == "Sorry."
    assert problem in lines(served)[-1][1]
    for secret in ("out of stock", "exit code", "Traceback", sys.executable):
        assert secret not in made.to_json()
    call = made.output[1]
    if call.type == "mcp_call":
        assert call.status == "failed"
        assert call.error is not None
        assert call.error.type == "mcp_tool_execution_error"
        assert problem in json.dumps(call.error.content)


def test_long_results_are_shortened_and_floods_are_read(served: Served, client: Any):
    served.script(ScriptedReply.tool_call("large", {"size": 50_000}), "Long.")
    made = client.responses.create(model="scripted", input="hi", tools=TOOLS)
    call = made.output[1]
    assert call.type == "mcp_call"
    assert call.output is not None
    assert len(call.output) < 1200
    assert "49,000 of 50,000 characters left out" in call.output
    served.script(ScriptedReply.tool_call("ask", {}), "Right.")
    made = client.responses.create(
        model="scripted",
        input="hi",
        tools=[{"type": "mcp", "server_label": "flooding"}],
    )
    assert kinds(made) == ["mcp_list_tools", "mcp_call", "message"]


@pytest.mark.process
def test_server_that_cannot_be_used_is_an_error_without_details(served: Served, client: Any):
    with pytest.raises(openai.InternalServerError, match="'mute' cannot be used at the moment") as failed:
        client.responses.create(model="scripted", input="hi", tools=[{"type": "mcp", "server_label": "mute"}])
    assert failed.value.status_code == 502
    served.script("Alone.")
    tools: Any = [{"type": "mcp", "server_label": "absent"}]
    with client.responses.stream(model="scripted", input="hi", tools=tools) as stream:
        events = list(stream)
        made = stream.get_final_response()
    assert "response.mcp_list_tools.failed" in [event.type for event in events]
    listed = made.output[0]
    assert listed.type == "mcp_list_tools"
    assert (listed.tools, listed.error) == ([], "the MCP server 'absent' cannot be used at the moment")


CALLED = completion_body()
CALLED["choices"][0] = {
    "index": 0,
    "message": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "price", "arguments": '{"item": "tea"}'}}
        ],
    },
    "finish_reason": "tool_calls",
}


def test_receipt_has_the_call_of_each_round(served: Served, client: Any, audit: Path):
    for each in (answer(CALLED), answer(CALLED), completion("300.")):
        served.vendor.script(each)
    asked = client.responses.with_raw_response.create(model="openai-compatible/m", input="tea?", tools=TOOLS)
    assert asked.parse().output_text == "300."
    receipt = json.loads(asked.headers["x-abstractcore-receipt"])
    sent = [hashlib.sha256(request.body).hexdigest() for request in served.vendor.requests]
    assert [(each["model"], each["request"]) for each in receipt["calls"]] == [
        ("openai-compatible/m", digest) for digest in sent
    ]
    assert len({*sent}) == 3
    assert len({each["reply"] for each in receipt["calls"]}) == 2
    trace = asked.headers["x-abstractcore-trace-id"]
    folder = ReceiptFolder(receipts_of(audit))
    wait_until((receipts_of(audit) / trace / "receipt.json").exists)
    found = {each.what: each.agrees for each in folder.verify(trace, reply=asked.content)}
    assert all(found.values())
    assert len(found) == 12
    assert "request as sent to openai-compatible/m in call 2" in found

    (receipts_of(audit) / trace / sent[1]).write_bytes(b"{}")
    assert [each.what for each in folder.verify(trace) if not each.agrees] == [
        "request as sent to openai-compatible/m in call 2"
    ]


def test_receipt_of_a_stream_has_each_round_in_the_audit_log(served: Served, client: Any, audit: Path):
    call = {"index": 0, **CALLED["choices"][0]["message"]["tool_calls"][0]}
    calls = event({"id": "chat-1", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}], "model": "m-1"})
    first = [calls, delta(finish_reason="tool_calls"), USAGE, DONE]
    served.vendor.script(stream_head() + b"".join(map(chunk, first)) + LAST_CHUNK)
    served.vendor.script(streamed("300."))
    with client.responses.stream(model="openai-compatible/m", input="tea?", tools=TOOLS) as stream:
        assert stream.get_final_response().output_text == "300."
    receipt = json.loads(audit.read_text().splitlines()[-1])["receipt"]
    sent = [hashlib.sha256(request.body).hexdigest() for request in served.vendor.requests]
    assert [each["request"] for each in receipt["calls"]] == sent
    assert all("reply" in each for each in receipt["calls"])


def test_bodies_of_earlier_rounds_are_kept_for_the_folder_alone():
    relays = [Relay(b"{}", {}, keeps_bodies=keeps) for keeps in (True, False)]
    receipts = [Receipt(b"{}"), Receipt(b"{}")]
    for relay, receipt in zip(relays, receipts, strict=True):
        receipt.add("a/b", relay)
        for number in range(20):
            attempt: Any = SimpleNamespace(request=WireRequest("", {}, b'{"a":%d}' % number), number=1)
            relay.body_for(attempt)
    assert [[len(call.request) for call in relay.calls][:2] for relay in relays] == [[7, 7], [0, 0]]
    assert receipts[0].data("0") == receipts[1].data("0")
    shown = json.loads(receipts[1].header("0"))
    assert (len(shown["calls"]), shown["more_calls"]) == (8, 12)
    assert shown["calls"] == receipts[1].data("0")["calls"][-8:]


def test_rounds_are_limited(served: Served, client: Any):
    served.script(PRICE, PRICE, PRICE, "Enough.")
    made = client.responses.create(model="scripted", input="hi", tools=TOOLS)
    assert made.output_text == "Enough."
    assert served.calls[-1].tool_choice is not None
    assert served.calls[-1].tool_choice.mode == "none"
    served.script(PRICE, PRICE, "Enough.")
    made = client.responses.create(model="scripted", input="hi", tools=TOOLS, max_tool_calls=1)
    assert kinds(made) == ["mcp_list_tools", "mcp_call", "message"]


@pytest.mark.exhaustive
def test_other_requests_are_answered_while_many_tools_are_read(
    served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
):
    """Each step of the first listing waits until another request was answered; two requests share the listing."""
    steps = ["read", "made", "served"]
    begun, may_end = ({step: threading.Event() for step in steps} for _ in range(2))
    counts: Counter[str] = Counter()

    def waiting(step: str, function: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            counts[step] += 1
            begun[step].set()
            assert may_end[step].wait(PATIENCE_SECONDS), "the event loop was blocked"
            return function(*args, **options)

        return run

    def examine(reader: object) -> list[Any]:
        counts["examined"] += 1
        return []

    servers: Any = served.application.state.mcp
    monkeypatch.setattr(servers, "_latest", {})
    source = servers._tools("many")
    source._latest, source._made = (None, (), ()), ([], ())
    monkeypatch.setattr(listing, "definitions_of", waiting("read", listing.definitions_of))
    monkeypatch.setattr(source, "_tools", waiting("made", source._tools))
    monkeypatch.setattr(servers, "_list_tools", waiting("served", servers._list_tools))
    monkeypatch.setattr(SignatureReader, "_given_parameters", examine)
    body = {"model": "scripted", "input": "hi", "tools": [{"type": "mcp", "server_label": "many"}]}
    headers = {"authorization": f"Bearer {KEYS[0]}"}
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(http.post, "/v1/responses", json=body, headers=headers) for _ in range(2)]
        for step in steps:
            assert begun[step].wait(PATIENCE_SECONDS)
            assert http.get("/health").status_code == 200
            may_end[step].set()
        assert [each.result().status_code for each in asked] == [400, 400]
    assert counts.pop("examined", 0) <= 1
    assert counts == dict.fromkeys(steps, 1)


def test_attached_tools_are_run_within_a_chat(served: Served, client: Any):
    served.script(
        ScriptedReply.text("Let me see. ", usage=Usage(7, 3)) + PRICE, ScriptedReply.text("300.", usage=Usage(9, 1))
    )
    body: Any = {"model": "chatty", "messages": [{"role": "user", "content": "tea?"}]}
    made = client.chat.completions.create(**body, extra_body={"abstractcore": {}})
    (choice,) = made.choices
    assert (choice.message.content, choice.message.tool_calls, choice.finish_reason) == (
        "Let me see. 300.",
        None,
        "stop",
    )
    assert made.usage is not None
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (16, 4)
    (run,) = made.model_extra["abstractcore"]["tools"]
    assert (run["server"], run["tool"], run["outcome"]) == ("shop", "price", "done")
    offered = [tool.name for tool in served.calls[0].tools]
    assert "price" in offered
    assert "pack" not in offered  # its calls would need an approval
    served.script(ScriptedReply.text("Let me see. ") + PRICE, "300.")
    chunks = list(client.chat.completions.create(**body, stream=True, extra_body={"abstractcore": {}}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Let me see. 300."
    ends = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert [end for end in ends if end] == ["stop"]
    assert not any(chunk.choices and chunk.choices[0].delta.tool_calls for chunk in chunks)
    assert '"tool": "price"' in json.dumps([chunk.to_dict() for chunk in chunks])


@pytest.mark.parametrize("streamed", [False, True])
def test_calls_of_the_clients_own_tools_go_back_to_it(served: Served, *, streamed: bool):
    served.script(PRICE, ScriptedReply.tool_call("price", {"item": "milk"}) + ScriptedReply.tool_call("weather", {}))
    tool: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}
    body: Any = {
        "model": "chatty",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "tea?"}],
        "tools": [tool],
    }
    client: Any
    with anthropic.Anthropic(base_url=served.url, api_key=KEYS[0], max_retries=0) as client:
        if streamed:
            with client.messages.stream(**body) as stream:
                made = stream.get_final_message()
        else:
            made = client.messages.create(**body)
    assert [(block.type, getattr(block, "name", "")) for block in made.content] == [("tool_use", "weather")]
    assert made.stop_reason == "tool_use"


USER = {"role": "user", "content": "tea?"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"model": "chatty", "prompt": "tea?"}),
        ("/v1beta/models/chatty:generateContent", {"contents": [{"role": "user", "parts": [{"text": "tea?"}]}]}),
        ("/v1beta/models/chatty:streamGenerateContent", {"contents": [{"role": "user", "parts": [{"text": "tea?"}]}]}),
        ("/v2/chat", {"model": "chatty", "messages": [USER]}),
        ("/v2/chat", {"model": "chatty", "messages": [USER], "stream": True}),
        ("/api/chat", {"model": "chatty", "messages": [USER], "stream": False}),
        ("/api/chat", {"model": "chatty", "messages": [USER]}),
        ("/api/generate", {"model": "chatty", "prompt": "tea?"}),
        ("/v1/messages", {"model": "chatty", "messages": [USER], "max_tokens": 100, "stream": True}),
    ],
)
def test_attached_tools_are_run_for_clients_of_all_apis(
    served: Served, http: httpx2.Client, path: str, body: dict[str, Any]
):
    served.script(PRICE, "Cheap.")
    answer = http.post(path, json=body, headers={"authorization": f"Bearer {KEYS[0]}"})
    assert answer.status_code == 200
    assert "Cheap" in answer.text
    assert "price" not in answer.text
    assert lines(served)[-1] == ("tool", "300")


def test_response_in_the_background_runs_tools(served: Served, client: Any):
    served.script(PRICE, "300.")
    made = client.responses.create(model="scripted", input="tea?", tools=TOOLS, background=True, stream=True)
    events = list(made)
    assert events[-1].type == "response.completed"
    assert kinds(events[-1].response) == ["mcp_list_tools", "mcp_call", "message"]
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.process
def test_tool_that_never_answers_is_timed_out_and_its_server_serves_on():
    servers = {"silent": python("hostile.py", "never_answer")}
    with (
        serving(Settings(limits=ServerLimits(tool_seconds=0.2), mcp=servers)) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client,
    ):
        responses: Any = client.responses
        for _ in range(2):
            served.script(ScriptedReply.tool_call("ask", {}), "Sorry.")
            tools: Any = [{"type": "mcp", "server_label": "silent"}]
            call = responses.create(model="scripted", input="hi", tools=tools).output[1]
            assert (call.type, call.status) == ("mcp_call", "failed")
            assert "did not finish in 0.2 s" in json.dumps(call.error.content)


def test_optional_server_that_is_away_leaves_a_warning(served: Served, client: Any):
    served.script("Alone.")
    made = client.chat.completions.create(
        model="hopeful", messages=[{"role": "user", "content": "hi"}], extra_body={"abstractcore": {}}
    )
    assert made.choices[0].message.content == "Alone."
    (warning,) = made.model_extra["abstractcore"]["warnings"]
    assert warning["code"] == "tool_server_failed"
    assert "/no/such" not in made.to_json()


def test_vendors_own_servers_go_to_the_vendor(served: Served, client: Any):
    reply: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    tool: Any = {"type": "mcp", "server_label": "remote", "server_url": "https://mcp.example/"}
    client.responses.create(model="openai-responses/gpt-5.4", input="hi", tools=[tool], store=False)
    assert json.loads(served.vendor.requests[-1].body)["tools"] == [tool]
    with pytest.raises(openai.BadRequestError, match="has this label"):
        client.responses.create(
            model="openai-responses/gpt-5.4",
            input="hi",
            tools=[{**tool, "server_label": "shop"}],
        )


def test_model_of_the_apis_own_vendor_gets_functions_and_stores_nothing(served: Served, client: Any):
    def output(*items: Any) -> bytes:
        usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        body: dict[str, Any] = {"id": "resp_v", "object": "response", "status": "completed", "model": "gpt-5.4"}
        return raw_answer(json.dumps({**body, "output": items, "usage": usage}).encode())

    thought: dict[str, Any] = {"type": "reasoning", "id": "rs_v", "summary": [], "encrypted_content": "secret"}
    arguments = '{"item": "tea"}'
    called = {"type": "function_call", "id": "fc_v", "call_id": "call_v", "name": "price", "arguments": arguments}
    text: dict[str, Any] = {"type": "output_text", "text": "300.", "annotations": []}
    said: dict[str, Any] = {
        "type": "message",
        "id": "msg_v",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    served.vendor.script(output(thought, called))
    served.vendor.script(output(said))
    request: Any = {"model": "openai-responses/gpt-5.4", "tools": TOOLS, "store": True}
    made = client.responses.create(input="tea?", **request)
    assert kinds(made) == ["mcp_list_tools", "reasoning", "mcp_call", "message"]
    assert (made.store, made.usage.total_tokens) == (True, 14)
    first, second = (json.loads(each.body) for each in served.vendor.requests)
    assert {tool["type"] for tool in first["tools"]} == {"function"}
    assert (first["store"], second["store"]) == (False, False)
    assert [item.get("type", "message") for item in second["input"]] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    served.vendor.script(output(said))
    client.responses.create(input="And now?", previous_response_id=made.id, **request)
    items = json.loads(served.vendor.requests[-1].body)["input"]
    assert [item.get("type", "message") for item in items] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]
    assert items[1]["encrypted_content"] == "secret"
    assert items[2]["arguments"] == arguments


def test_signed_call_comes_back_with_its_signature(served: Served, client: Any):
    call = {"functionCall": {"name": "pack", "args": {"count": 1}}, "thoughtSignature": "c2lnbmVk"}

    def answer(*parts: Any) -> bytes:
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return raw_answer(json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode())

    request: Any = {"model": "google/gemini-3.1-pro-preview", "tools": TOOLS}
    served.vendor.script(answer(call))
    first = client.responses.create(input="Pack one.", **request)
    assert kinds(first) == ["mcp_list_tools", "mcp_approval_request"]
    served.vendor.script(answer({"text": "Packed."}))
    given = approval(first.output[-1].id, approve=True)
    second = client.responses.create(input=given, previous_response_id=first.id, **request)
    assert kinds(second) == ["mcp_call", "message"]
    served.vendor.script(answer({"text": "Bye."}))
    client.responses.create(input="Thanks.", previous_response_id=second.id, **request)
    for sent in served.vendor.requests[1:]:
        parts = [part for content in json.loads(sent.body)["contents"] for part in content["parts"]]
        (again,) = (part for part in parts if "functionCall" in part)
        assert again["thoughtSignature"] == "c2lnbmVk"


@pytest.mark.process
def test_tools_are_made_once_as_long_as_they_stay_the_same():
    async def listings() -> list[Listing]:
        servers = MCPServers(Settings(mcp={"shop": python("shop.py", approval=RULES)}), {})
        try:
            return [listing for _ in range(2) for listing in await servers.listings(["shop"])]
        finally:
            await servers.close()

    first, again = asyncio.run(listings())
    assert again is first
    rules = {each.name: each.rule for each in first.tools}
    assert (rules["price"], rules["pack"], "wait" in rules) == ("never", "always", False)


def test_metrics_count_calls_of_tools(served: Served, client: Any, http: httpx2.Client):
    served.script(PRICE, "300.")
    client.responses.create(model="scripted", input="tea?", tools=TOOLS)
    text = http.get("/metrics", headers={"authorization": f"Bearer {KEYS[0]}"}).text
    assert 'abstractcore_tool_calls_total{server="shop",tool="price",outcome="done"}' in text


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[mcp.shop]\nonly = ['a']", "server.toml:1:1: mcp.shop: expected either command or url"),
        ("[mcp.shop]\ncommand = 'x'\nurl = 'https://x.example'", "expected either command or url"),
        (
            "[mcp.shop]\nurl = 'https://x.example'\nargs = ['a']",
            "server.toml:3:1: mcp.shop.args: it is for servers with",
        ),
        (
            "[mcp.shop]\ncommand = 'x'\n[mcp.shop.approval]\n'a' = 'ask'",
            "server.toml:4:1: mcp.shop.approval.a: expected",
        ),
        ("[mcp.shop]\ncommand = 'x'\napproval = 'ask'", "server.toml:3:1: mcp.shop.approval: expected 'never' or"),
        (
            "[mcp.shop]\ncommand = 'x'\n[mcp.shop.env]\nMY_KEY = 'k'",
            "server.toml:4:1: mcp.shop.env.MY_KEY: secrets are not allowed",
        ),
        ("[mcp.'a b']\ncommand = 'x'", "cannot be the name of an MCP server"),
        (
            "[mcp.shop]\ncomand = 'x'",
            "server.toml:2:1: mcp.shop.comand: there is no such setting. Did you mean command?",
        ),
        ("[mcp.shop]\nurl = '${NOT_SET}'", "server.toml:1:1: mcp.shop: the environment variable NOT_SET is not set"),
        ("[mcp.shop]\nurl = 'ftp://x'", "server.toml:1:1: mcp.shop: url: expected an http or https URL"),
    ],
)
def test_wrong_table_is_an_error_with_its_line(tmp_path: Path, text: str, problem: str):
    file = tmp_path / "server.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as failed:
        MCPServers(read_settings(str(file), {}), {}).check()
    assert problem in str(failed.value)
