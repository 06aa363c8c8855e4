"""`RecognitionOptions`: the options of `create_llm` for transcripts, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from abstractcore.errors import InvalidInputError

DEFAULT_MODEL = "whisper-base"
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_]\w+(?:-\w+)*+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecognitionOptions:
    """How speech is recognised. `language` is a code such as "fr"; None if it is to be detected."""

    model: str = DEFAULT_MODEL
    language: str | None = None
    terms: tuple[str, ...] = ()
    words: bool = False
    speakers: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any], transcriber: str | None = None) -> RecognitionOptions:
        """Returns the options whose names begin with `transcription_`; raises `InvalidInputError` for invalid ones.

        `transcriber` is the name of a model elsewhere.
        """
        model = transcriber or options.get("transcription_model", DEFAULT_MODEL)
        if not isinstance(model, str):
            raise InvalidInputError(f"expected a model name, got {model!r}", path="transcription_model")
        return cls(
            model,
            _language(options.get("transcription_language")),
            _terms(options.get("transcription_terms", ())),
            _flag(options, "transcription_words"),
            _flag(options, "transcription_speakers"),
        )


def _flag(options: Mapping[str, Any], name: str) -> bool:
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise InvalidInputError(f"expected True or False, got {value!r}", path=name)
    return value


def _language(value: object) -> str | None:
    if value is None:
        return None
    found = _LANGUAGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidInputError(
            f"expected a language code, got {value!r}", path="transcription_language", hint='For example: "en", "fr".'
        )
    return found[1].lower()


def _terms(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in items):
        raise InvalidInputError(
            f"expected a list of texts, got {value!r}", path="transcription_terms", hint='For example: ["Kubernetes"].'
        )
    return tuple(cast("list[str]", items))
