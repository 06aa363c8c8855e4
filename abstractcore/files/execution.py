"""Executes the decisions for files, and changes them until what they have made keeps the limits of the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..ports import CallContext, ConvertedFile, MediaContext, MediaHandler, ModelProfile, total_usage
from ..schema import ContentPart, Lowered, MediaPart, TextPart
from .contents import MadeFiles, made_content
from .conversion import Executed, execute_decisions
from .measuring import FileFacts
from .parts import media_parts
from .stored_media import Store, with_stored_files


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
    while True:
        executed = await execute_decisions(lowered, handlers, media, artifact, context)
        for decision in executed.lowered.decisions:
            if decision.usage is not None:
                file = executed.files[decision.part_path]
                usages.setdefault(decision.part_path, {})[id(file)] = file
        failures = {path: file.failure for path, file in executed.files.items() if file.failure is not None}
        if not failures and not (_has_limits(profile) and _sizes_changed(lowered, executed)):
            break
        made = MadeFiles(lowered.decisions, await _contents(lowered, executed, profile, file_facts, context), failures)
        again = lower_again(made)
        if again.decisions == lowered.decisions:
            break
        lowered = again
    stored = await with_stored_files(executed.lowered, lowered.call, executed.files, store)
    return _charged(stored, usages)


def _has_limits(profile: ModelProfile) -> bool:
    return bool(profile.media_limits or profile.media_tokens)


def _sizes_changed(lowered: Lowered, executed: Executed) -> bool:
    """Returns whether anything was made whose size was not known when it was planned."""
    for decision in lowered.decisions:
        parts = executed.files[decision.part_path].parts
        if decision.route == "fallback" or decision.fetch == "us" or (parts is not None and len(parts) > 1):
            return True
    return False


async def _contents(
    lowered: Lowered, executed: Executed, profile: ModelProfile, file_facts: FileFacts, context: CallContext
):
    """Returns what each file has become, measured as far as the limits need it."""
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


def _charged(lowered: Lowered, usages: Mapping[str, Mapping[int, ConvertedFile]]) -> Lowered:
    """Returns the call whose decisions have the usage of all conversions of their file, also of those not sent."""
    decisions = tuple(
        replace(each, usage=total_usage(file.decision.usage for file in usages[each.part_path].values()))
        if each.part_path in usages
        else each
        for each in lowered.decisions
    )
    return replace(lowered, decisions=decisions)
