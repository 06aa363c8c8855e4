"""Uploads the files of a call that go to the provider's file store, and names them by id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ..ports import ConvertedFile
from ..schema import Blob, Lowered, MediaPart, ModelCall, TextPart
from .conversion import with_files
from .parts import media_parts

if TYPE_CHECKING:
    from .uploads import StoredBlobs

Store: TypeAlias = Callable[[Sequence[Blob]], "Awaitable[StoredBlobs]"]
"""Uploads content to the provider's file store, unless it is there."""


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
