"""The commands of curl in vendors' documentation: each is answered, or refused with what to write instead."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from abstractcore.testing.http_server import ReceivedRequest, Step
from abstractcore_server import FixedKeys, ModelSettings, Settings
from abstractcore_server.forms import read_form
from tests.backend_doubles import PNG, WAV
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer, answer
from tests.server.curl_commands import FILES, Command, commands, sent_by_curl
from tests.server.serving import Served, serving

KEY = "the-key-of-a-client"
VARIABLES = dict.fromkeys(("ANTHROPIC_API_KEY", "CO_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"), KEY)
MODELS = ("claude-opus-5-5", "command-a-03-2025", "gemini-3.8-flash", "gpt-5.4", "llama3.2")
DOCUMENTED = {"anthropic.sh": 7, "cohere.sh": 3, "gemini.sh": 8, "ollama.sh": 25, "openai.sh": 58}
IDS = ("CONVERSATION", "FILE", "ITEM", "PART", "RESPONSE", "UPLOAD")
OF_A_CONNECTION = ("content-length", "host", "user-agent")
IMAGES = {"created": 1, "data": [{"b64_json": base64.b64encode(PNG).decode()}]}
HEARD: dict[str, Any] = {
    "text": "Hello.",
    "language": "english",
    "duration": 1.0,
    "segments": [{"id": "s0", "type": "segment", "speaker": "ada", "start": 0.0, "end": 1.0, "text": "Hello."}],
    "words": [{"word": "Hello", "start": 0.0, "end": 1.0}],
}  # fmt: skip
MODERATED = {"id": "modr-1", "model": "omni-moderation-latest", "results": [{"flagged": False}]}


class Answer(NamedTuple):
    """What a server returned to a command."""

    status: int
    body: str


def curl(arguments: Sequence[str], folder: Path) -> Answer:
    """Runs curl in a folder."""
    output = ("--output", "body", "--write-out", "%{http_code}")
    done = subprocess.run(
        ["curl", "--silent", "--noproxy", "*", *arguments, *output],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True,
    )  # fmt: skip
    return Answer(int(done.stdout), (folder / "body").read_bytes().decode("utf-8", "replace"))


def shown(headers: Mapping[str, str], body: bytes) -> tuple[dict[str, str], Any]:
    """What matters of a request: forms are compared by their parts, as each has a boundary of its own."""
    kept = {name: value for name, value in headers.items() if name not in OF_A_CONNECTION}
    if not kept.get("content-type", "").startswith("multipart/"):
        return kept, body
    form = read_form(body, headers)
    return {**kept, "content-type": "multipart/form-data"}, (form.fields, form.files)


def vendor(request: ReceivedRequest) -> Sequence[Step]:
    """What OpenAI returns for the media and moderations that the server asks it for."""
    if request.target.endswith("/speech"):
        return (answer(WAV, content_type="audio/wav"),)
    if "/images/" in request.target:
        return (answer(IMAGES),)
    return (answer(MODERATED if request.target.endswith("/moderations") else HEARD),)


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    groups = {name: ModelSettings(("scripted",)) for name in MODELS}
    with serving(Settings(models=groups), access=FixedKeys((KEY,))) as served:
        served.vendor.always_by(vendor)
        yield served


def run(served: Served, file: str, send: Callable[[Command, dict[str, str]], Answer]) -> None:
    """Sends the commands of a file, one after the other, and compares what comes of each."""
    values, wrong = dict(VARIABLES), list[str]()
    documented = commands(file)
    served.script(*["Good morning."] * len(documented))
    for command in documented:
        got = send(command, values)
        if got.status != command.status or command.shows not in got.body:
            wrong.append(f"{command.text}\n-> {got.status} {got.body[:500]}")
        elif command.keep:
            found = json.loads(got.body)
            values[command.keep] = found["data"][0]["id"] if "data" in found else found["id"]
    assert not wrong, "\n\n".join(wrong)
    assert len(documented) == DOCUMENTED[file]


@pytest.mark.parametrize("file", DOCUMENTED)
def test_requests_of_documented_commands_are_answered(file: str, served: Served, http: httpx2.Client):
    def send(command: Command, values: dict[str, str]) -> Answer:
        sent = sent_by_curl(_with_key(file, command.arguments(served.url, values)))
        response = http.request(sent.method, sent.url, headers=sent.headers, content=sent.body)
        return Answer(response.status_code, response.text)

    run(served, file, send)


@pytest.mark.process
@pytest.mark.parametrize("file", DOCUMENTED)
def test_documented_commands_are_answered(file: str, served: Served, tmp_path: Path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)

    def send(command: Command, values: dict[str, str]) -> Answer:
        return curl(_with_key(file, command.arguments(served.url, values)), tmp_path)

    run(served, file, send)


@pytest.mark.process
def test_requests_are_those_that_curl_sends(tmp_path: Path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    values = {**VARIABLES, **dict.fromkeys(IDS, "id")}
    with ScriptedServer() as recorder:
        recorder.always(answer({}))
        for file in DOCUMENTED:
            for command in commands(file):
                arguments = command.arguments(recorder.url, values)
                assert curl(arguments, tmp_path).status == 200
                got, expected = recorder.requests.pop(), sent_by_curl(arguments)
                assert (got.method, got.target) == (expected.method, expected.url.removeprefix(recorder.url))
                assert shown(got.headers, got.body) == shown(expected.headers, expected.body), command.text


def _with_key(file: str, arguments: list[str]) -> list[str]:
    """Adds a key to the commands of Ollama, which have none."""
    return [*arguments, "-H", f"Authorization: Bearer {KEY}"] if file == "ollama.sh" else arguments
