"""Second models that calls need, created when they are first used: for captions of images, and for transcripts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from ..ports import TRANSCRIBE, Caption, RecordingLimits, Transcription, TranscriptionRules, VoiceSample
from ..registry import is_weights
from ..schema import AudioPart, Billing, CallWarning, GenerateResponse, ImagePart, Usage

if TYPE_CHECKING:
    from ..ports import ModelProfile, OperationResult, Runtime
    from ..registry import Registry

_UNKNOWN_TYPES = frozenset({"audio/wav", "audio/mpeg"})
_UNKNOWN_BYTES = 25_000_000
"""What every known endpoint accepts."""
_TEXT_ONLY = TranscriptionRules()


class AuxiliaryLLM(Protocol):
    """What is used of an `LLM` that another one needs."""

    provider: str
    model: str

    @property
    def profile(self) -> ModelProfile: ...

    @property
    def generate(self) -> Callable[..., GenerateResponse[Any]]: ...

    @property
    def operate(self) -> Callable[..., OperationResult[Any]]: ...

    def answered_in(
        self, runtime: Runtime, prompt: str | None, request: Mapping[str, Any]
    ) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns the response to a request in the calls, sync or async, of `runtime`."""
        ...


CreateLLM: TypeAlias = Callable[[str], AuxiliaryLLM]
"""Returns an LLM by its name, as in "openai/gpt-5.4-mini"; raises the errors of `create_llm`."""


class AuxiliaryModel:
    """An LLM that is created when it is first used, in any thread. `model` is an LLM, or a name for `create`."""

    def __init__(self, model: str | AuxiliaryLLM, create: CreateLLM) -> None:
        self._model = model
        self._create = create
        self._locks: dict[int, threading.Lock] = {}

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        model = self._model
        return model if isinstance(model, str) else f"{model.provider}/{model.model}"

    def llm(self) -> AuxiliaryLLM:
        """Returns the LLM; raises the errors of `create_llm`."""
        # By process: a forked one has a copy of the lock, but not of the thread that may hold it.
        with self._locks.setdefault(os.getpid(), threading.Lock()):
            if isinstance(self._model, str):
                self._model = self._create(self._model)
            return self._model


class VisionModel:
    """Captions images by the model of the option `vision_model`, for models that accept none; callable in any thread.

    `model` is an LLM, or a name for `create`.
    """

    def __init__(self, model: str | AuxiliaryLLM, create: CreateLLM) -> None:
        self._model = AuxiliaryModel(model, create)
        self.name = self._model.name

    def __call__(
        self, images: Sequence[ImagePart], question: str, *, timeout: float | None, parent_id: str | None
    ) -> Caption:
        """Returns the model's answer. `timeout` is in seconds; errors are those of `generate`."""
        response = self._model.llm().generate(
            question, media=list(images), media_policy={"image": "native"}, timeout=timeout, parent_id=parent_id
        )
        usage = _usage_with_cost(response.usage, response.cost)
        return Caption(response.content, f"{response.provider}/{response.model}", usage)


class TranscriptionModel:
    """Transcribes recordings by a model of a provider, that of the option `transcription_model`; callable in any
    thread. `model` is an LLM, or a name for `create`.
    """

    def __init__(self, model: object, create: CreateLLM) -> None:
        self._model = AuxiliaryModel(cast("str | AuxiliaryLLM", model), create)
        self.name = self._model.name

    def limits(self, language: str | None, speakers: bool) -> RecordingLimits:
        """Returns the known limits of recordings and transcripts; raises the errors of `create_llm`."""
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
        """Returns the transcript; raises as `generate` does. `seconds` is the length, `timeout` the time for it."""
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
        usage = _usage_with_cost(result.usage, result.cost)
        found: Transcription = result.value
        return replace(found, usage=usage, warnings=tuple(map(self._with_model_name, result.warnings)))

    def _with_model_name(self, warning: CallWarning) -> CallWarning:
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
    if not (provider and slash and rest) or is_weights(model):
        return False
    registry.provider(provider, rest)
    return True


def _usage_with_cost(usage: Usage | None, cost: Decimal | None) -> Usage:
    """Returns the usage of a call of such a model, with its cost, if that is known, as what was billed."""
    usage = usage or Usage()
    return usage if cost is None else replace(usage, billing=replace(usage.billing or Billing(), cost=cost))
