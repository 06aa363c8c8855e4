"""Executes the decisions for the files of a call, and changes them until what they have made keeps the limits of the
request; then files for the provider's store are uploaded.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..concurrency.time_limits import remaining
from ..errors import MediaError
from ..ports import CallContext, ConversionKey, ConvertedFile, MediaContext, MediaHandler, ModelProfile, total_usage
from ..schema import (
    Blob,
    CallWarning,
    ContentPart,
    Encoded,
    Lowered,
    MediaDecision,
    MediaPart,
    ModelCall,
    TextPart,
)
from ..schema.base_error import install_hint
from ..schema.blobs import ChangedFileError
from .cached_conversions import NestedFiles, kept_conversion
from .contents import MadeFiles, conversion_tokens, made_content
from .conversion import (
    EARLIER,
    IN_RESULT,
    FileCount,
    FileTask,
    KeptDownloads,
    ProgressReporter,
    conversion_context,
    converted_file,
)
from .facts import FileFacts
from .parts import media_parts, message_index, turn_start, with_parts

if TYPE_CHECKING:
    from .uploads import StoredBlobs

T = TypeVar("T")
Store: TypeAlias = Callable[[Sequence[Blob]], "Awaitable[StoredBlobs]"]
"""Uploads content to the provider's file store, unless it is there."""


async def execute_within_limits(
    lowered: Lowered,
    lower_again: Callable[[MadeFiles], Lowered],
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    media: MediaContext,
    artifact: Callable[[str], bytes],
    file_facts: FileFacts,
    context: CallContext,
    store: Store,
) -> Lowered:
    """Returns the call with every decision executed, as `execute_decisions` does, and all files within the limits of
    the request. Then `store` uploads those that go to the provider's file store.

    How many images and how much text a conversion makes, and how large a file is that is downloaded, is known only
    afterwards. `lower_again` then changes the decisions by the rules that planned them, and those that were changed
    are executed again, until none is. It ends, since each change leaves a file less.
    """
    usages: dict[str, dict[int, ConvertedFile]] = {}
    has_limits = profile.media_limits or profile.media_tokens
    while True:
        executed = await execute_decisions(lowered, handlers, media, artifact, context)
        for decision in executed.lowered.decisions:
            if decision.usage is not None:
                file = executed.files[decision.part_path]
                usages.setdefault(decision.part_path, {})[id(file)] = file
        failures = {path: file.failure for path, file in executed.files.items() if file.failure is not None}
        if not failures and not (has_limits and _sizes_changed(lowered, executed)):
            break
        made = MadeFiles(lowered.decisions, await _contents(lowered, executed, profile, file_facts, context), failures)
        again = lower_again(made)
        if again.decisions == lowered.decisions:
            break
        lowered = again
    stored = await with_stored_files(executed.lowered, lowered.call, executed.files, store)
    return _with_usage(stored, usages)


def _sizes_changed(lowered: Lowered, executed: ExecutedCall) -> bool:
    """Returns whether anything was made whose size was not known when it was planned."""
    for decision in lowered.decisions:
        parts = executed.files[decision.part_path].parts
        if decision.route == "fallback" or decision.fetch == "us" or (parts is not None and len(parts) > 1):
            return True
    return False


async def _contents(
    lowered: Lowered, executed: ExecutedCall, profile: ModelProfile, file_facts: FileFacts, context: CallContext
):
    """Returns the result of each file, measured as far as the limits need it."""
    given = dict(media_parts(lowered.call))
    by_path: Mapping[str, Sequence[ContentPart]] = {
        path: (given[path],) if file.parts is None else file.parts for path, file in executed.files.items()
    }
    measured: list[MediaPart] = [
        part
        for path, parts in by_path.items()
        if len(parts) > 1 or given[path].blob.form == "url"
        for part in parts
        if not isinstance(part, TextPart)
    ]
    facts = await file_facts.of_parts(measured, profile, context.runtime)
    return {path: made_content(parts, facts, profile) for path, parts in by_path.items()}


def _with_usage(lowered: Lowered, usages: Mapping[str, Mapping[int, ConvertedFile]]) -> Lowered:
    """Returns the call whose decisions have the usage of all conversions of their file, also of those not sent."""
    decisions = tuple(
        replace(each, usage=total_usage(file.decision.usage for file in usages[each.part_path].values()))
        if each.part_path in usages
        else each
        for each in lowered.decisions
    )
    return replace(lowered, decisions=decisions)


