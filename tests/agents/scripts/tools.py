"""The prompts and the tools of the programs of PyPI, which read and write files in the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

URL, MODEL = sys.argv[1:3]
KIND = sys.argv[3] if len(sys.argv) > 3 else ""
PROMPTS = (
    "Read a.txt and b.txt. Then write the words of a.txt in capitals into one.txt.",
    "Now write the words of b.txt in capitals into two.txt.",
)


def read_file(path: str) -> str:
    """Returns the text of a file."""
    return Path(path).read_text()


def write_file(path: str, text: str) -> str:
    """Writes a text into a file."""
    Path(path).write_text(text)
    return "written"
