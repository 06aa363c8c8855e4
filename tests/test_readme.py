"""The README: its size and order, whose answers it shows, its commands, pictures and comparison."""

from __future__ import annotations

import re
from html import unescape
from types import ModuleType

import pytest

from abstractcore.testing.http_server import ScriptedServer, answer
from tests.documents import ROOT, blocks
from tests.packages import Environment
from tests.readme_pictures import DOCS, badges, receipt_run

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
MOST_BYTES = 13_000
SECTIONS = [
    "Five reasons",
    "First call",
    "Typed answers with evidence",
    "Tools",
    "Streaming and async",
    "Files",
    "Conversations, groups and limits",
    "Search over a folder",
    "Runs that survive `kill -9`",
    "Traces, spend and budgets",
    "The server",
    "Voice, pictures and music",
    "Errors and testing",
    "Providers",
    "Install",
    "Beside others",
    "Licence, status, roadmap",
]
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_760_000_000,
    "model": "gpt-5.4-mini",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "12 euros."}}],
    "usage": {"prompt_tokens": 300, "completion_tokens": 4, "total_tokens": 304},
}


def test_it_is_short_and_in_order():
    assert len(README.encode()) <= MOST_BYTES
    assert re.findall(r"^## (.*)$", README, re.MULTILINE) == SECTIONS


def test_only_the_block_about_tests_is_scripted():
    tests = README.index("`scripted` answers")
    scripted = [block for block in blocks(PAGE) if "scripted" in block.code]
    assert [README.index(block.code) > tests for block in scripted] == [True]
    shown = [block for block in blocks(PAGE) if block.output is not None]
    assert len(shown) == 9
    for block in shown:
        assert re.search(r'create_llm\(\)|"local/|AuthenticationError', block.code), block


def test_vendor_is_one_line_changed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    before, after = re.findall(r"^[-+](.*)$", README.split("```diff\n")[1].split("```")[0], re.MULTILINE)
    first = blocks(PAGE)[0].code
    assert first.count(before) == 1
    monkeypatch.chdir(ROOT)
    with ScriptedServer() as server:
        server.script(answer(REPLY))
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        exec(first.replace(before, after), vars(ModuleType("block")))
        (request,) = server.requests
    file, question = request.json["messages"][0]["content"]
    assert file["file"]["file_data"].startswith("data:application/pdf;base64,")
    assert question == {"type": "text", "text": "How much does a ticket cost?"}
    assert capsys.readouterr().out.startswith("12 euros. 0.0")


def test_its_commands_exist():
    for target in re.findall(r"\bmake (?!help)([a-z-]+)\b[` ]", README):
        assert f"\n{target}: " in MAKEFILE, target
    programs = re.findall(r"python ((?:benchmarks|examples)/[\w/]+\.py)", README)
    assert len(programs) == 5
    assert all((ROOT / program).exists() for program in programs)


def test_every_row_of_the_comparison_has_its_sources():
    rows = re.findall(
        r"^\| ([^|]+) \|", README.split("| LangChain |\n|---|---|---|---|---|---|\n")[1].split("\n\n")[0], re.MULTILINE
    )
    page = (DOCS / "comparison.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    assert len(rows) == 8
    assert "## What others do better" in page
    assert set(rows) - {"strongest at"} <= set(table)


def test_figures_of_the_comparison_are_those_that_were_measured():
    page = (DOCS / "comparison.md").read_text(encoding="utf-8")
    measured = dict(re.findall(r"^\| ([\w[\]-]+) \| [\d.]+ \| (\d+) \|", page, re.MULTILINE))
    measured["pydantic-ai"] += f"; slim: {measured['pydantic-ai-slim']}"
    counts = [measured[each] for each in ("abstractcore", "llm", "litellm", "pydantic-ai", "langchain")]
    assert f"| installs | {' | '.join(counts)} |" in README
    assert f"with the embedded model {measured['abstractcore[local]']} |" in README
    assert "of processor time, a half to a third of llm's," in README
    assert re.search(r"^\| llm \|.*\| 2 to 3 \|$", page, re.MULTILINE)


def test_badges_are_those_of_the_project():
    assert (DOCS / "badges.svg").read_text(encoding="utf-8") == badges()


def test_pictures_ask_nothing_of_a_network():
    for name in ("badges.svg", "receipt.svg"):
        picture = (DOCS / name).read_text(encoding="utf-8")
        assert re.findall(r"(?:href|src|url)\W+https?:[^\s)>]*", picture) == []


@pytest.mark.process
@pytest.mark.weights
def test_terminal_in_the_picture_shows_what_the_command_prints(installed: Environment, clean: dict[str, str]):
    drawn = (DOCS / "receipt.svg").read_text(encoding="utf-8")
    lines = re.findall(r"<text[^>]*>(.*?)</text>", drawn)
    printed = receipt_run(installed.python.absolute(), clean)
    assert words(printed) in words(unescape(" ".join(lines)).replace("\xa0", " "))


def words(text: str) -> str:
    """A text without what differs from run to run: its lines, and the seconds."""
    return re.sub(r"\s+", "", re.sub(r"\d+\.\d+ s,", "? s,", text))
