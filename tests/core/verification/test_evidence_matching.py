"""Quotes searched in texts, and values searched in quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import MediaAnchor
from abstractcore.schema.quote_search import MOST_OCCURRENCES, NormalText, SearchedText, WorkBudget
from abstractcore.schema.source_texts import SourcePlace, TextSource
from abstractcore.verification.quoted_answers import format_path, parse_path, scalar_values
from abstractcore.verification.stated_values import states_value

TEXT = (
    "Invoice   No.: A\u201117 \u2013 the \u201crain-\nfall\u201d cafe\u0301 \ufb01ne. "
    "Total: 1.234,50\u00a0\u20ac (11.50)\nCredit -50"
)
PLENTY = 10**12


def find(text: str, quote: str, work: int = PLENTY):
    return SearchedText(text).find(quote, WorkBudget(work))


@pytest.mark.parametrize(
    ("quote", "match", "stands"),
    [
        ("Total: 1.234,50\u00a0\u20ac", "exact", "Total: 1.234,50\u00a0\u20ac"),
        (" 11.50\n", "exact", "11.50"),
        ("Total: 1.234,50 \u20ac", "normalised", "Total: 1.234,50\u00a0\u20ac"),
        ("INVOICE No.: A-17", "normalised", "Invoice   No.: A\u201117"),
        ('the "rainfall"', "normalised", "the \u201crain-\nfall"),
        ("caf\u00e9 fine", "normalised", "cafe\u0301 \ufb01ne"),
        ("A-17 - the", "normalised", "A\u201117 \u2013 the"),
    ],
)
def test_quote_is_found_with_its_span_in_the_original(quote, match, stands):
    found = find(TEXT, quote)
    assert (found.match, TEXT[found.start : found.end], found.occurrences) == (match, stands, 1)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a price of 11.50", "1.50"),
        ("a price of 11.50", "50"),
        ("a price of 11.50", "11"),
        ("a price of 1,234.50", "1,234"),
        ("a price of 1\u00a0234", "234"),
        ("Subtotal: 5", "total: 5"),
        ("credit -50", "50"),
        ("two invoices", "two invoice"),
        ("12 euros", "12 dollars"),
        ("a ticket costs 12 euros", "a ticket ... 12 euros"),
    ],
)
def test_parts_of_words_and_numbers_and_paraphrases_are_not_found(text, quote):
    assert find(text, quote) is None


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        (
            "\u5408\u8a08\u91d1\n\u984d\u306f 100 \u5186",
            "\u5408\u8a08\u91d1\u984d\u306f 100",
            "\u5408\u8a08\u91d1\n\u984d\u306f 100",
        ),
        (
            "\u603b\u4ef7 \r\n \u4e94\u5341\u5143",
            "\u603b\u4ef7\u4e94\u5341\u5143",
            "\u603b\u4ef7 \r\n \u4e94\u5341\u5143",
        ),
        ("\u603b\u4ef7\u4e94\u5341\u5143", "\u603b\u4ef7 \u4e94\u5341\u5143", "\u603b\u4ef7\u4e94\u5341\u5143"),
        ("| Lamp | 5 |\n| Post |  | 6 |", "Lamp 5 Post 6", "Lamp | 5 |\n| Post |  | 6"),
        ("the \u2066price\u2069 is \u202b5\u202c", "the price is 5", "the \u2066price\u2069 is \u202b5"),
        (
            "\u05d4\u05de\u05d7\u05d9\u05e8 \u200f\u05d4\u05d5\u05d0\u200e 100",
            "\u05d4\u05d5\u05d0 100",
            "\u05d4\u05d5\u05d0\u200e 100",
        ),
        ("50 m\u00b2 of H\u2082O", "50 m2 of H2O", "50 m\u00b2 of H\u2082O"),
        ("inter\u00ad\nnational price", "international price", "inter\u00ad\nnational price"),
        ("coef\ufb01cient 1\u00a0234\u202f567", "coefficient 1 234 567", "coef\ufb01cient 1\u00a0234\u202f567"),
    ],
)
def test_line_breaks_of_scripts_without_spaces_and_invisible_characters_do_not_matter(text, quote, stands):
    found = find(text, quote)
    assert (found.match, text[found.start : found.end], found.occurrences) == ("normalised", stands, 1)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Revenue 12\u00b3 thousand", "Revenue 123"),
        ("10\u2074 kg", "104 kg"),
        ("\u7dcf\u984d 5\u2082", "52"),
        ("a \u5143", "a\u5143"),
    ],
)
def test_raised_digits_are_no_digits_of_a_number_and_other_spaces_stay(text, quote):
    assert find(text, quote) is None


def test_text_without_spaces_between_words_is_found_anywhere():
    found = find("\u5408\u8a08\u91d1\u984d\u306f100\u5186\u3067\u3059", "\u91d1\u984d\u306f100\u5186")
    assert (found.start, found.end) == (2, 9)


def test_places_are_counted_up_to_a_limit():
    assert find("ten, ten and ten; often", "ten").occurrences == 3
    assert find("ten " * 500, "ten").occurrences == MOST_OCCURRENCES


def test_first_whole_place_is_returned():
    found = find("Subtotal Total Total", "total")
    assert (found.start, found.match, found.occurrences) == (9, "normalised", 2)


@given(
    st.text(
        st.sampled_from("aB1 -.\n\u00ad\u0301\u2013\ufb01\u00e9\u00a0\u200b\u201c\u00b2\u2066\u5143\u3001"), max_size=60
    )
)
def test_every_character_of_the_normal_form_has_its_place(text):
    form = NormalText(text)
    assert len(form.text) == len(form.starts) == len(form.ends)
    assert list(form.starts) == sorted(form.starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(form.starts, form.ends, strict=True))


@given(st.text(max_size=200))
def test_a_text_is_found_in_itself(text):
    found = find(text, text)
    if text.strip():
        assert text[found.start : found.end] == text.strip()


@pytest.mark.exhaustive
def test_work_is_bounded_and_linear():
    for text in ("word 1.5 " * 50_000, "-" * 200_000, "a-\n" * 50_000, "e\u0301" * 50_000, " \n" * 100_000):
        budget = WorkBudget(PLENTY)
        searched = SearchedText(text)
        for quote in ("x" * 1000, "word 1.", "-", "a" * 100_000, text[: len(text) // 2] + "?"):
            searched.find(quote, budget)
        assert PLENTY - budget.left < 5 * (2 * len(text) + 2 * 10_000 * 1000 + 1000) + 5 * len(text)


def test_places_of_a_long_quote_that_repeats_itself_use_up_the_budget():
    budget = WorkBudget(10**8)
    assert SearchedText("a" * 1_000_000).find("a" * 500_000, budget) is None
    assert budget.is_spent


def test_nothing_is_searched_without_budget():
    budget = WorkBudget(0)
    assert SearchedText("total 5").find("total 5", budget) is None
    assert budget.is_spent


def test_places_are_in_pages():
    text = "[page 1]\nTotal: 5\nsee the\n\n[page 2]\nnext page"
    anchors = (MediaAnchor(9, 25, page=3), MediaAnchor(36, 45, page=4))
    source = TextSource("file", "x.pdf", text, anchors)

    def place(quote):
        found = source.searched.find(quote, WorkBudget(PLENTY))
        return source.place(found.start, found.end)

    assert place("Total: 5") == SourcePlace(3, 0, 8, "Total: 5", anchors[:1])
    assert (place("next").page, place("next").start, place("next").end) == (4, 0, 4)
    over = place("see the next")
    assert (over.page, over.start, over.end, over.text) == (3, 9, 16, "see the\nnext")
    assert source.searched.find("[page 1]", WorkBudget(PLENTY)) is None


@pytest.mark.parametrize(
    ("quote", "value", "stated"),
    [
        ("Total: 1.234,50 \u20ac", 1234.5, True),
        ("1,234.50", 1234.5, True),
        ("1\u202f234,50 EUR", 1234.5, True),
        ("1'234.50 CHF", 1234.5, True),
        ("12,34,567.00", 1234567, True),
        ("Total 1,234", 1234, True),
        ("Total 1,234", 1.234, True),
        ("Total 240.50", 1240.5, False),
        ("1.2.3", 12.3, False),
        ("-50.00", -50, True),
        ("(50.00)", -50, True),
        ("50.00-", -50, True),
        ("50.00", -50, False),
        ("19 %", 0.19, True),
        ("19 %", 19, True),
        ("1.2 million", 1_200_000, True),
        ("\u20ac3k", 3000, True),
        ("two copies", 2, None),
        ("14.03.2026", 2026, True),
        ("14.03.2026", "2026-03-14", True),
        ("2026/3/14", "2026-03-14", True),
        ("March 14th, 2026", "2026-03-14", True),
        ("14. M\u00e4rz 2026", "2026-03-14", True),
        ("le 14 mars 2026", "2026-03-14", True),
        ("14 de marzo de 2026", "2026-03-14", True),
        ("2026\u5e743\u670814\u65e5", "2026-03-14", True),
        ("3/4/26", "2026-04-03", True),
        ("3/4/26", "2026-03-04", True),
        ("15.03.2026", "2026-03-14", False),
        ("Saturday, 14 March", "2026-03-14", None),
        ("Saturday, 14 March", "2026-03-15", False),
        ("next Saturday", "2026-03-14", None),
        ("14 Mar 2026 at 9:30", "2026-03-14T09:30:00", True),
        ("14 Mar 2026", "2026-03-14T09:30:00Z", None),
        ("Invoice A\u201117", "a-17", True),
        ("Invoice A-17", "A-18", False),
        ("Total 240.50", "240.5", True),
        ("Total 1,240.50", "240.50", False),
        ("IBAN DE89 3704 0044", "DE8937040044", True),
        ("\u20ac 100", "EUR", True),
        ("100 dollars", "EUR", False),
        ("yes", True, None),
        ("none", None, None),
    ],
)
def test_value_is_compared_with_the_quote(quote, value, stated):
    assert states_value(quote, value) is stated


def test_a_choice_in_other_words_is_not_judged():
    assert states_value("I am furious", "angry", is_choice=True) is None
    assert states_value("I am angry", "angry", is_choice=True) is True


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("total", ("total",)),
        ("items[0].price", ("items", "0", "price")),
        ("$.items[0]['price']", ("items", "0", "price")),
        ("items.0.price", ("items", "0", "price")),
        ("/items/0/price", ("items", "0", "price")),
        ('prices["1.5 kg"]', ("prices", "1.5 kg")),
        ("", ()),
        ("[" * 100_000, ()),
    ],
)
def test_paths_of_models_are_read(path, steps):
    assert parse_path(path) == steps


def test_paths_are_written_as_code():
    data = {"items": [{"name": "lamp", "price": 5}], "1.5 kg": None, "more": {"ok": True}}
    paths = [format_path(steps) for steps, _ in scalar_values(data)]
    assert paths == ["items[0].name", "items[0].price", '["1.5 kg"]', "more.ok"]
    assert [parse_path(path) for path in paths] == [tuple(map(str, steps)) for steps, _ in scalar_values(data)]
    assert [format_path(steps) for steps, _ in scalar_values(5)] == ["value"]
