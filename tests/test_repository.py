"""The pages and forms for those who contribute: what they name is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
_TEXTS = {"label", "description", "placeholder", "value"}
ATTRIBUTES = {
    "checkboxes": ({"label", "options"}, {"description"}),
    "dropdown": ({"label", "options"}, {"description", "multiple"}),
    "input": ({"label"}, _TEXTS),
    "markdown": ({"value"}, set[str]()),
    "textarea": ({"label"}, {*_TEXTS, "render"}),
}
"""What each element of an issue form must have, and may have.

Source: https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
"""


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_form_has_the_published_shape(path: Path):
    form: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    assert form.keys() == {"name", "description", "labels", "body"}
    ids = [element["id"] for element in form["body"] if element["type"] != "markdown"]
    assert ids
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]+", id) for id in ids)
    for element in form["body"]:
        needed, allowed = ATTRIBUTES[element["type"]]
        attributes = element["attributes"]
        assert needed <= attributes.keys() <= needed | allowed, element
        options = attributes.get("options", [])
        plain = [each["label"] if element["type"] == "checkboxes" else each for each in options]
        assert all(
            isinstance(each, str) and each
            for each in [*plain, *(attributes[name] for name in _TEXTS & attributes.keys())]
        )
        assert len(set(plain)) == len(plain)
        assert element.keys() - {"type", "id", "attributes"} <= (
            {"validations"} if element["type"] in ("input", "dropdown", "textarea") else set()
        )
        assert element.get("validations", {}).keys() <= {"required"}


def test_forms_are_for_bugs_features_and_providers():
    assert [path.stem for path in FORMS] == ["bug", "feature", "provider"]


def test_lines_of_the_threat_model_name_tests_that_exist():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", page)
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| test |" not in line]
    assert len(rows) == 40
    assert [row for row in rows if "::test_" not in row] == []
    for module, name in named:
        assert re.search(
            rf"^(?:    )?(?:async )?def {name}\(", (ROOT / "tests" / module).read_text("utf-8"), re.MULTILINE
        ), name
    assert len({*named}) == len(named) == len(rows) + 3


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/releasing.md", ".github/pull_request_template.md"])
def test_commands_of_the_pages_are_those_of_make(page: str):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / page).read_text("utf-8"), re.MULTILINE))
    assert named
    assert named <= targets


def test_distributions_are_named_where_releases_are_described():
    from release.projects import projects

    page = (ROOT / "docs" / "releasing.md").read_text("utf-8")
    sentence = page.partition("The distributions are ")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == {each.name for each in projects()}
