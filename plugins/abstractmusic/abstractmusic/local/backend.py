"""`MusicgenBackend`: music of MusicGen on this machine."""

from __future__ import annotations

from typing import Any

from abstractcore import CapabilityUnavailableError, InvalidInputError, UnsupportedOptionError
from abstractcore.ports import BackendOwner, Made

from ..playing import AUDIO_TYPES, encoded
from ..remote.requests import MusicRequest, TrackedMusicOptions, music_options
from .models import MusicgenModel

_USUAL_SECONDS = 10.0
_SHORTEST, _LONGEST = 0.5, 30.0
"""Models are trained on pieces of 30 seconds."""
_PEAK = 0.97


class MusicgenBackend:
    """Makes music by MusicGen, without vocals. `music_model` is a folder, or a name on the Hugging Face hub;
    `music_device` and `music_dtype` are names of torch.
    """

    is_local = True

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner
        self._models: dict[str, MusicgenModel] = {}

    def t2m(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns music of a prompt; `options` are those of `MusicOptions`, and `extra` settings of `generate`.

        Raises `CapabilityUnavailableError` without a model, `MissingExtraError` without the libraries, and
        `ModelStoreError` for a model that cannot be loaded.
        """
        if not prompt.strip():
            raise InvalidInputError("expected a text", path="prompt")
        duration = options.pop("duration", None)
        if options.get("seconds") is None and duration is not None:
            options["seconds"] = duration
        source = self._source(model)
        request = MusicRequest(source, prompt, music_options(options))
        asked = TrackedMusicOptions(request, "MusicGen")
        text = asked.prompt("mood", "key", "tempo", "meter")
        seconds = asked.seconds(_SHORTEST, _LONGEST) or _USUAL_SECONDS
        seed, format = asked.get("seed"), asked.get("format") or "wav"
        asked.get("instrumental")
        settings = {"guidance_scale": guidance} if (guidance := asked.get("guidance")) is not None else {}
        settings |= asked.extra()
        warnings = asked.warnings()
        if warnings and self._owner.strict:
            raise UnsupportedOptionError(warnings[0].message, hint="Leave it out, or choose another backend.")
        samples, rate = self._model(source).samples(text, seconds, seed, settings, self._report)
        content = encoded(_stereo(samples, round(seconds * rate)), rate, format)
        metadata = {} if seed is None else {"seed": seed}
        return Made.of(
            content, AUDIO_TYPES[format], model=f"transformers/{source}", warnings=warnings, metadata=metadata
        )

    def _source(self, model: str | None) -> str:
        source = model or self._owner.config.get("music_model")
        if isinstance(source, str) and source:
            return source
        hint = "Set music_model='folder or name on the hub' in create_llm, such as 'facebook/musicgen-small'."
        raise CapabilityUnavailableError("MusicGen has no default model", hint=hint)

    def _model(self, source: str) -> MusicgenModel:
        config = self._owner.config
        if source not in self._models:
            self._models.clear()  # one model at a time: they are large
            self._models[source] = MusicgenModel(
                source, config.get("music_device"), config.get("music_dtype"), self._owner.spare_cores
            )
        return self._models[source]

    def _report(self, done: int, total: int) -> None:
        """Reports a step; raises `RequestTimeoutError` past the time limit."""
        self._owner.progress(done, total, "steps")
        _ = self._owner.time_left


def _stereo(samples: Any, length: int) -> Any:
    """Returns samples of two channels, cut to `length`, and less loud if they would be clipped."""
    import numpy as np

    both = np.broadcast_to(samples, (2, samples.shape[1])) if samples.shape[0] == 1 else samples[:2]
    largest = float(np.abs(both).max(initial=0.0))
    gain = _PEAK / largest if largest > _PEAK else 1.0
    return (both[:, :length] * gain).astype(np.float32)
