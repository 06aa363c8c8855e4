"""Reads the files of a call whose text is not known, after the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from ..errors import AbstractCoreError
from ..ports import Runtime, total_usage
from ..schema import MEDIA_PARTS, GenerateResponse, MediaDecision, MediaPart, ModelCall, Usage
from ..schema.media_decisions import MediaText
from ..schema.response_sources import file_text
from ..schema.source_texts import TextSource
from .call_files import CallFiles
from .parts import media_parts, source_name

_WORDS = frozenset(("ocr", "transcript"))
"""Fallbacks whose text is the words of the file, so that it need not be read again."""


async def with_extracted_texts(
    response: GenerateResponse[Any], call: ModelCall, files: CallFiles, runtime: Runtime, *, words_only: bool = False
) -> GenerateResponse[Any]:
    """Returns the response with the text of every file that was sent natively, in `own_text` of its decision.

    With `words_only`, other files are read again too, where the text that was sent may have more than the words of the
    file, such as what a model says about its pictures; and pictures in files are read. What a model of a provider took
    for that is charged.
    """

    def thunk(index: int, decision: MediaDecision, part: MediaPart | None) -> Callable[[], Awaitable[_ExtractedText]]:
        return lambda: _read(index, decision, part, files, runtime, response.trace_id, words_only)

    parts = zip(response.media, files_of(response, call), strict=True)
    thunks = [thunk(index, decision, part) for index, (decision, part) in enumerate(parts)]
    read = await runtime.gather(*thunks)
    response = replace(response, media=tuple(each.decision for each in read))
    return _with_usage(response, total_usage(each.usage for each in read))


def files_of(response: GenerateResponse[Any], call: ModelCall) -> list[MediaPart | None]:
    """Returns the file of each decision, by name and type, since middleware may have moved it; None if it is gone."""
    parts: defaultdict[tuple[str, str], list[MediaPart]] = defaultdict(list)
    returned = (part for step in response.tool_steps for part in step.result.content if isinstance(part, MEDIA_PARTS))
    for part in chain((part for _, part in media_parts(call)), returned):
        parts[source_name(part.blob), part.blob.media_type].append(part)
    found = (parts[decision.source, decision.type] for decision in response.media)
    return [same.pop(0) if same else None for same in found]


class _ExtractedText(NamedTuple):
    """The decision for a file, with its text, and what reading it has taken."""

    decision: MediaDecision
    usage: Usage | None = None


async def _read(
    index: int,
    decision: MediaDecision,
    part: MediaPart | None,
    files: CallFiles,
    runtime: Runtime,
    trace_id: str,
    words_only: bool,
) -> _ExtractedText:
    is_known = file_text(index, decision) is not None
    is_plain = decision.route == "inline" or decision.fallback in _WORDS or part is None
    if is_known and (not words_only or is_plain):
        return _ExtractedText(decision)
    if part is None:
        return _ExtractedText(
            replace(decision, own_text=MediaText(problem=f"the text of {decision.source} is not known here"))
        )
    try:
        found = await files.extract_text(part, runtime, words_only=words_only, trace_id=trace_id)
    except AbstractCoreError as error:
        return _ExtractedText(replace(decision, own_text=MediaText(problem=error.message.rstrip("."))))
    if found.usage is not None:
        decision = replace(decision, usage=total_usage((decision.usage, found.usage)))
    if is_known and decision.sent is not None and decision.sent.text == found.text:
        return _ExtractedText(decision, found.usage)
    return _ExtractedText(
        replace(decision, own_text=MediaText(found.text, found.anchors, lost=found.lost)), found.usage
    )


def _with_usage(response: GenerateResponse[Any], usage: Usage | None) -> GenerateResponse[Any]:
    """Returns the response with what models have taken to read its files. Their calls have records of their own."""
    if usage is None:
        return response
    added = usage.billing.cost if usage.billing is not None else None
    total = response.usage + usage
    if response.cost is None:
        return replace(response, usage=total)
    if added is None:
        reason = "no price is known for reading the files"
        return replace(response, usage=total, cost=None, cost_source=None, cost_reason=reason)
    return replace(response, usage=total, cost=response.cost + added)


def file_texts(response: GenerateResponse[Any]) -> list[TextSource]:
    """Returns the texts of files that are known."""
    return [text for index, each in enumerate(response.media) if (text := file_text(index, each)) is not None]


def unread_pieces(response: GenerateResponse[Any]) -> list[str]:
    """Returns the losses of the texts of files, a sentence for each kind of loss."""
    unread: list[str] = []
    for decision in response.media:
        for loss in decision.lost if decision.own_text is None else decision.own_text.lost:
            total = "" if loss.total is None else f" of {loss.total:g}"
            unread.append(f"{decision.source}: {loss.what} that were not read: {loss.count:g}{total}")
    return unread
