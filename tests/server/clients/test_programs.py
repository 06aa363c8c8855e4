"""The programs of docs/server-programs.md, each with what the page says it reads, and the examples of vendors' clients.

Programs of the Python index run themselves, but for aider, whose environment is large. Of it and of Claude Code, Gemini
CLI, Continue and Cline the requests are sent that they make by their published sources: paths, headers and fields.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from abstractcore.testing import ScriptedReply
from abstractcore_server import FixedKeys, Settings
from tests.documents import ROOT
from tests.packages import kept_environment, run
from tests.server.clients import test_agents, test_node_clients, test_python_clients
from tests.server.serving import Served, serving

KEY = "the-key-of-a-client"
ADDRESS = "http://127.0.0.1:8000"
HELLO = "Bonjour."
PAGE = ROOT / "docs" / "server-programs.md"
SECTION = PAGE.read_text(encoding="utf-8").partition("## Programs\n")[2].partition("\n## ")[0]
FOLDER = Path(__file__).parent / "python"


class Row(NamedTuple):
    """A program of the table, and what to set for it."""

    program: str
    told: str

    def variables(self, served: Served) -> dict[str, str]:
        """The variables of the row, for this server."""
        found = dict(re.findall(r"`([A-Z_]+)=([^`]+)`", self.told))
        return {name: for_server(value, served) for name, value in found.items()}


def for_server(text: str, served: Served) -> str:
    """A text of the page with the address, the key and the model of the test."""
    return re.sub(r"\bKEY\b", KEY, text.replace(ADDRESS, served.url)).replace("default", "scripted")


def rows() -> dict[str, Row]:
    table = SECTION.split("|---|---|---|\n")[1].split("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
    return {name.replace("`", ""): Row(name.replace("`", ""), told) for name, told, _ in cells}


ROWS = rows()


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving(Settings(), access=FixedKeys((KEY,))) as served:
        yield served


def environment(served: Served, program: str, home: Path) -> dict[str, str]:
    """An environment with the variables of a row only."""
    more = {"HOME": str(home), "PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1", "PYTHONUTF8": "1"}
    return {**more, **ROWS[program].variables(served)}


# Python programs, which read their variables themselves

HI = 'messages=[{"role": "user", "content": "hi"}]'
IN_TESTS_ENVIRONMENT = {
    "openai package": f"""
import openai
client = openai.OpenAI(max_retries=0)
chat = client.chat.completions.create(model="scripted", {HI})
print(chat.choices[0].message.content)
print(client.responses.create(model="scripted", input="hi").output_text)
""",
    "anthropic package": f"""
import anthropic
message = anthropic.Anthropic(max_retries=0).messages.create(model="scripted", max_tokens=9, {HI})
print(message.content[0].text)
""",
    "google-genai package": """
from google import genai
client = genai.Client()
print(client.models.generate_content(model="scripted", contents="hi").text)
""",
    "cohere package": f"""
import cohere
print(cohere.ClientV2().chat(model="scripted", {HI}).message.content[0].text)
""",
    "ollama package": f"""
import ollama
print(ollama.chat(model="scripted", {HI}).message.content)
""",
    "Pydantic AI": """
from pydantic_ai import Agent
for api in ("openai-chat", "openai-responses"):
    print(Agent(f"{api}:scripted").run_sync("hi").output)
""",
}
IN_CLIENTS_ENVIRONMENT = {
    "OpenAI Agents SDK": """
from agents import Agent, Runner, set_tracing_disabled
set_tracing_disabled(True)
print(Runner.run_sync(Agent(name="assistant"), "hi").final_output)
""",
    "LangChain": """
from langchain_openai import ChatOpenAI
print(ChatOpenAI(model="scripted").invoke("hi").content)
""",
    "LiteLLM": f"""
import litellm
print(litellm.completion(model="openai/scripted", {HI}).choices[0].message.content)
""",
    "Instructor": f"""
import instructor
from pydantic import BaseModel
class Greeting(BaseModel):
    text: str
