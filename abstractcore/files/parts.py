"""The files of a call: where they are, which are of earlier turns, what they are called, and who handles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ..ports import HasExcerpts, MediaHandler, ModelProfile
from ..schema import (
    MEDIA_PART_BY_KIND,
    MEDIA_PARTS,
    Blob,
    ContentPart,
    MediaKind,
    MediaPart,
    ModelCall,
    Part,
    TextPart,
    ToolResult,
)
from ..schema.base_error import shown_address, shown_file_name


def turn_start(call: ModelCall, added: int = 0) -> int:
    """Returns the index of the message that begins the current turn: the last one of the user, or the first of several
    that follow each other. The last `added` messages, such as corrections, were added since, and begin none.
    """
    index = len(call.messages) - added - 1
    while index > 0 and call.messages[index].role != "user":
        index -= 1
    while index > 0 and call.messages[index - 1].role == "user":
        index -= 1
    return max(0, index)


def message_index(part_path: str) -> int:
    """Returns the index of the message that a file is in."""
    return int(part_path.removeprefix("messages[").partition("]")[0])


def media_parts(call: ModelCall) -> list[tuple[str, MediaPart]]:
    """Returns the files of a call, in messages and tool results, each with its path."""
    found: list[tuple[str, MediaPart]] = []
    for i, message in enumerate(call.messages):
        for j, part in enumerate(message.parts):
            if isinstance(part, MEDIA_PARTS):
                found.append((f"messages[{i}].parts[{j}]", part))
            elif isinstance(part, ToolResult):
                found += [
                    (f"messages[{i}].parts[{j}].content[{k}]", content)
                    for k, content in enumerate(part.content)
                    if isinstance(content, MEDIA_PARTS)
                ]
    return found


def sizes_decide(call: ModelCall, profile: ModelProfile) -> bool:
    """Whether the sizes of a call's files may decide how they are sent."""
    return bool((profile.media_limits or profile.media_tokens) and media_parts(call))


def is_cut(part: MediaPart, handler: MediaHandler | None) -> bool:
    """Returns whether the handler of a file that is sent natively cuts it, as its controls say."""
    names = part.controls.names if part.controls is not None else ()
    return isinstance(handler, HasExcerpts) and any(name in handler.excerpt_controls for name in names)


def can_be_read(part: MediaPart) -> bool:
    """Whether a file can be converted here: one at a provider cannot, nor one that only the provider can download."""
    if part.blob.form == "url":
        by_vendor = part.controls is not None and part.controls.fetch == "vendor"
        return not by_vendor and (part.blob.location or "").lower().startswith(("http://", "https://"))
    return part.blob.form != "provider_file"


def handler_for(part: MediaPart, handlers: Sequence[MediaHandler]) -> tuple[MediaHandler | None, MediaKind]:
    """Returns the first handler for files of this type and parts of this class, and the kind that it reports."""
    blob = part.blob
    for handler in handlers:
        found = handler.recognise(b"", blob.name or "", blob.media_type)
        if found is not None and MEDIA_PART_BY_KIND[found.kind] is type(part):
            return handler, found.kind
    return None, cast(MediaKind, part.type)


def source_name(blob: Blob) -> str:
    """Returns the name of a file in reports and for the model."""
    if blob.name and (name := shown_file_name(blob.name)):
        return name
    if blob.form == "url" and blob.location:
        return shown_address(blob.location)
    return f"{blob.media_type.split('/')[0]} of {blob.size} bytes" if blob.size is not None else blob.media_type


def with_content(part: MediaPart, artifact: Callable[[str], bytes]) -> MediaPart:
    """Returns a file with its bytes, if it is an artifact: `artifact` gives the content that has a hash."""
    blob = part.blob
    if blob.form != "artifact":
        return part
    return replace(part, blob=Blob.from_bytes(artifact(blob.sha256 or ""), blob.media_type, name=blob.name))


def with_parts(call: ModelCall, replaced: Mapping[str, tuple[Part, ...]]) -> ModelCall:
    """Returns the call with other parts in place of those at these paths."""
    if not replaced:
        return call
    messages = (
        replace(message, parts=_replace_parts(message.parts, f"messages[{i}].parts", replaced))
        for i, message in enumerate(call.messages)
    )
    return call.with_(messages=tuple(messages))


def _replace_parts(parts: Sequence[Part], path: str, replaced: Mapping[str, tuple[Part, ...]]) -> tuple[Part, ...]:
    """Returns the parts with replacements; a text that ends a file's content is followed by an empty line."""
    result: list[Part] = []
    for index, part in enumerate(parts):
        part_path = f"{path}[{index}]"
        new = replaced.get(part_path, (part,))
        if isinstance(part, ToolResult):
            content = _replace_parts(part.content, f"{part_path}.content", replaced)
            new = (replace(part, content=cast("tuple[ContentPart, ...]", content)),)
        elif part_path in replaced and isinstance(last := new[-1], TextPart) and index + 1 < len(parts):
            new = (*new[:-1], replace(last, text=last.text + "\n"))
        result += new
    return tuple(result)
