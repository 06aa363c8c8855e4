"""Questions answered from a folder of documents, a spreadsheet, a recording and a video, on this machine alone."""

import tempfile
from pathlib import Path

from abstractcore import Index, create_llm

FILES = Path(__file__).parent / "media"
QUESTIONS = [
    "What is the total amount due?",
    "How many units were sold in February?",
    "When does the meeting start?",
    "How much is a ticket for the workshop?",
    "How many tonnes of apples did the orchard give?",
]

with tempfile.TemporaryDirectory() as folder, Index(Path(folder) / "search.db", create_llm()) as index:
    report = index.add(FILES)
    print(report)
    for path, problem in report.failed.items():
        print(f"  {Path(path).name}: {problem}")
    for question in QUESTIONS:
        hit = index.search(question, 1)[0]
        print(f"{question}\n  {hit}")
