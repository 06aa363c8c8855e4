"""`TranscriptionModel`: transcribes recordings by a model of a provider, that of the option `transcription_model`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..ports import TRANSCRIBE, RecordingLimits, Transcription, TranscriptionRules, VoiceSample
from ..schema import AudioPart, CallWarning
from .auxiliary_models import AuxiliaryModel, usage_with_cost

if TYPE_CHECKING:
    from ..registry import Registry
    from .llm import LLM
    from .services import Services

_UNKNOWN_TYPES = frozenset({"audio/wav", "audio/mpeg"})
_UNKNOWN_BYTES = 25_000_000
"""What every known endpoint accepts."""
_TEXT_ONLY = TranscriptionRules()


class TranscriptionModel:
    """Transcribes recordings; callable in any thread. `model` is an LLM, or a name as for `create_llm`."""

    def __init__(self, model: object, services: Services) -> None:
        self._model = AuxiliaryModel(cast("str | LLM", model), services)
        self.name = self._model.name

    def limits(self, language: str | None, speakers: bool) -> RecordingLimits:
        """Returns what the model accepts and reports, as far as it is known; raises the errors of `create_llm`."""
        profile = self._model.llm().profile
        rules, limits = profile.transcription or _TEXT_ONLY, profile.media_limits
        tells_speakers = rules.speakers == "always" or (speakers and rules.speakers is not None)
        return RecordingLimits(
            media_types=profile.accepts or _UNKNOWN_TYPES,
            max_bytes=limits.get("audio_bytes", _UNKNOWN_BYTES),
            max_seconds=limits.get("audio_seconds"),
            has_times=rules.has_times(language, tells_speakers),
            has_speakers=tells_speakers,
            known_speakers=rules.known_speakers,
        )

    def __call__(
        self,
        recording: AudioPart,
        *,
        seconds: float,
        language: str | None,
        terms: Sequence[str],
        words: bool,
        speakers: bool,
        voices: Sequence[VoiceSample],
        timeout: float | None,
        parent_id: str | None,
    ) -> Transcription:
        """Returns what is said; errors are those of `generate`. `seconds` is the length, `timeout` the time for it."""
        arguments = {
            "language": language,
            "terms": terms,
            "words": words,
            "speakers": speakers,
            "voices": voices,
            "seconds": seconds,
        }
        result = self._model.llm().operate(
            TRANSCRIBE, media=[recording], arguments=arguments, timeout=timeout, parent_id=parent_id
        )
        usage = usage_with_cost(result.usage, result.cost)
        found: Transcription = result.value
        return replace(found, usage=usage, warnings=tuple(map(self._named, result.warnings)))

    def _named(self, warning: CallWarning) -> CallWarning:
        """Returns a warning that says that it is of this model, not of the one that is called."""
        return replace(warning, message=f"{self.name}: {warning.message}")


def is_of_provider(model: object, registry: Registry) -> bool:
    """Returns whether a transcription model is one of a provider, such as "openai/whisper-1" or an LLM: neither the
    name of weights on this machine, nor the path of such.

    Raises `UnknownProviderError` for a name that could be one of a provider, with similar names.
    """
    if not isinstance(model, str):
        return True
    provider, slash, rest = model.partition("/")
    if not (provider and slash and rest) or provider.startswith((".", "~")) or "\\" in model or Path(model).exists():
        return False
    registry.provider(provider, rest)
    return True
