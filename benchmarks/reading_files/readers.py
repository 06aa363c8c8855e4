"""Reads files with one of the readers, and prints what each gives as a line of JSON.

`python readers.py NAME FILE ...`, in an environment that has the reader. It imports nothing else of this folder.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Read = Callable[[Path], dict[str, Any]]


def ours(**options: Any) -> Read:
    """What a model without eyes and ears gets, with the number of losses and the codes of warnings."""
    from abstractcore import create_llm

    def read(path: Path) -> dict[str, Any]:
        llm = create_llm("scripted", replies=["read"])
        response = llm.generate("q", media=[path], **options)
        decision = response.media[0]
        sent = decision.sent
        text = sent.text or "\n".join(part.text or "" for part in sent.parts)
        lost = [f"{loss.count:g} {loss.what}" for loss in decision.lost]
        warnings = [warning.code for warning in response.warnings]
        return {"text": text, "lost": lost, "warnings": warnings}

    return read


def markitdown() -> Read:
    """The Markdown of `markitdown`, as its command prints it."""
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda path: {"text": converter.convert(path).text_content}


def pdfplumber() -> Read:
    """The text of each page, and after it its tables as Markdown."""
    import pdfplumber

    def read(path: Path) -> dict[str, Any]:
        pieces: list[str] = []
        with pdfplumber.open(path) as document:
            for page in document.pages:
                pieces.append(page.extract_text())
                for table in page.extract_tables():
                    rows = [" | ".join((cell or "").replace("\n", " ") for cell in row) for row in table]
                    pieces.append("\n".join(f"| {row} |" for row in rows))
        return {"text": "\n\n".join(pieces)}

    return read


def pypdf() -> Read:
    """The text of each page."""
    from pypdf import PdfReader

    return lambda path: {"text": "\n".join(page.extract_text() for page in PdfReader(path).pages)}


def ours_without_pictures() -> Read:
    """The same, but pictures in files are counted, not read: what the peers do, who do not even count them."""
    return ours(media_policy={"image": "refuse"})


READERS: dict[str, Callable[[], Read]] = {
    "ours": ours,
    "ours, no pictures": ours_without_pictures,
    "markitdown": markitdown,
    "pdfplumber": pdfplumber,
    "pypdf": pypdf,
}


def main(name: str, *paths: str) -> None:
    """Reads the files one after another; the last line has the megabytes that it took at most."""
    read = READERS[name]()
    for path in paths:
        before = time.perf_counter()
        try:
            result = read(Path(path))
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        seconds = time.perf_counter() - before
        print(json.dumps({"name": Path(path).name, "seconds": seconds, **result}), flush=True)
    print(json.dumps({"megabytes": _megabytes("self") + sum(map(_megabytes, _decoders(name)))}), flush=True)


def _decoders(name: str) -> list[int]:
    if not name.startswith("ours"):
        return []
    from abstractcore.client.services import default_services

    return list(default_services().isolation.process_ids)


def _megabytes(process: int | str) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main(*sys.argv[1:])
