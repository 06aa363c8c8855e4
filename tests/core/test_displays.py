"""What notebooks show of objects: what matters, escaped, within limits, and without credentials."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import abstractcore
import abstractruntime
from abstractcore import (
    AudioPart,
    Blob,
    CallWarning,
    DocumentPart,
    Embeddings,
    File,
    GenerateResponse,
    ImagePart,
    InvalidInputError,
    MapResults,
    Message,
    ModelReply,
    Ranked,
    RankedDocument,
    ReasoningPart,
    Services,
    Session,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
    VideoPart,
    create_llm,
)
from abstractcore.schema import (
    CallRecord,
    CostSums,
    ErrorRecord,
    InteractionRecord,
    MediaResult,
    RichDisplay,
    Source,
    TableList,
    ToolRecord,
    ToolStep,
    Vectors,
    visible,
)
from abstractcore.search import Hit
from abstractcore.testing import ScriptedReply
from abstractcore.traces import CallSummary, CostRow, Trace, TraceNode, TraceScore, TraceStore
from abstractruntime import FunctionProgram, LedgerReport, Problem, RunInfo, Runtime, Step, Wait

ATTACK = '<script>alert(1)</script><img src=x onerror="alert(2)">\'</td></table></div>&amp;\x1b[31m\u202edlrow\u2066'
CANARY = "sk-canary-0123456789abcdef"
TAGS = {
    *("div", "details", "summary", "p", "code", "small", "br", "table", "thead", "tbody", "tr", "th", "td"),
    *("img", "audio", "video"),
}  # fmt: skip
ATTRIBUTES = {"style", "src", "alt", "controls"}
STYLE = re.compile(r"[a-z0-9.:; %-]*")
MOST_HTML = 2_000_000
ABSTRACT = {"Savable", "SessionView", "_StreamBase"}
"""Base classes without objects of their own."""
RUNTIMES: list[Runtime] = []


@pytest.fixture(autouse=True)
def databases_of_runs_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    while RUNTIMES:
        RUNTIMES.pop().close()


class Reader(HTMLParser):
    """The elements, the text and the open tags of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(item: Any) -> Reader:
    """Reads the display of an object; it consists of elements that do nothing."""
    html = item._repr_html_()
    assert len(html) < MOST_HTML
    assert visible(html) == html
    html.encode()
    found = Reader(html)
    assert found.open == []
    assert {tag for tag, _ in found.elements} <= TAGS
    for _, attributes in found.elements:
        assert set(attributes) <= ATTRIBUTES
        assert STYLE.fullmatch(attributes.get("style") or "")
        assert (attributes.get("src") or "data:").startswith("data:")
    return found