print(instructor.from_provider("openai/scripted").create(response_model=Greeting, {HI}).text)
""",
}


@pytest.mark.process
@pytest.mark.parametrize("program", IN_TESTS_ENVIRONMENT)
def test_program_of_the_tests_environment(program: str, served: Served, tmp_path: Path):
    served.script(HELLO, HELLO)
    code = IN_TESTS_ENVIRONMENT[program]
    printed = run(sys.executable, "-c", code, env=environment(served, program, tmp_path))
    assert set(printed.splitlines()) == {HELLO}


@pytest.mark.process
@pytest.mark.parametrize("program", IN_CLIENTS_ENVIRONMENT)
def test_program_of_the_clients_environment(program: str, served: Served, tmp_path: Path):
    served.script(ScriptedReply.tool_call("Greeting", {"text": HELLO}) if program == "Instructor" else HELLO)
    python = kept_environment(FOLDER / "requirements.txt") / "python"
    more = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    printed = run(python, "-c", IN_CLIENTS_ENVIRONMENT[program], env={**environment(served, program, tmp_path), **more})
    assert printed.strip() == HELLO


# Programs of other languages: the requests that their published sources make


class Sent(NamedTuple):
    """A request of a program."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT: dict[str, Any] = {
    "model": "scripted",
    "messages": [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "weather", "description": "Weather", "parameters": WEATHER}}],
}


def claude_code(variables: Mapping[str, str]) -> Iterator[Sent]:
    """code.claude.com/docs/en/llm-gateway and .../env-vars: the client of the npm package @anthropic-ai/sdk."""
    headers = {
        "authorization": f"Bearer {variables['ANTHROPIC_AUTH_TOKEN']}",
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14",
        "anthropic-dangerous-direct-browser-access": "true",
        "user-agent": "claude-cli/2.1.100 (external, cli)",
        "x-app": "cli",
        "x-stainless-lang": "js",
        "x-stainless-retry-count": "0",
    }
    base, cached = variables["ANTHROPIC_BASE_URL"], {"cache_control": {"type": "ephemeral"}}
    asked: dict[str, Any] = {
        "model": variables["ANTHROPIC_MODEL"],
        "system": [{"type": "text", "text": "You are an agent.", **cached}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **cached}]}],
        "tools": [{"name": "weather", "description": "Weather", "input_schema": WEATHER}],
    }
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 31_999}}
    more = {"max_tokens": 32_000, "metadata": {"user_id": "user_1"}, "stream": True, **thinking}
    yield Sent(f"{base}/v1/messages?beta=true", headers, {**asked, **more})
    title = {"model": variables["ANTHROPIC_DEFAULT_HAIKU_MODEL"], "max_tokens": 512, "temperature": 1}
    yield Sent(f"{base}/v1/messages?beta=true", headers, {**asked, **title, "tools": []})
    yield Sent(f"{base}/v1/messages/count_tokens?beta=true", headers, asked)


def gemini_cli(variables: Mapping[str, str]) -> Iterator[Sent]:
    """github.com/google-gemini/gemini-cli, packages/core/src/core/contentGenerator.ts: npm's @google/genai."""
    headers = {
        "x-goog-api-key": variables["GEMINI_API_KEY"],
        "user-agent": f"GeminiCLI/0.40.0/{variables['GEMINI_MODEL']} (linux; x64; terminal) google-genai-sdk/1.50.0",
        "x-goog-api-client": "google-genai-sdk/1.50.0 gl-node/v22.0.0",
        "x-gemini-api-privileged-user-id": "user-1",
    }
    base = f"{variables['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/{variables['GEMINI_MODEL']}"
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    tools = [{"functionDeclarations": [{"name": "weather", "description": "W", "parametersJsonSchema": WEATHER}]}]
    config = {"temperature": 1, "topP": 0.95, "topK": 64, "thinkingConfig": {"includeThoughts": True}}
    system = {"role": "user", "parts": [{"text": "You are an agent."}]}
    body = {"contents": contents, "systemInstruction": system, "tools": tools, "generationConfig": config}
    yield Sent(f"{base}:streamGenerateContent?alt=sse", headers, body)
    yield Sent(f"{base}:generateContent", headers, {"contents": contents, "generationConfig": {"temperature": 0}})
    yield Sent(f"{base}:countTokens", headers, {"contents": contents})


