"""Checks or converts one file, as it was decided: `converted_file` returns the content that replaces it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count

from ..errors import (
    AbstractCoreError,
    CorruptFileError,
    EncryptedFileError,
    MediaError,
    MissingExtraError,
    ModelStoreError,
    UnsupportedContentError,
    WrongPasswordError,
)
from ..ports import ConvertedFile, FetchedFile, Fetcher, FitsMedia, Fitted, HasExcerpts, MediaContext, MediaHandler
from ..schema import (
    Blob,
    CallWarning,
    ContentPart,
    ImagePart,
    MediaDecision,
    MediaLoss,
    MediaPart,
    MediaProgress,
    MediaSent,
    SchemaError,
    TextPart,
)
from .cached_conversions import convert, fit
from .contents import conversion_tokens
from .parts import handler_for, is_cut, with_content
from .routes import lossy_native
from .untrusted_content import as_untrusted, sent_parts

_MOST_SENT_BYTES = 256 << 20
"""No provider accepts a larger file in a request."""
IN_RESULT, EARLIER = "result", "earlier"
"""The path of all files of tools' results, and of those of earlier turns that are text since there are more, in what
decides a conversion."""
_log = logging.getLogger("abstractcore")
_STEPS = 100


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file, the decision for it, and what its handler needs."""

    decision: MediaDecision
    part: MediaPart
    handler: MediaHandler | None
    context: MediaContext
    handlers: Sequence[MediaHandler]
    trace_id: str


