"""Stable Audio: `/v2beta/audio/stable-audio-2/text-to-audio`, a multipart form whose answer is the sound.

Source: https://platform.stability.ai/docs/api-reference#tag/Text-to-Audio. It makes no vocals.
"""

from __future__ import annotations

from typing import Any

from abstractcore import ProviderError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    Step,
    TaskRequest,
    error_body,
    error_of,
    form_request,
    from_base64,
    json_object,
    metadata_of,
)
from abstractcore.schema import WireResponse

from ..requests import MusicRequest, TrackedMusicOptions

_SHORTEST, _LONGEST = 1.0, 190.0


class StableAudio:
    """The format."""

    def encode(self, request: MusicRequest, base_url: str) -> TaskRequest:
        """Returns the request."""
        asked = TrackedMusicOptions(request, "Stable Audio")
        asked.get("instrumental")
        given = {
            "prompt": asked.prompt("mood", "key", "tempo", "meter"),
            "model": request.model,
            "duration": asked.seconds(_SHORTEST, _LONGEST),
            "seed": asked.get("seed"),
            "steps": asked.get("steps"),
            "cfg_scale": asked.get("guidance"),
            "output_format": asked.format(("wav", "mp3")),
        }
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        url = f"{base_url}/v2beta/audio/stable-audio-2/text-to-audio"
        return TaskRequest(form_request(url, fields | asked.extra(), accept="audio/*"), asked.warnings())

    def read(self, request: MusicRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the sound, or why it is blocked."""
        content, seed, reason = response.body, response.headers.get("seed"), response.headers.get("finish-reason")
        if response.headers.get("content-type", "").startswith("application/json"):
            body = json_object(response)
            seed, reason = body.get("seed"), body.get("finish_reason")
            content = b"" if reason == "CONTENT_FILTERED" else from_base64(body.get("audio"), "audio")
        if reason == "CONTENT_FILTERED":
            return FinishedJob((), ("the sound was blocked by the content filter",))
        seed = int(seed) if isinstance(seed, str) and seed.isdecimal() else seed
        return FinishedJob((MadeFile(content),), metadata=metadata_of(seed=seed))

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response; its code is its `name`."""
        return error_of(response, error_body(response).get("name"))

    def events(self, request: MusicRequest) -> None:
        """Returns None: answers are whole."""
