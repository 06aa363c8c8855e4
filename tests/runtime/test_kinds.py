"""The kinds of effects that come with the package."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from abstractcore import Price, create_llm, tool
from abstractcore.errors import InvalidInputError
from abstractcore.schema import ModelReply, TextPart, Usage
from abstractruntime import Effect, FunctionProgram, Item, Runtime, Step
from abstractruntime.effects import after_crash
from abstractruntime.kinds import CodeEffect, HttpEffect, ModelEffect, ToolEffect, found_kind
from abstractruntime.sandbox import Sandbox

Make = Callable[..., Runtime]


def result(make_runtime: Make, kind: Any, payload: Any) -> Any:
    """Returns the result and the error of an effect."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("tested", payload))
        return Step.complete([item.payload, item.error])

    program = FunctionProgram("once", step)
    runtime = make_runtime(program, effects={"tested": kind})
    run = runtime.start(program)
    runtime.work()
    return run.output


def test_model_answers_and_its_use_is_counted(make_runtime: Make) -> None:
    llm = create_llm("scripted", replies=["Paris."])

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("model", {"prompt": "The capital of France?", "options": {"temperature": 0}}))
        return Step.complete(item.payload)

    program = FunctionProgram("asks", step)
    runtime = make_runtime(program, effects={"model": ModelEffect(llm)})
    run = runtime.start(program)
    runtime.work()
    assert run.output["content"] == "Paris."
    assert run.info.spent.tokens > 0


@pytest.mark.parametrize("usage", [Usage(input=3, output=2), Usage()])
def test_cost_counts_whether_it_is_known_or_estimated(make_runtime: Make, usage: Usage) -> None:
    reply = ModelReply(parts=(TextPart("Paris."),), finish_reason="stop", usage=usage)
    llm = create_llm("scripted", replies=[reply, reply], price=Price(input=1000, output=1000))
    costs = llm.generate("Hello").costs

    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("model", {"prompt": "Hello"})) if item.kind == "start" else Step.complete(None)

    program = FunctionProgram("asks", step)
    runtime = make_runtime(program, effects={"model": ModelEffect(llm)})
    run = runtime.start(program)
    runtime.work()
    assert run.info.spent.dollars == costs.known + costs.estimated > 0


def test_model_without_a_name_says_what_to_write(make_runtime: Make) -> None:
    value, error = result(make_runtime, ModelEffect(), {"prompt": "Hello"})
    assert value is None
    assert "ModelEffect(llm)" in error["hint"]


def test_tools_are_called_with_validated_arguments(make_runtime: Make) -> None:
    @tool(read_only=True)
    def add(a: int, b: int) -> int:
        return a + b

    def pay(euros: int) -> str:
        return f"paid {euros}"

    kind = ToolEffect([add, pay])
    assert result(make_runtime, kind, {"name": "add", "arguments": {"a": "1", "b": 2}}) == [3, None]
    _, error = result(make_runtime, kind, {"name": "add", "arguments": {"a": "x", "b": 2}})
    assert error["type"] == "ArgumentsError"
    _, error = result(make_runtime, kind, {"name": "steal"})
    assert error["message"] == "effect.payload.name: there is no tool 'steal'; known: add, pay"
    rules = {name: after_crash(kind, {"name": name}) for name in ("add", "pay", "steal")}
    assert rules == {"add": "repeat", "pay": "ask", "steal": "ask"}


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "session=5678")
        self.end_headers()
        sent = {"key": self.headers["Idempotency-Key"], "secret": self.headers["Authorization"] == "Bearer 1234"}
        self.wfile.write(json.dumps({**sent, "body": json.loads(body)}).encode())

    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"x" * (2_000_000 if self.path == "/large" else 2))

    def log_message(self, *arguments: Any) -> None:
        """Nothing on the terminal."""


@contextmanager
def echo_server() -> Generator[str]:
    """Yields the address of a server that answers with what it gets."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_http_requests_are_sent_to_allowed_addresses(make_runtime: Make) -> None:
    with echo_server() as address:
        kind = HttpEffect([address])
        value, error = result(make_runtime, kind, {"url": f"{address}pay", "method": "post", "json": {"euros": 80}})
        assert error is None
        assert (value["status"], value["json"]["body"]) == (201, {"euros": 80})
        assert len(value["json"]["key"]) == 64
        assert result(make_runtime, kind, {"url": f"{address}moved"})[0]["status"] == 302
        assert "more than 1,000,000 bytes" in result(make_runtime, kind, {"url": f"{address}large"})[1]["message"]
        other = f"http://127.0.0.1:1@{address.removeprefix('http://')}"
        _, error = result(make_runtime, kind, {"url": other})
        assert "is not allowed" in error["message"]


@pytest.mark.parametrize(
    "path", ["../admin", "a/../../admin", "%2e%2e/admin", "..%2Fadmin", ".%2e", "..\\admin", ".\t./admin"]
)
def test_http_address_that_leaves_an_allowed_folder_is_refused(make_runtime: Make, path: str) -> None:
    kind = HttpEffect(["http://127.0.0.1:1/v1/"])
    _, error = result(make_runtime, kind, {"url": f"http://127.0.0.1:1/v1/{path}"})
    assert "is not allowed" in error["message"]


def test_headers_of_the_kind_and_cookies_are_in_no_record(make_runtime: Make) -> None:
    with echo_server() as address:
        kind = HttpEffect([address], headers={"Authorization": "Bearer 1234"})
        payload = {"url": f"{address}pay", "method": "POST", "json": 1, "headers": {"AUTHORIZATION": "other"}}
        value, error = result(make_runtime, kind, payload)
    assert (error, value["json"]["secret"]) == (None, True)
    assert "set-cookie" not in {name.lower() for name in value["headers"]}


def test_http_methods_say_whether_they_are_repeated() -> None:
    kind = HttpEffect(["https://api.example.com/"])
    rules = {method: after_crash(kind, {"method": method}) for method in ("GET", "put", "POST", "PATCH")}
    assert rules == {"GET": "repeat", "put": "repeat", "POST": "ask", "PATCH": "ask"}
    assert after_crash(HttpEffect(["https://api.example.com/"], idempotent=True), {"method": "POST"}) == "repeat"
    with pytest.raises(InvalidInputError, match="with its first slash"):
        HttpEffect(["https://api.example.com"])


def test_unknown_kind_is_not_found() -> None:
    assert found_kind("no-such-kind") is None


@pytest.mark.process
def test_code_runs_in_a_sandbox(make_runtime: Make) -> None:
    kind = CodeEffect(Sandbox(trusted=True))
    value, error = result(make_runtime, kind, {"code": "print(6 * 7)"})
    assert (error, value["stdout"]) == (None, "42\n")
    assert after_crash(CodeEffect(Sandbox()), {}) in ("repeat", "ask")
    assert isinstance(found_kind("code"), CodeEffect)
