"""Each fallback: every sentence of it has its place in the file, and what it lacks is counted against the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import MediaDecision, Services, create_llm
from abstractcore.ports import ModelStore
from tests.media.parts import EXAMPLES, FILES

pytestmark = [pytest.mark.process, pytest.mark.weights]

DOCUMENTS = FILES / "documents"
MARKS = re.compile(
    r"\[(?:page|slide|image) \d+(?:, hidden)?\]"  # their anchors are those of the text after them
    r"|\[\d\d:\d\d\]"  # a time
    r"|\| (?:--- \| ?)+"  # below the head of a table
    r'|" \([a-z ]+, \d\.\d\d\)|\n- "'  # the place of a text in an image
    r"|\[outline\](?:\n *- [^\n]+ \(page \d+\))+"  # places of their own
    r"|\[(?:title|author): [^\]]+\]"
)
"""What stands between sentences."""
PICTURE = [("pictures", 1, 1)]
OUTCOMES = [
    *((DOCUMENTS / name, {"image": "refuse"}, "text", PICTURE) for name in ("harvest.docx", "harvest.odt")),
    *((DOCUMENTS / name, {"image": "refuse"}, "text", PICTURE) for name in ("harvest.doc", "harvest.epub")),
    *((DOCUMENTS / name, {"image": "refuse"}, "text", PICTURE) for name in ("slides.pptx", "slides.odp")),
    *((DOCUMENTS / name, {"image": "refuse"}, "text", PICTURE) for name in ("sales.xlsx", "sales.ods")),
    *((DOCUMENTS / name, {}, "text", []) for name in ("mail.msg", "note.rtf", "harvest.pdf")),
    (DOCUMENTS / "sales.xls", {}, "text", [("pictures and embedded objects", 1, None)]),
    (DOCUMENTS / "harvest.docx", {"image": "caption"}, "text", []),
    (FILES / "with_scan.pdf", {"image": "refuse"}, "text", [("pages", 1, 2)]),
    (
        FILES / "with_scan.pdf",
        {"image": "observe"},
        "text",
        [("pictures of files inside", 1, 1), ("regions of files inside", 1, 1)],
    ),
    (FILES / "animated.gif", {"image": "caption"}, "caption", [("frames", 16, 24)]),
    (FILES / "small.png", {"image": "observe"}, "observe", [*PICTURE, ("regions", 1, 1)]),
    (FILES / "multipage.tif", {"image": "observe"}, "observe", [*PICTURE, ("frames", 1, 2)]),
    (EXAMPLES / "receipt.jpg", {"image": "ocr"}, "ocr", []),
    (EXAMPLES / "meeting.wav", {}, "transcript", []),
    (
        EXAMPLES / "talk.mp4",
        {"image": "caption"},
        "frames+transcript",
        [("frames", 173, 175), ("changes of the picture", 1, 3)],
    ),
    (EXAMPLES / "talk.mp4", {"video": "transcript"}, "transcript", [("frames", 175, 175)]),
    (
        FILES / "scenes.mp4",
        {"image": "observe"},
        "frames",
        [
            ("frames", 473, 475),
            ("changes of the picture", 4, 6),
            ("pictures of frames", 2, 2),
            ("regions of frames", 1, 1),
        ],
    ),
]


@pytest.fixture(scope="module")
def services(models: ModelStore) -> Iterator[Services]:
    services = Services(environment={}, models=models)
    yield services
    services.close()


def unplaced(decision: MediaDecision) -> list[str]:
    """The pieces of a text that no anchor covers, without marks."""
    assert decision.sent is not None
    text = "".join(part.text or "" for part in decision.sent.parts) or decision.sent.text or ""
    rest = list(text)
    for anchor in decision.sent.anchors:
        rest[anchor.start : anchor.end] = "\0" * (anchor.end - anchor.start)
        places = (anchor.page, anchor.paragraph, anchor.sheet, anchor.seconds, anchor.member, anchor.box)
        assert any(place is not None for place in places)
    return [piece for piece in re.split(r"[\0\s]+", MARKS.sub("", "".join(rest))) if piece]


@pytest.mark.parametrize(
    ("path", "policy", "fallback", "lost"),
    OUTCOMES,
    ids=[f"{path.name}-{'-'.join(policy.values())}" for path, policy, *_ in OUTCOMES],
)
def test_every_sentence_has_a_place_and_every_loss_is_counted(
    services: Services, path: Path, policy: dict[str, str], fallback: str, lost: list[tuple[str, float, float]]
):
    eye = create_llm("scripted", replies=["A cat looks left. It is grey."] * 9, accepts=["image"], services=services)
    options: dict[str, Any] = {"transcription_model": "whisper-tiny.en", "video_frames": 2, "vision_model": eye}
    llm = create_llm("scripted", replies=["ok"], services=services, **options)
    (decision,) = llm.generate("What is it?", media=[path], media_policy=policy).media
    assert decision.fallback == fallback
    assert unplaced(decision) == []
    assert [(each.what, each.count, each.total) for each in decision.lost] == lost
