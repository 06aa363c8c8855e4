"""`RemoteMusic`: the backend of a remote model of music."""

from __future__ import annotations

from typing import Any

from abstractcore import AudioPart, CallWarning, InvalidInputError, UnsupportedOptionError
from abstractcore.mediajobs import Jobs, Vendor, blocked_error
from abstractcore.ports import BackendOwner, Made

from ..playing import AUDIO_TYPES, transcoded
from .requests import MusicRequest, music_options
from .sounds import audio_of
from .vendors import format_named, vendors

_TASK = "t2m"


class RemoteMusic:
    """Asks one vendor for music. Its options are `music_model`, `music_api_key` and `music_base_url`."""

    def __init__(self, owner: BackendOwner, vendor: Vendor) -> None:
        self._owner = owner
        self._vendor = vendor

    async def t2m(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns music of a prompt; `options` are those of `MusicOptions`, and `duration`, another name of `seconds`.

        Raises `InvalidInputError`, `UnknownOptionError`, `AuthenticationError` without a key, `ContentFilterError` for
        content that is blocked, with what is not, `RequestTimeoutError`, and other errors of the vendor.
        """
        if not prompt.strip():
            raise InvalidInputError("expected a text", path="prompt")
        duration = options.pop("duration", None)
        if options.get("seconds") is None and duration is not None:
            options["seconds"] = duration
        config, vendor = self._owner.config, self._vendor
        base_url = vendor.address(config)
        format = format_named(vendor.format)
        request = MusicRequest(
            vendor.model_for(_TASK, model or config.get("music_model")), prompt, music_options(options)
        )
        encoded = format.encode(request, base_url)
        if encoded.warnings and self._owner.strict:
            raise UnsupportedOptionError(encoded.warnings[0].message, hint="Leave it out, or choose another backend.")
        credentials = vendor.credentials(config, self._owner.environment)
        jobs = Jobs(self._owner, format, base_url, credentials, audio_of)
        finished = await jobs.finished(request, encoded)
        parts = [await self._converted(await jobs.downloaded(file), request.options.format) for file in finished.files]
        if finished.blocked:
            raise blocked_error(finished, parts, vendor.name, request.model)
        warnings = [*encoded.warnings, *_count_warning(request, len(parts))]
        reported = vendor.reported(finished.model or request.model)
        return Made(parts, reported, finished.usage, warnings, {**finished.metadata, "vendor": vendor.name})

    async def _converted(self, part: AudioPart, format: str | None) -> AudioPart:
        """Returns a sound in the format that was asked for."""
        if format is None or AUDIO_TYPES[format] == part.blob.media_type:
            return part
        return await self._owner.runtime.call(lambda: transcoded(part, format))


def remote_music(owner: BackendOwner, name: str) -> RemoteMusic:
    """Returns the backend of a vendor."""
    return RemoteMusic(owner, vendors()[name])


def _count_warning(request: MusicRequest, count: int) -> list[CallWarning]:
    asked = request.options.count
    if asked is None or asked == count:
        return []
    message = f"{asked} pieces were asked for, and {count} made"
    return [CallWarning("fewer_files" if count < asked else "more_files", "count", message, asked, count)]