def converted_file(task: FileTask, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    """Returns a file as it is sent by its decision; blocks. `artifact` gives the content that has a hash.

    Raises `MediaError`, `ArtifactError` or `MissingExtraError`, but not for a file of a tool's result, which a note
    replaces, nor for the text of a file of an earlier turn: `ConvertedFile.failure` says why there is none.
    """
    place = task.decision.part_path
    convert_one = _of_result if place == IN_RESULT else _of_earlier_turn if place == EARLIER else _converted_file
    return convert_one(task, artifact, now)


def _of_result(task: FileTask, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    """Returns a file of a tool's result as `_converted_file` does; a note, if it cannot be read."""
    try:
        return _converted_file(task, artifact, now)
    except (MediaError, MissingExtraError) as error:
        note = TextPart(f"[a file that cannot be shown here: {error.message}]")
        noted = replace(task.decision, sent=sent_parts((note,), (note,)), lost=(MediaLoss("files", 1, 1),))
        warning = CallWarning("result_file_left_out", "", error.message)
        return ConvertedFile(task.trace_id, noted, (note,), (warning,))


def _of_earlier_turn(task: FileTask, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    """Returns a file of an earlier turn as `_converted_file` does; why there is no text of it, if there is none."""
    try:
        return _converted_file(task, artifact, now)
    except (MediaError, MissingExtraError, ModelStoreError) as error:
        return ConvertedFile(task.trace_id, task.decision, failure=error.message.rstrip("."))


def _converted_file(task: FileTask, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    decision, handler = task.decision, task.handler
    if decision.route == "left_out":
        return _left_out(task)
    part = _at_hand(task.part, decision, task.context, artifact)
    try:
        if decision.route == "native":
            part, pages = _excerpt(part, handler, task.context)
            _check_size(part, decision)
            if handler is None or part.blob.form not in ("bytes", "file"):
                executed = replace(decision, sent=MediaSent(decision.type, part.blob.size))
                return ConvertedFile(task.trace_id, executed, (part,) if part is not task.part else None)
            handler.check(part)
            fitted = _fit(task, part, handler)
            return _with_pages(fitted, pages) if pages else fitted
        if handler is None:
            raise MediaError(f"no media handler reads {decision.type}", source=decision.source)
        began = now()
        try:
            converted = _convert(task, part, handler)
        except (MissingExtraError, MediaError) as error:
            if not decision.native_loss or isinstance(error, EncryptedFileError | WrongPasswordError):
                raise
            return _send_natively(decision, part, error, task.trace_id)
        return replace(converted, decision=replace(converted.decision, seconds=now() - began))
    except (SchemaError, OSError) as error:
        raise MediaError(f"{decision.source} cannot be read: {error}", source=decision.source) from error


def _left_out(task: FileTask) -> ConvertedFile:
    """Returns a note instead of a file of an earlier turn."""
    decision = task.decision
    content = (TextPart("This file of an earlier message is left out here, since there is no more room for it."),)
    parts = as_untrusted(decision.source, "left out", content)
    noted = replace(decision, sent=sent_parts(parts, content), lost=(MediaLoss("files", 1, 1),))
    warning = CallWarning("file_left_out", "", f"{decision.source}: {decision.reason}", decision.type)
    return ConvertedFile(task.trace_id, noted, parts, (warning,))


def _check_size(part: MediaPart, decision: MediaDecision) -> None:
    """Raises `MediaError` for a file that is too large to be read into memory, and is part of the request."""
    size = part.blob.size or 0
    if size <= _MOST_SENT_BYTES or decision.stored or part.blob.form not in ("bytes", "file"):
        return
    raise MediaError(
        f"{decision.source} has {size:,} bytes; the limit for a file that is sent itself is {_MOST_SENT_BYTES:,}.",
        source=decision.source,
        hint=f"Convert it with media_policy={{{decision.kind!r}: 'fallback_only'}}, or send a part of it; file stores "
        "of providers take larger files, unless file_store='never'.",
    )


def _fit(task: FileTask, part: MediaPart, handler: MediaHandler) -> ConvertedFile:
    """Returns a file that is sent natively, within the limits of the model if its handler keeps them.

    A file that is damaged, that cannot be read without a package that is missing, or of a type that cannot be written
    is sent as it is, unless it may be too large: decoders of providers may differ.
    """
    decision, fitted, warnings = task.decision, Fitted((part,)), ()
    if isinstance(handler, FitsMedia):
        try:
            fitted = fit(handler, part, decision.fit, task.context, task.context.image_types)
        except (MissingExtraError, CorruptFileError, UnsupportedContentError) as error:
            if (part.blob.size or 0) > decision.fit.get("image_bytes", part.blob.size or 0):
                raise
            message = f"{decision.source} is sent as it is, with its metadata: {error.message}"
            warnings = (CallWarning("image_unchecked", "", message),)
    parts = None if fitted.parts == (task.part,) and task.part is part else fitted.parts
    sent = sent_parts(fitted.parts, fitted.parts)
    return ConvertedFile(task.trace_id, replace(decision, sent=sent, lost=fitted.lost), parts, warnings)


def _excerpt(part: MediaPart, handler: MediaHandler | None, context: MediaContext) -> tuple[MediaPart, tuple[int, ...]]:
    """Returns the pages that the controls of a file name, and the numbers of its pages, if its handler cuts it."""
    if not isinstance(handler, HasExcerpts) or not is_cut(part, handler) or part.blob.form not in ("bytes", "file"):
        return part, ()
    excerpt = handler.excerpt(part, context)
    return excerpt.part, tuple(excerpt.pages)


def _with_pages(file: ConvertedFile, pages: tuple[int, ...]) -> ConvertedFile:
    assert file.decision.sent is not None
    return replace(file, decision=replace(file.decision, sent=replace(file.decision.sent, page_numbers=pages)))


def _convert(task: FileTask, part: MediaPart, handler: MediaHandler) -> ConvertedFile:
    decision = task.decision
    conversion = convert(handler, part, conversion_context(decision, task.context))
    content, lost = _fitted_images(conversion.parts, decision, task.handlers, task.context)
    label = conversion.label if decision.text_because is None else f"{conversion.label}, in place of the file"
    parts = as_untrusted(decision.source, label, content)
    sent = sent_parts(parts, content)
    if conversion.anchors and (sent.text is not None or sent.parts):
        sent = replace(sent, anchors=conversion.anchors)
    executed = replace(
        decision,
        sent=sent,
        usage=conversion.usage,
        fallback=conversion.fallback or decision.fallback,
        alternatives=(),
        model=conversion.model,
        lost=(*conversion.lost, *lost),
        tokens=conversion_tokens(conversion),
        own_text=conversion.own_text,
        drawn=conversion.drawn,
        recorded=conversion.recorded,
    )
    warnings = tuple(replace(each, path="") for each in conversion.warnings)
    return ConvertedFile(task.trace_id, executed, parts, warnings)


def conversion_context(decision: MediaDecision, context: MediaContext) -> MediaContext:
    """Returns the context of the conversion that was decided."""
    fallbacks = tuple(filter(None, (decision.fallback, *decision.alternatives)))
    outputs, most = frozenset(decision.outputs), decision.fit.get("images")
    return replace(context, fallbacks=fallbacks, accepted_outputs=outputs, max_images=most)


def _send_natively(decision: MediaDecision, part: MediaPart, error: AbstractCoreError, trace_id: str) -> ConvertedFile:
    """Returns a file that the provider reads too, if only in part, and that cannot be converted here."""
    reason = f"{decision.source} cannot be converted ({error.message}), so it is sent natively"
    sent = MediaSent(decision.type, part.blob.size)
    native = replace(decision, route="native", reason=reason, fallback=None, alternatives=(), outputs=(), sent=sent)
    return ConvertedFile(trace_id, native, (part,), (replace(lossy_native(native), path=""),))


def _at_hand(
    part: MediaPart, decision: MediaDecision, context: MediaContext, artifact: Callable[[str], bytes]
) -> MediaPart:
    """Returns the part with its bytes, if it is an artifact, or a URL that must be downloaded here."""
    blob, controls = part.blob, part.controls
    if blob.form != "url" or decision.fetch != "us":
        return with_content(part, artifact)
    if context.fetcher is None:
        hint = "Download it, and pass the path of the file."
        raise MediaError(
            f"{decision.source} is a URL, and nothing is downloaded here.", source=decision.source, hint=hint
        )
    file = context.fetcher.fetch(blob.location or "", context.timeout)
    fetched = Blob.from_bytes(file.data, blob.media_type, name=blob.name or file.name)
    return replace(part, blob=fetched, controls=replace(controls, fetch=None) if controls is not None else None)


def _fitted_images(
    content: Sequence[ContentPart], decision: MediaDecision, handlers: Sequence[MediaHandler], context: MediaContext
) -> tuple[tuple[ContentPart, ...], tuple[MediaLoss, ...]]:
    """Returns the content with every image within limits and without metadata, and what they lost; blocks.

    An image that is damaged is left as it is, unless it is too large: it is then counted as lost, as is one that cannot
    be made small enough.
    """
    found: list[ContentPart] = []
    lost: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0])
    images, by_type = 0, dict[str, MediaHandler | None]()
    limits, accepted = {**decision.fit, "images": 1}, frozenset(decision.outputs) - {"text"}
    for part in content:
        if not isinstance(part, ImagePart):
            found.append(part)
            continue
        images += 1
        media_type = part.blob.media_type
        if media_type not in by_type:
            by_type[media_type] = handler_for(part, handlers)[0]
        fitted = _fitted_image(part, limits, by_type[media_type], context, accepted)
        found += [] if fitted is None else fitted.parts
        for loss in () if fitted is None else fitted.lost:
            lost[loss.what][0] += loss.count
            lost[loss.what][1] += loss.total or 0
    losses = [MediaLoss(f"{what} of images", count, total) for what, (count, total) in lost.items()]
    left_out = images - sum(isinstance(part, ImagePart) for part in found)
    if left_out > 0:
        losses.append(MediaLoss("images", left_out, images, ("they are too large",)))
    return tuple(found), tuple(losses)


def _fitted_image(
    part: ImagePart,
    limits: Mapping[str, int],
    handler: MediaHandler | None,
    context: MediaContext,
    accepted: Set[str],
) -> Fitted | None:
    if not isinstance(handler, FitsMedia):
        return Fitted((part,))
    try:
        return fit(handler, part, limits, context, accepted)
    except (CorruptFileError, MissingExtraError):
        size = part.blob.size or 0
        return Fitted((part,)) if size <= limits.get("image_bytes", size) else None
    except MediaError:
        return None


@dataclass(frozen=True, slots=True)
class KeptDownloads:
    """A fetcher that downloads each URL of a call once. What two threads download at once is kept once."""

    fetcher: Fetcher
    downloads: dict[str, FetchedFile]

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Returns the file at a URL; raises `MediaError`."""
        found = self.downloads.get(url)
        if found is None:
            found = self.downloads[url] = self.fetcher.fetch(url, timeout)
        return found


class ProgressReporter:
    """Calls a function with the progress of one file, in the thread of its conversion, at most for each hundredth of a
    known total. If the function raises an exception, it is logged, and the function is not called again: the conversion
    goes on.
    """

    def __init__(self, function: Callable[[MediaProgress], object], source: str) -> None:
        self._function: Callable[[MediaProgress], object] | None = function
        self._source = source
        self._step = -1

    def __call__(self, done: float, total: float | None, what: str) -> None:
        """Reports progress; see `MediaContext.progress`."""
        step = int(_STEPS * done / total) if total else self._step + 1
        if self._function is None or step <= self._step:
            return
        self._step = step
        try:
            self._function(MediaProgress(self._source, done, total, what))
        except Exception:
            self._function = None
            _log.exception("the function on_media_progress failed: it is not called for %s again", self._source)


class FileCount:
    """Reports how many of several files are ready, each when it is: `total` of them, in units of "files"."""

    def __init__(self, function: Callable[[MediaProgress], object] | None, total: int) -> None:
        self._function = function if total > 1 else None
        self._total = total
        self._numbers = count(1)

    def after(self, convert: Callable[[], ConvertedFile]) -> ConvertedFile:
        """Returns what `convert` does, and reports its file."""
        file = convert()
        if self._function is not None:
            report = ProgressReporter(self._function, file.decision.source)
            report(next(self._numbers), self._total, "files")
        return file
