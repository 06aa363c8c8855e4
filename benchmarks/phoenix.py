"""The totals of 60 calls as Arize Phoenix counts them, which gets their spans from OpenTelemetry's own exporter.

Phoenix (Elastic License 2.0) is a tool for this comparison only. It is installed, about 600 MB, in `.cache/phoenix`: it
is measured only if it is named.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rounds import Row, Setup

from abstractcore import CallRecord, Price, Services, Usage, create_llm, tool
from abstractcore.testing import ScriptedReply

if TYPE_CHECKING:
    from abstractcore.otel import Names

_FOLDER = Path(__file__).parent.parent / ".cache" / "phoenix"
_PACKAGE = "arize-phoenix==20.26.1"
_START_SECONDS = 300
_LOOPS = 20
"""Each has two calls and a tool run; as many calls are streamed beside them."""
_SPANS = _LOOPS * 5
_USAGE = Usage(input=100, output=40, cached=60, cache_written=20, reasoning=10)
_TOTALS = """query ($name: String!) { getProjectByName(name: $name) {
    tokenCountPrompt tokenCountCompletion traceCount recordCount } }"""


@tool
def look(number: int) -> str:
    """Looks it up."""
    return f"number {number}"


def phoenix(setup: Setup) -> list[Row]:
    """The tokens and traces that Phoenix counts, beside those of the records: with both kinds of names."""
    with TemporaryDirectory() as folder, _running(Path(folder)) as url:
        return [row for names in ("otel", "openinference") for row in _rows(url, names)]


def _rows(url: str, names: Names) -> list[Row]:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from abstractcore.otel import instrument

    records: list[CallRecord] = []
    services = Services(environment={})
    project = f"benchmark-{names}"
    provider = TracerProvider(resource=Resource.create({"openinference.project.name": project}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    answer = ScriptedReply.text("It is number one.", usage=_USAGE)
    replies = [ScriptedReply.tool_call("look", {"number": 1}), answer, answer] * _LOOPS
    llm = create_llm("scripted", model="m", replies=replies, price=Price(input=1, output=2), services=services)
    with services.records.subscribe(records.append), instrument(provider, names=names, services=services):
        for _ in range(_LOOPS):
            llm.generate("Which number?", tools=[look], run_tools=True)
            with llm.stream("Which number?") as stream:
                list(stream)
    provider.shutdown()
    services.close()
    counted = _totals(url, project)
    expected = {
        "tokenCountPrompt": ("input tokens", sum(record.usage.input or 0 for record in records)),
        "tokenCountCompletion": ("output tokens", sum(record.usage.output or 0 for record in records)),
        "traceCount": ("traces", 2 * _LOOPS),
        "recordCount": ("spans", _SPANS),
    }
    return [
        Row(f"{names}, {what}: Phoenix's / ours", counted[name], count, goal=1.0, is_count=True)
        for name, (what, count) in expected.items()
    ]


def _totals(url: str, project: str) -> dict[str, Any]:
    """Returns what Phoenix has counted, once it has read all spans."""
    deadline = time.monotonic() + _START_SECONDS
    question = json.dumps({"query": _TOTALS, "variables": {"name": project}}).encode()
    counted: dict[str, Any] = {}
    while time.monotonic() < deadline and counted.get("recordCount", 0) < _SPANS:
        request = urllib.request.Request(f"{url}/graphql", question, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            counted = json.load(response)["data"]["getProjectByName"] or {}
        time.sleep(0.5)
    return counted


@contextmanager
def _running(folder: Path) -> Generator[str]:
    """Yields the address of Phoenix once it answers."""
    ports = [_free_port(), _free_port()]
    environment = {
        **os.environ,
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(ports[0]),
        "PHOENIX_GRPC_PORT": str(ports[1]),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    log = folder / "phoenix.log"
    with (
        log.open("wb") as output,
        subprocess.Popen([_installed(), "serve"], stdout=output, stderr=output, env=environment) as process,
    ):
        try:
            url = f"http://127.0.0.1:{ports[0]}"
            _wait_for(f"{url}/healthz", process, log)
            yield url
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"Phoenix did not start:\n{log.read_text()[-2000:]}")


def _installed() -> Path:
    """Returns Phoenix's command, which is installed if it is missing."""
    command = _FOLDER / "bin" / "phoenix"
    if not command.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, _FOLDER], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", _FOLDER / "bin" / "python", _PACKAGE], check=True)
    return command
