"""Files of providers with errors: each is reported with the file, the line, the column and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError
from abstractcore.catalogue import CatalogueProvider, FileCatalogue, document
from abstractcore.catalogue.documents import MAX_BYTES
from abstractcore.ports import CatalogueFile
from tests.catalogue_files import PROVIDER, catalogue_of, write_file

SHARED = {"sources": {"page": "https://acme.example"}, "templates": {"known": {}}}


def fault(folder: Path, *rows: Mapping[str, Any] | str, **header: Any) -> str:
    """Returns the message of the error of a file."""
    with pytest.raises(ConfigurationError) as caught:
        catalogue_of(folder, *rows, **{**SHARED, **header}).models(PROVIDER).check()
    return str(caught.value).removeprefix(f"{folder}/acme.jsonl")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('{"model": "one" 1}', ":2:17: not JSON: "),
        ('{"model": "one"', ":2:16: not JSON: "),
        ('{"model": "one", "context_tokens": NaN}', ":2:1: not JSON: NaN is not a JSON number"),
        ("[" * 100_000, ":2:1: not JSON: "),
        ("[]", ":2:1: row: expected an object, got list"),
        ("{}", ":2:1: row: expected one of 'model' and 'family'"),
        ('{"model": "one", "family": "one"}', ":2:1: row: expected one of 'model' and 'family'"),
        ('{"model": "one", "refused": ["top_k"], "refused": ["seed"]}', ":2:1: duplicate key 'refused'"),
        ('{"model": "one", "settings": {"a": 1, "a": 2}}', ":2:1: duplicate key 'a'"),
        ('{"model": 5}', ":2:2: row: model: expected a name, got 5"),
        ('{"model": " one"}', ":2:2: row: model: expected a name, got ' one'"),
        ('{"model": "one", "like": 5}', ":2:18: row: like: expected a name, or a list of names, got 5"),
        ('{"model": "one", "prices": {}}', ":2:18: row: prices: expected a list, got dict"),
        ('{"model": "one", "alias_of": ""}', ":2:18: row: alias_of: expected a name, got ''"),
        ('{"model": "one", "like": ["none"]}', ":2:18: model 'one': like: no template is called 'none'"),
        ('{"model": "one", "source": ["page"]}', ":2:18: model 'one': source: no source is called ['page']"),
        (
            '{"model": "one", "ranges": {"temperature": [0, 1e999]}}',
            ":2:48: model 'one': ranges.temperature[1]: inf is not a JSON number",
        ),
        (
            f'{{"model": "one", "context_tokens": {10**400}}}',
            ":2:18: model 'one': context_tokens: expected an integer of at most 1,000,000,000,000,000, got an ",
        ),
        ('{"model": "one", "source": "none"}', ":2:18: model 'one': source: no source is called 'none'"),
        (
            '{"model": "one", "contxt_tokens": 5}',
            ":2:18: model 'one': contxt_tokens: no such field. Did you mean context_tokens?",
        ),
        (
            '{"model": "one", "context_tokens": "5"}',
            ":2:18: model 'one': context_tokens: expected an integer of at least 0, got '5'",
        ),
        (
            '{"model": "one", "context_tokens": -5}',
            ":2:18: model 'one': context_tokens: expected an integer of at least 0, got -5",
        ),
        ('{"model": "one", "accepts": "image"}', ":2:18: model 'one': accepts: expected a list, got str"),
        (
            '{"model": "one", "accepts": ["picture"]}',
            ":2:18: model 'one': accepts: 'picture' is neither a kind (text, image, audio, video, document) nor a "
            "media type, such as 'image/png'",
        ),
        (
            '{"model": "one", "refused": ["heat"]}',
            ":2:18: model 'one': refused: 'heat' is not an option: expected one of ",
        ),
        (
            '{"model": "one", "refused_with_level": {"low": ["heat"]}}',
            ":2:18: model 'one': refused_with_level: 'heat' is ",
        ),
        (
            '{"model": "one", "refused_with_level": {"huge": []}}',
            ":2:18: model 'one': refused_with_level: 'huge' is not ",
        ),
        (
            '{"model": "one", "ranges": {"heat": [0, 1]}}',
            ":2:18: model 'one': ranges: 'heat' is not an option with a number: ",
        ),
        (
            '{"model": "one", "ranges": {"top_p": [2, 1]}}',
            ":2:29: model 'one': ranges.top_p: expected the lowest and the highest value, got [2, 1]",
        ),
        (
            '{"model": "one", "ranges": {"top_p": [0, "1"]}}',
            ":2:42: model 'one': ranges.top_p[1]: expected a number, got '1'",
        ),
        (
            '{"model": "one", "refused_together": [["top_p"]]}',
            ":2:39: model 'one': refused_together[0]: expected two names, got ['top_p']",
        ),
        (
            '{"model": "one", "thinking": {"levels": ["low", "huge"]}}',
            ":2:49: model 'one': thinking.levels[1]: 'huge' is not one of off, minimal, low, medium, high, xhigh, max",
        ),
        (
            '{"model": "one", "thinking": {"level": []}}',
            ":2:31: model 'one': thinking.level: no such field. Did you mean levels?",
        ),
        (
            '{"model": "one", "thinking": {"levels": ["high", "low", "off"]}}',
            ":2:18: model 'one': thinking: expected levels in rising order, without 'off', such as ['low', 'high'",
        ),
        (
            '{"model": "one", "max_output_tokens": 0}',
            ":2:18: model 'one': max_output_tokens: expected an integer of at le",
        ),
        (
            '{"model": "one", "cache_times": ["long"]}',
            ":2:18: model 'one': cache_times: 'long' is not a time: expected ",
        ),
        (
            '{"model": "one", "ranges": {"stop": [0, 1]}}',
            ":2:18: model 'one': ranges: 'stop' is not an option with a num",
        ),
        ('{"model": "one", "thinking": []}', ":2:18: model 'one': thinking: expected an object, got list"),
        (
            '{"model": "one", "sampling": {"top_p": 3}}',
            ":2:31: model 'one': sampling.top_p: must be between 0 and 1, got 3",
        ),
        ('{"model": "one", "tools": true}', ":2:18: model 'one': tools: True is not one of always, "),
        ('{"model": "one", "parallel_tools": 1}', ":2:18: model 'one': parallel_tools: expected true or false, got 1"),
        (
            '{"model": "one", "retires": "soon"}',
            ":2:18: model 'one': retires: expected a date such as 2026-11-22, got 'soon'",
        ),
        ('{"model": "one", "price": {}}', ":2:18: model 'one': price: no such field. Did you mean prices?"),
    ],
)
def test_error_in_a_row(tmp_path: Path, row: str, expected: str):
    assert fault(tmp_path, row).startswith(expected)


def test_error_in_a_fact_of_a_template_is_at_the_template(tmp_path: Path):
    message = fault(tmp_path, {"model": "one", "like": ["bad"]}, templates={"bad": {"tools": 5}})
    column = (tmp_path / "acme.jsonl").read_text().index('"tools"') + 1
    assert message.startswith(f":1:{column}: header: templates.bad.tools: 5 is not one of always, ")


@pytest.mark.parametrize("part", ["every", "unknown"])
def test_error_in_a_fact_of_all_models_is_in_the_header(tmp_path: Path, part: str):
    message = fault(tmp_path, {"model": "one"}, **{part: {"tols": "never"}})
    column = (tmp_path / "acme.jsonl").read_text().index('"tols"') + 1
    assert message == f":1:{column}: header: {part}.tols: no such field. Did you mean tools?"


def test_key_of_merged_facts_is_at_the_part_that_has_it(tmp_path: Path):
    row = {"model": "one", "like": ["bad"], "thinking": {"can_be_off": True}}
    message = fault(tmp_path, row, templates={"bad": {"thinking": {"levels": 5}}})
    assert message.endswith("header: templates.bad.thinking.levels: expected a list, got int")


def test_templates_that_are_like_each_other(tmp_path: Path):
    message = fault(tmp_path, {"model": "one", "like": ["a"]}, templates={"a": {"like": ["b"]}, "b": {"like": ["a"]}})
    assert ": header: templates.b.like: the templates a, b, a are like each other" in message


@pytest.mark.parametrize(("depth", "times"), [(3000, 1), (19, 2)])
def test_templates_that_are_like_too_many(tmp_path: Path, depth: int, times: int):
    templates = {f"t{number}": {"like": [f"t{number + 1}"] * times} for number in range(depth)}
    message = fault(tmp_path, {"model": "one", "like": "t0"}, templates={**templates, f"t{depth}": {}})
    assert "leads to too many templates" in message


def test_template_that_is_like_an_unknown_one(tmp_path: Path):
    message = fault(tmp_path, {"model": "one", "like": ["a"]}, templates={"a": {"like": ["b"]}})
    assert ": header: templates.a.like: no template is called 'b'" in message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"templates": {"known": {}}}, ":3:16: header: templates.known: is on an earlier line too"),
        ({"every": {}}, ":3:2: header: every: is on an earlier line too"),
        ({"as_of": None}, ":3:2: header: as_of: is on an earlier line too"),
        ({"sources": 5}, ":3:2: header: sources: is on an earlier line too"),
        ({"prices": {"sets": {"half": []}}}, ":3:22: header: prices.sets.half: is on an earlier line too"),
        ({"prices": {"tool_fees": {}}}, ":3:13: header: prices.tool_fees: is on an earlier line too"),
        ({"templates": {"new": {"tols": 5}}}, ":3:24: header: templates.new.tols: no such field. Did you mean tools?"),
        ({"prices": {"sets": {"new": 5}}}, ":3:22: header: prices.sets.new: expected a list, got int"),
        ({"names": {"tags": 1}}, ":3:12: header: names.tags: expected true or false, got 1"),
        ({"templats": {}}, ":3:1: row: expected one of 'model' and 'family'"),
    ],
)
def test_error_in_a_line_of_the_header(tmp_path: Path, line: Mapping[str, Any], expected: str):
    prices = {"prices": {"sets": {"half": []}, "tool_fees": {}}, "every": {}, "as_of": None}
    row = {"model": "one", "like": ["new"]} if "new" in str(line) and "templates" in line else {"model": "one"}
    assert fault(tmp_path, prices, line, row).startswith(expected)


def test_line_of_the_header_after_a_row(tmp_path: Path):
    message = fault(tmp_path, {"model": "one"}, {"templates": {"new": {}}})
    assert message.startswith(":3:1: row: expected one of 'model' and 'family'")


@pytest.mark.parametrize("size", [1, 2, 5000])
def test_cycle_of_aliases(tmp_path: Path, size: int):
    rows = [{"model": f"m{number}", "alias_of": f"m{(number + 1) % size}"} for number in range(size)]
    message = fault(tmp_path, *rows)
    assert message.startswith(":2:17: alias 'm0': alias_of: the aliases m0 -> ")
    assert message.endswith(" -> m0 have no end")


def test_long_chain_of_aliases_leads_to_its_model(tmp_path: Path):
    rows = [{"model": f"m{number}", "alias_of": f"m{number + 1}"} for number in range(2000)]
    assert catalogue_of(tmp_path, *rows, {"model": "m2000", "context_tokens": 1}).profile(PROVIDER, "m0").context_tokens


def test_alias_of_no_model(tmp_path: Path):
    message = fault(tmp_path, {"model": "one-mini"}, {"model": "latest", "alias_of": "one-minni"})
    assert message == ":3:21: alias 'latest': alias_of: no model is called 'one-minni'. Did you mean one-mini?"


def test_alias_with_facts(tmp_path: Path):
    message = fault(tmp_path, {"model": "one"}, {"model": "two", "alias_of": "one", "context_tokens": 5})
    assert message.startswith(":3:37: row: context_tokens: an alias has no facts of its own")


@pytest.mark.parametrize(
    ("other", "kind"), [({"model": "one"}, "model"), ({"model": "one", "alias_of": "two"}, "alias")]
)
def test_two_rows_for_one_model(tmp_path: Path, other: Mapping[str, Any], kind: str):
    message = fault(tmp_path, {"model": "one"}, {"model": "two"}, other)
    assert message == f":4:1: two rows for the {kind} 'one'; the first is on line 2"


def test_two_rows_for_one_family(tmp_path: Path):
    assert "two rows for the family 'one'" in fault(tmp_path, {"family": "one"}, {"family": "one"})


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ":1:1: not JSON: Expecting value"),
        (b"\n", ":1:1: not JSON: Expecting value"),
        (b"[]", ":1:1: the first line is not the header of a catalogue."),
        (b'{"model": "one"}', ":1:1: the first line is not the header of a catalogue."),
        (b'{"provider": "other"}', ":1:2: header: provider: expected 'acme', got 'other'"),
        (b'{"provider": "acme", "as_of": 5}', ":1:22: header: as_of: expected a date such as 2026-11-22, got 5"),
        (b'{"provider": "acme", "nams": {}}', ":1:22: header: nams: no such field. Did you mean names?"),
        (
            b'{"provider": "acme", "names": {"after": [""]}}',
            ":1:32: header: names.after: expected text, got ''",
        ),
        (
            b'{"provider": "acme", "names": {"tags": 1}}',
            ":1:32: header: names.tags: expected true or false, got 1",
        ),
        (b'{"provider": "acme"}\n{"model": "a"}\n{"model": "\xff"}', ":3:12: not UTF-8. Save the file as UTF-8."),
        (b"\xff\xfe{\x00", ":1:1: not UTF-8. Save the file as UTF-8."),
        (b" " * (MAX_BYTES + 1), " is larger than 16 MiB: it is not a catalogue."),
    ],
)
def test_error_in_the_file(data: bytes, expected: str):
    with pytest.raises(ConfigurationError) as caught:
        CatalogueProvider(document(data, "acme.jsonl"), PROVIDER)
    assert str(caught.value).removeprefix("acme.jsonl").startswith(expected)


def test_line_ends_of_windows_empty_lines_and_a_byte_order_mark_are_allowed():
    data = b'\xef\xbb\xbf{"provider": "acme"}\r\n\r\n{"model": "one"}\r\n\r\n'
    assert list(CatalogueProvider(document(data, "acme.jsonl"), PROVIDER).models) == ["one"]


def test_separators_of_lines_in_texts_end_no_line():
    text = '{"provider": "acme", "unknown": {"settings": {"a": "x\u2028y"}}}\n{"model": "one", "contxt": 1}'
    with pytest.raises(ConfigurationError, match=r"acme.jsonl:2:18: "):
        CatalogueProvider(document(text.encode(), "acme.jsonl"), PROVIDER).check()


@pytest.mark.parametrize("path", ["a\0b", "/\ud800"])
def test_file_with_a_name_that_no_file_has(path: str):
    with pytest.raises(ConfigurationError, match=r"is not a path: .+\."):
        FileCatalogue(dict, {"ABSTRACTCORE_MODELS": path}).profile(PROVIDER, "one")


def test_folders_that_cannot_be_searched_hold_no_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As those of another user, whose home a service may have been given: to look there is an `OSError`."""
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / ("x" * 300)))
    file = CatalogueFile(PROVIDER, write_file(tmp_path / "acme.jsonl", {"model": "one", "context_tokens": 1}))
    assert FileCatalogue(lambda: {PROVIDER: file}, {}).profile(PROVIDER, "one").context_tokens == 1


@pytest.mark.parametrize("make", ["missing", "folder", "unreadable"])
def test_file_that_cannot_be_read(tmp_path: Path, make: str):
    path = tmp_path / "acme.jsonl"
    if make == "folder":
        path.mkdir()
    elif make == "unreadable":
        path.symlink_to(path)
    catalogue = FileCatalogue(lambda: {PROVIDER: CatalogueFile(PROVIDER, path)}, {}, updates=tmp_path / "none")
    with pytest.raises(ConfigurationError, match=r"acme\.jsonl (does not exist|cannot be read: .+)\."):
        catalogue.profile(PROVIDER, "one")
