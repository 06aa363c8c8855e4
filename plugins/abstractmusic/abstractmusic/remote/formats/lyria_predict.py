"""Lyria 2 of Vertex AI: `publishers/google/models/{model}:predict`.

Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/lyria-music-generation. A piece has 30
seconds, no vocals, and is a WAV file; a seed cannot be sent together with a number of pieces.
"""

from __future__ import annotations

from typing import Any

from abstractcore import ProviderError, ServerError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    Step,
    TaskRequest,
    from_base64,
    json_object,
    json_request,
    list_of,
    mapping_of,
)
from abstractcore.schema import WireResponse

from ..requests import MusicRequest, TrackedMusicOptions
from .google_errors import google_error

_SECONDS = 30.0


class LyriaPredict:
    """The format."""

    def encode(self, request: MusicRequest, base_url: str) -> TaskRequest:
        """Returns the request."""
        asked = TrackedMusicOptions(request, "Lyria 2")
        asked.get("instrumental")
        instance: dict[str, Any] = {"prompt": asked.prompt("mood", "key", "tempo", "meter")}
        if (unwanted := asked.get("negative_prompt")) is not None:
            instance["negative_prompt"] = unwanted
        asked.seconds(_SECONDS, _SECONDS)
        asked.format(("wav",))
        parameters: dict[str, Any] = {}
        if (seed := asked.get("seed")) is not None:
            instance["seed"] = seed
        elif (count := asked.get("count")) is not None:
            parameters["sample_count"] = count
        body = {"instances": [instance], "parameters": parameters | asked.extra()}
        url = f"{base_url}/publishers/google/models/{request.model}:predict"
        return TaskRequest(json_request(url, body), asked.warnings())

    def read(self, request: MusicRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the pieces."""
        files: list[MadeFile] = []
        for index, item in enumerate(map(mapping_of, list_of(json_object(response).get("predictions")))):
            name = "audioContent" if "audioContent" in item else "bytesBase64Encoded"
            if item.get(name):
                content = from_base64(item[name], f"predictions[{index}].{name}")
                files.append(MadeFile(content, media_type=item.get("mimeType")))
        if not files:
            raise ServerError("the answer has no sound: expected predictions[].audioContent")
        return FinishedJob(tuple(files))

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer."""
        return google_error(response)

    def events(self, request: MusicRequest) -> None:
        """Returns None: answers are whole."""
