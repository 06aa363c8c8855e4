"""The docs as a user of the built wheels runs them: the blocks of a page in one process print the shown output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.coming_from.vendor import vendor
from tests.documents import PAGES, ROOT, Block, alike, blocks
from tests.installed import Output, outputs, started
from tests.packages import Environment

pytestmark = [pytest.mark.process, pytest.mark.weights, pytest.mark.exhaustive]

WITH_BLOCKS = [page for page in PAGES if any(not block.is_test for block in blocks(page))]
TESTS = [block for page in PAGES for block in blocks(page) if block.is_test]


@pytest.fixture(scope="module")
def answering_vendor() -> Iterator[dict[str, str]]:
    """The variables with which the pages for users of other libraries find their models."""
    with vendor() as variables:
        yield variables


def test_packages_are_those_of_the_wheels(installed: Environment, run_installed: Callable[..., str]):
    place = run_installed("-c", "import abstractcore; print(abstractcore.__file__)")
    assert Path(place).is_relative_to(installed.executables.absolute().parent)


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: f"{page.relative_to(ROOT)}")
def test_blocks_of_a_page_print_the_shown_output(
    page: Path, installed: Environment, clean: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
):
    if page.stem.startswith("from-"):
        clean |= request.getfixturevalue("answering_vendor")
    examples = [block for block in blocks(page) if not block.is_test]
    python = [installed.python.absolute(), "-W", "error"]
    codes = {str(block): "\n" * (block.line - 1) + block.code for block in examples}
    results = zip(examples, outputs(codes, python, env=clean, folder=tmp_path / "blocks"), strict=True)
    assert {str(block): output for block, output in results if not passes(block, output)} == {}


def passes(block: Block, output: Output) -> bool:
    """Whether the block has raised nothing, and has printed what is shown, if anything is."""
    return not output.raised and (block.output is None or alike(output.printed, block))


@pytest.mark.parametrize("block", TESTS, ids=str)
def test_block_of_tests_passes(block: Block, installed: Environment, clean: dict[str, str], tmp_path: Path):
    (tmp_path / "test_block.py").write_text(block.code, encoding="utf-8")
    pytest_ = [installed.python.absolute(), "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # With CI set, Hypothesis tries the same examples in each run.
    assert " passed in " in started([*pytest_, "test_block.py"], env={**clean, "CI": "true"}, cwd=tmp_path)
