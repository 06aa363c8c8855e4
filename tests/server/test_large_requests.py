"""While a large request is read, parsed, lowered, encoded and settled, others are answered: each of these steps is
stopped in turn, for each API of the server.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import httpx2
import jiter
import pytest
from websockets.sync.client import connect

import abstractcore.engine.pipeline as pipeline
import abstractcore_providers.scripted.canonical_json as scripted_format
from abstractcore_server import dialects
from abstractcore_server.access.settlements import Spending
from abstractcore_server.calls import moderations
from abstractcore_server.dialects import ClientDialect
from abstractcore_server.responses import turns, websocket_turns
from tests.chaos_server import PATIENCE_SECONDS, answer
from tests.server.serving import Served

MANY = 1000
MESSAGES = [{"role": "user", "content": f"message {number}"} for number in range(MANY)]
GEMINI_CONTENTS = [{"role": each["role"], "parts": [{"text": each["content"]}]} for each in MESSAGES]
PROMPT = "word " * 100 * MANY
REQUESTS: Mapping[str, tuple[ClientDialect, str, Mapping[str, Any]]] = {
    "chat": (dialects.OPENAI_CHAT, "/v1/chat/completions", {"messages": MESSAGES}),
    "completions": (dialects.OPENAI_COMPLETIONS, "/v1/completions", {"prompt": PROMPT}),
    "responses": (dialects.OPENAI_RESPONSES, "/v1/responses", {"input": MESSAGES}),
    "websocket": (dialects.OPENAI_RESPONSES, "/v1/responses", {"input": MESSAGES, "type": "response.create"}),
    "anthropic": (dialects.ANTHROPIC, "/v1/messages", {"messages": MESSAGES, "max_tokens": 100}),
    "gemini": (dialects.GEMINI, "/v1beta/models/scripted:generateContent", {"contents": GEMINI_CONTENTS}),
    "ollama": (dialects.OLLAMA, "/api/chat", {"messages": MESSAGES, "stream": False}),
    "ollama generate": (dialects.OLLAMA_GENERATE, "/api/generate", {"prompt": PROMPT, "stream": False}),
    "cohere": (dialects.COHERE, "/v2/chat", {"messages": MESSAGES}),
}
STEPS = ("read", "parse", "lower", "encode", "settle")


@dataclass(slots=True)
class Gate:
    """Stops the first call of a function until it is opened, unless that is made by an event loop."""

    function: Callable[..., Any]
    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)
    is_on_loop: bool = False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if not self.reached.is_set():
            self.is_on_loop = _has_loop()
            self.reached.set()
            if not self.is_on_loop:
                assert self.opened.wait(PATIENCE_SECONDS), "nobody opened the gate"
        return self.function(*arguments, **options)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _gate(step: str, dialect: ClientDialect, served: Served, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Returns the gate in a step."""
    transpiler = type(served.application.state.format(dialect.format))
    owner, name = {
        "read": (jiter, "from_json"),
        "parse": (transpiler, "parse"),
        "lower": (pipeline, "lower"),
        "encode": (scripted_format, "to_json"),
        "settle": (Spending, "settlement"),
    }[step]
    gate = Gate(getattr(owner, name))
    monkeypatch.setattr(owner, name, (lambda *arguments: gate(*arguments)) if isinstance(owner, type) else gate)
    return gate


def _answer(name: str, served: Served, http: httpx2.Client) -> str:
    """Returns the text of the answer, in whatever is around it."""
    _, path, fields = REQUESTS[name]
    body = json.dumps({"model": "scripted", **fields})
    if name != "websocket":
        return http.post(path, content=body, headers={"content-type": "application/json"}).text
    with connect(served.url.replace("http", "ws") + path, proxy=None) as connection:
        connection.send(body)
        received = ""
        while "response.completed" not in received:
            received += str(connection.recv(PATIENCE_SECONDS))
        return received


def test_every_api_is_asked():
    own = {value.name for value in vars(dialects).values() if isinstance(value, ClientDialect)}
    assert own == {dialect.name for dialect, _, _ in REQUESTS.values()}


@pytest.mark.parametrize("name", REQUESTS)
def test_others_are_answered_while_a_large_request_is_read(
    name: str, served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
):
    with ThreadPoolExecutor(1) as pool:
        for step in STEPS:
            with monkeypatch.context() as patch:
                gate = _gate(step, REQUESTS[name][0], served, patch)
                served.script("the answer")
                answer = pool.submit(_answer, name, served, http)
                try:
                    assert gate.reached.wait(PATIENCE_SECONDS), step
                    assert not gate.is_on_loop, step
                    assert httpx2.get(f"{served.url}/health", trust_env=False).status_code == 200, step
                finally:
                    gate.opened.set()
                assert "the answer" in answer.result(PATIENCE_SECONDS), step
    assert len(served.calls) == len(STEPS)


def _meanwhile(gate: Gate, served: Served, ask: Callable[[], Any]) -> Any:
    """Asks, and checks that others are answered while the gate is closed; returns the answer."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        try:
            assert gate.reached.wait(PATIENCE_SECONDS)
            assert not gate.is_on_loop
            assert httpx2.get(f"{served.url}/health", trust_env=False).status_code == 200
        finally:
            gate.opened.set()
        return asked.result(PATIENCE_SECONDS)


@pytest.mark.parametrize(("name", "owner"), [("responses", turns), ("websocket", websocket_turns)])
def test_others_are_answered_while_a_large_answer_is_kept(
    name: str, owner: Any, served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
):
    gate = Gate(json.loads)
    monkeypatch.setattr(owner, "json", SimpleNamespace(loads=gate))
    served.script("word " * 5000)
    assert "word word" in _meanwhile(gate, served, lambda: _answer(name, served, http))


@pytest.mark.parametrize("step", ["_request_of", "_receipt"])
def test_others_are_answered_while_a_large_moderation_is_written(
    step: str, served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
):
    gate = Gate(getattr(moderations, step))
    monkeypatch.setattr(moderations, step, gate)
    served.vendor.script(answer({"id": "m", "model": "omni-moderation-latest", "results": []}))
    response = _meanwhile(gate, served, lambda: http.post("/v1/moderations", json={"input": PROMPT}))
    assert response.status_code == 200
