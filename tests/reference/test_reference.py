"""The reference: every public name has a page, on which all that a caller needs is described, and links resolve."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.reference.__main__ import build
from tests.reference.pages import INDEX, Links, described, errors, rendered
from tests.reference.reading import Entry, Page, Reader
from tests.reference.rooms import ROOMS, TASKS, task_of
from tests.reference.words import WORDS

pytestmark = pytest.mark.exhaustive  # griffe reads the source of all packages, which takes some seconds


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.fixture(scope="module")
def pages(reader: Reader) -> list[Page]:
    return [*reader.pages()]


@pytest.fixture(scope="module")
def links(pages: list[Page]) -> Links:
    return Links(pages)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def entries(pages: list[Page]) -> list[tuple[Page, Entry]]:
    """Returns the names with signatures: functions, classes and methods."""
    return [(page, entry) for page in pages for entry in (page, *page.methods)]


@pytest.mark.parametrize("room", ROOMS)
def test_names_are_those_that_the_package_exports(reader: Reader, room: str):
    package = importlib.import_module(room)
    values = {name for name in package.__all__ if not isinstance(getattr(package, name), ModuleType)}
    assert {*reader.names(room)} == values - {"__version__"}


def test_every_name_has_a_page_with_its_signature_and_description(pages: list[Page], links: Links):
    for page in pages:
        shown = rendered(page, links)
        assert f"<h1><code>{page.full_name}</code></h1>" in shown
        assert page.name in page.signature
    assert [f"{page.full_name} {entry.name}" for page, entry in entries(pages) if not entry.text] == []


def test_every_parameter_and_field_is_described(pages: list[Page]):
    missing: list[str] = []
    for page, entry in entries(pages):
        others = [each.text for each in page.methods if each.name in entry.named]
        others += [each.text for each in page.methods if any(each.name in words(other) for other in others)]
        init = page.target.members.get("__init__")
        told = words(
            " ".join([entry.text, page.text, init.docstring.value if init and init.docstring else "", *others])
        )
        told |= {each.name for each in page.fields} | described(entry, page).keys() | WORDS.keys()
        missing += [f"{page.full_name} {entry.name}({name})" for name in entry.parameters if name not in told]
    for page in pages:
        told = words(page.text) | WORDS.keys()
        # Members of enumerations are constants, whose names are their descriptions.
        missing += [
            f"{page.full_name}.{each.name}"
            for each in (*page.fields, *page.keys)
            if not each.text and each.name not in told and not each.name.isupper()
        ]
    assert missing == []


def test_every_error_that_a_name_raises_is_in_its_description(pages: list[Page]):
    public = {page.name for page in pages if page.is_error}
    assert len(public) > 60
    missing: list[str] = []
    for page, entry in entries(pages):
        others = [each.text for each in page.methods if each.name in entry.named]
        told = words(" ".join([entry.text, page.text, *others]))
        missing += [f"{page.full_name} {entry.name}: {name}" for name in entry.raised & public if name not in told]
    assert missing == []


def test_errors_of_a_description_are_listed(pages: list[Page], links: Links):
    page = next(page for page in pages if page.name == "create_llm")
    assert {"UnknownProviderError", "ConfigurationError"} <= {*errors(page, links)}
    assert '<p>Errors: <a href="abstractcore.AuthenticationError.html">' in rendered(page, links)


def test_words_are_used(pages: list[Page]):
    names = {name for page, entry in entries(pages) for name in entry.parameters}
    names |= {each.name for page in pages for each in page.fields if not each.text}
    assert WORDS.keys() - names == set()


def test_names_are_grouped_by_task(pages: list[Page]):
    assert {task_of(page.module) for page in pages} == {*TASKS}
    with pytest.raises(LookupError, match=r"tests/reference/rooms\.py"):
        task_of("json")


def test_built_pages_link_to_each_other_and_the_index_to_all(tmp_path: Path, pages: list[Page]):
    (tmp_path / "abstractcore.gone.html").write_text("a name that there was", encoding="utf-8")
    assert build(tmp_path) == len(pages)
    texts = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert len(texts) == len(pages) + 1 == len({name.lower() for name in texts})
    targets = {
        name: {f"{name}#{anchor}" for anchor in re.findall(r' id="([^"]+)"', text)} for name, text in texts.items()
    }
    followed = 0
    for name, text in texts.items():
        for link in re.findall(r'href="([^"]+)"', text):
            file, _, anchor = link.partition("#")
            assert file == "" or file in texts, f"{name}: {link}"
            assert not anchor or f"{file or name}#{anchor}" in targets[file or name], f"{name}: {link}"
            followed += 1
    assert followed > 3000
    assert {*re.findall(r'<li><a href="([^"]+)"', texts[INDEX])} == texts.keys() - {INDEX}
