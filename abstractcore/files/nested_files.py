"""Files inside of files, such as the pictures of a document: converted to text by their own handlers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import MediaError
from ..ports import Conversion, MediaContext, MediaHandler
from ..ports.conversions import no_progress
from ..schema import MediaKind, MediaPart
from .parts import handler_for, source_name
from .policies import allowed_fallbacks

_TEXT = frozenset({"text"})
_DEPTH = 3
"""Files in files in files are converted, and no further ones."""


@dataclass(frozen=True, slots=True)
class NestedFiles:
    """Converts a file inside of a file to text, by the policy for its kind; callable, it blocks."""

    handlers: Sequence[MediaHandler]
    policies: Mapping[MediaKind, str]
    context: MediaContext
    depth: int = 1

    def __call__(self, part: MediaPart) -> Conversion:
        """Returns the text of a file.

        Raises `MediaError` if the policy refuses it, no fallback is usable, or it is nested too deeply.
        """
        from .cached_conversions import convert

        source = source_name(part.blob)
        handler, kind = handler_for(part, self.handlers)
        policy = self.policies.get(kind, "auto")
        if policy == "refuse":
            raise MediaError(f"the policy for {kind} is 'refuse'", source=source)
        if self.depth > _DEPTH:
            raise MediaError(f"{source} is nested in more than {_DEPTH} files", source=source)
        fallbacks = [
            each
            for each in allowed_fallbacks(handler, policy)
            if "text" in each.outputs and (each.needs is None or each.needs in self.context.options)
        ]
        if handler is None or not fallbacks:
            raise MediaError(f"nothing converts {part.blob.media_type} to text", source=source)
        inner = replace(
            self.context,
            fallbacks=tuple(each.name for each in fallbacks),
            accepted_outputs=_TEXT,
            to_text=replace(self, depth=self.depth + 1),
            on_progress=no_progress,
        )
        return convert(handler, part, inner)