def aider(variables: Mapping[str, str]) -> Iterator[Sent]:
    """What aider 0.86.2 sent, through litellm and the openai package."""
    headers = {**_of_openai({"apiKey": variables["OPENAI_API_KEY"]}), "x-stainless-lang": "python"}
    roles = ("system", "user", "assistant", "user")
    messages = [{"role": role, "content": "hi"} for role in roles]
    model = variables["AIDER_MODEL"].removeprefix("openai/")
    asked = {"model": model, "messages": messages, "stream": True, "temperature": 0}
    yield Sent(f"{variables['OPENAI_API_BASE']}/chat/completions", headers, asked)


def continue_dev(variables: Mapping[str, str]) -> Iterator[Sent]:
    """github.com/continuedev/continue, packages/openai-adapters/src/apis/OpenAI.ts: the npm package openai."""
    yield Sent(f"{variables['apiBase']}/chat/completions", _of_openai(variables), {**CHAT, "max_tokens": 4096})
    whole = {name: value for name, value in CHAT.items() if not name.startswith("stream")}
    yield Sent(f"{variables['apiBase']}/chat/completions", _of_openai(variables), {**whole, "max_tokens": 16})


def cline(variables: Mapping[str, str]) -> Iterator[Sent]:
    """github.com/cline/cline, src/core/api/providers/openai.ts: the npm package openai."""
    yield Sent(f"{variables['apiBase']}/chat/completions", _of_openai(variables), {**CHAT, "temperature": 0})


def _of_openai(variables: Mapping[str, str]) -> dict[str, str]:
    """Headers of the npm package openai."""
    stainless = {"x-stainless-lang": "js", "x-stainless-runtime": "node", "x-stainless-retry-count": "0"}
    return {"authorization": f"Bearer {variables['apiKey']}", "accept": "application/json", **stainless}


RECORDED: dict[str, Callable[[Mapping[str, str]], Iterator[Sent]]] = {
    "Claude Code": claude_code,
    "Gemini CLI": gemini_cli,
    "aider": aider,
    "Continue": continue_dev,
    "Cline": cline,
}


@pytest.mark.parametrize("program", RECORDED)
def test_requests_of_a_program_are_answered(program: str, served: Served, http: httpx2.Client):
    variables = ROWS[program].variables(served) or {"apiBase": f"{served.url}/v1", "apiKey": KEY}
    sent = list(RECORDED[program](variables))
    served.script(*[HELLO] * len(sent))
    for path, headers, body in sent:
        response = http.post(path, headers=dict(headers), json=dict(body))
        assert response.status_code == 200, response.text
        assert HELLO in response.text or "okens" in response.text
        is_stream = bool(body.get("stream")) or "alt=sse" in path
        assert response.headers["content-type"].startswith("text/event-stream" if is_stream else "application/json")


# Programs that other modules run

ELSEWHERE: dict[str, Callable[..., object]] = {
    "AI SDK": test_node_clients.test_ai_sdk_with_three_of_its_providers,
    "Codex": test_agents.test_codex,
    "LLM": test_python_clients.test_llm,
    "opencode": test_agents.test_opencode,
}


def test_every_program_of_the_page_is_run():
    run_here = {*IN_TESTS_ENVIRONMENT, *IN_CLIENTS_ENVIRONMENT, *RECORDED}
    assert ROWS.keys() == run_here | ELSEWHERE.keys()
    assert len(ROWS) == 19
    for program, test in ELSEWHERE.items():
        source = Path(inspect.getfile(test)).read_text(encoding="utf-8") + (
            FOLDER.parent / "node" / "ai_client.mjs"
        ).read_text(encoding="utf-8")
        for name in re.findall(r"`([a-zA-Z_]+)`", ROWS[program].told):
            assert name in source, (program, name)


# The examples of vendors' clients

EXAMPLES = re.findall(r"^```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


@pytest.mark.process
@pytest.mark.parametrize("number", range(6))
def test_example_of_a_client_prints_the_answer(number: int, served: Served, tmp_path: Path):
    assert len(EXAMPLES) == 6
    served.script(HELLO)
    code = for_server(EXAMPLES[number], served)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "NO_PROXY": "127.0.0.1"}
    is_shell = code.startswith("curl ")
    command = shlex.split(code.replace("\\\n", " ")) if is_shell else [sys.executable, "-c", code]
    printed = run(*command, env=env)
    assert (json.loads(printed)["choices"][0]["message"]["content"] if is_shell else printed.strip()) == HELLO
