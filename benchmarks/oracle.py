"""Compares what our readers give of files with what LibreOffice shows: cells of sheets, words of texts and slides.

    python benchmarks/oracle.py [--show 40] [--only xlsx,docx] [--folder conversions] SOURCE...

A source is a folder or a TAR archive, such as the source of a package: `pip download --no-binary :all: --no-deps
-r benchmarks/oracle.txt -d sources`, or `apt-get source --download-only libapache-poi-java gnumeric pandoc calligra
abiword`. LibreOffice (`soffice`) converts the same files.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oracle_cells import Compared, compared_sheets
from oracle_words import compared_words

from abstractcore.errors import AbstractCoreError
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import Blob, DocumentPart
from abstractcore.stores.models import FileModelStore
from abstractcore_media import media_type_of, register_media_handlers
from abstractcore_media.document.work_limits import WorkLimits

_MAX_BYTES = 3_000_000
_ANY = 1_000_000_000
_NOTHING = Conversion("", "nothing")
_BATCH = 40
_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Subject:
    """What is compared of the files of a kind: LibreOffice converts them to files that `shown` is the pattern of."""

    what: str
    convert_to: str
    shown: str
    compare: Callable[[Conversion, Sequence[Path]], Iterator[Compared]]


_AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
_CELLS = Subject("cells", _AS_SHOWN, "{}-*.csv", compared_sheets)
_WORDS = Subject("words", "txt:Text (encoded):UTF8", "{}.txt", compared_words)
_WORDS_OF_SLIDES = Subject("words", "pdf", "{}.pdf", compared_words)
_SUBJECTS = {
    **dict.fromkeys(("xlsx", "xlsm", "xls", "ods"), _CELLS),
    **dict.fromkeys(("docx", "docm", "odt", "rtf", "doc"), _WORDS),
    **dict.fromkeys(("pptx", "pptm", "odp", "ppt"), _WORDS_OF_SLIDES),
}


@dataclass(slots=True)
class Agreement:
    """What was compared of the files of one format."""

    files: int = 0
    unread: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    shown: list[str] = field(default_factory=list[str])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--only", default=",".join(_SUBJECTS))
    parser.add_argument("--show", type=int, default=20, help="how many differences of each format are printed")
    parser.add_argument("--folder", type=Path, help="where conversions are kept, and taken from by the next run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for suffix in arguments.only.split(","):
            files = (arguments.folder or Path(temporary)).absolute() / suffix
            files.mkdir(parents=True, exist_ok=True)
            names = _collect(arguments.sources, suffix, files)
            subject = _SUBJECTS[suffix]
            _print(f"{suffix}: {{}} files, {{}} {subject.what}", _agreement(files, names, subject), arguments.show)


def _collect(sources: Iterable[Path], suffix: str, folder: Path) -> dict[str, str]:
    """Writes the files of one format into a folder under numbers; returns their names by these."""
    names: dict[str, str] = {}
    for source in sources:
        for name, data in _files(source):
            if name.lower().endswith(f".{suffix}") and 0 < len(data) <= _MAX_BYTES:
                stem = f"{len(names):05d}"
                names[stem] = f"{source.name}/{name}"
                (folder / f"{stem}.{suffix}").write_bytes(data)
    return names


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and path.stat().st_size <= _MAX_BYTES:
                yield str(path.relative_to(source)), path.read_bytes()
        return
    with tarfile.open(source) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() and member.size <= _MAX_BYTES else None
            if content is not None:
                yield member.name, content.read()


def _agreement(folder: Path, names: dict[str, str], subject: Subject) -> Agreement:
    converted = folder / "converted"
    if not converted.exists():
        _convert(sorted(folder.glob("0*")), converted, subject.convert_to)
    found = Agreement()
    for path in sorted(folder.glob("0*")):
        shown = sorted(converted.glob(subject.shown.format(path.stem)))
        if not shown:  # LibreOffice does not open it
            continue
        try:
            ours = _conversion(path)
        except AbstractCoreError as error:
            if not any(subject.compare(_NOTHING, shown)):  # an empty file
                continue
            found.unread += 1
            found.shown.append(f"{names[path.stem]}: {error}")
            continue
        found.files += 1
        for each in subject.compare(ours, shown):
            found.compared[each.how] += 1
            if not each.how:
                found.shown.append(f"{names[path.stem]}: {each.place} {each.ours!r} / {each.theirs!r}")
    return found


def _convert(files: list[Path], folder: Path, convert_to: str) -> None:
    """Converts files by LibreOffice, many by one process; those of a batch in which one hangs singly."""
    for first in range(0, len(files), _BATCH):
        batch = files[first : first + _BATCH]
        if not _soffice(batch, folder, convert_to, _SECONDS):
            for file in batch:
                _soffice([file], folder, convert_to, _SECONDS / 8)


def _soffice(files: list[Path], folder: Path, convert_to: str, seconds: float) -> bool:
    profile = folder.parent / "profile"
    command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to", convert_to]
    process = subprocess.Popen(
        [*command, "--outdir", str(folder), *map(str, files)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return False
    return True


def _conversion(path: Path) -> Conversion:
    data = path.read_bytes()
    media_type = media_type_of(data[:8192], path.name) or ""
    part = DocumentPart(Blob.from_bytes(data, media_type, name=path.name))
    handler = next(each for each in register_media_handlers() if each.recognise(b"", path.name, media_type))
    handler.limits = WorkLimits(characters=_ANY, table_characters=_ANY)  # pyright: ignore[reportAttributeAccessIssue]
    return handler.convert(part, MediaContext(FileModelStore(Path("unused"))))


def _print(head: str, found: Agreement, most: int) -> None:
    total = sum(found.compared.values())
    wrong = found.compared[""]
    agree = f"{total - wrong:,} agree ({1 - wrong / max(total, 1):.3%})"
    print(f"{head.format(found.files, f'{total:,}')}, {agree}")
    for how, count in found.compared.most_common():
        print(f"    {count:8,} {how or 'DIFFERENT'}")
    if found.unread:
        print(f"    {found.unread} files that LibreOffice opens were not read")
    for line in found.shown[:most]:
        print(f"        {line}")


if __name__ == "__main__":
    main()
