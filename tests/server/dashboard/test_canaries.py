"""Canaries in all that calls send, receive and are called: no sink of traces has more of them than its mode says."""

from __future__ import annotations

import itertools
import json
import sqlite3
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pydantic
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from abstractcore import (
    LLM,
    AbstractCoreError,
    Blob,
    Capture,
    ImagePart,
    Price,
    ResponseCache,
    Services,
    ToolError,
    create_llm,
    tool,
)
from abstractcore.otel import instrument
from abstractcore.testing import VirtualClock
from abstractcore.traces import TraceStore
from abstractcore.traces.contents import inflated
from abstractcore_server import Settings
from tests.chaos_server import (
    CUT,
    PATIENCE_SECONDS,
    ScriptedServer,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    failure,
    stream_head,
)
from tests.cli.tracing.traces import invoke
from tests.providers.test_no_key_shows import quoting, shows
from tests.server.dashboard.sample_traces import sample_sound
from tests.server.serving import serving

ADMIN = "the-key-of-an-admin"
KEY = "sk-canary-0123/456+789=abc"
SECRETS = (KEY, "header-canary-0123456789", "signature-canary-0123456789", "password-canary-0123456789")
"""What lets in: the API key, a header of calls, a signature and a password in the URLs of files."""
CONTENT = {
    *("dodo-system", "dodo-prompt", "dodo-file", "dodo-session", "dodo-hint"),
    *("dodo-argument", "dodo-refused", "dodo-result", "dodo-tool-error", "dodo-crash"),
    *("dodo-between", "dodo-thought", "dodo-answer", "dodo-partial", "dodo-wrong", "dodo-kept", "dodo-transcript"),
}
"""What is content: it is kept in full, or not."""
NAMES = {"kiwi-file", "kiwi-url", "kiwi-tag", "kiwi-session", "kiwi-vendor-error"}
"""Names, and what a vendor says in an error: documented to be kept in each mode."""
SINKS = ("file", "rows", "words", "JSON lines", "Parquet", "commands", "page", "live", "otel", "openinference", "cache")
OF_FILES = {"dodo-file"}
OF_OPERATIONS = {"dodo-hint", "dodo-transcript"}
LACKING: dict[str, set[str]] = {
    "rows": set(),
    "JSON lines": set(),
    "commands": set(),
    "page": OF_FILES,
    "otel": OF_FILES | OF_OPERATIONS,
    "openinference": OF_FILES | OF_OPERATIONS,
}
"""What sinks that show contents do not show of those that are kept in full: files, other operations than chats."""


class Size(pydantic.BaseModel):
    """What an answer must be."""

    size: int


@tool
def look(word: str) -> str:
    """Looks it up."""
    if word == "dodo-refused":
        raise ToolError("dodo-tool-error")
    if word == "dodo-crash":
        raise ValueError("dodo-crash")
    return "dodo-result"


@dataclass
class Program:
    """A program whose calls have canaries everywhere, beside a server that a test scripts."""

    llm: LLM
    server: ScriptedServer
    folder: Path

    def run(self) -> None:
        """Makes calls that succeed, fail, are cut, wrong, kept, of tools, of a session and of another operation."""
        file = self.folder / "kiwi-file.txt"
        file.write_text("dodo-file " * 300)
        url = f"https://me:{SECRETS[3]}@files.example/kiwi-url.png?X-Amz-Signature={SECRETS[2]}"
        picture = ImagePart(Blob.from_url(url, "image/png"))
        asked: dict[str, Any] = {"tags": {"team": "kiwi-tag"}, "headers": {"x-token": SECRETS[1]}}
        ask = self.llm.generate
        self.make(
            lambda: ask(
                "dodo-prompt", system_prompt="dodo-system", media=[file, picture], tools=[look], run_tools=True, **asked
            ),
            [_rounds("dodo-argument", "dodo-refused", "dodo-crash")],
            [completion("dodo-answer")],
        )
        self.make(
            lambda: ask("dodo-prompt fails", **asked), [failure(400, f"kiwi-vendor-error {quoting(KEY)} {SECRETS[1]}")]
        )
        self.make(self.read_stream, [stream_head() + chunk(delta("dodo-partial")), CUT])
        self.make(
            lambda: ask("dodo-prompt typed", response_model=Size),
            *[[completion('{"size": "dodo-wrong"}')]] * 2,
        )
        self.make(lambda: [ask("dodo-prompt again") for _ in range(2)], [completion("dodo-kept")])
        sound = self.folder / "kiwi-file.wav"
        sound.write_bytes(sample_sound())
        self.make(
            lambda: self.llm.operate("transcribe", media=[sound], arguments={"terms": ["dodo-hint"]}),
            [answer({"text": "dodo-transcript"})],
        )
        session = self.llm.session(system_prompt="dodo-session", tags={"session": "kiwi-session"})
        self.make(lambda: session.ask("dodo-prompt of a session"), [completion("dodo-answer")])

    def read_stream(self) -> None:
        """Reads an answer as a stream."""
        with self.llm.stream("dodo-prompt streamed") as stream:
            for _ in stream:
                pass

    def make(self, use: Callable[[], object], *scripts: Any) -> None:
        """Makes calls that may fail."""
        before = len(self.server.requests)
        for script in scripts:
            self.server.script(*script)
        with suppress(AbstractCoreError):
            use()
        assert len(self.server.requests) - before == len(scripts)


