"""`response.sources`: the very spots where a quote or a citation stands, in real files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    Blob,
    Citation,
    DocumentPart,
    File,
    MediaAnchor,
    SchemaError,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.schema import MediaSent, ModelReply, TextPart
from abstractcore.schema.quote_search import WorkBudget
from abstractcore.schema.source_texts import TextSource, in_cells
from abstractcore.testing import ScriptedReply
from abstractcore_providers.formats.anthropic_messages.blocks import citation_to_ours
from abstractcore_providers.formats.bedrock_converse.read_blocks import read_citation
from abstractcore_providers.formats.gemini.blocks import GroundedText, read_grounding
from abstractcore_providers.formats.openai_responses.items import read_annotations

EXAMPLES = Path(__file__).parents[3] / "examples/media"
FILES = [EXAMPLES / name for name in ("invoice.pdf", "sales.xlsx", "harvest.docx")]
TERMS = "Please pay by 13 April 2026"


@pytest.fixture(scope="module")
def response() -> Any:
    llm = create_llm("scripted", replies=["Read."])
    return from_json(to_json(llm.generate("Read.", media=FILES, media_policy={"image": "refuse"})))


@pytest.mark.parametrize(
    ("quote", "wheres", "words"),
    [
        ("Total due: EUR 1,234.50", ["invoice.pdf, page 1"], "Total due: EUR 1,234.50"),
        (TERMS.upper(), ["invoice.pdf, page 2"], TERMS),
        ("February", ["sales.xlsx, Sales!A3"], "February"),
        ("30 | 2.5", ["sales.xlsx, Sales!B3:C3"], "30 | 2.5"),
        ("41", ["harvest.docx, paragraph 3", "harvest.docx, paragraph 10"], "41"),
        ("harbour lamps", ["invoice.pdf, page 1", "invoice.pdf, page 2"], "Harbour Lamps"),
        ("200 by 1,234.50", [], None),
        ("1,234", [], None),
        ("two invoices", [], None),
        ("[page 1]", [], None),
        ("...", [], None),
        ("", [], None),
        ("\u202e\u0301", [], None),
    ],
)
def test_a_quote_is_found_at_every_place_and_nowhere_else(response, quote, wheres, words):
    found = response.sources(quote)
    assert [each.where for each in found] == wheres
    assert all(each.text == words for each in found)
    assert all(response.media[each.document].source == each.name for each in found)


def test_a_place_on_a_page_has_a_box_and_offsets_in_its_text(response):
    (due,) = response.sources("Total due: EUR 1,234.50")
    left, top, right, bottom = due.box
    assert 0 < left < right <= 1
    assert 0.3 < top < bottom < 0.4
    page = response.media[0].sent.text.partition("[page 1]\n")[2]
    assert page[due.start : due.end] == due.text


def test_pages_have_their_number_in_the_file():
    llm = create_llm("scripted", replies=["x"])
    response = llm.generate("Read.", media=[File(FILES[0], pages="2")])
    assert [each.page for each in response.sources(TERMS)] == [2]


def test_quotes_are_found_over_the_marks_between_pieces_with_all_their_anchors():
    text = "[00:00] The meeting starts\n[00:03] at nine. [00:05] Bring three copies."
    anchors = (MediaAnchor(8, 26, seconds=(0, 2.5)), MediaAnchor(35, 43, seconds=(3, 4)))
    anchors += (MediaAnchor(52, 71, seconds=(5, 6)),)
    source = TextSource("file", "a.wav", text, anchors, 0, anchored_only=True)
    for quote in ("The meeting starts at nine.", "[00:00] The meeting starts [00:03] at nine."):
        (found,) = source.find_all(quote, WorkBudget(10**9), 9)
        assert (found.seconds, found.anchors, found.where) == ((0, 4), anchors[:2], "a.wav, 00:00")
    assert not list(source.find_all("00:03", WorkBudget(10**9), 9))
    (late,) = source.find_all("three copies", WorkBudget(10**9), 9)
    assert text[late.start : late.end] == "three copies"


def test_a_file_sent_natively_has_no_text_until_evidence_reads_it(call_style):
    llm = create_llm("scripted", replies=["x", '{"value": 1, "quotes": ""}'], accepts=["application/pdf"])
    plain = call_style.generate(llm, "Read.", media=FILES[:1])
    with pytest.raises(SchemaError, match=r"the text of 'invoice\.pdf' is not known"):
        plain.sources("Total due")
    checked = call_style.generate(llm, "Read.", media=FILES[:1], response_model=int, evidence=True)
    assert checked.media[0].route == "native"
    (found,) = from_json(to_json(checked)).sources("Total due")
    assert (found.page, found.document, found.box is not None) == (1, 0, True)
    assert checked.sources("Total undue") == ()


def test_results_of_tools_and_their_files_are_searched():
    @tool
    def fetch() -> list[Any]:
        """Fetches."""
        return [TextPart("The fee is 14 euros."), DocumentPart(Blob.from_file(FILES[0], "application/pdf"))]

    llm = create_llm("scripted", replies=[ScriptedReply.tool_call("fetch", {}), "Done."])
    response = llm.generate("Go.", tools=[fetch], run_tools=True)
    (found,) = response.sources("the fee is 14 euros")
    assert (found.source, found.name, found.document) == ("tool_result", "fetch", None)
    (found,) = response.sources("Invoice HL-2093")
    assert (found.source, found.name, found.document, found.page) == ("file", "invoice.pdf", 0, 1)


def of_anthropic(**location: Any) -> Citation:
    return citation_to_ours({"cited_text": TERMS, "document_title": "invoice.pdf", "document_index": 1, **location})


def of_gemini(**chunk: Any) -> Citation:
    metadata = {
        "groundingChunks": [{"retrievedContext": {"title": "invoice.pdf", **chunk}}],
        "groundingSupports": [{"segment": {"endIndex": 3}, "groundingChunkIndices": [0]}],
    }
    return read_grounding(metadata, [GroundedText(0, 0, "abc")])[0][0]


PAGE = {"type": "page_location", "start_page_number": 2, "end_page_number": 3}
BEDROCK = {"documentPage": {"documentIndex": 1, "start": 2, "end": 2}}


@pytest.mark.parametrize(
    ("citation", "match", "page", "document"),
    [
        (of_anthropic(**PAGE), "exact", 2, 1),
        (of_anthropic(**PAGE, cited_text="Words of a scan"), "reported", 2, 1),
        (of_anthropic(**PAGE, document_index=7, document_title="other.pdf"), "reported", 2, None),
        (of_anthropic(**PAGE, cited_text="Harbour Lamps"), "exact", 2, 1),
        (of_anthropic(type="char_location", start_char_index=3, end_char_index=9, cited_text="?"), "reported", None, 1),
        (read_citation({"title": "invoice.pdf", "location": BEDROCK}), "reported", 2, 1),
        (of_gemini(text=TERMS, pageNumber=2), "exact", 2, 1),
        (of_gemini(ragChunk={"pageSpan": {"firstPage": 2, "lastPage": 2}}), "reported", 2, 1),
        (
            read_annotations([{"type": "file_citation", "file_id": "f", "filename": "invoice.pdf", "index": 3}])[0],
            "reported",
            None,
            1,
        ),
    ],
)
def test_citations_of_providers_become_sources(citation, match, page, document):
    notes = EXAMPLES / "notice.pdf"
    reply = ModelReply(parts=(TextPart("By 13 April.", (citation,)),))
    llm = create_llm("scripted", replies=[reply, '{"value": "x", "quotes": ""}'], accepts=["application/pdf"])
    read = llm.generate("Read.", media=[notes, FILES[0]])
    texts = llm.generate("Read.", media=[notes, FILES[0]], response_model=str, evidence=True).media
    assert read.citations[0].quote == citation.quote
    (unread,) = read.sources(read.citations[0])
    assert (unread.match, unread.page, unread.document) == ("reported", page, document)
    (found,) = replace(read, media=texts).sources(citation)
    assert (found.match, found.page, found.document) == (match, page, document)


def test_a_citation_of_a_page_of_the_web_is_a_source_too(response):
    (found,) = response.sources(Citation("https://example.com/a", "A title", "Some words"))
    assert (found.source, found.name, found.text) == ("web", "https://example.com/a", "Some words")


@pytest.mark.parametrize(
    ("cell", "row", "words", "expected"),
    [
        ("A2:C2", "| a\\|b | c | d |", "c", "B2"),
        ("A2:C2", "| a\\|b | c | d |", "a\\|b", "A2"),
        ("Z7:AB7", "| x | y | z |", "z", "AB7"),
        ("A2:D2", "| a | c | d |", "c", "A2:D2"),
        ("A2:C4", "| a | c | d |", "c", "A2:C4"),
    ],
)
def test_cells_of_a_row_are_named_where_that_is_certain(cell, row, words, expected):
    start = row.index(words)
    anchor = MediaAnchor(0, len(row), sheet="S", cell=cell)
    assert in_cells(anchor, row, start, start + len(words)).cell == expected


@pytest.mark.exhaustive
def test_texts_of_megabytes_take_linear_work():
    line = "Row number with 1,234.50 euros and more words in it.\n"
    text = line * (4_000_000 // len(line)) + "The last line."
    anchors = tuple(
        MediaAnchor(at, at + len(line) - 1, paragraph=number)
        for number, at in enumerate(range(0, len(text) - len(line), len(line) * 10), 1)
    )
    sent = MediaSent("text/plain", len(text), text, anchors=anchors)
    source = TextSource("file", "big.txt", sent.text or "", sent.anchors, 0)
    budget = WorkBudget(10**9)
    assert [each.paragraph for each in source.find_all("THE LAST line", budget, 1000)] == [None]
    assert len(list(source.find_all("Row number with 1,234.50", budget, 1000))) == 1000
    assert 10**9 - budget.left < 5 * len(text)
