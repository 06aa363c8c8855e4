"""What is said of a text, and that it makes no difference in which pieces the text arrives."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstractvoice.text import SpeakableText, Utterance, speakable
from abstractvoice.text.utterances import Passage
from tests.properties import examples

SAID = tomllib.loads(Path(__file__).with_name("said.toml").read_text(encoding="utf-8"))["said"]


@pytest.mark.parametrize("case", SAID, ids=lambda case: case["text"][:30])
def test_text_is_said_like_this(case: dict[str, Any]) -> None:
    assert [utterance.text for utterance in speakable(case["text"])] == case["as"]


def test_other_languages_keep_their_numbers() -> None:
    assert [each.text for each in speakable("Le **train** part \u00e0 9:05.", "fr")] == ["Le train part \u00e0 9:05."]
    assert [each.text for each in speakable("It costs `5` \u20ac.", words=False)] == ["It costs 5 \u20ac."]


def test_sentence_is_complete_when_the_next_one_begins() -> None:
    text = SpeakableText()
    assert list(text.feed("It costs 3")) == []
    assert list(text.feed(".5 euros. ")) == []
    assert [each.text for each in text.feed("And")] == ["It costs three point five euros."]
    assert [each.text for each in text.feed(" then\n\n")] == ["And then."]
    assert list(text.finish()) == []


def test_long_text_without_stops_is_cut_at_commas_and_spaces() -> None:
    said = speakable("word " * 1_000 + "and, after a comma " * 100)
    assert max(len(each.text) for each in said) <= 330
    assert " ".join(each.text for each in said).split().count("word") == 1_000
    assert all(each.text.endswith(("comma,", "and,", "word", "comma.", "comma", "after", "a")) for each in said)


@pytest.mark.exhaustive
def test_a_megabyte_is_read_once() -> None:
    whole = "A sentence of `code` and [links](x) with 3 numbers. " * 20_000
    text = SpeakableText()
    assert len(whole) > 1_000_000
    assert len([*text.feed(whole), *text.finish()]) == 20_000


def test_first_sentence_is_complete_before_the_rest_is_read() -> None:
    class Counted(SpeakableText):
        count = 0

        def _utterance(self, passage: Passage) -> Utterance | None:
            self.count += 1
            return super()._utterance(passage)

    text = Counted()
    first = next(text.feed("It leaves at nine. " * 50_000))
    assert (first.text, text.count) == ("It leaves at nine.", 1)


def test_utterances_know_their_places() -> None:
    source = "Hello **world**. It costs $5, [here](http://x.yz).\n\n- a `b_c` d"
    said = speakable(source)
    assert [source[each.start : each.end] for each in said] == [
        "Hello **world**.",
        "It costs $5, [here](http://x.yz).",
        "a `b_c` d",
    ]
    costs = said[1]
    assert costs.text == "It costs five dollars, here."
    assert source[: costs.heard(len("It costs"))].endswith("It costs")
    assert source[: costs.heard(len("It costs fi"))].endswith("costs $5")
    assert source[: costs.heard(len("It costs five dollars, here"))].endswith("[here")
    assert (costs.heard(0), costs.heard(10_000)) == (costs.start, costs.end)


def test_heading_stands_for_its_words_without_the_space_before_them() -> None:
    source = "#  Trains\n\nThey run."
    assert [source[each.start : each.end] for each in speakable(source)] == ["Trains", "They run."]


PIECES = st.lists(
    st.sampled_from(
        [
            "Hello",
            " ",
            "world",
            ". ",
            ".",
            "! ",
            "?",
            "\n",
            "\n\n",
            "```",
            "`",
            "``",
            "**",
            "*",
            "_",
            "# ",
            "- ",
            "1. ",
            "12",
            ".5",
            ",",
            ", ",
            "|",
            "| a | b |\n",
            "|---|---|\n",
            "---",
            "=",
            "[",
            "]",
            "(",
            ")",
            "](",
            "http://x.yz/a.b",
            "$",
            "$$",
            "\\(",
            "\\]",
            "\\[",
            "<",
            ">",
            "<br>",
            "<!-- ",
            "-->",
            "\u2026",
            "\u3002",
            "\U0001f389",
            "\u200d",
            "Dr. ",
            "e.g. ",
            "A. ",
            "> ",
            "~~~",
            "[^1]",
            "[x] ",
            "5 km",
            "a",
            "\t",
            "'",
            '"',
            "\u201d",
            "2024-03-05",
            "\r\n",
            "word " * 70,
            "x" * 340,
        ]
    ),
    max_size=30,
).map("".join)


def fed(text: str, cuts: list[int]) -> list[Utterance]:
    """What is said of a text that arrives in pieces."""
    whole = SpeakableText()
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    said = [each for start, end in pairwise(places) for each in whole.feed(text[start:end])]
    return [*said, *whole.finish()]


@examples(200)
@given(PIECES, st.lists(st.integers(0, 10_000), max_size=12))
@example("a `b` | c |", [3])
def test_pieces_make_no_difference(text: str, cuts: list[int]) -> None:
    assert fed(text, cuts) == speakable(text)


@examples(200)
@given(PIECES)
def test_single_characters_make_no_difference(text: str) -> None:
    assert fed(text, list(range(len(text)))) == speakable(text)


@examples(200)
@given(PIECES)
def test_places_never_go_back(text: str) -> None:
    end = 0
    for utterance in speakable(text):
        assert end <= utterance.start <= utterance.end <= len(text)
        end = utterance.end
        heard = [utterance.heard(count) for count in range(len(utterance.text) + 1)]
        assert heard == sorted(heard)
        assert utterance.start <= heard[0]
        assert heard[-1] == end
