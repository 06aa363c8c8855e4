"""Executes the decisions for files: checks or converts each file, and replaces it by the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from ..concurrency.deadlines import remaining
from ..errors import (
    AbstractCoreError,
    CorruptFileError,
    EncryptedFileError,
    MediaError,
    MissingExtraError,
    ModelStoreError,
    WrongPasswordError,
)
from ..ports import (
    CallContext,
    ConversionKey,
    ConvertedFile,
    FitsMedia,
    Fitted,
    HasExcerpts,
    MediaContext,
    MediaHandler,
)
from ..schema import (
    Blob,
    CallWarning,
    ContentPart,
    Encoded,
    Lowered,
    MediaDecision,
    MediaLoss,
    MediaPart,
    MediaSent,
    ModelCall,
    Part,
    SchemaError,
    TextPart,
    ToolResult,
)
from ..schema.blobs import ChangedFileError
from ..schema.install_hints import install_hint
from .cached_conversions import convert, fit, kept_conversion
from .contents import conversion_tokens
from .downloads import KeptDownloads
from .fitted_images import fitted_images
from .nested_files import NestedFiles
from .parts import is_cut, media_parts, message_index, turn_start
from .progress import ProgressReporter
from .routes import lossy_native
from .untrusted_content import as_untrusted, sent_parts

_MOST_SENT_BYTES = 256 << 20
"""No provider accepts a larger file in a request."""
_IN_RESULT, _EARLIER = "result", "earlier"
"""The path of all files of tools' results, and of those of earlier turns that are text since there are more, in what
decides a conversion."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A call whose decisions were executed, and what each of them has made of its file, by path."""

    lowered: Lowered
    files: Mapping[str, ConvertedFile]


async def execute_decisions(
    lowered: Lowered,
    handlers: Sequence[MediaHandler],
    media: MediaContext,
    artifact: Callable[[str], bytes],
    context: CallContext,
) -> Executed:
    """Returns the call with every decision executed: files sent natively are checked, the others converted.

    What is in `context.converted` is not executed again, and what is executed is added there. `artifact` gives the
    content that has a hash. Raises `MediaError`, `ArtifactError` or `MissingExtraError`; nothing has been sent by then.
    A file of a tool's result that cannot be read is replaced by a note, with a warning: the loop goes on. A file of an
    earlier turn that has no text, and need not be text, is not replaced: `ConvertedFile.failure` says why.
    """
    fetcher = None if media.fetcher is None else KeptDownloads(media.fetcher, context.downloads)
    media = replace(media, fetcher=fetcher, timeout=remaining(context), trace_id=context.trace_id)
    media = replace(media, to_text=NestedFiles(handlers, lowered.call.media_policy, media))
    parts = dict(media_parts(lowered.call))
    named = {handler.name: handler for handler in handlers}
    runtime, converted = context.runtime, context.converted
    turn = turn_start(lowered.call, context.added_messages)
    keys = [_key(parts[decision.part_path], decision, lowered.call, turn) for decision in lowered.decisions]

    def thunk(part: MediaPart, form: str, decision: MediaDecision, question: str):
        handler = named.get(decision.handler or "")
        handle = _HANDLES.get(decision.part_path, _handle)
        asked = replace(media, question=question)
        if context.on_media_progress is not None:
            asked = replace(asked, on_progress=ProgressReporter(context.on_media_progress, decision.source))
        given = Handled(decision, part, handler, asked, handlers, context.trace_id)
        return lambda: runtime.call(partial(handle, given, artifact, runtime.now), kind="files")

    missing = [key for key in dict.fromkeys(keys) if key not in converted]
    converted.update(zip(missing, await runtime.gather(*(thunk(*key) for key in missing)), strict=True))
    decisions: list[MediaDecision] = []
    warnings = [*lowered.warnings]
    charged: set[ConversionKey] = set()
    for decision, key in zip(lowered.decisions, keys, strict=True):
        path, file = decision.part_path, converted[key]
        is_charged = file.trace_id == context.trace_id and key not in charged
        charged.add(key)
        usage = file.decision.usage if is_charged else None
        tokens = file.decision.tokens if decision.tokens is None else decision.tokens
        decisions.append(replace(file.decision, part_path=path, usage=usage, facts=decision.facts, tokens=tokens))
        warnings += (replace(warning, path=path) for warning in file.warnings)
    paths = (decision.part_path for decision in lowered.decisions)
    files = {path: converted[key] for path, key in zip(paths, keys, strict=True)}
    call = with_files(lowered.call, files)
    return Executed(replace(lowered, call=call, decisions=tuple(decisions), warnings=tuple(warnings)), files)


