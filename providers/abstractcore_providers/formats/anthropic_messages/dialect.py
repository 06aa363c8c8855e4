"""Differences between servers and models of this format, as data.

Vertex AI's variant of a request: `POST .../publishers/anthropic/models/MODEL:rawPredict`. Beta features, named in a
header: those that a request's fields need, and those of the option `betas`.

Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude, and
`anthropic.AnthropicVertex`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, unquote

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning

from ...common.reading import Object, as_object, as_objects
from ...common.thinking import BINDING_BETA


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


VERSION = "anthropic_version"
"""The field with the version, which is a header elsewhere."""
_FIRST = {"2023-06-01": "vertex-2023-10-16"}
"""The name that the first version has here."""
COUNT_PATH = "/publishers/anthropic/models/count-tokens:rawPredict"
_PATH = re.compile(r"[^?#]*/publishers/anthropic/models/([^/?#:]+):(?:stream)?[rR]awPredict")


def path_of(model: str, *, stream: bool) -> str:
    """Returns the path for a model."""
    return f"/publishers/anthropic/models/{quote(model, safe='@')}:{'streamRawPredict' if stream else 'rawPredict'}"


def model_in(url: str) -> str | None:
    """Returns the model that a URL names."""
    found = _PATH.match(url)
    return unquote(found[1]) if found else None


def with_version(body: Object, version: str) -> Object:
    """Returns the body with the version first, unless there is none."""
    return {VERSION: _FIRST.get(version, version), **body} if version else body


_HEADER = "anthropic-beta"
_OF_TOOLS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
"""Betas that tools of these types need."""


def betas_to_theirs(asked: Any, body: Object, path: str, warnings: list[CallWarning]) -> dict[str, str]:
    """Returns the header for a request; empty if no beta is needed. Raises `InvalidInputError` for invalid names."""
    names = _needed(body)
    for index, name in enumerate(_listed(asked, path)):
        if (
            not isinstance(name, str)
            or not name.isascii()
            or not name.isprintable()
            or not name
            or set(name) & {",", " "}
        ):
            raise InvalidInputError("expected the name of a beta", path=f"{path}[{index}]")
        if name in names:
            warnings.append(CallWarning("beta_left_out", f"{path}[{index}]", "it is already listed", name))
        else:
            names.append(name)
    return {_HEADER: ",".join(names)} if names else {}


def betas_to_ours(headers: Mapping[str, str], body: Object) -> list[str]:
    """Returns the betas of a request beyond those that its fields need."""
    needed = _needed(body)
    value = next((value for name, value in headers.items() if name.lower() == _HEADER), "")
    return [name for name in map(str.strip, value.split(",")) if name and name not in needed]


def _needed(body: Object) -> list[str]:
    types = dict.fromkeys(str(tool.get("type")) for tool in as_objects(body.get("tools")))
    needed = [_OF_TOOLS[type_] for type_ in types if type_ in _OF_TOOLS]
    return [*needed, BINDING_BETA] if "block_binding" in as_object(body.get("thinking")) else needed


def _listed(asked: Any, path: str) -> Sequence[Any]:
    if asked is None:
        return ()
    if not isinstance(asked, list) or not asked:
        raise InvalidInputError("expected a list of names", path=path)
    return cast("Sequence[Any]", asked)
