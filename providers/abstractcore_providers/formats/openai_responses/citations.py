"""Annotations of a text, and citations of the schema, converted both ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from abstractcore.schema import CallWarning, Citation

from ...common.reading import Object, count_of, text_of

_URL = "url_citation"
_EXTRAS: dict[str, tuple[str, ...]] = {
    "file_citation": (),
    "container_file_citation": ("container_id",),
    "file_path": ("index",),
}
"""Citations of files: their fields beside the file and the span."""


def read_annotations(annotations: Iterable[Object]) -> tuple[Citation, ...]:
    """Returns the citations among a text's annotations; the metadata of those of files has their kind."""
    return tuple(_citation(note) for note in annotations if text_of(note, "type") in (_URL, *_EXTRAS))


def _citation(note: Object) -> Citation:
    kind = str(note["type"])
    if kind == _URL:
        start, end = count_of(note, "start_index"), count_of(note, "end_index")
        return Citation(text_of(note, "url") or "", text_of(note, "title"), start=start, end=end)
    start = end = count_of(note, "index") if kind == "file_citation" else None
    if kind == "container_file_citation":
        start, end = count_of(note, "start_index"), count_of(note, "end_index")
    extras = {name: note[name] for name in _EXTRAS[kind] if note.get(name) is not None}
    return Citation(
        text_of(note, "file_id") or "",
        text_of(note, "filename"),
        start=start,
        end=end,
        provider_metadata={"type": kind, **extras},
    )


def write_annotations(citations: Sequence[Citation]) -> list[Object]:
    """Returns the annotations for citations that `fit_citation` returned."""
    return [_annotation(citation) for citation in citations]


def _annotation(citation: Citation) -> Object:
    kind = citation.provider_metadata.get("type", _URL)
    span: Object = {"start_index": citation.start or 0, "end_index": citation.end or 0}
    if kind == _URL:
        return {"type": _URL, "url": citation.source, "title": citation.title or "", **span}
    note: Object = {**citation.provider_metadata, "file_id": citation.source}
    if kind == "file_citation":
        span = {"index": citation.start or 0}
    elif kind == "file_path":
        return note
    return {**note, "filename": citation.title or "", **span}


def fit_citation(citation: Citation, length: int, path: str, warnings: list[CallWarning]) -> Citation:
    """Returns the citation of a text of `length` as the format can express it, with a warning for the rest."""
    metadata = citation.provider_metadata
    kind = metadata.get("type")
    extras = _EXTRAS.get(kind) if isinstance(kind, str) else None
    kept = {} if extras is None else {name: value for name, value in metadata.items() if name in ("type", *extras)}
    title, end = citation.title, citation.end
    start = citation.start
    if kind == "file_citation":
        end = start
    elif kind == "file_path":
        title, start, end = None, 0, length
    fitted = Citation(citation.source, title, None, start, end, kept)
    for name in ("title", "quote", "start", "end", "provider_metadata"):
        asked, sent = getattr(citation, name), getattr(fitted, name)
        if asked != sent:
            message = f"the Responses format has no field for this citation's {name}"
            warnings.append(
                CallWarning(f"{name}_left_out", f"{path}.{name}", message, asked, None if sent == {} else sent)
            )
    return fitted
