"""Texts and files to embed, as items of requests: within the limits of the model, and with its prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

from ..errors import ContextOverflowError, InvalidInputError, UnsupportedContentError, UnsupportedOptionError
from ..ports import EmbeddingRules, ModelProfile
from ..schema import (
    EMBED_PURPOSES,
    MEDIA_PARTS,
    CallWarning,
    EmbedItem,
    EmbedPurpose,
    MediaPart,
    SchemaError,
    TextPart,
    shown,
    text_tokens,
)
from ..schema.json_values import check_text
from ..telemetry.costs import MARGIN

EmbeddingInput: TypeAlias = Any
"""A text; a file: a path (`pathlib.Path`), bytes, a Pillow image, a part; a list of parts, embedded together."""
_QUERIES: Final = frozenset({"code", "question", "fact"})
"""Purposes that are queries of a special kind, for a model that does not know them."""
_UNKNOWN: Final = EmbeddingRules()


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """What is asked of vectors, as the model has it. `prefix` is put before texts, `warnings` say what is not sent."""

    dimensions: int | None = None
    purpose: EmbedPurpose | None = None
    normalize: bool = True
    truncate: bool = False
    prefix: str = ""
    warnings: tuple[CallWarning, ...] = ()

    def of_model(self, profile: ModelProfile, name: str) -> EmbedSettings:
        """Returns the settings for a model; raises `InvalidInputError` and `UnsupportedOptionError`."""
        rules = profile.embedding or _UNKNOWN
        for path in ("normalize", "truncate"):
            if not isinstance(getattr(self, path), bool):
                raise InvalidInputError(f"expected True or False, got {shown(getattr(self, path))}", path=path)
        _check_dimensions(self.dimensions, rules, name)
        if self.purpose is not None and self.purpose not in EMBED_PURPOSES:
            hint = f"Use one of {', '.join(EMBED_PURPOSES)}."
            raise InvalidInputError(f"unknown purpose {shown(self.purpose)}", path="purpose", hint=hint)
        purpose, warnings = self.purpose, ()
        if profile.embedding is not None:
            purpose, warnings = _known_purpose(purpose, rules, name)
        prefix = "" if purpose is None else rules.prefixes.get(purpose, "")
        if prefix and purpose not in rules.purposes:
            purpose = None
        return replace(self, purpose=purpose, prefix=prefix, warnings=warnings)


def _check_dimensions(dimensions: object, rules: EmbeddingRules, name: str) -> None:
    if dimensions is None:
        return
    if not isinstance(dimensions, int) or isinstance(dimensions, bool) or dimensions < 1:
        raise InvalidInputError(f"expected a number of at least 1, got {shown(dimensions)}", path="dimensions")
    if rules.has_dimensions(dimensions):
        return
    if rules.dimension_range is not None:
        known = "from {:,} to {:,}".format(*rules.dimension_range)
    else:
        known = ", ".join(f"{each:,}" for each in rules.dimension_choices or (rules.dimensions,))
    message = f"dimensions: {name} has no vectors of {dimensions:,} numbers"
    raise UnsupportedOptionError(message, hint=f"Its vectors have {known}.")


def _known_purpose(
    purpose: EmbedPurpose | None, rules: EmbeddingRules, name: str
) -> tuple[EmbedPurpose | None, tuple[CallWarning, ...]]:
    """Returns the purpose that a model has for one, and a warning if it is another one. A model without any purpose
    ignores it.
    """
    known = rules.named_purposes
    if purpose is None:
        if rules.requires_purpose:
            hint = f"Pass purpose=... with one of {', '.join(sorted(known))}."
            raise InvalidInputError(f"{name} has to know what the vectors are for", path="purpose", hint=hint)
        return None, ()
    if purpose in known or not known:
        return (purpose if known else None), ()
    nearest: EmbedPurpose | None = "query" if purpose in _QUERIES and "query" in known else None
    if nearest is None and rules.requires_purpose:
        hint = f"Use one of {', '.join(sorted(known))}."
        raise UnsupportedOptionError(f"{name} does not know the purpose {purpose!r}", hint=hint)
    message = f"{name} does not know this purpose of vectors"
    code = "unsupported_option" if nearest is None else "purpose_changed"
    return nearest, (CallWarning(code, "purpose", message, purpose, nearest),)


@dataclass(frozen=True, slots=True)
class EmbedInputReader:
    """Makes items of inputs. `load` returns the part of a file, `name` is that of the model."""

    settings: EmbedSettings
    profile: ModelProfile
    name: str
    load: Callable[[object, str], MediaPart]

    def read(self, inputs: Iterable[EmbeddingInput]) -> list[EmbedItem]:
        """Returns the items; raises errors with the position of an input that is none."""
        return [self._item(each, f"inputs[{index}]") for index, each in enumerate(inputs)]

    def _item(self, given: object, path: str) -> EmbedItem:
        if isinstance(given, TextPart):
            given = given.text
        if isinstance(given, str):
            return self._text(given, path)
        if isinstance(given, list | tuple):
            return self._parts(cast("list[object]", given), path)
        return (self._file(given, path),)

    def _text(self, text: str, path: str) -> str:
        if not text.strip():
            what = "has only white space" if text else "is empty"
            raise InvalidInputError(what, path=path, hint="Leave it out: it has no meaning to compare.")
        try:
            return self.settings.prefix + check_text(text, "")
        except SchemaError as error:
            raise InvalidInputError(error.message, path=path, hint=error.hint) from None

    def _parts(self, parts: list[object], path: str) -> EmbedItem:
        if not parts or all(isinstance(each, int | float) for each in parts):
            raise InvalidInputError(f"expected a text, a file or parts of these, got {shown(parts)}", path=path)
        for index, each in enumerate(parts):
            if isinstance(each, list | tuple):
                raise InvalidInputError(f"expected a text or a file, got {shown(each)}", path=f"{path}[{index}]")  # pyright: ignore[reportUnknownArgumentType]
        items = [self._item(each, f"{path}[{index}]") for index, each in enumerate(parts)]
        return tuple(part for item in items for part in ((TextPart(item),) if isinstance(item, str) else item))

    def _file(self, given: object, path: str) -> MediaPart:
        if given is None or isinstance(given, int | float | Mapping):
            raise InvalidInputError(f"expected a text or a file, got {type(cast(object, given)).__name__}", path=path)
        part = given if isinstance(given, MEDIA_PARTS) else self.load(given, path)
        is_known = self.profile.known or self.profile.embedding is not None
        if is_known and not self.profile.supports(part.type, part.blob.media_type):
            accepted = ", ".join(["texts", *sorted(self.profile.accepts)])
            raise UnsupportedContentError(
                f"{path}: {self.name} embeds {accepted}, and this is {part.blob.media_type}.",
                hint="Use a multimodal embedding model, or embed the text of the file.",
            )
        return part


@dataclass(frozen=True, slots=True)
class SizedItems:
    """Items with about how many tokens each has, and the positions of those that were cut."""

    items: list[EmbedItem]
    tokens: list[int]
    truncated: frozenset[int] = frozenset()


def within_limits(items: list[EmbedItem], settings: EmbedSettings, profile: ModelProfile, name: str) -> SizedItems:
    """Returns items that are not longer than the model takes, as far as an estimate of their tokens can tell.

    Raises `ContextOverflowError` with the position of one that is certainly longer; with `truncate`, it is cut here
    unless the provider does that.
    """
    rules = profile.embedding or _UNKNOWN
    if rules.item_tokens is None and rules.request_tokens is None:
        return SizedItems(items, [0] * len(items))
    tokens = [text_tokens(each) if isinstance(each, str) else 0 for each in items]
    limit = rules.item_tokens
    if limit is None:
        return SizedItems(items, tokens)
    if not settings.truncate:
        longest = next((index for index, count in enumerate(tokens) if count > limit * MARGIN), None)
        if longest is not None:
            raise too_long(f"inputs[{longest}]", tokens[longest], limit, name)
        return SizedItems(items, tokens)
    over = frozenset(index for index, count in enumerate(tokens) if count > limit)
    if rules.truncates:
        return SizedItems(items, [min(count, limit) for count in tokens], over)
    cut = [cut_to(cast(str, each), limit) if index in over else each for index, each in enumerate(items)]
    return SizedItems(cut, [min(count, limit) for count in tokens], over)


def too_long(path: str, tokens: int, limit: int, name: str) -> ContextOverflowError:
    """Returns the error for a text that is longer than the model takes."""
    error = ContextOverflowError(
        f"{path}: the text has about {tokens:,} tokens, and {name} takes {limit:,}.",
        hint="Split it, or pass truncate=True to embed only its beginning.",
    )
    error.prompt_tokens, error.context_tokens = tokens, limit
    return error


def cut_to(text: str, tokens: int) -> str:
    """Returns the longest beginning of a text with about so many tokens, or a little less."""
    low, high = 0, len(text)
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        if text_tokens(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle
    return text[: low or 1]
