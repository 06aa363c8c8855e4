"""The docs: each cheap Python block runs on its own and prints the shown output, and links resolve."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import abstractcore
from abstractcore.stores.models import FileModelStore
from abstractcore.testing import LAWS
from tests.documents import PAGES, ROOT, Block, alike, anchors, blocks, links

LINKED = (*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs" / "decisions").glob("*.md")))
PAGE_BLOCKS = [block for page in PAGES for block in blocks(page)]
COSTLY = re.compile(r"create_llm\(\)|\"local/|\.jpg|\.(voice|audio)\.|verify=|glyphs=|subprocess|check_laws\(")
"""What is in blocks that load weights, start processes or try generated input."""
HOW_TO = ["installing", "files", "tools", "structured-output", "sessions", "costs", "server", "runtime", "errors"]
"""Pages that a newcomer reads."""
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
TESTING = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def test_pages_with_python_blocks_are_known():
    assert {block.page.name for block in PAGE_BLOCKS} == {
        "README.md",
        "budgets.md",
        "catalogue.md",
        "configuration.md",
        "costs.md",
        "documents.md",
        "deprecation.md",
        "embeddings.md",
        "errors.md",
        "evidence.md",
        "files.md",
        "from-abstractcore.md",
        "from-langchain.md",
        "from-litellm.md",
        "from-llm.md",
        "from-openai.md",
        "from-pydantic-ai.md",
        "limits.md",
        "local-models.md",
        "many-items.md",
        "mcp.md",
        "media.md",
        "models.md",
        "music.md",
        "notebooks.md",
        "observability.md",
        "opentelemetry.md",
        "options.md",
        "plugins.md",
        "prompt-caching.md",
        "providers.md",
        "records.md",
        "response-cache.md",
        "routing.md",
        "runtime-agents.md",
        "runtime-details.md",
        "runtime.md",
        "search.md",
        "session-details.md",
        "sessions.md",
        "start.md",
        "structured-output.md",
        "testing.md",
        "tool-functions.md",
        "tool-loops.md",
        "tool-models.md",
        "tools.md",
        "vision.md",
        "voice.md",
    }
    assert sum(block.is_test for block in PAGE_BLOCKS) == 3


def examples() -> Iterator[object]:
    """The cheap blocks, and the first one of the README with its model: tests/test_installed_docs.py runs all."""
    marks = [pytest.mark.process, pytest.mark.weights, pytest.mark.smoke]
    for number, block in enumerate(block for block in PAGE_BLOCKS if not block.is_test):
        if number == 0:
            yield pytest.param(block, id=str(block), marks=marks)
        elif not (COSTLY.search(block.code) or block.page.name.startswith("from-")):
            yield pytest.param(block, id=str(block))


@pytest.mark.parametrize("block", list(examples()))
def test_block_runs_on_its_own_and_prints_the_shown_output(
    block: Block,
    models: FileModelStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent.resolve()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    module = ModuleType("block")
    monkeypatch.setitem(sys.modules, "block", module)  # dataclasses look there
    code = compile("\n" * (block.line - 1) + block.code, block.page.name, "exec", dont_inherit=True)
    exec(code, vars(module))
    printed = capsys.readouterr().out
    if block.output is not None:
        assert alike(printed, block)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_resolve(page: Path):
    for target, anchor in links(page):
        assert target.exists()
        assert anchor is None or anchor in anchors(target)


def test_table_of_laws_is_complete():
    table = TESTING.split("| law (`LAWS`) |")[1].split("\n\n")[0]
    assert [row.split("`")[1] for row in table.splitlines()[2:]] == list(LAWS)


def test_first_names_are_25_exported_ones_each_used_in_the_block_below_it():
    sections = START.split("\n## ")[1:]
    listed = {
        section: re.findall(r"^\* \[`(\w+)`\]", section, re.MULTILINE) for section in sections if "```python" in section
    }
    names = [name for of_section in listed.values() for name in of_section]
    assert len(set(names)) == len(names) == 25
    assert set(names) <= set(abstractcore.__all__)
    for section, of_section in listed.items():
        code = "".join(re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
        assert [name for name in of_section if not re.search(rf"\b{name}\b", code)] == []


def test_index_is_one_screen():
    assert len(INDEX.splitlines()) <= 45


@pytest.mark.parametrize("name", HOW_TO)
def test_how_to_is_read_in_five_minutes(name: str):
    """At 240 words a minute, with a line of code as five words."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    words = len(code.sub("", text).split()) + 5 * sum(len(block.splitlines()) - 2 for block in code.findall(text))
    assert words <= 5 * 240


def test_index_links_to_every_page():
    linked = {target.resolve() for target, _ in links(ROOT / "docs" / "index.md")}
    assert {page for page in PAGES if page.parent == ROOT / "docs" and page.name != "index.md"} <= linked
