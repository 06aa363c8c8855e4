"""Vendors of the published formats: each refuses fields that its format lacks, and answers as its documents show.

ElevenLabs: https://elevenlabs.io/docs/api-reference/music/compose. Stability AI:
https://platform.stability.ai/docs/api-reference#tag/Text-to-Audio. Lyria 3: the types of google-genai, and
https://ai.google.dev/gemini-api/docs/music-generation. Lyria 2:
https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/lyria-music-generation. ACE-Step:
https://github.com/ace-step/ACE-Step-1.5/blob/main/docs/en/API.md.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

import numpy as np

from abstractmusic.playing import encoded
from tests.plugins.vendor_server import Answer, Request, VendorServer

KEY = "key-of-a-vendor-1234567890"
TASK = "550e8400-e29b-41d4-a716-446655440000"
ACE_STEP_FIELDS = {
    "prompt", "lyrics", "thinking", "vocal_language", "audio_format", "model", "bpm", "key_scale", "time_signature",
    "audio_duration", "inference_steps", "guidance_scale", "use_random_seed", "seed", "batch_size",
}  # fmt: skip


@cache
def tone(format: str = "mp3") -> bytes:
    """Half a second of a tone."""
    wave = np.sin(np.arange(22_050) * 0.06).astype(np.float32) * 0.5
    return encoded(np.stack([wave, wave]), 44_100, format)


def only(body: dict[str, Any], allowed: Iterable[str], required: Iterable[str] = ()) -> None:
    """Fails for a field that the format lacks, and without one that it needs."""
    unknown, missing = set(body) - set(allowed), set(required) - set(body)
    assert not unknown, f"unknown fields {unknown}"
    assert not missing, f"missing fields {missing}"


def elevenlabs(vendor: VendorServer, *answers: Any) -> None:
    """ElevenLabs' compose: a prompt, or a plan of the model's kind."""
    vendor.key = ("xi-api-key", KEY)

    def compose(request: Request) -> Any:
        body = request.json
        only(body, {"model_id", "prompt", "composition_plan", "music_length_ms", "seed", "force_instrumental"})
        assert ("prompt" in body) != ("composition_plan" in body)
        if "prompt" in body:
            assert "seed" not in body
            assert 3000 <= body.get("music_length_ms", 3000) <= 600_000
        else:
            assert not {"music_length_ms", "force_instrumental"} & set(body)
            _check_plan(body["composition_plan"], body["model_id"])
        query = parse_qs(request.query)
        only(query, {"output_format"})
        format = query.get("output_format", ["mp3_48000_192"])[0].partition("_")[0]
        return Answer(200, tone(format), {"content-type": "audio/mpeg", "song-id": "song-1"})

    vendor.on("POST", "/v1/music", *(answers or (compose,)))


def _check_plan(plan: dict[str, Any], model: str) -> None:
    if model == "music_v1":
        only(plan, {"positive_global_styles", "negative_global_styles", "sections"}, {"sections"})
        for section in plan["sections"]:
            fields = {"section_name", "positive_local_styles", "negative_local_styles", "duration_ms", "lines"}
            only(section, fields, fields)
            assert 1 <= len(section["section_name"]) <= 100
            _check_part(section["lines"], section["duration_ms"])
        return
    only(plan, {"chunks"}, {"chunks"})
    for chunk in plan["chunks"]:
        only(chunk, {"text", "duration_ms", "positive_styles", "negative_styles"}, {"text", "duration_ms"})
        _check_part(chunk["text"].splitlines()[1:], chunk["duration_ms"])


def _check_part(lines: list[str], milliseconds: int) -> None:
    assert 3000 <= milliseconds <= 120_000
    assert len(lines) <= 30
    assert all(len(line) <= 200 for line in lines)


def stable_audio(vendor: VendorServer, *answers: Any) -> None:
    """Stability AI's text to audio."""
    vendor.key = ("authorization", f"Bearer {KEY}")

    def make(request: Request) -> Any:
        fields = {"prompt", "model", "duration", "seed", "steps", "cfg_scale", "output_format"}
        only(request.form, fields, {"prompt"})
        assert 1 <= float(request.form.get("duration", 190)) <= 190
        assert request.form.get("output_format", "mp3") in ("mp3", "wav")
        assert request.headers["accept"] == "audio/*"
        format = request.form.get("output_format", "mp3")
        return Answer(200, tone(format), {"content-type": "audio/mpeg", "seed": "4242", "finish-reason": "SUCCESS"})

    vendor.on("POST", "/v2beta/audio/stable-audio-2/text-to-audio", *(answers or (make,)))


