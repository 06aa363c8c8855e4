"""The script that builds the catalogue from its sources."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
import build
from rows import CatalogueError, hand_rows, merged, with_types


def rows_of(tmp_path: Path, *lines: object) -> Path:
    (tmp_path / "maker.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return tmp_path


def test_a_line_becomes_a_row_at_each_provider(tmp_path: Path):
    line = {"model": "m", "tools": "always", "at": {"a": {}, "b": {"model": "maker/m", "tools": "never"}}}
    found = hand_rows(rows_of(tmp_path, line))
    assert found["a"].models == {"m": {"tools": "always"}}
    assert found["b"].models == {"maker/m": {"tools": "never"}}


def test_thinking_and_settings_are_merged_field_by_field():
    row = {"thinking": {"levels": ["low"], "can_be_off": True}, "refused": ["a"]}
    assert merged(row, {"thinking": {"can_be_off": False}, "refused": ["b"]}) == {
        "thinking": {"levels": ["low"], "can_be_off": False},
        "refused": ["b"],
    }


def test_a_kind_becomes_the_media_types_of_the_provider():
    row = with_types({"accepts": ["image", "application/pdf"]}, {"image": ["image/png", "image/gif"]})
    assert row["accepts"] == ["application/pdf", "image/gif", "image/png"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ({"model": "m", "at": {"a": {}}}, {"model": "m", "at": {"a": {}}}),
            "maker.jsonl:2: a has the model 'm' already",
        ),
        (({"at": {"a": {}}},), "maker.jsonl:1: expected one of model, family, template"),
        (({"model": "m"},), "maker.jsonl:1: expected"),
        (({"model": "m", "at": {"a": 1}},), "maker.jsonl:1: at.a: expected an object"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, lines: tuple[object, ...], message: str):
    with pytest.raises(CatalogueError, match=message):
        hand_rows(rows_of(tmp_path, *lines))


def test_a_line_that_is_not_json_is_reported_with_its_column(tmp_path: Path):
    (tmp_path / "maker.jsonl").write_text('{"model": }', encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"maker.jsonl:1:11: "):
        hand_rows(tmp_path)


def test_a_member_of_a_family_is_one_short_line():
    lines = (build.HERE / "rows" / "openai.jsonl").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if '"model": "gpt-6.1-terra"' in line)
    assert len(line) < 200


def test_the_built_files_are_up_to_date():
    assert build.out_of_date() == []


def test_the_tables_are_small():
    assert sum(path.stat().st_size for path in build.OUTPUT.glob("*.jsonl")) < 400_000


def test_the_page_has_a_line_for_each_provider_with_models():
    page = build.PAGE.read_text(encoding="utf-8")
    for path in build.OUTPUT.glob("*.jsonl"):
        has_models = '{"model"' in path.read_text(encoding="utf-8")
        assert (f"\n| `{path.stem}` | " in page) == has_models