async def with_stored_files(
    executed: Lowered, call: ModelCall, files: Mapping[str, ConvertedFile], store: Store
) -> Lowered:
    """Returns an executed call with files named by id that its decisions store. `call` is the one before, and `files`
    what each decision has made of its file, by path.
    """
    given = dict(media_parts(call))
    chosen = [each.part_path for each in executed.decisions if each.stored]
    if not chosen:
        return executed
    stored = await store([blob for path in chosen for blob in _blobs(files[path], given[path])])
    named = {path: _at_provider(files[path], given[path], stored) for path in chosen}
    decisions = tuple(
        replace(each, stored=named[each.part_path].decision.stored) if each.part_path in named else each
        for each in executed.decisions
    )
    return replace(executed, call=with_files(call, {**files, **named}), decisions=decisions)


def _blobs(file: ConvertedFile, part: MediaPart) -> list[Blob]:
    """Returns the content that is sent of a file, with its bytes or its path."""
    parts = (part,) if file.parts is None else file.parts
    return [each.blob for each in parts if not isinstance(each, TextPart) and each.blob.form in ("bytes", "file")]


def _at_provider(file: ConvertedFile, part: MediaPart, stored: StoredBlobs) -> ConvertedFile:
    """Returns a file whose parts name what the provider has stored."""
    parts = (part,) if file.parts is None else file.parts
    replaced = tuple(
        replace(each, blob=stored[each.blob].blob) if not isinstance(each, TextPart) and each.blob in stored else each
        for each in parts
    )
    ways = {stored[blob].how for blob in _blobs(file, part)}
    how = "uploaded" if "uploaded" in ways else "reused" if ways else None
    return replace(file, parts=replaced, decision=replace(file.decision, stored=how))


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """A call whose decisions were executed, and what each of them has made of its file, by path."""

    lowered: Lowered
    files: Mapping[str, ConvertedFile]


async def execute_decisions(
    lowered: Lowered,
    handlers: Sequence[MediaHandler],
    media: MediaContext,
    artifact: Callable[[str], bytes],
    context: CallContext,
) -> ExecutedCall:
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

    missing = [key for key in dict.fromkeys(keys) if key not in converted]
    count = FileCount(context.on_media_progress, len(missing))

    def thunk(part: MediaPart, form: str, decision: MediaDecision, question: str):
        handler = named.get(decision.handler or "")
        asked = replace(media, question=question)
        if context.on_media_progress is not None:
            asked = replace(asked, on_progress=ProgressReporter(context.on_media_progress, decision.source))
        task = FileTask(decision, part, handler, asked, handlers, context.trace_id)
        convert = partial(converted_file, task, artifact, runtime.now)
        return lambda: runtime.call(partial(count.after, convert), kind="files")

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
    return ExecutedCall(replace(lowered, call=call, decisions=tuple(decisions), warnings=tuple(warnings)), files)


def encoded_with_files(encode: Callable[[T], Encoded], given: T) -> Encoded:
    """Returns the request of a call or another input, whose files are read for it; raises `MediaError` for one that has
    changed or is gone since it was checked.
    """
    try:
        return encode(given)
    except ChangedFileError as error:
        raise MediaError(f"a file of the call cannot be read: {error.message}.") from error
    except OSError as error:
        source = os.path.basename(os.fsdecode(error.filename or ""))
        raise MediaError(f"{source or 'a file'} cannot be read: {error.strerror or error}.", source=source) from error


def with_files(call: ModelCall, files: Mapping[str, ConvertedFile]) -> ModelCall:
    """Returns the call with what was made of its files, by path."""
    parts = dict(media_parts(call))
    made = ((path, file.parts) for path, file in files.items())
    return with_parts(call, {path: _with_cache_point(new, parts[path]) for path, new in made if new is not None})


def _key(part: MediaPart, decision: MediaDecision, call: ModelCall, turn: int) -> ConversionKey:
    plain = part if part.cache is None else replace(part, cache=None)
    question = "" if decision.route == "native" else _question(decision.part_path, call)
    place = IN_RESULT if ".content[" in decision.part_path else ""
    if decision.text_because is not None and message_index(decision.part_path) < turn:
        place = EARLIER
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
            asked = replace(conversion_context(decision, media), question=_question(decision.part_path, lowered.call))
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
