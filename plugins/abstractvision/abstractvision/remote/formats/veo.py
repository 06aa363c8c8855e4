"""Veo: `models/{model}:predictLongRunning`, an operation that is asked for until it is done.

Source: https://ai.google.dev/gemini-api/docs/video, and the types of google-genai 3.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from abstractcore import ProviderError, ServerError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    PendingJob,
    Step,
    TaskRequest,
    from_base64,
    get_request,
    job_failed,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import WireResponse

from ..encoding import base64_of
from ..requests import PictureRequest, TrackedPictureOptions
from ..sizes import nearest_ratio
from .google_errors import google_error

_RATIOS = ("16:9", "9:16")
_PAUSE_SECONDS = 5.0


class Veo:
    """The format. An operation cannot be cancelled."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request that starts the operation."""
        asked = TrackedPictureOptions(request, "Veo")
        instance: dict[str, Any] = {"prompt": request.prompt} if request.prompt else {}
        if request.images:
            image = request.images[0]
            instance["image"] = {"bytesBase64Encoded": base64_of(image), "mimeType": image.media_type}
        parameters: dict[str, Any] = {}
        if (ratio := nearest_ratio(asked, _RATIOS)) is not None:
            parameters["aspectRatio"] = ratio
        if (seconds := asked.get("seconds")) is not None:
            parameters["durationSeconds"] = round(seconds)
            if round(seconds) != seconds:
                asked.warn("seconds", "whole seconds are sent", sent=round(seconds))
        for name, field in (("negative_prompt", "negativePrompt"), ("seed", "seed"), ("count", "sampleCount")):
            if (value := asked.get(name)) is not None:
                parameters[field] = value
        body = {"instances": [instance], "parameters": parameters | asked.extra()}
        url = f"{base_url}/models/{request.model}:predictLongRunning"
        return TaskRequest(json_request(url, body), asked.warnings(), starts_job=True)

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the step that the state of the operation describes."""
        body = json_object(response)
        if body.get("done"):
            return _finished(body)
        name = text_of(body.get("name"), "name of an operation")
        poll = get_request(f"{base_url}/{name}")
        read = partial(self.read, request, base_url=base_url)
        return PendingJob(name, poll, read, state="the video is made", pause_seconds=_PAUSE_SECONDS)

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer."""
        return google_error(response)

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""


def _finished(body: dict[str, Any]) -> FinishedJob:
    if failure := mapping_of(body.get("error")):
        raise job_failed(failure.get("message"), str(failure.get("code") or "") or None)
    result = mapping_of(mapping_of(body.get("response")).get("generateVideoResponse"))
    files: list[MadeFile] = []
    for sample in map(mapping_of, list_of(result.get("generatedSamples"))):
        video = mapping_of(sample.get("video"))
        media_type = video.get("encoding") or "video/mp4"
        if video.get("encodedVideo"):
            files.append(MadeFile(from_base64(video["encodedVideo"], "encodedVideo"), media_type=media_type))
        elif video.get("uri"):
            files.append(MadeFile(url=str(video["uri"]), media_type=media_type, needs_key=True))
    blocked = [str(reason) for reason in list_of(result.get("raiMediaFilteredReasons"))]
    count = result.get("raiMediaFilteredCount")
    if isinstance(count, int) and count > len(blocked):
        blocked += ["filtered without a reason"] * (count - len(blocked))
    if not files and not blocked:
        raise ServerError("the operation is done without a video")
    return FinishedJob(tuple(files), tuple(blocked), metadata=metadata_of(operation=body.get("name")))