def encoded_with_files(encode: Callable[[ModelCall], Encoded], call: ModelCall) -> Encoded:
    """Returns the request of a call, whose files are read for it; raises `MediaError` for one that has changed or is
    gone since it was checked.
    """
    try:
        return encode(call)
    except ChangedFileError as error:
        raise MediaError(f"a file of the call cannot be read: {error.message}.") from error
    except OSError as error:
        source = os.path.basename(os.fsdecode(error.filename or ""))
        raise MediaError(f"{source or 'a file'} cannot be read: {error.strerror or error}.", source=source) from error


def with_files(call: ModelCall, files: Mapping[str, ConvertedFile]) -> ModelCall:
    """Returns the call with what was made of its files, by path."""
    parts = dict(media_parts(call))
    made = ((path, file.parts) for path, file in files.items())
    return _with_parts(call, {path: _with_cache_point(new, parts[path]) for path, new in made if new is not None})


def _key(part: MediaPart, decision: MediaDecision, call: ModelCall, turn: int) -> ConversionKey:
    plain = part if part.cache is None else replace(part, cache=None)
    question = "" if decision.route == "native" else _question(decision.part_path, call)
    place = _IN_RESULT if ".content[" in decision.part_path else ""
    if decision.text_because is not None and message_index(decision.part_path) < turn:
        place = _EARLIER
    return plain, part.blob.form, replace(decision, part_path=place, facts=None, tokens=None), question


def _question(part_path: str, call: ModelCall) -> str:
    """Returns the text of the user's message that a file is in; of a tool's result, that of the last one before it."""
    messages = (
        message for message in reversed(call.messages[: message_index(part_path) + 1]) if message.role == "user"
    )
    return next((message.text for message in messages), "")


def _with_cache_point(parts: tuple[ContentPart, ...], file: MediaPart) -> tuple[ContentPart, ...]:
    """Returns the parts that replace `file`, the last one with the cache point of the file."""
    return parts if file.cache is None else (*parts[:-1], replace(parts[-1], cache=file.cache))


@dataclass(frozen=True, slots=True)
class Handled:
    """A file, the decision for it, and what its handler needs."""

    decision: MediaDecision
    part: MediaPart
    handler: MediaHandler | None
    context: MediaContext
    handlers: Sequence[MediaHandler]
    trace_id: str


