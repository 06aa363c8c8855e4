"""Names of properties replaced in JSON texts: whole, and in pieces of any size."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema.sent_names import PropertyNameReplacer, with_property_names
from tests.properties import examples

NAMES = {"$top": "_top_1", "filter[x]": "filter_x__2", 'quo"te\\': "quote_3", "größe😀": "gr__e__4", "": "_5"}
BACK = {sent: own for own, sent in NAMES.items()}
KEYS = st.sampled_from([*NAMES, "other", "ok", 'a"b', "\\", "😀" * 9, "k" * 200])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.builds(
    lambda value, ascii, indent: json.dumps(value, ensure_ascii=ascii, indent=indent),
    VALUES,
    st.booleans(),
    st.sampled_from([None, 0, 2]),
)


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The value with other names of properties, by way of the parsed JSON."""
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(name, name): renamed(item, names) for name, item in value.items()}
    return value


def in_pieces(text: str, names: dict[str, str], size: int) -> str:
    replacer = PropertyNameReplacer(names)
    fed = [replacer.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return "".join(fed) + replacer.finish()


@examples(150)
@given(TEXTS, st.integers(1, 9))
def test_properties_get_their_other_names_at_every_depth_in_pieces_of_any_size(text: str, size: int) -> None:
    found = in_pieces(text, NAMES, size)
    assert json.loads(found) == renamed(json.loads(text), NAMES)
    assert found == with_property_names(text, NAMES)


@examples(150)
@given(TEXTS, st.integers(1, 9))
def test_own_names_come_back_and_everything_else_stays_as_it_was_written(text: str, size: int) -> None:
    once = json.dumps(json.loads(text), ensure_ascii=False)
    assert in_pieces(in_pieces(once, NAMES, size), BACK, size) == once


@examples(150)
@given(st.text(st.sampled_from('{}[]":,\\ax_$'), max_size=40), st.integers(1, 5))
def test_text_that_is_not_json_passes_whole(text: str, size: int) -> None:
    replacer = PropertyNameReplacer({"never": "found"})
    fed = [replacer.feed(text[start : start + size]) for start in range(0, len(text), size)]
    assert "".join(fed) + replacer.finish() == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "$top", "$top": "$top"}', '{"a": "$top", "_top_1": "$top"}'),
        ('{"\\u0024top": 1.10 , "b":[{"$top":{}}]}', '{"_top_1": 1.10 , "b":[{"_top_1":{}}]}'),
        ('["$top", {"x": ["$top"]}]', '["$top", {"x": ["$top"]}]'),
        ("See \"$top\": it is {'$top': 1}.", "See \"$top\": it is {'$top': 1}."),
        ('{"$to', '{"$to'),
        ("", ""),
    ],
)
def test_only_names_are_replaced(text: str, expected: str) -> None:
    assert with_property_names(text, NAMES) == expected


def test_no_more_is_held_back_than_a_name_could_be_long() -> None:
    replacer = PropertyNameReplacer({"ab": "c"})
    held = [len(text) - len(replacer.feed(text)) for text in ('{"', *"x" * 100)]
    assert max(held) <= len('"') + 1
    assert sum(held) == 0


def test_text_goes_on_after_its_end() -> None:
    """A block of a stream may be continued."""
    replacer = PropertyNameReplacer(NAMES)
    assert replacer.feed('{"a": {"$to') + replacer.finish() + replacer.feed('p": 1}, "$top": 2}') == (
        '{"a": {"$top": 1}, "_top_1": 2}'
    )
