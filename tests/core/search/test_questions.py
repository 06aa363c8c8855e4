"""Thirty questions to an index of a folder with documents, a spreadsheet, slides, a photo, a recording and a video."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abstractcore import Services, create_llm
from abstractcore.search import Index
from abstractcore.stores.models import FileModelStore

pytestmark = [pytest.mark.process, pytest.mark.weights]

ROOT = Path(__file__).parents[3]
FILES = [
    *(
        ROOT / "examples" / "media" / name
        for name in ("harvest.docx", "harvest_form.pdf", "invoice.pdf", "meeting.wav")
    ),
    *(ROOT / "examples" / "media" / name for name in ("notice.pdf", "receipt.jpg", "sales.xlsx", "talk.mp4")),
    ROOT / "tests" / "media" / "files" / "documents" / "slides.pptx",
    ROOT / "tests" / "media" / "files" / "two_pages.pdf",
]
SPOKEN = ("meeting.wav", "talk.mp4")
QUESTIONS = [
    ("What is the total due on the invoice for lamps?", ["invoice.pdf, page 1"]),
    ("When must the invoice be paid?", ["invoice.pdf, page 2"]),
    ("Which lamp is made of brass?", ["invoice.pdf, page 1"]),
    ("What does the delivery of the lamp cost?", ["invoice.pdf, page 1"]),
    ("Who owns the lamps until they are paid for?", ["invoice.pdf, page 2"]),
    ("Who is the customer of Harbour Lamps?", ["invoice.pdf, page 1"]),
    ("When is the bicycle repair workshop?", ["notice.pdf, page 1"]),
    ("How much is a ticket for the workshop?", ["notice.pdf, page 1"]),
    ("Where are the tickets sold?", ["notice.pdf, page 1"]),
    ("Do I have to bring my own bicycle?", ["notice.pdf, page 1"]),
    ("How many pickers were there?", ["harvest_form.pdf, page 1"]),
    ("What did the orchard South give in August?", ["harvest_form.pdf, page 1"]),
    ("Is it insured against hail?", ["harvest_form.pdf, page 1"]),
    ("How many units were sold in February?", ["sales.xlsx, Sales!A3:F3"]),
    ("How many units were sold in January?", ["sales.xlsx, Sales!A2:F2"]),
    ("What is the total of March?", ["sales.xlsx, Sales!A4:F4"]),
    ("Did sales rise in the quarter?", ["slides.pptx, page 1"]),
    ("What were the sales of the region North?", ["slides.pptx, page 2"]),
    ("What was the revenue in Q2?", ["slides.pptx, ppt/charts/chart1.xml, page 2"]),
    ("What did three coffees cost at the bakery?", ["receipt.jpg"]),
    ("How much VAT is on the receipt?", ["receipt.jpg"]),
    ("How many rye breads were bought?", ["receipt.jpg"]),
    ("Which number does the card end with?", ["receipt.jpg"]),
    ("When does the meeting start?", [f"{file}, 00:00" for file in SPOKEN]),
    ("How many copies of the contract should I bring?", [f"{file}, 00:03" for file in SPOKEN]),
    ("In which room is the meeting?", [f"{file}, 00:00" for file in SPOKEN]),
    ("How many tonnes of apples did the orchard give?", ["harvest.docx, paragraph 3"]),
    ("What is the price of pears?", ["harvest.docx"]),
    ("How much rain fell in April?", ["two_pages.pdf, page 1"]),
    ("When was the gauge broken?", ["two_pages.pdf, page 2"]),
]
AMONG_THREE = {
    "What is the total due on the invoice for lamps?",
    "Who is the customer of Harbour Lamps?",
    "Where are the tickets sold?",
}
"""Questions whose hit is the second or the third one."""


@pytest.fixture(scope="module")
def found(models: FileModelStore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Where the first three hits of each question are."""
    folder = tmp_path_factory.mktemp("questions")
    (folder / "files").mkdir()
    for file in FILES:
        shutil.copy(file, folder / "files")
    services = Services(environment={}, models=models)
    with create_llm(services=services) as llm, Index(folder / "index.db", llm) as index:
        report = index.add(folder / "files")
        assert not report.failed
        assert len(report.added) == len(FILES)
        found = {question: [hit.where for hit in index.search(question, 3)] for question, _ in QUESTIONS}
    services.close()
    return found


@pytest.mark.parametrize(("question", "places"), QUESTIONS)
def test_the_first_hits_are_in_the_right_file_at_the_right_place(found, question, places):
    hits = found[question] if question in AMONG_THREE else found[question][:1]
    assert any(where.startswith(tuple(places)) for where in hits)
