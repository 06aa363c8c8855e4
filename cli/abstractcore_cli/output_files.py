"""The files of what a command makes: their names, and how they are written.

What a backend makes, on the screen: its progress, and a summary. Arguments of backends on the command line, and
further ones: `--option steps=8`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import abstractcore
from abstractcore.schema import CallProgress, MediaPart, ending_of, visible, write_whole

from .reporting import media_json
from .screen import note, write

_LONGEST_NAME = 40
_MOST_DIFFERENCES = 5


def file_names(output: str | None, text: str, parts: Sequence[MediaPart]) -> list[Path]:
    """Returns the name for each part: `output`, which may be a folder, else a new name after `text` in this folder.

    The ending is that of the content, or of `output` for the first part and others of its type. Several parts with one
    ending are numbered, or called after what their own names add to that of the first: "song-flute.wav".
    """
    target = Path(output) if output else Path()
    if output and not target.is_dir():
        folder, stem, suffix = target.parent, target.stem, target.suffix
    else:
        words = re.sub(r"[^\w]+", "-", text.lower()).strip("-_")[:_LONGEST_NAME].rstrip("-_")
        folder, stem, suffix = target, words or parts[0].type, ""
    is_new = not output or target.is_dir()
    first = parts[0].blob.media_type
    types = [part.blob.media_type for part in parts]
    endings = [suffix if suffix and each == first else f".{ending_of(each)}" for each in types]
    names: list[Path] = []
    for ending, label in zip(endings, _labels(parts, endings), strict=True):
        name = folder / f"{stem}{label}{ending}"
        names.append(_unused(name, names) if is_new else name)
    return names


def check_output(output: str | None) -> None:
    """Raises `MediaError` for a file in a folder that is not there, before anything is made for it."""
    if output and not Path(output).parent.is_dir():
        raise _unwritable(Path(output), "there is no such folder")


def _labels(parts: Sequence[MediaPart], endings: Sequence[str]) -> list[str]:
    """Returns the text after the stem of each name, so that they differ."""
    base = Path(parts[0].blob.name or "").stem
    labels: list[str] = []
    taken: set[tuple[str, str]] = set()
    for index, (part, ending) in enumerate(zip(parts, endings, strict=True)):
        own = Path(part.blob.name or "").stem
        continues = bool(base) and (own == base or own.startswith(f"{base}-"))
        label = own.removeprefix(base) if continues else None
        if endings.count(ending) == 1:
            label = ""
        elif label is None or (label, ending) in taken:
            label = f"-{endings[: index + 1].count(ending)}"
        taken.add((label, ending))
        labels.append(label)
    return labels


def write_parts(parts: Sequence[MediaPart], files: Sequence[Path]) -> list[Path]:
    """Writes each part to its file; raises `MediaError` for a file that cannot be written."""
    for part, file in zip(parts, files, strict=True):
        try:
            part.save(file)
        except OSError as error:
            raise _unwritable(file, error.strerror or str(error)) from None
    return list(files)


def write_text(text: str, file: Path) -> None:
    """Writes a text as UTF-8; raises `MediaError` as `write_parts` does."""
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise _unwritable(file, error.strerror or str(error)) from None


@contextmanager
def whole_file(target: Path) -> Generator[Path]:
    """Yields the path to write a file to, which takes the place of `target` if its body succeeds, and else is removed.

    Raises `MediaError` for an `OSError` of its body.
    """
    target = target.resolve()  # of a link, the file that it leads to
    is_special = target.exists() and not target.is_file()  # a device or a pipe
    unfinished = target if is_special else target.with_name(f".{target.stem[:100]}.{os.getpid()}{target.suffix}")
    try:
        yield unfinished
        if not is_special:
            unfinished.replace(target)
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from None
    finally:
        if not is_special:
            unfinished.unlink(missing_ok=True)


def _unwritable(file: Path, reason: str) -> abstractcore.MediaError:
    message = f"{file} cannot be written: {reason}"
    return abstractcore.MediaError(message, source=str(file), hint="Name another file: --output FILE.")


def _unused(name: Path, taken: Sequence[Path]) -> Path:
    number, unused = 2, name
    while unused.exists() or unused in taken:
        unused = name.with_name(f"{name.stem}-{number}{name.suffix}")
        number += 1
    return unused


def media_summary(result: abstractcore.MediaResult[Any] | abstractcore.TranscriptResult) -> Iterator[str]:
    """Yields the lines below what a backend made."""
    for warning in result.warnings:
        yield f"warning: {warning.message}"
    if isinstance(result, abstractcore.MediaResult) and result.verification is not None:
        yield _verification_line(result.verification)
    what = result.metadata.get("what")
    if isinstance(what, str):
        yield what
    model = "" if result.model in (None, result.backend) else f", {result.model}"
    cost = f"unknown cost ({result.cost_reason})" if result.cost is None else f"${result.cost:f}"
    yield f"{result.backend}{model}: {result.seconds:.1f} s, {cost}"


def _verification_line(found: abstractcore.MediaVerification) -> str:
    """Returns how many words were understood, and which ones differ."""
    pairs = [f"{each.expected or '-'} -> {each.found or '-'}" for each in found.differences[:_MOST_DIFFERENCES]]
    more = " ..." if len(found.differences) > len(pairs) else ""
    differences = f": {'; '.join(pairs)}{more}" if pairs else ""
    return f"verified: {found.errors} of {found.words} words differ{differences}"


def show_result(result: abstractcore.MediaResult[Any], files: Sequence[Path], *, silent: bool, as_json: bool) -> None:
    """Prints the names of the files that were made, and how; as JSON, or the names alone if `silent`."""
    if as_json:
        write(media_json(result, files))
        return
    for file in files:
        write(f"{file}\n")
    if not silent:
        for line in media_summary(result):
            note(line)


class ProgressBar:
    """A bar on stderr, which is there from now until `close`."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(file=sys.stderr, highlight=False), transient=True)
        self._bar = self._bars.add_task("", total=None)
        self._bars.start()

    def show(self, what: str, done: float, total: float | None) -> None:
        """Shows that so much of something is done."""
        self._bars.update(self._bar, description=" ".join(visible(what).split()), completed=done, total=total)

    def close(self) -> None:
        """Removes the bar."""
        self._bars.stop()


@contextmanager
def progress_shown(silent: bool) -> Generator[Callable[[CallProgress], None] | None]:
    """Yields a function for `on_progress`, which shows a bar on a terminal; None where nothing is shown."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    with closing(ProgressBar()) as bar:
        yield lambda progress: bar.show(progress.what, progress.done, progress.total)


def backend_options(given: Sequence[str], **arguments: Any) -> dict[str, Any]:
    """Returns the arguments of a backend by name: those of `--option`, whose values are JSON where they are valid JSON,
    else texts; and those in `arguments` that are not None.

    Raises `InvalidInputError` for a text without `=`.
    """
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            hint = "Write --option NAME=VALUE, as in --option steps=8."
            raise abstractcore.InvalidInputError(f"--option {text!r} is not an argument.", hint=hint)
        try:
            options[name.strip()] = json.loads(value)
        except ValueError:
            options[name.strip()] = value
    return options | {name: value for name, value in arguments.items() if value is not None}
