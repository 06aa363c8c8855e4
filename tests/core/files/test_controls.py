"""Controls of files in requests: in the words of the model, and a warning for what it has no field for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from google.genai import types

from abstractcore import File, Services, create_llm
from abstractcore.schema import Blob, ImagePart, VideoPart, WireRequest
from abstractcore_providers.formats.gemini import Gemini
from abstractcore_providers.formats.openai_responses import OpenAIResponses

PICTURE = Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png")
CLIP = Blob.from_url("gs://b/a.mp4", "video/mp4")


@pytest.fixture
def services():
    services = Services(environment={})
    yield services
    services.close()


def planned(services: Services, model: str, file: File) -> tuple[Any, list[tuple[str, Any]]]:
    """The file of a request to `model`, and its warnings about controls."""
    llm = create_llm(model, api_key="k", services=services)
    lowered = llm._pipelines.lower(llm.build("hi", media=[file]))  # pyright: ignore[reportPrivateUsage]
    warnings = [(each.path, each.sent) for each in lowered.warnings if each.code == "control_not_followed"]
    return lowered.call.messages[0].parts[0], warnings


AT = "messages[0].parts[0]"


@pytest.mark.parametrize(
    ("model", "file", "detail", "resolution", "warned"),
    [
        ("openai/gpt-5.4", File(PICTURE, detail="original"), "original", None, []),
        ("openai/gpt-5.4-mini", File(PICTURE, detail="original"), "high", None, [(f"{AT}.detail", "high")]),
        ("openai/gpt-4o", File(PICTURE, resolution="low"), "low", None, []),
        ("openai/gpt-4o", File(PICTURE, resolution="medium"), None, None, [(f"{AT}.controls.resolution", None)]),
        ("openai/gpt-4o", File(PICTURE, detail="high", resolution="low"), "high", None, []),
        ("google/gemini-3.8-flash", File(PICTURE, detail="low"), None, "low", []),
        ("google/gemini-3.8-flash", File(PICTURE, detail="original"), None, "high", [(f"{AT}.detail", "high")]),
        ("google/gemini-3.8-flash", File(PICTURE, detail="auto"), None, None, []),
        ("google/gemini-3.8-flash", File(PICTURE, resolution="medium"), None, "medium", []),
        ("google/gemini-2.5-flash", File(PICTURE, resolution="low"), None, None, []),
        (
            "anthropic/claude-opus-4-6",
            File(PICTURE, resolution="low"),
            None,
            None,
            [(f"{AT}.controls.resolution", None)],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" in value else "",
)
def test_image_has_the_detail_or_the_resolution_of_its_model(
    services: Services, model: str, file: File, detail: Any, resolution: Any, warned: list[Any]
):
    part, warnings = planned(services, model, file)
    assert isinstance(part, ImagePart)
    assert (part.detail, part.controls.resolution if part.controls else None, warnings) == (detail, resolution, warned)


@pytest.mark.parametrize("model", ["google/gemini-3.8-flash", "google-interactions/gemini-3.8-flash"])
def test_part_of_a_video_is_sent_where_the_model_has_fields_for_it(services: Services, model: str):
    file = File(VideoPart(CLIP), start=2, fps=0.5, resolution="low", fetch="vendor")
    part, warnings = planned(services, model, file)
    assert warnings == []
    assert part.controls == replace(part.controls, start=2.0, fps=0.5, resolution="low", fetch=None)


def test_level_original_is_read_and_written():
    image = {"type": "input_image", "image_url": "https://a/b", "detail": "original"}
    transpiler = OpenAIResponses()
    body = {"model": "m", "input": [{"role": "user", "content": [image]}]}
    call = transpiler.parse(WireRequest("/responses", {}, json.dumps(body).encode())).call
    assert call.messages[0].parts[0] == ImagePart(Blob.from_url("https://a/b", "image/*"), "original")
    assert json.loads(transpiler.encode(call).request.body)["input"][0]["content"] == [image]


def gemini_2(services: Services, *files: File, **options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The `generationConfig` of a request to Gemini 2.5, and the warnings about controls."""
    llm = create_llm("google/gemini-2.5-flash", api_key="k", services=services)
    lowered = llm._pipelines.lower(llm.build("hi", media=list(files), **options))  # pyright: ignore[reportPrivateUsage]
    body = json.loads(Gemini().encode(lowered.call).request.body)
    parts = body["contents"][0]["parts"]
    assert all("mediaResolution" not in part for part in parts)
    config = body.get("generationConfig", {})
    assert types.GenerationConfig.model_validate(config).media_resolution == config.get("mediaResolution")
    warned = [(each.path, each.message) for each in lowered.warnings if each.code == "control_not_followed"]
    return config, warned


def test_resolution_on_which_all_files_agree_is_that_of_the_request(services: Services):
    files = [File(PICTURE, resolution="low"), File(VideoPart(CLIP), resolution="low", fps=2, fetch="vendor")]
    config, warned = gemini_2(services, *files)
    assert (config["mediaResolution"], warned) == ("MEDIA_RESOLUTION_LOW", [])


def test_other_options_of_the_provider_are_kept_beside_it(services: Services):
    options = {"google": {"generationConfig": {"speechConfig": {"languageCode": "de-DE"}}}}
    config, warned = gemini_2(services, File(PICTURE, resolution="high"), provider_options=options)
    assert (config["mediaResolution"], config["speechConfig"], warned) == (
        "MEDIA_RESOLUTION_HIGH",
        {"languageCode": "de-DE"},
        [],
    )


@pytest.mark.parametrize("other", [File(PICTURE, resolution="high"), File(PICTURE)])
def test_files_that_do_not_agree_have_no_resolution_and_a_warning(services: Services, other: File):
    config, warned = gemini_2(services, File(PICTURE, resolution="low"), other)
    assert "mediaResolution" not in config
    assert warned[0][0] == f"{AT}.controls.resolution"
    assert (
        "the model has one resolution for all files of a request, and they, or provider options, differ" in warned[0][1]
    )


def test_resolution_in_the_options_of_the_user_is_kept(services: Services):
    options = {"google": {"generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_MEDIUM"}}}
    config, warned = gemini_2(services, File(PICTURE, resolution="low"), provider_options=options)
    assert config["mediaResolution"] == "MEDIA_RESOLUTION_MEDIUM"
    assert len(warned) == 1


@pytest.mark.process
def test_sound_has_no_say_in_the_resolution(services: Services):
    sound = File(b"RIFF\0\0\0\0WAVEfmt ", media_type="audio/wav")
    config, warned = gemini_2(services, File(PICTURE, resolution="low"), sound)
    assert (config["mediaResolution"], warned) == ("MEDIA_RESOLUTION_LOW", [])