def _handle_of_result(given: Handled, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    """Returns a file of a tool's result as `_handle` does; a note, if it cannot be read."""
    try:
        return _handle(given, artifact, now)
    except (MediaError, MissingExtraError) as error:
        note = TextPart(f"[a file that cannot be shown here: {error.message}]")
        noted = replace(given.decision, sent=sent_parts((note,), (note,)), lost=(MediaLoss("files", 1, 1),))
        warning = CallWarning("result_file_left_out", "", error.message)
        return ConvertedFile(given.trace_id, noted, (note,), (warning,))


def _handle_earlier(given: Handled, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    """Returns a file of an earlier turn as `_handle` does; why there is no text of it, if there is none."""
    try:
        return _handle(given, artifact, now)
    except (MediaError, MissingExtraError, ModelStoreError) as error:
        return ConvertedFile(given.trace_id, given.decision, failure=error.message.rstrip("."))


def _handle(given: Handled, artifact: Callable[[str], bytes], now: Callable[[], float]) -> ConvertedFile:
    decision, handler = given.decision, given.handler
    if decision.route == "left_out":
        return _left_out(given)
    part = _at_hand(given.part, decision, given.context, artifact)
    try:
        if decision.route == "native":
            part, pages = _excerpt(part, handler, given.context)
            _check_size(part, decision)
            if handler is None or part.blob.form not in ("bytes", "file"):
                executed = replace(decision, sent=MediaSent(decision.type, part.blob.size))
                return ConvertedFile(given.trace_id, executed, (part,) if part is not given.part else None)
            handler.check(part)
            fitted = _fitted(given, part, handler)
            return _with_pages(fitted, pages) if pages else fitted
        if handler is None:
            raise MediaError(f"no media handler reads {decision.type}", source=decision.source)
        began = now()
        try:
            converted = _converted(given, part, handler)
        except (MissingExtraError, MediaError) as error:
            if not decision.native_loss or isinstance(error, EncryptedFileError | WrongPasswordError):
                raise
            return _unconverted(decision, part, error, given.trace_id)
        return replace(converted, decision=replace(converted.decision, seconds=now() - began))
    except (SchemaError, OSError) as error:
        raise MediaError(f"{decision.source} cannot be read: {error}", source=decision.source) from error


_HANDLES = {_IN_RESULT: _handle_of_result, _EARLIER: _handle_earlier}


def _left_out(given: Handled) -> ConvertedFile:
    """Returns a note instead of a file of an earlier turn."""
    decision = given.decision
    content = (TextPart("This file of an earlier message is left out here, since there is no more room for it."),)
    parts = as_untrusted(decision.source, "left out", content)
    noted = replace(decision, sent=sent_parts(parts, content), lost=(MediaLoss("files", 1, 1),))
    warning = CallWarning("file_left_out", "", f"{decision.source}: {decision.reason}", decision.type)
    return ConvertedFile(given.trace_id, noted, parts, (warning,))


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


def _fitted(given: Handled, part: MediaPart, handler: MediaHandler) -> ConvertedFile:
    """Returns a file that is sent natively, within the limits of the model if its handler keeps them.

    A file that is damaged, or cannot be read without a package that is missing, is sent as it is, unless it may be too
    large: decoders of providers may differ.
    """
    decision, fitted, warnings = given.decision, Fitted((part,)), ()
    if isinstance(handler, FitsMedia):
        try:
            fitted = fit(handler, part, decision.fit, given.context)
        except (MissingExtraError, CorruptFileError) as error:
            if (part.blob.size or 0) > decision.fit.get("image_bytes", part.blob.size or 0):
                raise
            message = f"{decision.source} is sent as it is, with its metadata: {error.message}"
            warnings = (CallWarning("image_unchecked", "", message),)
    parts = None if fitted.parts == (given.part,) and given.part is part else fitted.parts
    sent = sent_parts(fitted.parts, fitted.parts)
    return ConvertedFile(given.trace_id, replace(decision, sent=sent, lost=fitted.lost), parts, warnings)


def _excerpt(part: MediaPart, handler: MediaHandler | None, context: MediaContext) -> tuple[MediaPart, tuple[int, ...]]:
    """Returns what the controls of a file name, and the numbers of its pages, if its handler cuts it."""
    if not isinstance(handler, HasExcerpts) or not is_cut(part, handler) or part.blob.form not in ("bytes", "file"):
        return part, ()
    excerpt = handler.excerpt(part, context)
    return excerpt.part, tuple(excerpt.pages)


def _with_pages(file: ConvertedFile, pages: tuple[int, ...]) -> ConvertedFile:
    assert file.decision.sent is not None
    return replace(file, decision=replace(file.decision, sent=replace(file.decision.sent, page_numbers=pages)))


def _converted(given: Handled, part: MediaPart, handler: MediaHandler) -> ConvertedFile:
    decision = given.decision
    conversion = convert(handler, part, _asked(decision, given.context))
    content, lost = fitted_images(conversion.parts, decision.fit, given.handlers, given.context)
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
    return ConvertedFile(given.trace_id, executed, parts, warnings)


def _asked(decision: MediaDecision, context: MediaContext) -> MediaContext:
    """Returns the context of the conversion that was decided."""
    fallbacks = tuple(filter(None, (decision.fallback, *decision.alternatives)))
    outputs, most = frozenset(decision.outputs), decision.fit.get("images")
    return replace(context, fallbacks=fallbacks, accepted_outputs=outputs, max_images=most)


def as_planned(lowered: Lowered, handlers: Sequence[MediaHandler], media: MediaContext) -> Lowered:
    """Returns a plan with the tokens of files that were converted to text before, and a warning for each file whose
    conversion needs a package that is not installed; may block.
    """
    parts, named = dict(media_parts(lowered.call)), {handler.name: handler for handler in handlers}
    media = replace(media, to_text=NestedFiles(handlers, lowered.call.media_policy, media))
    decisions: list[MediaDecision] = []
    warnings = [*lowered.warnings]
    for decision in lowered.decisions:
        handler = named.get(decision.handler or "")
        if decision.route in ("inline", "fallback") and handler is not None:
            warnings += _missing_packages(decision, handler)
        if decision.route in ("inline", "fallback") and decision.tokens is None and handler is not None:
            asked = replace(_asked(decision, media), question=_question(decision.part_path, lowered.call))
            kept = kept_conversion(handler, parts[decision.part_path], asked)
            decision = decision if kept is None else replace(decision, tokens=conversion_tokens(kept))
        decisions.append(decision)
    return replace(lowered, decisions=tuple(decisions), warnings=tuple(warnings))


def _missing_packages(decision: MediaDecision, handler: MediaHandler) -> list[CallWarning]:
    needed = [each.packages for each in handler.fallbacks if each.name == decision.fallback]
    missing = [package for packages in needed for package, module in packages.items() if not _is_installed(module)]
    if not missing:
        return []
    message = (
        f"{decision.source} cannot be converted before these packages are installed: {', '.join(missing)}. "
        f"{install_hint(*missing)}"
    )
    return [CallWarning("missing_package", decision.part_path, message)]


def _is_installed(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # `sys.modules` has None for it
        return False


def _unconverted(decision: MediaDecision, part: MediaPart, error: AbstractCoreError, trace_id: str) -> ConvertedFile:
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
    if blob.form == "artifact":
        return replace(part, blob=Blob.from_bytes(artifact(blob.sha256 or ""), blob.media_type, name=blob.name))
    if blob.form != "url" or decision.fetch != "us":
        return part
    if context.fetcher is None:
        hint = "Download it, and pass the path of the file."
        raise MediaError(
            f"{decision.source} is a URL, and nothing is downloaded here.", source=decision.source, hint=hint
        )
    file = context.fetcher.fetch(blob.location or "", context.timeout)
    fetched = Blob.from_bytes(file.data, blob.media_type, name=blob.name or file.name)
    return replace(part, blob=fetched, controls=replace(controls, fetch=None) if controls is not None else None)


def _with_parts(call: ModelCall, replaced: Mapping[str, tuple[Part, ...]]) -> ModelCall:
    if not replaced:
        return call
    messages = (
        replace(message, parts=_replaced(message.parts, f"messages[{i}].parts", replaced))
        for i, message in enumerate(call.messages)
    )
    return call.with_(messages=tuple(messages))


def _replaced(parts: Sequence[Part], path: str, replaced: Mapping[str, tuple[Part, ...]]) -> tuple[Part, ...]:
    """Returns the parts with replacements; a text that ends a file's content is followed by an empty line."""
    result: list[Part] = []
    for index, part in enumerate(parts):
        part_path = f"{path}[{index}]"
        new = replaced.get(part_path, (part,))
        if isinstance(part, ToolResult):
            content = _replaced(part.content, f"{part_path}.content", replaced)
            new = (replace(part, content=cast("tuple[ContentPart, ...]", content)),)
        elif part_path in replaced and isinstance(last := new[-1], TextPart) and index + 1 < len(parts):
            new = (*new[:-1], replace(last, text=last.text + "\n"))
        result += new
    return tuple(result)
