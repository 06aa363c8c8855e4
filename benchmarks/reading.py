"""What readers of files give a model: facts found, wrong facts, losses, seconds and megabytes, ours beside its peers.

`python benchmarks/reading.py [--show] [NAME ...]`; a name is part of a file's name. The peers are installed in
`.cache/reading`, in the versions of `reading.txt`. Files are made once, and again after their module has changed; those
that LibreOffice, pandoc or ffmpeg makes are left out where these are missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import reading_files
from reading_files.corpus import CACHE
from reading_files.facts import FileWithFacts, Score, score
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_FOLDER = Path(__file__).parent
_READERS = _FOLDER / "reading_files" / "readers.py"
_TEXTS = {".csv", ".json", ".md", ".rs", ".srt", ".toml", ".tsv", ".txt", ".xml", ".yaml"}
PEERS: dict[str, frozenset[str]] = {
    "markitdown": frozenset(
        {".docx", ".epub", ".html", ".ipynb", ".msg", ".pdf", ".pptx", ".xls", ".xlsx", ".zip"} | _TEXTS
    ),
    "pdfplumber": frozenset({".pdf"}),
    "pypdf": frozenset({".pdf"}),
}
"""The formats that a peer reads, by its documentation, without a service on the network."""


@dataclass(frozen=True)
class Line:
    """A reader over some files."""

    reader: str
    files: str
    score: Score
    seconds: float
    megabytes: float


def main() -> None:
    """Makes the files, gives them to each reader, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print what each reader misses or has wrong")
    parser.add_argument("name", nargs="*", help="files whose name contains this")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    wanted = [
        file
        for file in reading_files.all_files()
        if not arguments.name or any(part in file.name for part in arguments.name)
    ]
    with console.status("making the files ..."):
        made, missing = make(wanted)
    for name, reason in missing.items():
        console.print(f"not made: {name}: {reason}")
    groups = {"all": made}
    for name, peer in (("markitdown's formats", "markitdown"), ("PDF", "pypdf")):
        groups[name] = [file for file in made if file.suffix in PEERS[peer]]
    with console.status("reading ..."):
        lines = [
            measured(reader, name, files, show=arguments.show and (not reader.startswith("ours") or name == "all"))
            for name, files in groups.items()
            for reader in ("ours", *(["ours, no pictures"] if name != "all" else []), *PEERS)
            if files and (reader.startswith("ours") or {file.suffix for file in files} <= PEERS[reader])
        ]
    console.print(table(lines))


def make(files: Sequence[FileWithFacts]) -> tuple[list[FileWithFacts], dict[str, str]]:
    """Writes files that are missing or older than their module; returns them, and why others are not there."""
    folder = CACHE / "files"
    folder.mkdir(parents=True, exist_ok=True)
    made: list[FileWithFacts] = []
    missing: dict[str, str] = {}
    for file in files:
        path = folder / file.name
        module = Path(sys.modules[file.make.__module__].__file__ or "")
        if not path.exists() or path.stat().st_mtime < module.stat().st_mtime:
            try:
                file.make(path)
            except FileNotFoundError as error:
                missing[file.name] = f"{error.filename} is not installed"
                continue
        made.append(file)
    return made, missing


def measured(reader: str, name: str, files: Sequence[FileWithFacts], *, show: bool) -> Line:
    """The line of a reader that reads the files in a process of its own."""
    paths = [str(CACHE / "files" / file.name) for file in files]
    python = sys.executable if reader.startswith("ours") else str(_peers() / "bin" / "python")
    command = [python, str(_READERS), reader, *paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    *readings, last = map(json.loads, done.stdout.splitlines())
    total = sum((score(file, reading) for file, reading in zip(files, readings, strict=True)), Score())
    if show:
        for fault in total.faults:
            print(f"{reader}: {fault}")
    return Line(reader, name, total, sum(each["seconds"] for each in readings), last["megabytes"])


def table(lines: Iterable[Line]) -> Table:
    """Returns the lines as a table."""
    drawn = Table("reader", "files", box=SIMPLE_HEAD)
    for heading in ("facts found", "wrong", "losses not counted", "seconds", "MB"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        found = line.score
        drawn.add_row(
            line.reader,
            f"{line.files} ({found.files})",
            f"{found.found} of {found.facts} ({found.found / max(1, found.facts):.1%})",
            f"{found.wrong} ({found.wrong / max(1, found.checks):.1%})",
            f"{found.uncounted}",
            f"{line.seconds:.1f}",
            f"{line.megabytes:.0f}",
        )
    return drawn


def _peers() -> Path:
    """Returns the environment of the peers, which is installed if it is missing."""
    folder = CACHE / "peers"
    if not folder.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        requirements = ["-r", _FOLDER / "reading.txt"]
        subprocess.run(
            [uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python", *requirements], check=True
        )
    return folder


if __name__ == "__main__":
    main()
