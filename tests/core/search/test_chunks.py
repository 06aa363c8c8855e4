"""Texts divided into chunks: by pages, headings, tables, turns of speech and sentences."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractcore.schema import MediaAnchor, text_tokens
from abstractcore.search.chunks import Chunk, chunks_of, halves

WORDS = st.lists(
    st.sampled_from(["apple", "pear", "41", "tonnes,", "Ärger", "終わり。", "end."]), min_size=1, max_size=60
)
PARAGRAPH = WORDS.map(" ".join)
HEADING = st.tuples(st.integers(1, 4), st.sampled_from(["Fruit", "Prices", "Notes"])).map(
    lambda h: f"{'#' * h[0]} {h[1]}"
)
ROW = st.lists(st.sampled_from(["a", "bb", "1.50", "apples and pears"]), min_size=2, max_size=4).map(
    lambda cells: f"| {' | '.join(cells)} |"
)
TABLE = st.lists(ROW, min_size=2, max_size=12).map(lambda rows: "\n".join([rows[0], "| --- | --- |", *rows[1:]]))
SPEECH = st.lists(PARAGRAPH, min_size=1, max_size=4).map(
    lambda turns: "\n".join(f"[00:{index:02}] {turn}" for index, turn in enumerate(turns))
)
CODE = PARAGRAPH.map(lambda text: f"```\n# no heading\n{text}\n```")
TEXT = st.lists(st.one_of(PARAGRAPH, HEADING, TABLE, SPEECH, CODE), min_size=1, max_size=8).map("\n\n".join)


def without_space(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None)
@given(TEXT, st.integers(16, 200))
def test_chunks_have_all_of_a_text_once_and_in_order(text, most):
    chunks = chunks_of(text, (), most)
    assert without_space("".join(text[chunk.start : chunk.end] for chunk in chunks)) == without_space(text)
    assert all(left.end <= right.start for left, right in pairwise(chunks))


@settings(deadline=None)
@given(TEXT, st.integers(16, 200))
def test_no_chunk_begins_or_ends_within_a_row_of_a_table(text, most):
    rows = [(found.start(), found.end()) for found in re.finditer(r"^\|.*$", text, re.MULTILINE)]
    for chunk in chunks_of(text, (), most):
        for start, end in rows:
            assert not start < chunk.start < end
            assert not start < chunk.end < end


@settings(deadline=None)
@given(TEXT, st.integers(16, 200))
def test_a_chunk_is_longer_than_allowed_only_if_it_cannot_be_divided(text, most):
    for chunk in chunks_of(text, (), most):
        own = text[chunk.start : chunk.end]
        blocks = [line for line in own.split("\n") if line.strip()]
        assert text_tokens(own) <= most + 1 or len(blocks) == 1 or blocks[0].startswith("#")


def test_pages_sheets_and_embedded_files_begin_chunks_and_page_numbers_are_in_none():
    text = "[page 1]\nTerms\n\n[page 2]\nPrices\n\n## Sales\n\n| a |\n| --- |"
    anchors = [
        MediaAnchor(9, 14, page=1),
        MediaAnchor(25, 31, page=2),
        MediaAnchor(33, 41, sheet="Sales"),
    ]
    assert [text[chunk.start : chunk.end] for chunk in chunks_of(text, anchors, 200)] == [
        "Terms",
        "Prices",
        "## Sales\n\n| a |\n| --- |",
    ]


def test_the_headings_above_a_chunk_and_the_head_of_its_table_are_its_context():
    rows = "\n".join(f"| item {number} | {number}.00 |" for number in range(40))
    text = (
        f"# Shop\n\n## Prices\n\nAll of them.\n\n| Item | EUR |\n| --- | --- |\n{rows}\n\n## Terms\n\n"
        + "Pay now. " * 20
    )
    chunks = chunks_of(text, (), 80)
    first, second, *_, last = chunks
    assert text[first.start : first.end].startswith("# Shop\n\n## Prices")
    assert first.context == ""
    assert second.context == "# Shop\n## Prices\n| Item | EUR |"
    assert second.words(text).startswith("# Shop\n## Prices\n| Item | EUR |\n| item ")
    assert last.context.startswith("# Shop")
    assert "Item" not in last.context
    assert text[last.start : last.end].startswith("Pay now.") or text[last.start : last.end].startswith("## Terms")


def test_a_line_that_begins_with_a_hash_in_a_code_block_is_no_heading():
    text = "# Setup\n\n```\n# a comment\n" + "run this now\n" * 30 + "```"
    assert all("a comment" not in chunk.context for chunk in chunks_of(text, (), 40))


@pytest.mark.parametrize("text", ["", " \n\t", "[page 1]\n", "\n\n\n"])
def test_a_text_without_words_has_no_chunks(text):
    assert chunks_of(text, (), 100) == []


def test_a_long_word_is_divided_anywhere():
    text = "x" * 10_000
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks_of(text, (), 50)) == text


def test_a_chunk_is_halved_between_rows_and_sentences_and_a_single_row_is_not():
    text = "| a | 1 |\n| b | 2 |\n| c | 3 |"
    two = halves(text, Chunk(0, len(text), "| x | y |"))
    assert two is not None
    assert [text[each.start : each.end] for each in two] == ["| a | 1 |", "| b | 2 |\n| c | 3 |"]
    assert {each.context for each in two} == {"| x | y |"}
    assert halves(text, Chunk(0, 9)) is None
    text = "One apple fell. Two pears fell. Three plums fell."
    two = halves(text, Chunk(0, len(text)))
    assert two is not None
    assert two[1].start in (16, 32)


@settings(deadline=None)
@given(PARAGRAPH)
def test_halves_have_all_of_a_chunk(text):
    chunk = chunks_of(text, (), 1000)[0]
    two = halves(text, chunk)
    if two is None:
        assert len(text.split()) == 1
        return
    assert without_space("".join(text[each.start : each.end] for each in two)) == without_space(text)


class _SlicedText(str):
    """A text that counts how many characters were taken of it."""

    taken = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.taken += len(found)
        return found


def test_one_long_line_is_read_a_few_times_only():
    text = _SlicedText("a word or two " * 100_000)
    chunks = chunks_of(text, (), 200)
    assert len(chunks) > 1000
    assert text.taken < 40 * len(text)


def test_long_headings_and_heads_of_tables_are_in_each_chunk_with_their_beginnings_only():
    long = "A long heading that goes on " * 500
    text = f"# {long}\n\n" + "Some text that follows it here.\n\n" * 2000
    chunks = chunks_of(text, (), 200)
    assert len(chunks) > 20
    assert all(len(chunk.context) < 200 and chunk.context.startswith("# A long heading") for chunk in chunks[-20:])
    columns = [f"column{number}" for number in range(2000)]
    row = "|" + "|".join(["1"] * len(columns)) + "|\n"
    table = "|" + "|".join(columns) + "|\n" + "|---" * len(columns) + "|\n" + row * 5
    rows = chunks_of(table, (), 200)[-4:]
    assert all(row.context.startswith("|column0|") and row.context.endswith("|") for row in rows)
    assert all(len(row.context) < 1000 for row in rows)
