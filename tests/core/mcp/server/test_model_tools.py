"""The tools of a model: ask, transcribe, describe and extract."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from abstractcore import AuthenticationError, Services, create_llm
from abstractcore.mcp.server import FileAccess, MCPServerLimits, ModelTools, ToolRunner, tools_by_name
from abstractcore.stores.models import FileModelStore
from tests.chaos_server import HANG, ScriptedServer, chunk, delta, failure, stream_head, streamed
from tests.core.mcp.server.served import Served, call, request

MEDIA = Path(__file__).parents[4] / "examples/media"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Bench:
    """The tools of a scripted model. `progress` is what the last call reported."""

    def __init__(self, replies: Sequence[Any], folders: Sequence[Path] = (), services: Services | None = None) -> None:
        self.llm = create_llm("scripted", replies=replies, services=services)
        tools = ModelTools(self.llm, FileAccess(folders), lambda item: f"heard {item.name}")  # type: ignore[arg-type]
        self.runner = ToolRunner(tools_by_name(tools.offered()), MCPServerLimits(), llm=self.llm)
        self.progress: list[tuple[float, float | None, str | None]] = []

    def call(self, name: str, **arguments: Any) -> Any:
        return asyncio.run(self.runner.call(name, arguments, lambda *reported: self.progress.append(reported)))

    def text(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert not result.is_error, result.content
        return "".join(part.text for part in result.content)

    def error(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.is_error
        return "".join(part.text for part in result.content)


def test_ask_returns_the_answer_and_reports_its_length():
    bench = Bench(["It is sunny."])
    assert bench.text("ask", prompt="How is the weather?", system_prompt="Be brief.") == "It is sunny."
    assert bench.progress[-1] == (12, None, "12 characters")
    (sent,) = bench.llm.calls
    assert [message.role for message in sent.messages] == ["system", "user"]


def test_ask_sends_files(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("The room is 12.")
    bench = Bench(["Room 12."], [tmp_path])
    files = [f"file://{tmp_path}/notes.txt", {"mimeType": "text/plain", "text": "And 13.", "name": "more.txt"}]
    assert bench.text("ask", prompt="Which room?", files=files) == "Room 12."
    (sent,) = bench.llm.calls
    assert "The room is 12." in sent.messages[-1].text
    assert "And 13." in sent.messages[-1].text


def test_describe_asks_about_a_file():
    bench = Bench(["A list.", "Two."])
    note = {"mimeType": "text/plain", "text": "one\ntwo"}
    assert bench.text("describe", file=note) == "A list."
    assert bench.text("describe", file=note, question="How many lines?") == "Two."
    first, second = (sent.messages[-1].text for sent in bench.llm.calls)
    assert "Describe this file" in first
    assert "How many lines?" in second


@pytest.mark.process
def test_transcribe_uses_speech_recognition_for_models_that_do_not_hear(services: Services):
    bench = Bench([], [MEDIA], services)
    assert bench.text("transcribe", file=f"{MEDIA}/meeting.wav") == "heard meeting.wav"
    assert bench.llm.calls == []
    assert "notice.pdf is not a recording: it is application/pdf" in bench.error(
        "transcribe", file=f"{MEDIA}/notice.pdf"
    )


def test_extract_returns_structured_content():
    bench = Bench(['{"city": "Oslo"}', '["a", "b"]'])
    result = bench.call("extract", schema=CITY, text="She lives in Oslo.", instructions="Where?")
    assert result.structured_content == {"city": "Oslo"}
    assert json.loads(result.content[0].text) == {"city": "Oslo"}
    listed = bench.call("extract", schema={"type": "array", "items": {"type": "string"}}, text="a and b")
    assert listed.structured_content == {"result": ["a", "b"]}
    (sent, _) = bench.llm.calls
    assert "She lives in Oslo." in sent.messages[-1].text
    assert sent.messages[-1].text.index("Where?") < sent.messages[-1].text.index("Extract the data")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"schema": CITY}, "neither text nor file is given"),
        ({"schema": {"type": "no-such-type"}, "text": "x"}, "response_model"),
        ({"schema": {"$ref": "https://example.com/x.json"}, "text": "x"}, "is not to a place in the schema"),
        ({"schema": {"$ref": "file:///etc/passwd"}, "text": "x"}, "is not to a place in the schema"),
        ({"schema": {"$ref": "#"}, "text": "x"}, "exponential time"),
        ({"schema": CITY, "text": "x"}, "OutputValidationError: the answer is not a valid answer"),
        ({"schema": CITY, "file": "/etc/passwd"}, "is not a file that this server may read"),
        ({"schema": "x", "text": "x"}, "invalid arguments for extract"),
        ({"schema": CITY, "text": "x", "model": "other"}, "model: unknown argument"),
    ],
)
def test_problems_of_extract_are_errors_for_the_client(arguments: dict[str, Any], problem: str):
    assert problem in Bench(['{"town": 1}'] * 3).error("extract", **arguments)


def test_answer_without_text_is_an_error():
    assert "the model wrote no text: finish reason stop" in Bench([""]).error("ask", prompt="x")


def test_hints_for_the_operator_are_logged_only(caplog: pytest.LogCaptureFixture):
    class Unset:
        def stream(self, *args: Any, **request: Any) -> Any:
            raise AuthenticationError("no key", hint="Set the variable ACME_API_KEY.")

    tools = ModelTools(Unset(), FileAccess(), str)  # type: ignore[arg-type]
    runner = ToolRunner(tools_by_name(tools.offered(["ask"])), MCPServerLimits())
    result = asyncio.run(runner.call("ask", {"prompt": "x"}, lambda *_: None))
    assert [part.text for part in result.content] == ["AuthenticationError: no key"]  # type: ignore[union-attr]
    assert "Set the variable ACME_API_KEY." in caplog.text


def test_too_many_files_are_refused():
    assert "List should have at most 32 items" in Bench([]).error("ask", prompt="x", files=["data:,x"] * 33)


@pytest.mark.process
def test_command_offers_the_model_of_its_options(server: ScriptedServer, tmp_path: Path):
    """The whole way: a client, the server, and a provider whose key and errors do not come out."""
    server.script(streamed("It is ", "sunny."))
    server.script(failure(401, {"error": {"message": "bad key sk-of-the-provider"}}))
    (tmp_path / "note.txt").write_text("sunny")
    options = ("--provider", "openai-compatible/m", "--base-url", f"{server.url}/v1", "--no-transcribe")
    with Served(*options, "--files", str(tmp_path), OPENAI_COMPATIBLE_API_KEY="sk-of-the-provider") as served:
        served.send(request(1, "tools/list"))
        tools = served.answers([1])[1]["result"]["tools"]
        assert [each["name"] for each in tools] == ["ask", "describe", "extract"]
        assert all(each["annotations"] == {"readOnlyHint": True, "openWorldHint": True} for each in tools)
        served.send(call(2, "ask", token="t", prompt="How is it?", files=[f"{tmp_path}/note.txt"]))
        progress = served.receive()
        assert progress["params"]["progressToken"] == "t"
        assert served.answers([2])[2]["result"]["content"][0]["text"] == "It is sunny."
        served.send(call(3, "ask", prompt="Again?"))
        failed = served.answers([3])[3]["result"]
        assert failed["isError"]
        assert "AuthenticationError" in failed["content"][0]["text"]
        assert "sk-of-the-provider" not in json.dumps(failed)
        served.error_line(r"^ask failed: AuthenticationError: ")
        assert served.ended() == 0
    assert "sk-of-the-provider" not in served.stderr
    assert "Traceback" not in served.stderr


@pytest.mark.process
def test_cancelled_call_closes_the_connection_to_the_provider(server: ScriptedServer):
    server.script(stream_head() + chunk(delta("It is ")), HANG)
    with Served("--provider", "openai-compatible/m", "--base-url", f"{server.url}/v1") as served:
        served.send(call("a", "ask", token="t", prompt="How is it?"))
        assert served.receive()["params"]["message"] == "6 characters"
        served.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})
        server.wait_for(lambda: server.connections[0].closed_at is not None, "the end of the connection")
        served.send(request(1, "tools/list"))
        served.answers([1])
        assert served.ended() == 0
    assert served.stderr == ""


@pytest.mark.process
@pytest.mark.weights
def test_command_transcribes_on_this_machine(models: FileModelStore):
    pytest.importorskip("faster_whisper")
    cache = os.environ.get("ABSTRACTCORE_CACHE") or str(models.root.parent)
    with Served("--files", str(MEDIA), ABSTRACTCORE_CACHE=cache) as served:
        served.send(call(1, "transcribe", file=f"{MEDIA}/meeting.wav"))
        result = served.answers([1])[1]["result"]
    assert not result["isError"], result
    assert re.search(r"meeting starts", result["content"][0]["text"])
