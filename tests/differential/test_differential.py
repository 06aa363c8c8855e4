"""Identical trees have no differences, and one changed line of a format is found with its input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.differential.__main__ import compare
from tests.differential.inputs import inputs
from tests.differential.report import Report
from tests.differential.trees import ROOT, checked_out

pytestmark = pytest.mark.process

FORMAT = "cohere_chat"


@pytest.fixture(scope="module")
def some_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every call of one format, and every thirtieth other input: some of each operation, whole and damaged."""
    file = tmp_path_factory.mktemp("inputs") / "some.jsonl"
    some = [each for i, each in enumerate(inputs([FORMAT], 5, [])) if each["operation"] == "encode" or i % 30 == 0]
    file.write_text("".join(json.dumps(each) + "\n" for each in some))
    return file


@pytest.fixture
def differences(some_inputs: Path, tmp_path: Path) -> Callable[..., Report]:
    """A report of this tree against a copy of it in which a text of the format has been replaced."""

    def differences(old: str = "", new: str = "") -> Report:
        copy = tmp_path / "copy"
        for folder in ("abstractcore", "providers"):
            shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        modules = [path for path in copy.rglob(f"{FORMAT}/*.py") if old in path.read_text(encoding="utf-8")]
        assert modules, f"{old} is not in the format any more"
        for path in modules if old else ():
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        return compare(copy, given=some_inputs, kept=tmp_path / "kept.jsonl")

    return differences


def test_identical_trees_have_no_differences(differences: Callable[..., Report], some_inputs: Path):
    report = differences()
    assert (report.differ("facts"), report.differ("wording")) == (0, 0)
    assert report.inputs == report.equal[FORMAT] == len(some_inputs.read_text().splitlines())


def test_changed_field_is_found_with_its_input(differences: Callable[..., Report]):
    report = differences('"frequency_penalty": "frequency_penalty"', '"frequency": "frequency_penalty"')
    assert report.differ("facts") > 0
    assert "request.body.frequency_penalty" in str(report)
    again = compare(ROOT, given=report.kept, kept=report.kept.with_name("again.jsonl"))
    assert again.equal[FORMAT] == report.differ("facts")


def test_changed_wording_is_distinguished_from_changed_facts(differences: Callable[..., Report]):
    report = differences('"Cohere returns log probabilities only of the chosen tokens"', '"another wording"')
    assert report.differ("facts") == 0
    assert report.differ("wording") > 0


def test_unknown_revision_is_an_error():
    with pytest.raises(SystemExit, match="neither a folder nor a git revision"), checked_out("no-such-revision"):
        pass
