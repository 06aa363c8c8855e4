"""ElevenLabs Music: `/v1/music`, which answers with the sound.

Source: https://elevenlabs.io/docs/api-reference/music/compose and the package elevenlabs 2.78.0. Lyrics are a plan of
sections for the model `music_v1`, and of chunks for later ones; only a plan takes a seed, only a prompt is made
instrumental.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from abstractcore import ContentFilterError, ProviderError, QuotaError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    Step,
    TaskRequest,
    error_body,
    error_of,
    json_request,
    mapping_of,
    metadata_of,
)
from abstractcore.schema import WireResponse, response_message

from ..requests import MusicRequest, TrackedMusicOptions

_FORMATS = {"mp3": "mp3_44100_128", "opus": "opus_48000_128"}
_SHORTEST, _LONGEST, _LONGEST_PART = 3.0, 600.0, 120.0
_SECONDS_A_LINE = 4.0
_MOST_LINES, _LONGEST_LINE = 30, 200
_HEADING = re.compile(r"^\[([^\]\n]{1,100})\]$")
_BAD_TEXTS = {"bad_prompt": "prompt_suggestion", "bad_composition_plan": "composition_plan_suggestion"}
"""Codes of texts that are not allowed, and where the vendor suggests others."""


class ElevenLabsMusic:
    """The format."""

    def encode(self, request: MusicRequest, base_url: str) -> TaskRequest:
        """Returns the request."""
        asked = TrackedMusicOptions(request, "ElevenLabs Music")
        body: dict[str, Any] = {"model_id": request.model}
        prompt = asked.prompt("mood", "key", "tempo", "meter")
        lyrics = asked.get("lyrics")
        if lyrics is None:
            body["prompt"] = prompt
            if (seconds := asked.seconds(_SHORTEST, _LONGEST)) is not None:
                body["music_length_ms"] = round(seconds * 1000)
            if asked.get("instrumental"):
                body["force_instrumental"] = True
        else:
            body["composition_plan"] = _plan(asked, prompt, lyrics, request.model)
            if (seed := asked.get("seed")) is not None:
                body["seed"] = seed
        format = asked.format(("mp3", "opus"))
        query = f"?output_format={_FORMATS[format]}" if format else ""
        return TaskRequest(json_request(f"{base_url}/v1/music{query}", body | asked.extra()), asked.warnings())

    def read(self, request: MusicRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the sound, which is the body."""
        return FinishedJob((MadeFile(response.body),), metadata=metadata_of(id=response.headers.get("song-id")))

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response; its code is the status in `detail`."""
        said = mapping_of(error_body(response).get("detail"))
        code = str(said.get("status") or said.get("code") or "") or None
        message = response_message(response)
        if code in _BAD_TEXTS:
            suggestion = mapping_of(said.get("data")).get(_BAD_TEXTS[code])
            hint = f"The vendor suggests: {suggestion}" if isinstance(suggestion, str) else "Change the text."
            return ContentFilterError(message, status=response.status, code=code, hint=hint)
        if code in ("quota_exceeded", "paid_plan_required", "insufficient_credits"):
            return QuotaError(message, status=response.status, code=code)
        return error_of(response, code)

    def events(self, request: MusicRequest) -> None:
        """Returns None: answers are whole."""


def _plan(asked: TrackedMusicOptions, prompt: str, lyrics: str, model: str) -> dict[str, Any]:
    """Returns the plan of lyrics, whose parts last as long as their lines need."""
    parts = _parts(lyrics)
    lines = [max(len(part), 1) for _, part in parts]
    total = asked.seconds(_SHORTEST * len(parts), min(_LONGEST, _LONGEST_PART * len(parts)))
    total = _SECONDS_A_LINE * sum(lines) if total is None else total
    lengths = [round(1000 * min(max(total * count / sum(lines), _SHORTEST), _LONGEST_PART)) for count in lines]
    styles, unwanted = [prompt], [text] if (text := asked.get("negative_prompt")) else []
    if model == "music_v1":
        sections = [
            {
                "section_name": name,
                "positive_local_styles": [],
                "negative_local_styles": [],
                "duration_ms": length,
                "lines": part,
            }
            for (name, part), length in zip(parts, lengths, strict=True)
        ]
        return {"positive_global_styles": styles, "negative_global_styles": unwanted, "sections": sections}
    chunks = [
        {
            "text": "\n".join((f"[{name}]", *part)),
            "duration_ms": length,
            "positive_styles": styles,
            "negative_styles": unwanted,
        }
        for (name, part), length in zip(parts, lengths, strict=True)
    ]
    return {"chunks": chunks}


def _parts(lyrics: str) -> list[tuple[str, list[str]]]:
    """Returns the parts of lyrics with their names: lines below `[Name]`, or between empty lines."""
    parts: list[tuple[str, list[str]]] = []
    is_open = False
    for line in map(str.strip, lyrics.splitlines()):
        heading = _HEADING.match(line)
        if heading is not None:
            parts.append((heading[1], []))
            is_open = True
        elif not line:
            is_open = is_open and not parts[-1][1]
        else:
            for piece in textwrap.wrap(line, _LONGEST_LINE):
                if not is_open or len(parts[-1][1]) == _MOST_LINES:
                    parts.append((f"Part {len(parts) + 1}", []))
                    is_open = True
                parts[-1][1].append(piece)
    return parts
