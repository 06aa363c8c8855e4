"""Remote backends against servers of the vendors' published formats: requests, jobs, results."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import AudioPart, CallProgress
from abstractcore.testing import CallStyle
from tests.backend_doubles import call
from tests.plugins.music.remote import fakes
from tests.plugins.music.remote.conftest import FAKES, STARTS, Remote
from tests.plugins.vendor_server import Answer, VendorServer

USUAL = {"elevenlabs": "mp3", "stable-audio": "mp3", "lyria": "mp3", "lyria-vertex": "wav", "ace-step": "mp3"}
TYPES = {"mp3": "audio/mpeg", "wav": "audio/wav", "flac": "audio/flac", "opus": "audio/ogg"}
WORDS = "[Verse 1]\nRain on the window\nAll day long\n\n[Chorus]\nRain, rain"


def sent(vendor: VendorServer, name: str) -> Any:
    """The body of the request that asks for music."""
    request = vendor.sent("POST", STARTS[name])[-1]
    return request.form if "multipart" in request.headers["content-type"] else request.json


@pytest.mark.parametrize("name", FAKES)
def test_prompt_becomes_music(call_style: CallStyle, vendor: VendorServer, remote: Remote, name: str):
    result = call(call_style, remote(name).music, "t2m", "a calm waltz")
    assert isinstance(result.part, AudioPart)
    assert result.part.blob.read() == fakes.tone(USUAL[name])
    assert result.part.blob.media_type == TYPES[USUAL[name]]
    assert (result.backend, result.metadata["vendor"]) == (f"abstractmusic:{name}", name)
    assert result.warnings == ()
    assert "a calm waltz" in str(sent(vendor, name))


@pytest.mark.parametrize("format", TYPES)
@pytest.mark.parametrize("name", FAKES)
def test_music_has_the_format_that_was_asked_for(vendor: VendorServer, remote: Remote, name: str, format: str):
    result = remote(name).music.t2m("a calm waltz", format=format)
    assert result.part.blob.media_type == TYPES[format]
    assert fakes.length_of(result.part.blob.read()) == pytest.approx(0.5, abs=0.1)
    native = {"elevenlabs": {"mp3", "opus"}, "lyria": {"mp3"}}
    is_lossy = name in native and format not in native[name]
    assert [(each.code, each.path, each.sent) for each in result.warnings] == (
        [("changed_option", "format", "mp3")] if is_lossy else []
    )


def test_elevenlabs_gets_lyrics_as_chunks_with_a_seed(vendor: VendorServer, remote: Remote):
    result = remote("elevenlabs").music.t2m("a folk song", lyrics=WORDS, seconds=30, seed=7)
    body = sent(vendor, "elevenlabs")
    assert body["seed"] == 7
    chunks = body["composition_plan"]["chunks"]
    assert [(each["text"], each["duration_ms"]) for each in chunks] == [
        ("[Verse 1]\nRain on the window\nAll day long", 20_000),
        ("[Chorus]\nRain, rain", 10_000),
    ]
    assert chunks[0]["positive_styles"] == ["a folk song"]
    assert result.warnings == ()
    assert result.metadata["id"] == "song-1"


def test_elevenlabs_gets_lyrics_of_its_first_model_as_sections(vendor: VendorServer, remote: Remote):
    llm = remote("elevenlabs", music_model="music_v1")
    options: dict[str, Any] = {"negative_prompt": "drums"}
    llm.music.t2m("a folk song", lyrics=("a very long line " * 20 + "\n") * 31, **options)
    plan = sent(vendor, "elevenlabs")["composition_plan"]
    assert (plan["positive_global_styles"], plan["negative_global_styles"]) == (["a folk song"], ["drums"])
    assert sum(len(section["lines"]) for section in plan["sections"]) == 62
    assert [section["section_name"] for section in plan["sections"]] == ["Part 1", "Part 2", "Part 3"]


def test_elevenlabs_takes_no_seed_with_a_prompt(vendor: VendorServer, remote: Remote):
    options: dict[str, Any] = {"instrumental": True}
    result = remote("elevenlabs").music.t2m("a waltz", seconds=20, seed=7, **options)
    assert [(each.code, each.path) for each in result.warnings] == [("unsupported_option", "seed")]
    assert sent(vendor, "elevenlabs") == {
        "model_id": "music_v2", "prompt": "a waltz", "music_length_ms": 20_000, "force_instrumental": True,
    }  # fmt: skip


def test_stable_audio_gets_its_fields(vendor: VendorServer, remote: Remote):
    options: dict[str, Any] = {"steps": 8, "guidance": 2.0}
    result = remote("stable-audio").music.t2m("a waltz", seconds=12.5, seed=7, format="wav", **options)
    assert sent(vendor, "stable-audio") == {
        "prompt": "a waltz", "model": "stable-audio-2.5", "duration": "12.5", "seed": "7", "steps": "8",
        "cfg_scale": "2.0", "output_format": "wav",
    }  # fmt: skip
    assert (result.metadata["seed"], result.warnings) == (4242, ())


def test_stable_audio_may_answer_with_json(vendor: VendorServer, remote: Remote):
    body = {"audio": fakes.base64.b64encode(fakes.tone()).decode(), "seed": 5, "finish_reason": "SUCCESS"}
    result = remote("stable-audio", Answer(200, body)).music.t2m("a waltz")
    assert (result.part.blob.read(), result.metadata["seed"]) == (fakes.tone(), 5)


def test_lyria_reads_wishes_and_lyrics_in_its_input(vendor: VendorServer, remote: Remote):
    result = remote("lyria").music.t2m("A folk song.", lyrics=WORDS, seconds=90, tempo=96, key="A minor")
    body = sent(vendor, "lyria")
    assert body == {
        "model": "lyria-3.5", "store": False,
        "input": f"A folk song, in A minor, 96 BPM\n\nIt lasts 90 seconds.\n\nLyrics:\n{WORDS}",
    }  # fmt: skip
    assert sorted((each.code, each.path) for each in result.warnings) == [
        ("changed_option", "key"), ("changed_option", "seconds"), ("changed_option", "tempo"),
    ]  # fmt: skip
    assert result.metadata["text"] == "[Verse]\nRain"
    assert (result.usage.input, result.usage.output, result.model) == (9, 800, "google/lyria-3.5")


def test_lyria_3_has_its_sound_in_outputs(vendor: VendorServer, remote: Remote):
    made = fakes.interaction(model="lyria-3-clip-preview")
    made["outputs"] = made.pop("steps")[0]["content"]
    result = remote("lyria", made, music_model="lyria-3-clip-preview").music.t2m("a waltz", seconds=60)
    assert result.part.blob.read() == fakes.tone()
    assert [(each.path, each.requested, each.sent) for each in result.warnings] == [("seconds", 60, 30.0)]


def test_interaction_that_goes_on_is_asked_for(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    running = {"id": "i-1", "status": "in_progress", "model": "lyria-3.5"}
    llm = remote("lyria", running)
    vendor.on("GET", "/v1beta/interactions/i-1", running, fakes.interaction())
    seen: list[CallProgress] = []
    assert call(call_style, llm.music, "t2m", "a waltz", on_progress=seen.append).part.blob.read() == fakes.tone()
    assert [each.what for each in seen] == ["in progress", "in progress"]


def test_lyria_2_takes_a_seed_or_a_number_of_pieces(vendor: VendorServer, remote: Remote):
    llm = remote("lyria-vertex")
    options: dict[str, Any] = {"negative_prompt": "drums"}
    llm.music.t2m("a waltz", seed=3, **options)
    assert sent(vendor, "lyria-vertex") == {
        "instances": [{"prompt": "a waltz", "negative_prompt": "drums", "seed": 3}],
        "parameters": {},
    }
    options = {"count": 2}
    result = llm.music.t2m("a waltz", lyrics="Rain", seconds=45, **options)
    assert len(result.parts) == 2
    assert sorted((each.code, each.path) for each in result.warnings) == [
        ("changed_option", "seconds"), ("unsupported_option", "lyrics"),
    ]  # fmt: skip


def test_ace_step_gets_all_wishes_as_fields(vendor: VendorServer, remote: Remote):
    options: dict[str, Any] = {"steps": 16, "guidance": 5.0, "language": "de"}
    result = remote("ace-step", music_model="acestep-v15-turbo").music.t2m(
        "a folk song", lyrics=WORDS, format="flac", seconds=45, seed=9, tempo=96, key="A minor", meter="3/4", **options
    )
    assert sent(vendor, "ace-step") == {
        "prompt": "a folk song", "lyrics": WORDS, "vocal_language": "de", "audio_format": "flac", "audio_duration": 45,
        "key_scale": "A minor", "bpm": 96, "time_signature": "3", "inference_steps": 16, "guidance_scale": 5.0,
        "batch_size": 1, "model": "acestep-v15-turbo", "seed": 9, "use_random_seed": False,
    }  # fmt: skip
    assert result.warnings == ()
    assert (result.part.blob.read(), result.part.blob.media_type) == (fakes.tone("flac"), "audio/flac")
    assert result.metadata["seed_value"] == "12345"
    assert result.model == "ace-step/acestep-v15-turbo"


def test_ace_step_warns_of_what_it_cannot_take(vendor: VendorServer, remote: Remote):
    result = remote("ace-step").music.t2m("a song", seconds=4, tempo=96.5, meter="7/8", mood="calm", also=["stems"])
    assert sorted((each.code, each.path, each.sent) for each in result.warnings) == [
        ("changed_option", "mood", "calm mood"), ("changed_option", "seconds", 10.0), ("changed_option", "tempo", 96),
        ("unsupported_option", "also", None), ("unsupported_option", "meter", None),
    ]  # fmt: skip
    assert sent(vendor, "ace-step")["prompt"] == "a song, calm mood"


def test_ace_step_reports_progress_and_needs_no_key(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    llm = remote("ace-step", music_api_key=None)
    vendor.key = None
    seen: list[CallProgress] = []
    call(call_style, llm.music, "t2m", "a waltz", on_progress=seen.append)
    assert [(each.what, each.done) for each in seen[:2]] == [("in the queue, 1 before it", 0), ("running", 0.25)]
    assert seen[-1].what == "bytes"
    assert "authorization" not in vendor.requests[0].headers


def test_fields_of_the_vendor_are_sent_as_they_are(vendor: VendorServer, remote: Remote):
    options: dict[str, Any] = {"extra": {"thinking": True}}
    remote("ace-step").music.t2m("a waltz", duration=20, **options)  # pyright: ignore[reportCallIssue]
    body = sent(vendor, "ace-step")
    assert (body["thinking"], body["audio_duration"]) == (True, 20)


def test_model_of_a_call_wins_over_that_of_the_llm(vendor: VendorServer, remote: Remote):
    remote("elevenlabs", music_model="music_v1").music.t2m("a waltz", model="music_v2_5")
    assert sent(vendor, "elevenlabs")["model_id"] == "music_v2_5"
