"""The versions of Python that are tried, and with what."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from release import versions
from release.projects import ROOT, projects
from release.versions import interpreter, main, oldest_requirements, supported


def test_versions_are_those_that_the_project_claims():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert supported() == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={supported()[0]}"


def test_oldest_requirements_are_of_others_and_not_of_tests():
    names = {Requirement(row).name for row in oldest_requirements()}
    assert {"httpx2", "sqlalchemy", "symusic", "a2a-sdk", "cryptography", "pi-heif"} <= names
    assert not names & {"pytest", "hypothesis", *(each.name for each in projects())}


@pytest.mark.process
def test_python_that_is_not_here_is_named_and_alone_a_failure(capsys: pytest.CaptureFixture[str]):
    assert interpreter("3.99") is None
    assert main(["3.99", "--age", "newest"]) == 1
    assert capsys.readouterr().out == "3.99  newest  missing  no Python 3.99 on this machine\n"


def test_missing_python_beside_one_that_passed_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    def outcome(version: str, age: str, tests: list[str]) -> versions.Outcome:
        return versions.Outcome(version, age, {"3.11": True, "3.12": None, "3.13": False}[version], "1 passed")

    monkeypatch.setattr(versions, "outcome", outcome)
    assert main(["3.11", "3.12"]) == 0
    assert main(["3.11", "3.13"]) == 1
    assert main(["3.12"]) == 1
