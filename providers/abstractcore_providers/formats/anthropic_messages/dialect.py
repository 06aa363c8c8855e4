"""Differences between servers and models of this format, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessagesDialect:
    """One vendor's variant of the format.

    `provider` is the key of `provider_options`, and the provider whose reasoning, files and opaque parts are sent back.
    `max_tokens`, which the format requires, is the default for calls without a limit. `version` is the header
    `anthropic-version`, empty for none: see `DOCUMENTS_END`. With `system_in_place`, system messages may be in the
    middle of a conversation.

    `off` is the type of thinking that disables it, and `off_effort` the highest effort beside it, empty for any. With
    `display`, the text of thinking has to be asked for; with `thinks_by_default`, the model thinks unless told not to;
    with `block_binding`, thinking that is sent back is refused if the conversation before it has changed.
    `computer_tool` is the type of the hosted tool `computer_use`. With `raw_predict`, requests are those of Vertex AI:
    the model is in the path, and the version in the body.
    """

    provider: str = "anthropic"
    max_tokens: int = 4096
    version: str = ""
    system_in_place: bool = False
    off: str = "disabled"
    off_effort: str = ""
    display: bool = False
    thinks_by_default: bool = False
    block_binding: bool = False
    computer_tool: str = "computer_toolset_20260801"
    raw_predict: bool = False

    @property
    def headers(self) -> Mapping[str, str]:
        """The header fields of every request."""
        return {"anthropic-version": self.version} if self.version and not self.raw_predict else {}

    @property
    def assistant_documents(self) -> bool:
        """Whether an assistant message may contain a document."""
        return self.version < DOCUMENTS_END


DOCUMENTS_END = "2026-10-21"
"""The version from which a document in an assistant message is refused
(https://platform.claude.com/docs/en/api/migration-2026-10-21).
"""
