"""Guards of plugins: before a call, after an answer, and on streams, in each client's dialect; and guards that fail."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anthropic
import httpx2
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from abstractcore import (
    AudioPart,
    Blob,
    ConfigurationError,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolResult,
    Usage,
)
from abstractcore.ports import Edit, GuardContext, Refusal, TextPiece, with_texts
from abstractcore.testing import ScriptedReply
from abstractcore_server import (
    Application,
    GuardSettings,
    ModelSettings,
    ServerLimits,
    ServerSettings,
    Settings,
    read_settings,
    server_services,
)
from abstractcore_server.configuration.settings import MCPSettings
from tests.chaos_server import DONE, LAST_CHUNK, USAGE, chunk, completion_body, delta, raw_answer, stream_head, streamed
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.guard_doubles import FAILURES, UNSET, Double, always, reset
from tests.server.serving import Served, serving

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugin_guards" / "plugin_guards.py"
SHOP = Path(__file__).parents[2] / "core" / "mcp" / "shop.py"
ANN = "ann@example.org"
SAID = [{"role": "user", "content": f"Write to {ANN}"}]
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": SAID},
    "/v1/completions": {"prompt": f"Write to {ANN}"},
    "/v1/responses": {"input": f"Write to {ANN}", "store": False},
    "/v1/messages": {"messages": SAID, "max_tokens": 100},
    "/v1beta/models/{model}:generateContent": {"contents": [{"parts": [{"text": f"Write to {ANN}"}]}]},
    "/v2/chat": {"messages": SAID},
    "/api/chat": {"messages": SAID, "stream": False},
    "/api/generate": {"prompt": f"Write to {ANN}", "stream": False},
}


DOUBLES = {
    "calls": Double("calls", ("check_call",)),
    "replies": Double("replies", ("check_reply",)),
    "texts": Double("texts", ("check_text",)),
    "looks": Double("looks", ("check_call", "check_text"), read_only=True),
}


def example() -> Any:
    spec = importlib.util.spec_from_file_location("plugin_guards", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plugin_guards"] = module  # where dataclasses look for annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guards") / "audit.jsonl"


@pytest.fixture(scope="module")
def running(accounts: Accounts, audit: Path) -> Generator[Served]:
    guards = {
        "emails": GuardSettings("emails", models=("emails", "mail-*")),
        "words": GuardSettings("words", models=("words",), options={"words": ["bomb"]}),
        "judge": GuardSettings("judge", models=("judge",), options={"model": "scripted", "rule": "Be kind."}),
        "tools": GuardSettings("calls", models=("tools",)),
        "of bob": GuardSettings("calls", keys=("bob",)),
    }
    for name, double in DOUBLES.items():
        for policy in ("open", "hasty", "closed"):
            guards[f"{name}-{policy}"] = GuardSettings(
                double.name,
                on_failure="closed" if policy == "closed" else "open",
                timeout_seconds=0.1 if policy == "hasty" else 60.0,
                models=(f"{name}-{policy}", f"{name}-vendor" if policy == "closed" else ""),
            )
    names = [*guards, *(f"{name}-vendor" for name in DOUBLES)]
    models = {name: ModelSettings(("openai-compatible/m-1" if "vendor" in name else "scripted",)) for name in names}
    models["mail-vendor"] = ModelSettings(("openai-compatible/m-1",))
    shop = MCPSettings(command=sys.executable, args=(str(SHOP),), approval="never", attached=("tools",))
    settings = Settings(
        ServerSettings(audit_log=str(audit)),
        ServerLimits(heartbeat_seconds=30),
        models=models,
        guards=guards,
        mcp={"shop": shop},
    )
    services = server_services(settings, environment={}, random=lambda: 0.0)
    assert services.registry.add_plugin("guards", example).error is None
    for double in DOUBLES.values():
        services.registry.add_guard(double)
    with serving(settings, access=accounts, services=services) as served:
        yield served


@pytest.fixture(autouse=True)
def fresh(accounts: Accounts) -> Iterator[None]:
    accounts.clear()
    yield
    reset(DOUBLES.values())


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def when(is_so: Callable[[str], bool], verdict: object) -> Callable[..., Any]:
    """Returns a check of texts that gives the verdict about some of them."""

    def check(subject: object, context: object) -> object:
        return verdict if isinstance(subject, TextPiece) and is_so(subject.text) else None

    return check


def ask(http: httpx2.Client, model: str, path: str = "/v1/chat/completions", **more: Any) -> httpx2.Response:
    body = {**REQUESTS[path], **({} if "{model}" in path else {"model": model}), **more}
    if body.get("stream") and "{model}" in path:
        del body["stream"]
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    return http.post(path.replace("{model}", model), json=body)


def streamed_texts(response: httpx2.Response) -> list[str]:
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    deltas = (choice["delta"] for event in events for choice in json.loads(event).get("choices", []))
    return [delta["content"] for delta in deltas if delta.get("content")]


def shown_text(name: str) -> str:
    """The last piece of text that a double has seen."""
    seen = [piece.text for piece in DOUBLES[name].seen if isinstance(piece, TextPiece)]
    return seen[-1] if seen else ""


def receipt_of(response: httpx2.Response) -> dict[str, Any]:
    return json.loads(response.headers["x-abstractcore-receipt"])


@pytest.mark.parametrize("path", REQUESTS)
def test_texts_are_changed_in_each_dialect(served: Served, http: httpx2.Client, path: str):
    served.script(f"Done: {ANN}, {ANN}.")
    response = ask(http, "emails", path)
    assert response.status_code == 200
    assert served.call.messages[0].text == "Write to [e-mail]"
    assert ANN not in response.text
    assert "Done: [e-mail], [e-mail]." in response.text
    assert served.call.tags == {"guard.emails": "changed"}
    assert len(receipt_of(response)["reply_changed"]) >= 1


@pytest.mark.parametrize("path", REQUESTS)
def test_streams_are_changed_in_each_dialect(served: Served, http: httpx2.Client, path: str):
    served.script(ScriptedReply.chunks(["Done: an", "n@exam", "ple.org", ", ", "ann@", "example.org", "!"]))
    response = ask(http, "emails", path, stream=True)
    assert response.status_code == 200
    assert "example.org" not in response.text
    assert "n@" not in response.text
    assert response.text.count("[e-mail]") >= 2


@pytest.mark.parametrize("path", REQUESTS)
def test_answers_are_refused_in_each_dialect(served: Served, http: httpx2.Client, path: str):
    served.script(*["A bomb."] * 2)
    whole = ask(http, "words", path)
    assert whole.status_code == 400
    assert "the guard 'words' refused the answer: it has a word" in whole.text
    stream = ask(http, "words", path, stream=True)
    assert stream.status_code == 400
    assert "bomb" not in stream.text + whole.text
    assert stream.json().keys() == whole.json().keys()


@pytest.mark.parametrize("path", REQUESTS)
def test_refusal_within_a_stream_is_its_last_event(served: Served, http: httpx2.Client, path: str):
    served.script(ScriptedReply.chunks(["Take this, and this, and ", "a bo", "mb", " now"]))
    response = ask(http, "words", path, stream=True)
    assert response.status_code == 200
    assert "Take this" in response.text
    assert "bo" not in response.text.replace("bob", "").split("refused the answer")[0].replace("body", "")
    assert "refused the answer" in response.text


def test_refusals_are_the_clients_own_exceptions(served: Served, accounts: Accounts):
    served.script("A bomb.", ScriptedReply.chunks(["1234567 ", "bomb"]), ScriptedReply.chunks(["1234567 ", "bomb"]))
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model="words", messages=[{"role": "user", "content": "?"}])
        assert refused.value.code == "content_filter"
        assert accounts.settled[-1].outcome == "done"  # it was made, and costs what it costs
        with pytest.raises(openai.APIError, match="refused the answer"):
            for event in client.chat.completions.create(
                model="words", messages=[{"role": "user", "content": "?"}], stream=True
            ):
                assert "bomb" not in str(event)
    with (
        anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client,
        pytest.raises(anthropic.APIStatusError, match="refused the answer"),
        client.messages.stream(model="words", max_tokens=9, messages=[{"role": "user", "content": "?"}]) as messages,
    ):
        assert "bomb" not in "".join(messages.text_stream)
    assert accounts.settled[-1].outcome == "failed"
    assert accounts.settled[-1].usage.output


def test_model_is_asked_by_a_guard(served: Served, http: httpx2.Client, accounts: Accounts):
    served.script("Yes.", "hello", "No.")
    assert ask(http, "judge").status_code == 200
    judged, answered = served.calls
    assert f"<question>\nWrite to {ANN}\n</question>" in judged.messages[0].text
    assert answered.messages[0].text == f"Write to {ANN}"
    response = ask(http, "judge")
    assert response.status_code == 400
    assert "refused the request: not allowed: Be kind." in response.json()["error"]["message"]
    assert [(each.outcome, each.usage) for each in accounts.settled] == [
        ("done", accounts.settled[0].usage),
        ("failed", Usage(0, 0)),
    ]


def test_decisions_are_recorded(served: Served, http: httpx2.Client, audit: Path):
    served.script(f"To {ANN}.", ScriptedReply.chunks(["To ", ANN]), "A bomb.")
    response = ask(http, "emails", abstractcore={})
    call, reply = response.json()["abstractcore"]["guards"]
    assert (call["guard"], call["checked"], call["outcome"]) == ("emails", "call", "changed")
    assert call["changed"] == ["messages[0].parts[0].text"]
    assert (reply["checked"], reply["outcome"], reply["changed"]) == ("reply", "changed", ["parts[0].text"])
    assert receipt_of(response)["reply_changed"] == ["choices[0].message.content"]
    stream = ask(http, "emails", stream=True, abstractcore={})
    last = json.loads([line[6:] for line in stream.text.splitlines() if '"abstractcore"' in line][-1])
    assert [each["checked"] for each in last["abstractcore"]["guards"]] == ["call", "stream"]
    assert ask(http, "words").status_code == 400
    lines = [json.loads(line) for line in audit.read_text().splitlines()][-3:]
    shown = [[(each["guard"], each["checked"], each["outcome"]) for each in line["guards"]] for line in lines]
    assert shown == [
        [("emails", "call", "changed"), ("emails", "reply", "changed")],
        [("emails", "call", "changed"), ("emails", "stream", "changed")],
        [("words", "reply", "refused")],
    ]
    assert "word that" not in audit.read_text()
    families = text_string_to_metric_families(http.get("/metrics").text)
    counted = [each.labels for family in families for each in family.samples if "guard" in each.name]
    assert {"guard": "emails", "checked": "stream", "outcome": "changed"} in counted


def test_each_choice_is_guarded(served: Served, http: httpx2.Client):
    served.script(f"a {ANN}", f"b {ANN}")
    contents = [choice["message"]["content"] for choice in ask(http, "emails", n=2).json()["choices"]]
    assert sorted(contents) == ["a [e-mail]", "b [e-mail]"]
    served.script(ScriptedReply.chunks(["a ", "ann", "@example.org"]), ScriptedReply.chunks(["b ", ANN]))
    assert "".join(sorted(streamed_texts(ask(http, "emails", n=2, stream=True)))) == "a [e-mail]b [e-mail]"


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_and_arguments_are_guarded(served: Served, http: httpx2.Client, stream: bool):
    thought = ReasoningPart(f"ask {ANN}", signature="c2ln", origin="scripted/scripted")
    call = ScriptedReply.tool_call("mail", r'{"to": ["ann\u0040example.org"], "n": 1.0, "text": "hi"}')
    served.script(replace(call.whole(), parts=(thought, TextPart("Sent."), *call.whole().parts)))
    response = ask(http, "emails", "/v1/messages", stream=stream)
    assert "ann" not in response.text
    assert "c2ln" not in response.text
    if stream:
        events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        thinking = "".join(delta.get("thinking", "") for delta in deltas)
        arguments = json.loads("".join(delta.get("partial_json", "") for delta in deltas))
    else:
        thinking = response.json()["content"][0]["thinking"]
        arguments = response.json()["content"][-1]["input"]
    assert thinking == "ask [e-mail]"
    assert arguments == {"to": ["[e-mail]"], "n": 1.0, "text": "hi"}


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_said_in_the_sound_of_an_answer_is_guarded(served: Served, client: openai.OpenAI, stream: bool):
    def answered(model: str, said: str) -> str:
        audio = AudioPart(Blob.from_bytes(b"sound", "audio/wav"), said, "audio_1")
        served.script(replace(ScriptedReply.text("x").whole(), parts=(audio,)))
        asked: Any = {"model": model, "messages": SAID, "stream": stream}
        made = cast("Any", client.chat.completions.create(**asked))
        return repr(list(made) if stream else made)

    assert "c291bmQ=" in answered("emails", "Good morning.")
    hidden = answered("emails", f"Write to {ANN}.")
    assert "Write to [e-mail]." in hidden
    assert "c291bmQ=" not in hidden
    assert ANN not in hidden
    with pytest.raises(openai.BadRequestError, match="refused the answer"):
        answered("words", "A bomb.")


def test_arguments_come_in_the_order_of_the_stream(served: Served, http: httpx2.Client):
    reply = ScriptedReply.chunks(["Let me ", "look."]) + ScriptedReply.tool_call("a", {"x": "bom"})
    served.script(reply + ScriptedReply.tool_call("b", {"y": ANN}))
    response = ask(http, "emails", "/v1/messages", stream=True)
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    starts = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [(start["type"], start.get("name")) for start in starts] == [
        ("text", None),
        ("tool_use", "a"),
        ("tool_use", "b"),
    ]
    assert '\\"x\\": \\"bom\\"' in response.text
    assert events[-1]["type"] == "message_stop"


def renamed(answer: bytes) -> bytes:
    """The vendor's answer, with the model's name that the client has sent."""
    return answer.replace(b'"model": "m-1"', b'"model": "looks-vendor"')


def test_bytes_go_through_a_guard_that_looks(served: Served, http: httpx2.Client):
    body = json.dumps(completion_body("hello"), indent=1).encode()
    served.vendor.script(raw_answer(body))
    response = ask(http, "looks-vendor")
    assert response.content == renamed(body)
    assert receipt_of(response)["calls"][0]["changed"] == ["model"]
    assert receipt_of(response)["reply_changed"] == ["model"]
    events = b"".join([delta("Bon", new=1.50), delta("jour, tout le monde"), delta(finish_reason="stop"), USAGE, DONE])
    pieces = [events[at : at + 37] for at in range(0, len(events), 37)]
    served.vendor.script(stream_head() + b"".join(map(chunk, pieces)) + LAST_CHUNK)
    response = ask(http, "looks-vendor", stream=True, stream_options={"include_usage": True})
    assert response.content == renamed(events)
    seen = [piece for piece in DOUBLES["looks"].seen if isinstance(piece, TextPiece)]
    assert seen[-1].is_last
    assert seen[0].text == "hello"


def test_text_that_no_guard_was_shown_is_not_sent(served: Served, http: httpx2.Client):
    tool: dict[str, Any] = {"type": "function", "function": {"name": "f", "parameters": {}}}
    part = {"type": "text", "text": "hello"}
    for given, is_sent_on in ((tool, True), ({**tool, "unknown": ANN}, False)):
        messages = [{"role": "user", "content": [part]}]
        body: dict[str, Any] = {"model": "looks-vendor", "messages": messages, "tools": [given]}
        served.vendor.script(raw_answer(json.dumps(completion_body("hello")).encode()))
        assert http.post("/v1/chat/completions", json=body).status_code == 200
        sent = served.vendor.requests[-1].body
        assert ANN.encode() not in sent
        assert (json.loads(sent) == {**body, "model": "m-1"}) is is_sent_on


def test_looking_guard_holds_bytes_back_and_may_refuse(served: Served, http: httpx2.Client):
    DOUBLES["looks"].do = when(lambda text: "bomb" in text, Refusal("no"))
    gate = served.vendor.gate()
    served.vendor.script(
        stream_head(),
        chunk(delta("12345678")),
        gate,
        chunk(delta("abcdefgh")),
        gate,
        chunk(delta("a bo") + delta("mb")),
        LAST_CHUNK,
    )
    with ThreadPoolExecutor(1) as pool:
        options = {"include_usage": True}
        answer = pool.submit(ask, http, "looks-vendor", stream=True, stream_options=options)
        for end in ("78", "gh"):
            assert wait_until(lambda end=end: shown_text("looks").endswith(end))
            gate.open()
        text = answer.result().text
    assert text.encode().startswith(renamed(delta("12345678")))
    assert "abc" not in text
    assert "refused the answer: no" in text


def test_changes_are_in_the_receipt(served: Served, http: httpx2.Client, audit: Path):
    served.vendor.script(raw_answer(json.dumps({**completion_body(ANN), "unknown": 1}).encode()))
    response = ask(http, "mail-vendor")
    assert ANN not in served.vendor.requests[0].body.decode()
    receipt = receipt_of(response)
    assert sorted(receipt["calls"][0]["changed"]) == ["messages[0].content", "model"]
    assert receipt["reply_changed"] == ["choices[0].message.content", "unknown"]  # which may quote it
    served.vendor.script(streamed("To ", ANN))
    assert "ann" not in ask(http, "mail-vendor", stream=True).text
    lines = wait_until(lambda: [line for line in audit.read_text().splitlines() if "].text" in line])
    (changed,) = json.loads(lines[-1])["receipt"]["reply_changed"]
    assert re.fullmatch(r"blocks\[\d+\]\.text", changed)


def test_responses_in_the_background_are_guarded(served: Served, http: httpx2.Client):
    def ended(model: str) -> Any:
        body = {"model": model, "input": f"Write to {ANN}", "background": True}
        id = http.post("/v1/responses", json=body).json()["id"]

        def response() -> Any:
            found = http.get(f"/v1/responses/{id}").json()
            return found if found["status"] not in ("queued", "in_progress") else None

        return wait_until(response)

    served.script(f"To {ANN}.", "A bomb.")
    completed, refused = ended("emails"), ended("words")
    assert completed["output"][-1]["content"][0]["text"] == "To [e-mail]."
    assert refused["status"] == "failed"
    assert "refused the answer" in refused["error"]["message"]
    assert "bomb" not in json.dumps(refused)


def test_conversation_that_is_compacted_is_guarded(served: Served, http: httpx2.Client):
    served.script("They write mails.")
    body = {"model": "emails", "input": [{"role": "user", "content": f"Write to {ANN}"}]}
    assert http.post("/v1/responses/compact", json=body).status_code == 200
    assert "Write to [e-mail]" in served.call.messages[-1].text
    assert ANN not in str(served.call)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("verdict", ["changed", "refused", "removed"])
def test_results_of_tools_are_guarded_before_the_model_has_them(
    served: Served, http: httpx2.Client, verdict: str, stream: bool
):
    def check(call: ModelCall, context: GuardContext) -> Any:
        if call.messages[-1].role != "tool":
            return None
        if verdict == "removed":
            return call.with_(messages=call.messages[:1])
        return Refusal("no prices") if verdict == "refused" else with_texts(call, lambda text, kind: "(hidden)")

    DOUBLES["calls"].do = check
    served.script(ScriptedReply.tool_call("price", {"item": "tea"}), "I see.")
    response = ask(http, "tools", stream=stream)
    assert "I see." in "".join(streamed_texts(response)) if stream else response.text
    (result,) = served.calls[-1].messages[-1].parts
    assert isinstance(result, ToolResult)
    read = {"changed": "(hidden)", "refused": "refused the result of the tool: no prices", "removed": "failed"}
    assert read[verdict] in result.as_text
    assert "300" not in result.as_text
    assert served.calls[-1].messages[0].text == f"Write to {ANN}"


@pytest.mark.parametrize("stream", [False, True])
def test_items_of_calls_that_the_server_ran_are_changed_and_stay(served: Served, http: httpx2.Client, stream: bool):
    def respond(input: Any, model: str, rule: str, **more: Any) -> Any:
        tools = [{"type": "mcp", "server_label": "shop", "require_approval": rule}]
        body = {"model": model, "input": input, "tools": tools, "stream": stream, **more}
        response = http.post("/v1/responses", json=body)
        assert "sold out" not in response.text
        assert '"300"' not in response.text
        events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
        return json.loads(events[-1])["response"] if stream else response.json()

    def hide(piece: TextPiece, context: GuardContext) -> list[Edit]:
        return [Edit(*found.span(), "[x]") for found in re.finditer("sold out|300", piece.text)]

    DOUBLES["texts"].do = hide
    fail, price = ScriptedReply.tool_call("fail", {}), ScriptedReply.tool_call("price", {"item": "tea"})
    served.script(fail, price, "There.")
    failed, called = respond("?", "texts-closed", "never")["output"][1:3]
    assert failed["error"]["content"][0]["text"] == "Error executing tool fail: [x]"
    assert (called["status"], called["output"]) == ("completed", "[x]")
    served.script(price, "There.", "Bye.")
    first = respond("?", "texts-closed", "always")
    answer = {"type": "mcp_approval_response", "approval_request_id": first["output"][-1]["id"], "approve": True}
    second = respond([answer], "texts-closed", "always", previous_response_id=first["id"])
    assert second["output"][0]["output"] == "[x]"
    respond("Thanks.", "texts-closed", "always", previous_response_id=second["id"])
    results = [part for message in served.calls[-1].messages for part in message.parts if isinstance(part, ToolResult)]
    assert [result.as_text for result in results] == ["[x]"]


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_that_wait_for_approval_are_guarded(served: Served, http: httpx2.Client, stream: bool):
    served.script(ScriptedReply.tool_call("price", r'{"item": "ann\u0040example.org"}'))
    tools = [{"type": "mcp", "server_label": "shop", "require_approval": "always"}]
    response = http.post(
        "/v1/responses", json={"model": "emails", "input": "?", "tools": tools, "stream": stream, "store": False}
    )
    assert "mcp_approval_request" in response.text
    assert "[e-mail]" in response.text
    assert "0040" not in response.text


def test_guard_that_cannot_be_made_changes_nothing(served: Served):
    application, state = served.application, served.application.state
    with pytest.raises(ConfigurationError, match="no guard is called 'none'"):
        application.reload(replace(state.settings, guards={"x": GuardSettings("none")}))
    assert application.state is state


def test_model_is_guarded_under_its_own_name_too(served: Served):
    of = served.application.state.guards.of
    assert [guard.name for guard in of(("smart", "words"), None)] == ["words"]
    assert [guard.name for guard in of(("other",), "bob")] == ["of bob"]
    assert not of(("other",), None)


def test_counted_tokens_are_guarded(served: Served, http: httpx2.Client):
    DOUBLES["calls"].do = always(Refusal("never"))
    body = {"model": "calls-closed", "messages": SAID}
    response = http.post("/v1/messages/count_tokens", json=body)
    assert response.status_code == 400
    assert "never" in response.text


@pytest.mark.parametrize("check", ["check_reply", "check_text"])
def test_guard_of_replies_sees_streams_as_a_whole(served: Served, http: httpx2.Client, check: str):
    name = {"check_reply": "replies", "check_text": "texts"}[check]
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    response = ask(http, f"{name}-closed", stream=True)
    assert "".join(streamed_texts(response)) == "Bonjour"
    seen = DOUBLES[name].seen[-1]
    assert seen.text == "Bonjour"
    if isinstance(seen, ModelReply):
        assert (seen.finish_reason, len(DOUBLES[name].seen)) == ("stop", 1)
        DOUBLES[name].do = always(replace(seen, parts=(TextPart("Other."),)))
        served.script(ScriptedReply.chunks(["Bon", "jour"]), "Bonjour")
        assert streamed_texts(ask(http, f"{name}-closed", stream=True)) == ["Other."]
        assert ask(http, f"{name}-closed").json()["choices"][0]["message"]["content"] == "Other."


def test_context_says_whose_call_it_is(served: Served, http: httpx2.Client):
    contexts: list[GuardContext] = []

    def check(piece: TextPiece, context: GuardContext) -> None:
        contexts.append(context)

    DOUBLES["texts"].do = check
    served.script("hello")
    response = ask(http, "texts-closed")
    (context,) = contexts
    assert context.trace_id == response.headers["x-abstractcore-trace-id"]
    assert (context.model, context.asked, context.key) == ("scripted/scripted", "texts-closed", None)
    assert context.call.messages == served.call.messages


def test_stream_without_spaces_is_held_back_no_more_than_allowed(served: Served, http: httpx2.Client):
    gate = served.vendor.gate()
    served.vendor.script(
        stream_head(),
        chunk(delta("x" * 5000)),
        gate,
        chunk(delta("y") + delta(finish_reason="stop") + DONE),
        LAST_CHUNK,
    )
    body = {"model": "texts-vendor", "messages": SAID, "stream": True}
    with http.stream("POST", "/v1/chat/completions", json=body) as response:
        pieces: Iterator[str] = response.iter_text()
        seen = ""
        while seen.count("x") < 4992:
            seen += next(pieces)
        assert seen.count("x") - seen.count("x\\") <= 4992 + seen.count("index") + seen.count("texts-vendor")
        gate.open()
        seen += "".join(pieces)
    assert "y" in seen
    assert max(len(piece.text) for piece in DOUBLES["texts"].seen) <= 5000 + 2 * 8 + 1


def test_client_that_leaves_ends_a_stream_that_is_held_back(served: Served, http: httpx2.Client, accounts: Accounts):
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), chunk(delta("x" * 16)), chunk(delta("1234567")), gate, LAST_CHUNK)
    body = {"model": "texts-vendor", "messages": SAID, "stream": True}
    with http.stream("POST", "/v1/chat/completions", json=body) as response:
        next(response.iter_raw())
    settled = accounts.wait()
    assert (settled.outcome, settled.estimated) == ("cancelled", True)
    gate.open()


def sleeps(released: threading.Event) -> Callable[..., None]:
    def check(subject: Any, context: Any) -> None:
        released.wait()

    return check


async def never_leaves(subject: Any, context: Any) -> None:
    while not ENDED.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)


ENDED = threading.Event()


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", ["calls", "replies", "texts"])
def test_guard_that_fails_open_is_left_out(served: Served, http: httpx2.Client, name: str, failure: str):
    DOUBLES[name].do = FAILURES[failure]
    served.script("hello", ScriptedReply.chunks(["hel", "lo"]))
    policy = "hasty" if failure == "hangs" else "open"
    response = ask(http, f"{name}-{policy}", abstractcore={})
    assert response.json()["choices"][0]["message"]["content"] == "hello"
    fields = response.json()["abstractcore"]
    assert [each["outcome"] for each in fields["guards"]] == ["failed_open"]
    assert fields["warnings"][-1]["code"] == "guard_failed"
    stream = ask(http, f"{name}-{policy}", stream=True)
    assert "".join(streamed_texts(stream)) == "hello"


@pytest.mark.parametrize("failure", [name for name in FAILURES if name != "hangs"])
@pytest.mark.parametrize("name", ["calls", "replies", "texts"])
def test_guard_that_fails_closed_refuses(
    served: Served, http: httpx2.Client, accounts: Accounts, name: str, failure: str
):
    DOUBLES[name].do = FAILURES[failure]
    if name != "calls":
        served.script("hello", ScriptedReply.chunks(["hel", "lo"]))
    for stream in (False, True):
        response = ask(http, f"{name}-closed", stream=stream)
        assert response.status_code == 503
        assert f"the guard '{name}-closed' failed" in response.json()["error"]["message"]
        assert "hel" not in response.text
    assert len(accounts.settled) == 2
    assert len(served.calls) == (0 if name == "calls" else 2)


def test_guard_that_hangs_in_threads_is_not_asked_again_and_again(served: Served, http: httpx2.Client):
    released = threading.Event()
    DOUBLES["texts"].do = sleeps(released)
    try:
        (guard,) = served.application.state.guards.of(("texts-hasty",), None)
        while guard.running < 8:
            served.script("hello")
            assert ask(http, "texts-hasty").status_code == 200
        asked = len(DOUBLES["texts"].seen)
        served.script("hello")
        assert ask(http, "texts-hasty").status_code == 200
        assert len(DOUBLES["texts"].seen) == asked
    finally:
        released.set()
    assert wait_until(lambda: guard.running == 0)


def test_guard_that_ignores_its_end_is_left_behind(served: Served, http: httpx2.Client):
    DOUBLES["calls"].do = never_leaves
    served.script("hello")
    try:
        assert ask(http, "calls-hasty").status_code == 200
    finally:
        ENDED.set()
    (guard,) = served.application.state.guards.of(("calls-hasty",), None)
    assert wait_until(lambda: guard.running == 0)


def test_failure_within_a_stream_lets_the_rest_go_on(served: Served, http: httpx2.Client):
    DOUBLES["texts"].do = when(lambda text: "5" in text, "other")
    served.script(ScriptedReply.chunks(["1234", "5678", "9", ANN]) + ScriptedReply.tool_call("a", {"x": "bomb"}))
    response = ask(http, "texts-open", stream=True)
    assert "".join(streamed_texts(response)) == f"123456789{ANN}"
    assert "bomb" in response.text
    assert len(DOUBLES["texts"].seen) == 2
    served.script(ScriptedReply.chunks(["1234", "abcdefgh", "5678", "9"]))
    response = ask(http, "texts-closed", stream=True)
    assert "".join(streamed_texts(response)) == "1234"
    assert "failed, and nothing is answered without it" in response.text


@pytest.mark.parametrize("change", [{"model": "other"}, {"stream": True}, {"provider": "openai"}])
def test_guard_cannot_change_whose_call_it_is(served: Served, http: httpx2.Client, change: dict[str, Any]):
    def check(call: ModelCall, context: GuardContext) -> ModelCall:
        return call.with_(**change)

    DOUBLES["calls"].do = check
    assert ask(http, "calls-closed").status_code == 503


def test_looking_guard_cannot_change(served: Served, http: httpx2.Client):
    DOUBLES["looks"].do = when(lambda text: True, [Edit(0, 1, "x")])
    served.script("hello")
    assert ask(http, "looks-closed").status_code == 503


INVALID = [
    ("[guards.a]\n", 1, "`guard` is required"),
    ("[guards.a]\nguard = 'emails'\n\non_failure = 'maybe'\n", 4, "'closed' or 'open'"),
    ("[guards.a]\nguard = 'emails'\ntimeout_seconds = 0\n", 3, "at least"),
    ("[guards.a]\nguard = 'emails'\nmodel = 'x'\n", 3, "Did you mean models?"),
    ("[guards.a]\nguard = 'emails'\noptions.api_key = 'x'\n", 3, "secrets are not allowed in this file"),
    ("[server]\nport = 1\n[guards.a]\nguard = 'email'\n", 4, "Did you mean emails?"),
    ("[server]\n[guards.a]\nguard = 'words'\n", 2, "KeyError"),
    ("[guards.a]\nguard = 'judge'\n[guards.a.options]\nrule = 'x'\nmodel = 'nowhere/x'\n", 1, "does not exist here"),
    ("[guards.a]\nguard = 'nothing'\n", 1, "without check_call"),
    ("[guards.a]\nguard = 'greedy'\n", 1, "hold_back is 100000"),
    ("[guards.a]\nguard = 'unbounded'\n", 1, "no hold_back"),
]


@pytest.mark.process
@pytest.mark.parametrize(("text", "line", "message"), INVALID)
def test_invalid_configuration_names_the_line(tmp_path: Path, text: str, line: int, message: str):
    file = tmp_path / "server.toml"
    file.write_text(text)

    def read() -> None:
        settings = read_settings(str(file), {})
        services = server_services(settings, environment={})
        services.registry.add_plugin("guards", example)
        services.registry.add_guard(Double("nothing", ()))
        services.registry.add_guard(Double("greedy", ("check_text",), hold_back=100_000))
        services.registry.add_guard(Double("unbounded", ("check_text",), hold_back=UNSET))
        try:
            Application(settings, services=services)
        finally:
            services.close()

    with pytest.raises(ConfigurationError, match=f"server.toml:{line}:") as caught:
        read()
    assert message in str(caught.value)
