"""What happens to files of every kind in the base installation, and in that with one extra: each is sent unchanged,
converted, or refused by an error of one line with the command that installs what is missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore.stores.models import FileModelStore
from tests.media.parts import EXAMPLES, FILES
from tests.packages import ROOT, Environment, build_wheel

pytestmark = [pytest.mark.process, pytest.mark.weights]

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
WALK = Path(__file__).with_name("walk_of_installation.py")
OFFICE = "application/vnd.openxmlformats-officedocument."
OPEN = "application/vnd.oasis.opendocument."
DOCUMENTS = FILES / "documents"
KNOWN = {
    FILES / "small.jpg": "image/jpeg",
    FILES / "small.png": "image/png",
    FILES / "animated.gif": "image/gif",
    FILES / "small.webp": "image/webp",
    FILES / "placed.heic": "image/heic",
    FILES / "small.avif": "image/avif",
    FILES / "multipage.tif": "image/tiff",
    FILES / "speech.mp3": "audio/mpeg",
    FILES / "untagged.mp3": "audio/mpeg",
    FILES / "speech.ogg": "audio/ogg",
    FILES / "speech.flac": "audio/flac",
    FILES / "speech.m4a": "audio/mp4",
    FILES / "speech.webm": "audio/webm",
    EXAMPLES / "meeting.wav": "audio/wav",
    FILES / "clip.mp4": "video/mp4",
    FILES / "clip.webm": "video/webm",
    FILES / "clip.avi": "video/x-msvideo",
    FILES / "two_pages.pdf": "application/pdf",
    DOCUMENTS / "harvest.docx": OFFICE + "wordprocessingml.document",
    DOCUMENTS / "sales.xlsx": OFFICE + "spreadsheetml.sheet",
    DOCUMENTS / "slides.pptx": OFFICE + "presentationml.presentation",
    DOCUMENTS / "harvest.odt": OPEN + "text",
    DOCUMENTS / "sales.ods": OPEN + "spreadsheet",
    DOCUMENTS / "slides.odp": OPEN + "presentation",
    DOCUMENTS / "harvest.epub": "application/epub+zip",
    DOCUMENTS / "harvest.doc": "application/msword",
    DOCUMENTS / "sales.xls": "application/vnd.ms-excel",
    DOCUMENTS / "mail.msg": "application/vnd.ms-outlook",
    DOCUMENTS / "note.rtf": "text/rtf",
}
LEGACY = "old.txt"
"""A text that is not UTF-8: it is part of the prompt, so that it is decoded also for models that accept texts."""
TEXTS = {
    "page.html": ("text/html", b"<!doctype html><h1>Harvest</h1><p>Apples and pears.</p>"),
    "table.csv": ("text/csv", b"fruit,kilograms\napples,12\n"),
    "note.md": ("text/markdown", b"# Harvest\n\nApples and pears.\n"),
    "note.txt": ("text/plain", b"Apples and pears.\n"),
    LEGACY: ("text/plain", "Äpfel, Birnen und Kürbisse für den Herbst.\n".encode("latin-1") * 9),
    "data.json": ("application/json", b'{"apples": 12}'),
    "drawing.svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
}
UNKNOWN = "letter.key"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """A file of every kind, with its media type."""
    folder = tmp_path_factory.mktemp("files")
    for name, (_, content) in TEXTS.items():
        (folder / name).write_bytes(content)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@example.org", "ben@example.org", "Harvest"
    mail.set_content("Apples and pears.")
    (folder / "mail.eml").write_bytes(bytes(mail))
    Image.new("RGB", (8, 6), "green").save(folder / "green.bmp")
    (folder / UNKNOWN).write_bytes(b"\x00\x01\x02\x03 of nothing known")
    made = {name: media_type for name, (media_type, _) in TEXTS.items()}
    made |= {"mail.eml": "message/rfc822", "green.bmp": "image/bmp", UNKNOWN: "application/x-iwork-pages"}
    return {**KNOWN, **{folder / name: media_type for name, media_type in made.items()}}


def problem(case: Mapping[str, Any], extra: str | None) -> str | None:
    """What is wrong with an outcome; None if nothing is."""
    message, error = case.get("message", ""), case.get("error")
    if case["logged"] or "\n" in message or (error or "").startswith("bare"):
        return "something is logged, or an error is not one line of this package"
    if case["file"] == UNKNOWN:
        return None if error == "MediaError" and "unsupported file type" in message else "it is not unknown"
    if case["asked"] == "refused":
        return None if error == "UnsupportedContentError" else "it is not refused"
    if error is None:
        is_sent = case["route"] in ("native", "inline") if case["asked"] == "native" else case["route"] != "native"
        return None if is_sent else f"its route is {case['route']}"
    if error != "MissingExtraError" or (case["asked"] == "native" and case["file"] != LEGACY):
        return f"it raises {error}"
    named = re.search(r"Install with: pip install (\S.*) \(part of the extra '(\w+)'", message)
    if named is None or named[2] not in EXTRAS:
        return "the error names no extra, or no command"
    return "the extra that it names is installed" if named[2] == extra else None


@pytest.mark.parametrize("extra", [None, *(each for each in EXTRAS if each != "test")])
def test_every_kind_of_file_is_sent_converted_or_refused_by_what_to_install(
    extra: str | None, wheel: Path, files: Mapping[Path, str], tmp_path: Path, models: FileModelStore
):
    models.path("whisper-tiny.en")
    environment = Environment(tmp_path / "venv", extras=[extra] if extra else [])
    environment.install(wheel)
    env = {"HOME": str(tmp_path), "PATH": os.defpath, "ABSTRACTCORE_CACHE": str(models.root.parent.resolve())}
    walked = subprocess.run(
        [environment.python, WALK],
        input=json.dumps([(str(file), media_type) for file, media_type in files.items()]),
        env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (walked.returncode, walked.stderr) == (0, "")
    cases = json.loads(walked.stdout)
    assert len(cases) == 3 * len(files) == 117
    assert [(why, case) for case in cases if (why := problem(case, extra))] == []
    is_fitted = any("pillow" in row for row in EXTRAS.get(extra or "", ())) or extra == "heic"
    changed = [
        case["file"]
        for case in cases
        if case.get("route") == "native" and not case["unchanged"]
        if not (is_fitted and case["type"].startswith("image/"))
    ]
    assert changed == []
