"""Blocks of other libraries, on pages for their users, print what ours do, which tests/test_installed_docs.py runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coming_from.vendor import vendor
from tests.documents import ROOT, blocks
from tests.installed import Output, outputs
from tests.packages import kept_environment

pytestmark = pytest.mark.process

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PAGES = sorted((ROOT / "docs").glob("from-*.md"))
EXECUTED = [page for page in PAGES if page.stem != "from-abstractcore"]  # which has the name of ours, as its page says
_THEIRS = re.compile(r"^```python ([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def theirs(page: Path) -> list[tuple[str, str]]:
    """The name of another library and its code, for each task of a page."""
    return _THEIRS.findall(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of an environment with the libraries."""
    return kept_environment(REQUIREMENTS).absolute() / "python"


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    with vendor() as variables:
        yield variables


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_blocks_of_another_library_print_what_ours_print(
    page: Path, python: Path, variables: dict[str, str], tmp_path: Path
):
    # What two of them would otherwise load or send on their own: prices, traces.
    quiet = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LANGSMITH_TRACING": "false",
        "LLM_USER_PATH": str(tmp_path / "llm"),
    }
    env = {"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONUTF8": "1", **quiet, **variables}
    codes = {f"{page.name}, block {number}": code for number, (_, code) in enumerate(theirs(page), start=1)}
    printed = outputs(codes, [python, "-W", "ignore"], env=env, folder=tmp_path / "blocks")
    assert printed == [Output(f"{block.output}", raised="") for block in blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_task_has_both_halves_and_an_output(page: Path):
    ours = blocks(page)
    assert 5 <= len(theirs(page)) == len(ours) <= 10
    assert all(block.output for block in ours)
    assert "## What differs" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_page_names_the_version_that_is_installed(page: Path):
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE))
    (name,) = {name for name, _ in theirs(page)}
    version = pinned["pydantic-ai-slim" if name == "pydantic-ai" else name]
    assert f" {'.'.join(version.split('.')[:2])}" in page.read_text(encoding="utf-8")
