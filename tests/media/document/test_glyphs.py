"""Long texts drawn as pages: geometry, layout, what OCR reads of them, and when they are sent as text instead."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from PIL import Image
from PIL.ImageDraw import Draw
from PIL.ImageFont import truetype

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.ports import Conversion, MediaContext
from abstractcore.ports.profiles import TokenRule, image_tokens
from abstractcore.schema import FrozenDict, ImagePart
from abstractcore.schema.token_counts import text_tokens
from abstractcore_media.document.glyphs import drawing
from abstractcore_media.document.glyphs.geometry import CELLS, PER_TOKEN, Cell, PageSize, capacity, page_sizes
from abstractcore_media.document.glyphs.layout import CONTINUED, TAB, columns_for, normal_lines, pages, wrapped
from abstractcore_media.document.glyphs.reading import LEGIBLE, legibility
from abstractcore_media.image.ocr import shared_reader
from tests.media.document.documents import DOCUMENTS, converted
from tests.media.parts import EXAMPLES, NO_MODELS

CLAUDE = TokenRule("area", pixels=750, max_edge=1568, most=1600)
RULES: Mapping[str, TokenRule] = {
    "claude": CLAUDE,
    "gpt-4o": TokenRule("tiles", tokens=170, base=85, pixels=512, max_edge=2048, short_edge=768),
    "gpt-5": TokenRule("tiles", tokens=140, base=70, pixels=512, max_edge=2048, short_edge=768),
    "gpt-5-mini": TokenRule("patches", tokens=1.62, pixels=32, most=1536),
    "gemini-2": TokenRule("crops", tokens=258, pixels=768),
    "gemini-3": TokenRule("file", tokens=1120),
    "nova": TokenRule("file", tokens=230),
}
SENTENCES = [
    f"Order {n:05d}: {n % 17 + 1} crates of pears left the orchard on day {n % 365}, "
    f"and the driver signed at gate {n % 9}."
    for n in range(400)
]
LONG = "\n\n".join(" ".join(SENTENCES[start : start + 5]) for start in range(0, 400, 5))
SEES = replace(
    NO_MODELS, fallbacks=("glyphs", "text"), accepted_outputs=frozenset({"text", "image/png"}), image_tokens=CLAUDE
)
IF_POSSIBLE = replace(SEES, options=FrozenDict({"glyphs": True}))


def drawn(text: str, context: MediaContext = SEES, name: str = "long.txt") -> Conversion:
    return converted(text.encode(), name, context)


def images(conversion: Conversion) -> list[Image.Image]:
    return [Image.open(io.BytesIO(part.blob.read())) for part in conversion.parts if isinstance(part, ImagePart)]


def reasons(conversion: Conversion) -> str:
    return " ".join(warning.message for warning in conversion.warnings if warning.code == "text_not_drawn")


@pytest.mark.parametrize("name", RULES)
def test_page_is_not_reduced_by_the_vendor_and_shows_at_most_ten_text_tokens_for_each_of_its_own(name: str):
    rule = RULES[name]
    found = list(page_sizes(rule, {}))
    assert [cell for cell, _ in found] == list(CELLS)[-len(found) :]
    for cell, size in found:
        assert size.tokens == image_tokens(size.width, size.height, rule)
        assert max(size.width, size.height) <= (rule.max_edge or 2048)
        assert min(size.width, size.height) <= (rule.short_edge or 2048)
        if rule.by == "area":
            assert size.width * size.height <= (rule.most or 0) * rule.pixels
        if rule.by == "patches":
            assert math.ceil(size.width / 32) * math.ceil(size.height / 32) <= (rule.most or 0)
        assert 3 < capacity(size, cell) / size.tokens <= PER_TOKEN
    costs = [(size.tokens or 0) / capacity(size, cell) for cell, size in found]
    assert costs == sorted(costs)


def test_limits_of_the_model_bound_the_page():
    for _, size in page_sizes(CLAUDE, {"image_pixels": 800, "image_area": 400_000}):
        assert max(size.width, size.height) <= 800
        assert size.width * size.height <= 400_000


@pytest.mark.weights
@pytest.mark.parametrize("name", RULES)
def test_long_text_has_fewer_tokens_as_images(name: str):
    rule = RULES[name]
    conversion = drawn(LONG, replace(SEES, image_tokens=rule))
    report = conversion.drawn
    assert report is not None
    pictures = images(conversion)
    assert (conversion.fallback, report.images, conversion.warnings) == ("glyphs", len(pictures), ())
    assert report.image_tokens == sum(image_tokens(*each.size, rule) + 10 for each in pictures)
    assert report.text_tokens == text_tokens(LONG)
    assert report.ratio is not None
    assert report.ratio > 1.25
    assert report.read >= LEGIBLE
    assert conversion.own_text is not None
    assert conversion.own_text.text == LONG


@pytest.mark.weights
def test_rows_of_a_page_are_read_by_ocr_as_they_were_written():
    conversion = drawn(LONG)
    page, size = images(conversion)[0].convert("L"), dict(page_sizes(CLAUDE, {}))[CELLS[0]]
    columns = columns_for(normal_lines(LONG, {}), size, CELLS[0])
    rows = next(pages(normal_lines(LONG, {}), columns))
    for index in (0, 7, 40):
        top, right = 4 + index * 10, 4 + min(60, columns.width) * 5
        row = page.crop((4, top, right, top + 10)).resize(((right - 4) * 3, 30), Image.Resampling.LANCZOS)
        got = shared_reader().read_row(row, "row", threads=1)
        wanted = rows[index][: (right - 4) // 5].removeprefix(CONTINUED)
        assert "".join(filter(str.isdigit, got)) == "".join(filter(str.isdigit, wanted))


def test_glyphs_are_those_that_pillow_draws():
    cell = CELLS[0]
    text = "Hx7é|_"
    ours = drawing.as_image(drawing.pen(cell).rows([text], len(text)))
    font = truetype(str(drawing.font_path()), cell.size)
    ascent, descent = font.getmetrics()
    theirs = Image.new("L", ours.size, 255)
    pen = Draw(theirs)
    for index, character in enumerate(text):
        baseline = cell.height - round(descent * cell.height / (ascent + descent))
        pen.text((index * cell.width, baseline), character, fill=0, font=font, anchor="ls")
    apart = [abs(a - b) for a, b in zip(ours.tobytes(), theirs.tobytes(), strict=True)]
    assert sum(value > 96 for value in apart) <= len(apart) // 50  # ink that leaves its cell is cut


def test_font_has_the_characters_of_its_list():
    font = truetype(str(drawing.font_path()), 14)
    empty = font.getmask("\uffff").getbbox()
    spaces = {0x20, 0xA0, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F}
    for code in drawing.drawable() - spaces:
        mask = font.getmask(chr(code))
        assert mask.getbbox() is not None, hex(code)
    assert empty is not None
    assert {ord("A"), ord("ß"), ord("Ω"), ord("Ж"), ord(CONTINUED), ord(TAB)} <= drawing.drawable()
    assert ord("日") not in drawing.drawable()


@pytest.mark.weights
def test_smaller_characters_than_ours_are_not_legible():
    accents = ["Zażółć gęślą jaźń, łódź jeża, ośm skrzyń fig, mężny bądź"] * 3
    tiny = legibility(accents, frozenset({"tiny"}), Cell(7, 4, 7), NO_MODELS, lambda: None)
    ours = legibility(accents, frozenset({"ours"}), CELLS[0], NO_MODELS, lambda: None)
    assert tiny < LEGIBLE <= ours


@pytest.mark.weights
def test_accents_are_drawn():
    text = "Où naît l'œuvre? À Besançon, l'été, ça coûte 7,50 € déjà. Größe, Übermaß, señor. " * 200
    conversion = drawn(text)
    assert conversion.fallback == "glyphs"
    decomposed = drawn(text.replace("é", "e\u0301"))
    assert decomposed.fallback == "glyphs"
    assert "U+0301" not in decomposed.text


@pytest.mark.weights
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("日本語の長い文章です。" * 900, "are not in the font, such as U+"),
        ("שלום עולם, זה טקסט ארוך. " * 500, "are not in the font, such as U+05"),
        ("مرحبا بالعالم هذا نص طويل. " * 500, "are not in the font, such as U+06"),
        ("Съешь же ещё этих мягких французских булок. " * 400, "OCR reads 0% of its letters and digits"),
        ("😀" * 9000, "are not in the font, such as U+1F600"),
    ],
)
def test_script_that_cannot_be_drawn_and_read_is_sent_as_text_with_the_reason(text: str, reason: str):
    for context in (SEES, IF_POSSIBLE):
        conversion = drawn(text, context)
        assert (conversion.fallback, conversion.text) == ("text", text)
        assert reason in reasons(conversion)
        assert conversion.drawn is None


def test_few_characters_without_a_glyph_are_drawn_as_codes_with_a_legend():
    conversion = drawn(f"{LONG}\n\nDone 🎉 by 日本 \x1b \x0c")
    assert conversion.fallback == "glyphs"
    legend = conversion.parts[0]
    assert legend.text.startswith("[")  # pyright: ignore[reportAttributeAccessIssue]
    for shown in ("[U+1F389] is 🎉", "[U+65E5] is 日", "[U+000C] is \x0c"):
        assert shown in legend.text  # pyright: ignore[reportAttributeAccessIssue]
    assert normal_lines("a 🎉", {ord("🎉"): "[U+1F389]"}) == ["a [U+1F389]"]


def test_tabs_wraps_and_indentation_are_kept():
    assert normal_lines("a\tb\r\n\tc  \r  d", {}) == [f"a{TAB}  b", f"{TAB}   c", "  d"]
    line = "  def name(self) -> None: " + "x" * 90
    rows = list(wrapped(line, 40))
    assert all(len(row) <= 40 for row in rows)
    assert [row.startswith(CONTINUED) for row in rows] == [False] + [True] * (len(rows) - 1)
    assert "".join(row.removeprefix(CONTINUED) for row in rows).replace(" ", "") == line.replace(" ", "")
    assert rows[0].startswith("  def name(self)")
    assert list(wrapped("", 40)) == [""]


def test_short_lines_stand_in_columns():
    columns = columns_for(["key: value"] * 2000, PageSize(952, 1260), CELLS[0])
    assert columns.count == 7
    assert columns.width >= 24
    assert columns_for(["word " * 500] * 20, PageSize(952, 1260), CELLS[0]).count == 1


def test_short_text_is_not_drawn():
    conversion = drawn("A short text.")
    assert (conversion.fallback, conversion.text) == ("text", "A short text.")
    assert "as images it has about" in reasons(conversion)
    assert drawn("A short text.", IF_POSSIBLE).warnings == ()
    with pytest.raises(MediaError, match="has no text"):
        drawn("")


def test_expensive_images_are_not_sent():
    mini = TokenRule("tiles", tokens=5667, base=2833, pixels=512, max_edge=2048, short_edge=768)  # gpt-4o-mini
    conversion = drawn(LONG, replace(SEES, image_tokens=mini))
    assert conversion.fallback == "text"
    assert "as images it has about" in reasons(conversion)


def test_model_without_a_rule_gets_images_only_if_the_policy_says_so():
    report = drawn(LONG, replace(SEES, image_tokens=None)).drawn
    assert report is not None
    assert (report.image_tokens, report.ratio) == (None, None)
    conversion = drawn(LONG, replace(IF_POSSIBLE, image_tokens=None))
    assert conversion.fallback == "text"
    assert "not known how many tokens the model needs for images" in reasons(conversion)


def test_model_without_images_gets_the_text():
    conversion = drawn(LONG, replace(SEES, accepted_outputs=frozenset({"text"})))
    assert (conversion.fallback, conversion.text, conversion.warnings) == ("text", LONG, ())


def test_more_images_than_a_request_may_have_are_not_drawn():
    conversion = drawn(LONG, replace(SEES, max_images=1))
    assert "it would be 3 images, and the limit is 1" in reasons(conversion)
    assert "images exceed what a request may have" in reasons(
        drawn(LONG, replace(SEES, image_limits={"request_bytes": 9}))
    )


@pytest.mark.exhaustive
def test_ten_megabytes_of_text_are_refused_before_they_are_drawn():
    text = LONG * (10_000_000 // len(LONG))
    conversion = drawn(text)
    assert conversion.fallback == "text"
    assert "images, and the limit is 100" in reasons(conversion)


def test_missing_package_is_an_error_unless_it_is_only_wished_for(monkeypatch: pytest.MonkeyPatch):
    def missing() -> None:
        raise MissingExtraError("Drawing text as images needs pillow", hint="pip install pillow")

    monkeypatch.setattr(drawing, "_libraries", missing)
    drawing.pen.cache_clear()
    with pytest.raises(MissingExtraError, match="needs pillow"):
        drawn("Text with signs of its own: ÿ Ŵ ŵ. " * 400)
    conversion = drawn("Text with signs of its own: ÿ Ŵ ŵ. " * 400, IF_POSSIBLE)
    assert conversion.fallback == "text"
    assert "needs pillow" in reasons(conversion)


@pytest.mark.parametrize("name", ["code.py", "table.csv", "page.html", "data.json"])
def test_text_of_every_format_is_drawn(name: str):
    content = {
        "code.py": "".join(f"def f{n}(value: int) -> int:\n    return value * {n}  # doubled\n\n" for n in range(300)),
        "table.csv": "name,amount,day\n" + "".join(f"pear {n},{n * 7},{n % 31}\n" for n in range(900)),
        "page.html": "<h1>Pears</h1>" + "".join(f"<p>{each}</p>" for each in SENTENCES),
        "data.json": "[" + ",\n".join(f'{{"id": {n}, "name": "pear"}}' for n in range(700)) + "]",
    }[name]
    conversion = drawn(content, name=name)
    assert (conversion.fallback, reasons(conversion)) == ("glyphs", "")
    assert conversion.own_text is not None
    assert "pear" in conversion.own_text.text.lower() or "return value" in conversion.own_text.text


@pytest.mark.weights
def test_pictures_of_a_document_stay_in_place_and_its_text_has_anchors():
    rule = TokenRule("area", pixels=60_000)  # so cheap that a short document is worth it
    context = replace(SEES, image_tokens=rule, accepted_outputs=SEES.accepted_outputs | {"image/jpeg"})
    conversion = converted(DOCUMENTS / "harvest.docx", context=context)
    plain = converted(DOCUMENTS / "harvest.docx", context=replace(context, fallbacks=("text",)))
    (picture,) = [part for part in plain.parts if isinstance(part, ImagePart)]
    assert conversion.fallback == "glyphs"
    assert picture in conversion.parts
    assert conversion.drawn is not None
    assert len(images(conversion)) == conversion.drawn.images + 1
    assert conversion.own_text is not None
    assert (conversion.own_text.text, conversion.own_text.anchors) == (plain.text, plain.anchors)


def test_pages_of_a_pdf_are_selected_before_they_are_drawn():
    rule = TokenRule("area", pixels=60_000)
    conversion = converted(EXAMPLES / "notice.pdf", context=replace(SEES, image_tokens=rule))
    assert conversion.fallback == "glyphs"
    assert conversion.label.startswith("text of 1 page, drawn as 1 image: ")
