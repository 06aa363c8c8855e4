"""`CallTranscriber`: the backend of `llm.audio` with the models that transcribe files in calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import InvalidInputError
from abstractcore.ports import Made, MediaContext
from abstractcore.schema import CallWarning, MediaPart

from ..common.content import source_of
from .handler import AudioHandler, transcript_warnings
from .speech_models import SpeechModels
from .transcription import transcribe

if TYPE_CHECKING:
    from abstractcore.ports import BackendOwner

_models = SpeechModels()
_OPTION = "transcription_"


class CallTranscriber:
    """Transcribes recordings by the model of the option `transcription_model`, on this machine or at a provider."""

    takes_parts = True
    is_local = True
    """Calls of a provider's model are charged for themselves."""

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner

    def transcribe(
        self,
        audio: MediaPart,
        *,
        language: str | None = None,
        terms: Sequence[str] | None = None,
        words: bool | None = None,
        speakers: bool | int | None = None,
        model: str | None = None,
    ) -> Made:
        """Returns the transcript of a recording; without segments if nobody speaks.

        Raises `MediaError` for a recording that cannot be decoded or has no sound, `InvalidInputError` for invalid
        options, `MissingExtraError` without the extra `audio`, `ModelStoreError` for an unknown model, and the errors
        of a provider.
        """
        given = {
            "language": language,
            "terms": terms,
            "words": words,
            "speakers": None if speakers is None else bool(speakers),
            "model": model,
        }
        options = {f"{_OPTION}{name}": value for name, value in given.items() if value is not None}
        context = MediaContext(
            self._owner.models,
            {**self._owner.config, **options},
            self._owner.spare_cores,
            timeout=self._owner.time_left,
            isolation=self._owner.isolation,
            trace_id=self._owner.trace_id,
            transcriber=self._owner.transcriber(model),
            on_progress=self._owner.progress,
        )
        source = source_of(audio)
        try:
            found = transcribe(audio, context, _models, AudioHandler.max_seconds)
        except InvalidInputError as error:
            raise _of_argument(error, given) from None
        warnings = [_of_calls(each) for each in transcript_warnings(found, source)]
        return Made(found.transcript, warnings=warnings)


def _of_argument(error: InvalidInputError, given: Mapping[str, object]) -> InvalidInputError:
    """Returns an error with the name of the argument, in place of the option of `create_llm`, if it was given."""
    name = error.path.removeprefix(_OPTION)
    if given.get(name) is None:
        return error
    return InvalidInputError(error.message.removeprefix(f"{error.path}: "), path=name, hint=error.hint)


def _of_calls(warning: CallWarning) -> CallWarning:
    """Returns a warning with the argument to set, in place of the option of `create_llm`."""
    if warning.path.startswith(_OPTION):
        return replace(warning, path=warning.path.removeprefix(_OPTION))
    if warning.code != "language_uncertain":
        return warning
    return replace(warning, path="language", message=f"{warning.message.partition(' Set ')[0]} Set language=...")
