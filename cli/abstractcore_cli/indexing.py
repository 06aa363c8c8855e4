"""`abstractcore index` and `abstractcore search`: files added to an index, and found."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import abstractcore
from abstractcore.registry import similar_path
from abstractcore.schema import to_data
from abstractcore.search import Hit, Index, IndexReport
from abstractcore.user_folders import data_folder

from .given_options import repeated_in_hints
from .interruptions import when_interrupted
from .output_files import progress_shown
from .plugins import ConnectionArguments, connected
from .reporting import json_line, reported
from .screen import note, show_table, write
from .tags import tags_of

_LONGEST_LINE = 160
_VARIABLE = "ABSTRACTCORE_INDEX"
_ADDED = "Run the same command again: it goes on after the files that are in the index."
_OLD_VECTORS = "The index is as it was; run the same command again to begin anew."
"""What is reported after Ctrl-C."""


@dataclass(frozen=True, slots=True)
class ModelArguments:
    """The options that name the model which embeds."""

    provider: str | None
    model: str | None
    base_url: str | None
    timeout: float | None
    quiet: bool


def add_paths(
    paths: Sequence[str], tags: Sequence[str], model: ModelArguments, index: str | None, *, as_json: bool
) -> None:
    """Adds folders and files, and prints what became of them."""
    with reported(as_json=as_json), when_interrupted(_ADDED), _opened(index, model, make=True) as opened:
        given = tags_of(tags) or None
        reports: list[IndexReport] = []
        for path in paths:
            with progress_shown(model.quiet or as_json) as on_progress:
                reports.append(opened.add(path, tags=given, on_progress=on_progress))
        _show_reports(reports, opened, as_json=as_json)


def rebuild_index(model: ModelArguments, index: str | None, *, as_json: bool) -> None:
    """Embeds all documents anew."""
    with reported(as_json=as_json), when_interrupted(_OLD_VECTORS), _opened(index, model) as opened:
        with progress_shown(model.quiet or as_json) as on_progress:
            report = opened.rebuild(on_progress=on_progress)
        _show_reports([report], opened, as_json=as_json)


def show_documents(index: str | None, *, as_json: bool) -> None:
    """Prints the documents of an index."""
    with reported(as_json=as_json), _opened(index, _NO_MODEL) as opened:
        documents = opened.documents()
        if as_json:
            write(json_line({"index": str(opened.path), "documents": [to_data(each) for each in documents]}))
            return
        rows = [(each.id, f"{each.chunks:,}", _tag_text(each.tags), each.problem or "") for each in documents]
        show_table(("document", "parts", "tags", "problem"), rows)


def remove_documents(paths: Sequence[str], index: str | None, *, as_json: bool) -> None:
    """Removes documents, and prints how many there were."""
    with reported(as_json=as_json), _opened(index, _NO_MODEL) as opened:
        removed = opened.remove(list(paths))
        write(json_line({"removed": removed}) if as_json else f"{removed} removed\n")


def search_index(
    query: str,
    limit: int,
    tags: Sequence[str],
    model: ModelArguments,
    index: str | None,
    *,
    words: bool,
    as_json: bool,
) -> None:
    """Prints what is found."""
    with reported(as_json=as_json), _opened(index, model) as opened:
        hits = opened.search(query, limit, where=tags_of(tags) or None, mode="words" if words else "both")
        if as_json:
            write(json_line({"query": query, "hits": [_hit_data(hit) for hit in hits]}))
            return
        if not hits:
            note("nothing was found")
        for hit in hits:
            write(f"{hit.where}\n    {_line(hit)}\n")


_NO_MODEL = ModelArguments(None, None, None, None, True)


@contextmanager
def _opened(index: str | None, model: ModelArguments, *, make: bool = False) -> Generator[Index]:
    """Yields the index at a path, or the user's own; raises `InvalidInputError` for one that is to exist."""
    path = Path(index) if index is not None else data_folder() / "index.db"
    if not path.exists():
        if not make:
            hint = similar_path(str(path)) or "Make it: abstractcore index add FOLDER."
            with repeated_in_hints("index", "--index", index, _VARIABLE):
                raise abstractcore.InvalidInputError(f"There is no index {path}.", hint=hint)
        if index is None:
            path.parent.mkdir(parents=True, exist_ok=True)
    provider = model.provider
    if provider is None and model.model is None:
        provider = Index.model_of(path)  # the one that the files were added with
    arguments = ConnectionArguments(provider, model.model, model.base_url, timeout=model.timeout, quiet=model.quiet)
    with connected(arguments, default="embedding") as llm, Index(path, llm) as opened:
        yield opened


def _tag_text(tags: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in tags.items())


def _show_reports(reports: Sequence[IndexReport], opened: Index, *, as_json: bool) -> None:
    if as_json:
        write(json_line({"index": str(opened.path), "reports": [_report_data(each) for each in reports]}))
        return
    for report in reports:
        write(f"{report}\n")
        for path, problem in report.failed.items():
            note(f"not read: {path}: {problem}")
        for path in report.shortened:
            note(f"warning: {path} has parts that are longer than the model reads; their ends are found by words only")


def _report_data(report: IndexReport) -> dict[str, Any]:
    return {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": report.failed,
        "shortened": report.shortened,
        "chunks": report.chunks,
        "usage": to_data(report.usage),
        "cost": to_data(report.cost),
    }


def _hit_data(hit: Hit) -> dict[str, Any]:
    return {
        "where": hit.where,
        "id": hit.id,
        "file": hit.file,
        "score": hit.score,
        "similarity": hit.similarity,
        "line": hit.line,
        "text": hit.text,
        "tags": dict(hit.tags),
        "source": to_data(hit.source),
    }


def _line(hit: Hit) -> str:
    line = " ".join((hit.source.text or hit.text).split())
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."