def interaction(**fields: Any) -> dict[str, Any]:
    """A completed interaction with a sound and its lyrics."""
    from google.genai.interactions import Interaction

    audio = {"type": "audio", "data": base64.b64encode(tone()).decode(), "mime_type": "audio/mp3"}
    content = [audio, {"type": "text", "text": "[Verse]\nRain"}]
    usage = {"total_input_tokens": 9, "total_output_tokens": 800, "total_tokens": 809}
    made: dict[str, Any] = {
        "id": "interactions/i-1", "status": "completed", "model": "lyria-3.5", "usage": usage,
        "steps": [{"type": "model_output", "content": content}], **fields,
    }  # fmt: skip
    Interaction.model_validate(made)
    return made


def lyria(vendor: VendorServer, *answers: Any) -> None:
    """Gemini's interactions, with a model of music."""
    vendor.key = ("x-goog-api-key", KEY)

    def create(request: Request) -> Any:
        only(request.json, {"model", "input", "store", "response_format", "generation_config"}, {"model", "input"})
        assert isinstance(request.json["input"], str)
        return interaction(model=request.json["model"])

    vendor.on("POST", "/v1beta/interactions", *(answers or (create,)))


def lyria_vertex(vendor: VendorServer, *answers: Any) -> None:
    """Vertex AI's predict."""
    vendor.key = ("authorization", f"Bearer {KEY}")

    def predict(request: Request) -> Any:
        only(request.json, {"instances", "parameters"}, {"instances"})
        (instance,) = request.json["instances"]
        only(instance, {"prompt", "negative_prompt", "seed"}, {"prompt"})
        only(request.json["parameters"], {"sample_count"})
        assert "seed" not in instance or "sample_count" not in request.json["parameters"]
        piece = {"audioContent": base64.b64encode(tone("wav")).decode(), "mimeType": "audio/wav"}
        count = request.json["parameters"].get("sample_count", 1)
        return {"predictions": [piece] * count, "deployedModelId": "1", "modelDisplayName": "Lyria 2"}

    vendor.on("POST", "/publishers/google/models/lyria-002:predict", *(answers or (predict,)))


def wrapped(data: Any, **fields: Any) -> dict[str, Any]:
    """The form of all answers of ACE-Step's server."""
    return {"data": data, "code": 200, "error": None, "timestamp": 1_700_000_000_000, "extra": None, **fields}


def task_state(status: int, *results: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question about the task."""
    return wrapped([{"task_id": TASK, "status": status, "result": json.dumps(results)}])


def ace_step_result(format: str = "wav") -> dict[str, Any]:
    """What a task made."""
    metas = {"bpm": 120, "duration": 30, "genres": "", "keyscale": "C Major", "timesignature": "4"}
    return {
        "file": f"/v1/audio?path=%2Ftmp%2F{format}", "wave": "", "status": 1, "create_time": 1_700_000_000,
        "env": "development", "prompt": "x", "lyrics": "Rain", "metas": metas, "seed_value": "12345",
        "lm_model": "acestep-5Hz-lm-0.6B", "dit_model": "acestep-v15-turbo", "progress": 1.0, "stage": "succeeded",
    }  # fmt: skip


def ace_step(vendor: VendorServer, *states: Any) -> None:
    """ACE-Step's API server."""
    vendor.key = ("authorization", f"Bearer {KEY}")
    formats: list[str] = []

    def release(request: Request) -> Any:
        body = request.json
        only(body, ACE_STEP_FIELDS, {"prompt"})
        assert 10 <= body.get("audio_duration", 10) <= 600
        assert body.get("time_signature", "4") in ("2", "3", "4", "6")
        assert isinstance(body.get("bpm", 30), int)
        formats.append(body.get("audio_format", "mp3"))
        return wrapped({"task_id": TASK, "status": "queued", "queue_position": 1})

    def query(request: Request) -> Any:
        assert request.json == {"task_id_list": [TASK]}
        if len(vendor.sent("POST", "/query_result")) == 1:
            return task_state(0, {"file": "", "status": 0, "progress": 0.25, "stage": "running"})
        return task_state(1, ace_step_result(formats[-1]))

    def audio(request: Request) -> Any:
        path = parse_qs(request.query)["path"][0]
        return Answer(200, tone(path.rpartition("/")[2]), {"content-type": "audio/mpeg"})

    vendor.on("POST", "/release_task", release)
    vendor.on("POST", "/query_result", *(states or (query,)))
    vendor.on("GET", "/v1/audio", audio)


def length_of(content: bytes) -> float:
    """The seconds of a sound."""
    av: Any = import_module("av")
    with av.open(io.BytesIO(content)) as container:
        stream = container.streams.audio[0]
        return sum(frame.samples for frame in container.decode(stream)) / stream.rate