def table(item: Any) -> list[list[str]]:
    """Returns the cells of the rows of a display."""
    html = item._repr_html_()
    return [
        [Reader(cell).text for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", html)
    ]


def reply(text: str) -> ModelReply:
    return ModelReply((ReasoningPart(text), TextPart(text), ToolCall("c", text, text)), usage=Usage(input=3, output=2))


def response(text: str) -> GenerateResponse[Any]:
    def look() -> str:
        return text

    replies = [ModelReply((ToolCall("c", "look"),), "tool_calls"), reply(text)]
    llm = create_llm("scripted", replies=[*replies[:1], text], model="scripted")
    return llm.generate(text, tools=[look], run_tools=True, voice_speed=1)


def error(text: str) -> ErrorRecord:
    return ErrorRecord("ServerError", text)


def call_record(text: str) -> CallRecord:
    call = create_llm("scripted", replies=[]).build(text)
    facts: Any = (call, reply(text), (), Usage(input=3), Decimal("0.25"), (), (), error(text))
    return CallRecord("t", None, text, text, "failed", False, 1.0, 2.0, None, "d", None, *facts)


def interaction(text: str) -> InteractionRecord:
    return InteractionRecord("t", None, "tools", "p", text, "failed", False, 1.0, 2.0, None, 1, error=error(text))


def tool_record(text: str) -> ToolRecord:
    result = ToolResult.text("c", text)
    return ToolRecord(
        "t2", "t", text, "c", "function", "failed", 1.5, 0.5, arguments={"a": text}, result=result, error=error(text)
    )


def tree(text: str) -> TraceNode:
    child = TraceNode(tool_record(text), 1, (TraceScore(text, 1.0, None, 0.0),))
    return TraceNode(interaction(text), children=[child, TraceNode(call_record(text), 1)])


def summary(text: str) -> CallSummary:
    facts: Any = (None, 3, 2, Decimal("0.25"), None, {text: text})
    return CallSummary("t", None, "p", text, "chat", "done", 1.0, 2.0, *facts)


def run_info(text: str) -> RunInfo:
    failed: Any = {"type": "ValueError", "message": text}
    return RunInfo("r", text, "failed", 1.0, 2.0, 3, "h", output={"a": text}, error=failed)


def stream(text: str) -> Any:
    opened = create_llm("scripted", replies=[f"{text} and more"]).stream("hi")
    next(opened.text())
    return opened


def session(text: str) -> Session:
    made = Session(create_llm("scripted", replies=[text]), system_prompt=text)
    made.ask(text)
    return made


def waiting_run(text: str) -> Any:
    def step(state: Any, item: Any) -> Step:
        return Step({"state": text}, waits=(Wait("key", reason="input", asked={"question": text}),))

    runtime = Runtime(Path("runs.db"), programs=[FunctionProgram("asks", step)])
    RUNTIMES.append(runtime)
    run = runtime.start("asks@1", text)
    runtime.work()
    return run


def hit(text: str) -> Hit:
    return Hit("a", text, 0.5, Source(text, "exact", "file", text, page=3), tags={text: text})


def embeddings(text: str) -> Embeddings:
    vectors = Vectors.of([[0.25] * 12, [0.5] * 12])
    return Embeddings(vectors, text, text, True, Usage(input=7), warnings=(CallWarning("c", "p", text),))


def mapped(text: str) -> MapResults[Any]:
    answered: Any = response(text)
    return MapResults((answered, InvalidInputError(text), ValueError(text)), cost=Decimal("0.5"))


SAMPLES: dict[str, Callable[[str], Any]] = {
    "AsyncStream": lambda text: create_llm("scripted", replies=[text]).astream("hi"),
    "AudioPart": lambda text: AudioPart(Blob.from_bytes(b"RIFF", "audio/wav", name=text), text),
    "Blob": lambda text: Blob.from_bytes(text.encode(), "text/markdown", name=text),
    "CallRecord": call_record,
    "CallSummary": summary,
    "CostRow": lambda text: CostRow({text: text}, CostSums(Decimal("0.25"), unknown=1), 3, 1, 10, 5, 0),
    "DocumentPart": lambda text: DocumentPart(Blob.from_bytes(text.encode(), "text/html", name=text)),
    "Embeddings": embeddings,
    "File": lambda text: File(text, pages=text, name=text),
    "GenerateResponse": response,
    "Hit": hit,
    "ImagePart": lambda text: ImagePart(Blob.from_bytes(b"png", "image/png", name=text)),
    "InteractionRecord": interaction,
    "LedgerReport": lambda text: LedgerReport(text, 3, None, (Problem(text, 1, text),)),
    "MapResults": mapped,
    "MediaResult": lambda text: MediaResult(backend="b", parts=(AudioPart(Blob.from_bytes(b"x", "audio/wav"), text),)),
    "Message": lambda text: Message.user(text, DocumentPart(Blob.from_bytes(text.encode(), "text/csv"))),
    "ModelReply": reply,
    "Problem": lambda text: Problem(text, 1, text),
    "Ranked": lambda text: Ranked((RankedDocument(4, 0.5, text), RankedDocument(2, 0.25, hit(text))), text, "m", "llm"),
    "Run": waiting_run,
    "RunInfo": run_info,
    "RunWait": lambda text: waiting_run(text).waits[0],
    "Session": session,
    "Stream": stream,
    "TableList": lambda text: TableList([summary(text), summary(text)]),
    "ToolRecord": tool_record,
    "ToolStep": lambda text: ToolStep(ToolCall("c", text, text), ToolResult.text("c", text), 0, error=error(text)),
    "Trace": lambda text: Trace(tree(text)),
    "TraceNode": tree,
    "VideoPart": lambda text: VideoPart(Blob.from_bytes(b"x", text, name=text)),
}
WITHOUT_TEXT = {"AsyncStream"}
"""Those that show no text of a sample: nothing has arrived."""


def displayed_classes() -> Iterator[type]:
    """The classes with a display of all modules."""
    for package in (abstractcore, abstractruntime):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    waiting = [RichDisplay]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        yield from (each for each in below if each.__module__.startswith(("abstractcore", "abstractruntime")))


def test_there_is_a_sample_of_every_class_with_a_display():
    classes = {*displayed_classes()}
    assert {each.__name__ for each in classes} - ABSTRACT == set(SAMPLES)
    others = [
        each
        for name, module in [*sys.modules.items()]
        if name.startswith(("abstractcore", "abstractruntime"))
        for each in vars(module).values()
        if isinstance(each, type) and "_repr_html_" in vars(each) and each is not RichDisplay
    ]
    assert others == []


@pytest.mark.parametrize("name", SAMPLES)
def test_hostile_text_is_shown_and_cannot_leave_its_place(name: str):
    item = SAMPLES[name](ATTACK)
    found = read(item)
    if name not in WITHOUT_TEXT:
        assert "alert(" in found.text + "".join(attributes.get("alt") or "" for _, attributes in found.elements)
    assert "\n" not in repr(item) or isinstance(item, list)


@pytest.mark.parametrize(
    "name", [name for name in SAMPLES if name not in ("GenerateResponse", "MapResults", "Session")]
)
def test_long_texts_are_cut(name: str):
    read(SAMPLES[name]("<&" * 500_000 if name not in ("RunInfo", "Run", "RunWait") else "<&" * 20_000))


@pytest.mark.parametrize("text", ["\ud800", "a\ud800\udfffb\udc80"])
def test_lone_surrogates_are_shown_by_a_mark(text: str):
    rows: list[Any] = [summary(text), CostRow({text: text}, CostSums(), 1, 0, 0, 0, 0), Problem(text, 1, text)]
    for item in (*rows, TableList(rows), File(text), MapResults((ValueError(text), InvalidInputError(text)))):
        read(item)
    assert "\ufffd" in read(rows[0]).text


def test_hundred_thousand_rows_are_a_short_table():
    rows = TableList([summary(str(number)) for number in range(100_000)])
    assert len(table(rows)) == 51
    assert "50 of 100,000 rows" in read(rows).text
    many = MapResults(tuple(ValueError(str(number)) for number in range(100_000)))
    assert "100,000 errors" in read(many).text
    deep = top = TraceNode(interaction("a"))
    for depth in range(1, 20_000):
        top.children.append(top := TraceNode(interaction(str(depth)), depth))
    assert "200 of 20,000 rows" in read(Trace(deep)).text


def test_message_of_many_parts_and_files_is_bounded():
    picture = ImagePart(Blob.from_bytes(b"x" * 3_000_000, "image/png"))
    html = Message.user(*[picture] * 100)._repr_html_()
    assert html.count("<img") == 5
    assert len(html) < 25_000_000
    texts = [DocumentPart(Blob.from_bytes(b"a" * 3_000, "text/plain", name=str(number))) for number in range(5_000)]
    assert "... more" in read(Message.user(*texts)).text


ARGUMENTS = json.dumps({"city": "Ulm", "api_key": CANARY, "deep": [{"password": CANARY}]})
CALL = ToolCall("c", "f", ARGUMENTS)
ADDRESS = f"https://user:{CANARY}@host.test/a.pdf?sig={CANARY}#{CANARY}"
WITH_CREDENTIALS: list[Any] = [
    Message.assistant(CALL),
    ModelReply((CALL,)),
    ToolStep(CALL, ToolResult.text("c", "x"), 0),
    TableList([ToolStep(CALL, ToolResult.text("c", "x"), 0)]),
    ToolRecord("t", "p", "f", "c", "function", "done", 1.0, 1.0, arguments=json.loads(ARGUMENTS)),
    RunInfo("r", "p", "completed", 1.0, 2.0, 3, "h", output=json.loads(ARGUMENTS)),
    File(ADDRESS, password=CANARY),
    Blob.from_url(ADDRESS, "application/pdf"),
    Message.user(DocumentPart(Blob.from_url(ADDRESS, "application/pdf"))),
]


@pytest.mark.parametrize("item", WITH_CREDENTIALS, ids=lambda item: type(item).__name__)
def test_fields_named_like_credentials_and_secrets_of_urls_are_hidden(item: Any):
    assert CANARY not in item._repr_html_()
    assert "Ulm" in item._repr_html_() or "a.pdf" in item._repr_html_()


def test_repr_of_a_file_has_neither_password_nor_secrets_of_its_url():
    assert repr(File(ADDRESS, password=CANARY, pages="1-3")) == "File(source='https://host.test/a.pdf', pages='1-3')"
    assert repr(File(b"x" * 9_999)) == "File(source=<9,999 bytes>)"


def test_llm_of_a_session_or_a_stream_shows_no_key():
    llm = create_llm("openai/gpt-5.4-mini", api_key=CANARY)
    assert CANARY not in Session(llm)._repr_html_()
    assert CANARY not in llm.stream("hi")._repr_html_()
    llm.close()


def test_display_of_a_stream_reads_nothing():
    opened = create_llm("scripted", replies=["one two three"]).stream("hi")
    assert "new, 0 characters so far" in read(opened).text
    with opened:
        first = next(opened.text())
        assert read(opened).text.startswith(first)
        assert "open, 3 characters so far" in read(opened).text
        assert "".join([first, *opened.text()]) == "one two three"
    assert "one two threescripted/scripted: stop" in read(opened).text


def test_display_of_an_async_stream_reads_nothing():
    async def shown() -> list[str]:
        async with create_llm("scripted", replies=["one two"]).astream("hi") as opened:
            texts = [read(opened).text]
            texts += [read(opened).text async for _ in opened.text()]
        return [*texts, read(opened).text]

    first, *_, last = asyncio.run(shown())
    assert "new, 0 characters" in first
    assert last.startswith("one two")


def test_response_shows_tools_tokens_cost_and_warnings():
    text = read(response("Sunny.")).text
    assert "1 tool call" in text
    assert "scripted/scripted: stop, " in text
    assert "$0" in text
    assert "voice_speed" in text


def test_session_shows_its_last_exchanges():
    made = Session(create_llm("scripted", replies=lambda call: call.messages[-1].text.upper()))
    for number in range(7):
        made.ask(f"question {number}")
    text = read(made).text
    assert "question 1" not in text
    assert "userquestion 6assistantQUESTION 6" in text
    assert "scripted/scripted: 7 exchanges, of which 5 are shown, " in text


def test_results_of_many_items_are_a_table_with_their_errors():
    def answer(call: Any) -> str:
        if call.messages[-1].text == "bad":
            raise InvalidInputError("no such word")
        return "Guten Tag"

    prompts = [*["good"] * 60, "bad"]
    results = create_llm("scripted", replies=answer).map(prompts)
    head, *rows = table(results)
    assert head[:2] == ["item", "answer"]
    assert rows[0][:2] == ["0", "Guten Tag"]
    assert rows[-1][0] == "60"
    assert "InvalidInputError" in " ".join(rows[-1])
    assert "60 responses, 1 error, " in read(results).text


def test_traces_are_tables_and_a_tree(tmp_path: Path):
    services = Services()

    def look() -> str:
        return "rain"

    llm = create_llm("scripted", replies=[ScriptedReply.tool_call("look", {}), "Rain."], services=services)
    store = TraceStore(tmp_path / "traces.db")
    with store.keep_for(services.records, "full"):
        llm.generate("Weather?", tools=[look], run_tools=True, tags={"team": "sales"})
    calls = store.calls()
    assert table(calls)[0][:4] == ["began", "model", "operation", "outcome"]
    assert len(table(calls)) == 3
    assert "team: sales" in read(calls).text
    assert isinstance(calls, list)
    names = [row[0] for row in table(store.trace(calls[0].trace_id))[1:]]
    assert names == ["tools", "scripted", "look", "scripted"]
    shown = read(store.trace(calls[0].trace_id))
    assert [each["style"] for _, each in shown.elements if "1.5em" in (each.get("style") or "")] == []
    assert len([1 for _, each in shown.elements if "padding-left: 2.0em" in (each.get("style") or "")]) == 3
    assert "4 records, $0 known" in shown.text
    assert table(store.costs(by=["tag:team"]))[:2][1][:2] == ["sales", "2"]
    store.close()


def test_search_results_and_vectors_show_places_and_scores():
    assert table(TableList([hit("found")]))[1][:3] == ["found, page 3", "found", "0.5"]
    assert table(SAMPLES["Ranked"]("text"))[1] == ["1", "4", "0.5", "text"]
    assert table(embeddings("m"))[1] == ["0", ", ".join(["0.250"] * 8) + ", ..."]


def test_run_shows_its_waits_and_its_ledger():
    run = waiting_run("Go on?")
    text = read(run).text
    assert "asks@1" in text
    assert "waiting" in text
    assert 'question": "Go on?"' in text
    assert "Ledger" in text
    assert "wait for key" in text
    assert read(run.waits).text.endswith('{"question": "Go on?"}')


def test_row_with_values_of_any_kind_is_shown():
    class Row(RichDisplay):
        def __display_row__(self) -> dict[str, object]:
            return {"n": 1234567, "x": 0.123456, "cost": Decimal("0.5"), "none": None, "flag": True, "text": "a\n  b"}

    assert table(Row()) == [["n", "x", "cost", "flag", "text"], ["1,234,567", "0.1235", "$0.500000", "True", "a b"]]
    assert read(TableList()).text == "0 of 0 rows"


@pytest.mark.parametrize(
    "number",
    [
        10**5_000,
        -(10**5_000),
        10**40,
        1e308,
        float("nan"),
        float("-inf"),
        *map(Decimal, ("NaN", "sNaN", "-Infinity", "1e999999", "1e-999999", "1" * 5_000)),
    ],
    ids=lambda number: f"{type(number).__name__}",
)
def test_any_number_is_a_short_cell(number: Any):
    class Row(RichDisplay):
        def __display_row__(self) -> dict[str, object]:
            return {"number": number}

    (_, (cell,)) = table(Row())
    assert 0 < len(cell) < 330