def _rounds(*words: str) -> bytes:
    called = [
        {"id": f"call-{at}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"word": word})}}
        for at, word in enumerate(words)
    ]
    body = completion_body(finish_reason="tool_calls")
    body["choices"][0]["message"] |= {
        "content": "dodo-between",
        "reasoning_content": "dodo-thought",
        "tool_calls": called,
    }
    return answer(body)


@contextmanager
def a_program(folder: Path) -> Generator[tuple[Program, Services]]:
    """A program with a cache of responses in a file."""
    services = Services(environment={}, clock=VirtualClock(time_of_day=1_800_000_000.0), random=lambda: 0.0)
    with ScriptedServer() as server:
        llm = create_llm(
            "openai-compatible", "m-1", base_url=f"{server.url}/v1", api_key=KEY, services=services, max_retries=0,
            price=Price(input=1, output=1), middleware=[ResponseCache(folder / "cache.db")],
        )  # fmt: skip
        yield Program(llm, server, folder), services
    services.close()


def stored(folder: Path, capture: Capture) -> dict[str, str]:
    """Runs the program, and returns all that each way to read its store has of it, as text."""
    place = folder / "traces.db"
    store = TraceStore(place)
    assert store.calls() == []
    with (
        a_program(folder) as (program, services),
        serving(Settings(admin_keys=(ADMIN,)), traces=place) as served,
        httpx2.Client(
            base_url=served.url,
            headers={"authorization": f"Bearer {ADMIN}"},
            trust_env=False,
            timeout=PATIENCE_SECONDS,
        ) as page,
    ):
        with page.stream("GET", "/dashboard/api/live") as live:
            lines = live.iter_lines()
            assert next(lines) == ": follows"
            with store.keep_for(services.records, capture) as keeping:
                program.run()
                assert keeping.flush(PATIENCE_SECONDS)
                written = b"".join(path.read_bytes() for path in sorted(folder.glob("traces.db*")))
            assert keeping.lost == 0
            data = (line for line in lines if line.startswith("data: "))
            events = [*itertools.islice(data, len(store.calls()))]
        pages = _pages(page, store)
    texts = {
        "file": written.decode("latin-1"),
        "rows": _rows(place),
        "words": _words(place),
        "JSON lines": _exported(store, folder / "traces.jsonl"),
        "Parquet": _table(store, folder / "traces.parquet"),
        "commands": _commands(store, place),
        "page": pages,
        "live": "\n".join(events),
        "cache": b"".join(path.read_bytes() for path in folder.glob("cache.db*")).decode("latin-1"),
    }
    store.close()
    return texts


def instrumented(folder: Path, capture: Capture, names: Any) -> str:
    """Runs the program, and returns all that spans and metrics have of it, as text."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([reader], shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    with a_program(folder) as (program, services):
        with instrument(provider, meters, services=services, capture=capture, names=names) as instrumentation:
            program.run()
            assert instrumentation.flush(PATIENCE_SECONDS)
        assert instrumentation.dropped == 0
    texts = [span.to_json() + str(span.status.description) for span in spans.get_finished_spans()]
    texts.append(str(reader.get_metrics_data()))
    provider.shutdown()
    meters.shutdown()
    return "\n".join(texts)


def _pages(page: httpx2.Client, store: TraceStore) -> str:
    paths = [
        "/dashboard",
        "/dashboard/api/summary?since=all&by=tag:team",
        "/dashboard/api/summary?since=all",
        "/dashboard/api/calls?since=all",
    ]
    paths += [f"/dashboard/api/traces/{call.trace_id}" for call in store.calls()]
    responses = [page.get(path) for path in paths]
    assert {response.status_code for response in responses} == {200}
    return "\n".join(
        json.dumps(response.json()) if "/api/" in str(response.url) else response.text for response in responses
    )


def _rows(place: Path) -> str:
    """All values of all tables, unpacked in every way that there is."""
    found: list[str] = []
    connection = sqlite3.connect(place)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for value in [value for (name,) in names for row in connection.execute(f"SELECT * FROM {name}") for value in row]:
        found.append(value.decode("latin-1") if isinstance(value, bytes) else str(value))
        for unpack in (inflated, zlib.decompress) if isinstance(value, bytes) else ():
            with suppress(zlib.error):
                found.append(unpack(value).decode("latin-1"))
    connection.close()
    return "\n".join(found)


def _words(place: Path) -> str:
    """The terms of the index of words, in the order of the texts."""
    connection = sqlite3.connect(place)
    connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, traces_texts, instance)")
    terms = connection.execute("SELECT term FROM temp.terms ORDER BY doc, offset").fetchall()
    connection.close()
    return "-".join(term for (term,) in terms)


def _exported(store: TraceStore, path: Path) -> str:
    store.export(path)
    return path.read_text()


def _table(store: TraceStore, path: Path) -> str:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="tables are read back by pyarrow")
    store.export(path)
    return str(parquet.read_table(path).to_pylist())


def _commands(store: TraceStore, place: Path) -> str:
    shown = [[*("list", "--limit", "100")], ["tail", "--no-follow"], ["search", "dodo"], ["search", "kiwi"]]
    shown += [["show", id] for id in {store.trace(call.trace_id).root.record.trace_id for call in store.calls()}]
    commands = [["traces", *each, *as_json] for each in shown for as_json in ([], ["--json"])]
    commands += [["costs", "--by", by, "--since", "2020-01-01"] for by in ("model", "tag:team", "tool", "outcome")]
    results = [invoke(*command, "--store", str(place)) for command in commands]
    return "\n".join(result.stdout + result.stderr for result in results)


@pytest.fixture(scope="module", params=[pytest.param("off", marks=pytest.mark.exhaustive), "redacted", "full"])
def mode(request: pytest.FixtureRequest) -> Capture:
    """How much content is kept."""
    return request.param


@pytest.fixture(scope="module")
def sinks(tmp_path_factory: pytest.TempPathFactory, mode: Capture) -> dict[str, str]:
    """What each sink has in this mode."""
    texts = stored(tmp_path_factory.mktemp("canaries"), mode)
    return texts | {
        names: instrumented(tmp_path_factory.mktemp("canaries"), mode, names) for names in ("otel", "openinference")
    }


def found_in(text: str, canaries: set[str]) -> set[str]:
    """Returns the canaries that a text has."""
    return {canary for canary in canaries if canary in text}


@pytest.mark.parametrize("sink", SINKS)
def test_no_sink_has_what_lets_in(sinks: dict[str, str], mode: Capture, sink: str):
    text = sinks[sink]
    if mode == "full":  # the URL of a file is content
        text = text.replace(SECRETS[2], "").replace(SECRETS[3], "")
    assert not shows(text)


@pytest.mark.parametrize("sink", SINKS)
def test_sinks_have_content_only_in_full(sinks: dict[str, str], mode: Capture, sink: str):
    found = found_in(sinks[sink], CONTENT)
    if sink == "cache":
        assert found
    elif mode != "full":
        assert not found
    elif sink in LACKING:
        assert found == CONTENT - LACKING[sink]


@pytest.mark.parametrize("sink", ["rows", "JSON lines", "page"])
def test_names_and_errors_of_vendors_are_kept_in_each_mode(sinks: dict[str, str], sink: str):
    assert found_in(sinks[sink], NAMES) == NAMES


@pytest.mark.exhaustive
def test_without_redaction_each_sink_would_show_what_it_must_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore.scrubbing.secrets.SecretScanner.scrubbed", lambda self, text: text)
    monkeypatch.setattr("abstractcore.telemetry.call_records.redacted_call", lambda call: call)
    texts = stored(tmp_path, "redacted")
    texts["otel"] = instrumented(tmp_path, "redacted", "otel")
    leaking = {"rows", "JSON lines", "commands", "page", "otel"}
    assert {sink for sink, text in texts.items() if shows(text)} == leaking
    assert {sink for sink, text in texts.items() if found_in(text, CONTENT)} == {*leaking, "cache"}
