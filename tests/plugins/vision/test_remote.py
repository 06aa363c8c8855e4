"""Remote backends against servers of the vendors' published formats: requests, jobs, results."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image

from abstractcore import CallProgress, CapabilityUnavailableError, ImagePart, VideoPart
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, call
from tests.plugins.vendor_server import VendorServer
from tests.plugins.vision import fakes
from tests.plugins.vision.conftest import FAKES, Remote
from tests.plugins.vision.pictures import pixel

PICTURES = [name for name in FAKES if name != "veo"]
EDITS = [name for name in PICTURES if name != "imagen"]
MASKS = [name for name in EDITS if name != "gemini"]


def png(mode: str = "RGB", color: Any = "red") -> bytes:
    """A picture of 4 x 4 pixels."""
    made = io.BytesIO()
    Image.new(mode, (4, 4), color).save(made, "PNG")
    return made.getvalue()


@pytest.mark.parametrize("name", PICTURES)
def test_prompt_becomes_a_picture(call_style: CallStyle, vendor: VendorServer, remote: Remote, name: str):
    llm = remote(name)
    result = call(call_style, llm.vision, "t2i", "a lighthouse")
    assert isinstance(result.part, ImagePart)
    assert (result.part.blob.read(), result.part.blob.media_type) == (PNG, "image/png")
    assert result.backend == f"abstractvision:{name}"
    assert result.metadata["vendor"] == name
    assert result.warnings == ()


@pytest.mark.parametrize("name", EDITS)
def test_picture_is_changed(call_style: CallStyle, vendor: VendorServer, remote: Remote, name: str):
    result = call(call_style, remote(name).vision, "i2i", "add a boat", png())
    assert result.part.blob.read() == PNG


@pytest.mark.parametrize("name", MASKS)
def test_mask_is_sent_as_the_vendor_reads_it(vendor: VendorServer, remote: Remote, name: str):
    mask = Image.new("RGBA", (4, 4), (0, 0, 0, 255))
    mask.putpixel((1, 2), (0, 0, 0, 0))
    content = io.BytesIO()
    mask.save(content, "PNG")
    remote(name).vision.i2i("add a boat", png(), mask=content.getvalue())
    (sent,) = [each for each in vendor.requests if each.method == "POST"][:1]
    if "multipart" in sent.headers["content-type"]:
        data = sent.form["mask"][2]
    else:
        fields = sent.json.get("input", sent.json)
        data = fakes.base64.b64decode((fields.get("mask") or fields["mask_url"]).rpartition(",")[2])
    with Image.open(io.BytesIO(data)) as image:
        if name == "openai":
            assert [pixel(image, *at)[3] for at in ((0, 0), (1, 2))] == [255, 0]
        else:
            assert [image.getpixel(at) for at in ((0, 0), (1, 2))] == [0, 255]


def test_video_is_made_and_downloaded_through_a_redirect(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    llm = remote("veo")
    result = call(call_style, llm.vision, "t2v", "waves", width=1280, height=720, seconds=6)
    assert isinstance(result.part, VideoPart)
    assert result.part.blob.read() == fakes.MP4
    (start,) = vendor.sent("POST", "/v1beta/models/painter-1:predictLongRunning")
    assert start.json["parameters"] == {"aspectRatio": "16:9", "durationSeconds": 6}
    call(call_style, llm.vision, "i2v", png(), prompt="waves")
    assert "image" in vendor.sent("POST", "/v1beta/models/painter-1:predictLongRunning")[1].json["instances"][0]


def test_redirect_to_another_host_does_not_get_the_key(vendor: VendorServer, remote: Remote):
    with VendorServer() as other:
        other.on("GET", "/files/video.mp4", fakes.Answer(200, fakes.MP4))
        llm = remote("veo")
        vendor.on("GET", "/video:download", fakes.Answer(302, b"", {"location": f"{other.url}/files/video.mp4"}))
        assert llm.vision.t2v("waves").part.blob.read() == fakes.MP4
        assert "x-goog-api-key" in vendor.sent("GET", "/video:download")[0].headers
        assert "x-goog-api-key" not in other.requests[0].headers


def test_enlarging_uses_the_endpoint_for_it(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    llm = remote("stability")
    call(call_style, llm.vision, "upscale_image", png())
    call(call_style, llm.vision, "upscale_image", png(), prompt="a red square")
    assert [each.path.rpartition("/")[2] for each in vendor.requests] == ["fast", "conservative"]


def test_settings_of_sd_server_are_sent_in_the_prompt(vendor: VendorServer, remote: Remote):
    llm = remote("sd-server", vision_api_key=None)
    found = fakes.sd_server(vendor)
    settings: dict[str, Any] = {"steps": 8, "sampler": "euler", "guidance": 1.5}
    result = llm.vision.t2i("a boat", width=512, height=256, seed=5, negative_prompt="people", count=2, **settings)
    assert len(result.parts) == 2
    assert result.warnings == ()
    assert found == [
        {
            "seed": 5,
            "negative_prompt": "people",
            "sample_params": {"sample_steps": 8, "sample_method": "euler", "guidance": {"txt_cfg": 1.5}},
        }
    ]
    assert vendor.requests[0].json["size"] == "512x256"


def test_options_that_a_vendor_does_not_take_are_warnings_or_errors(vendor: VendorServer, remote: Remote):
    llm, quality = remote("openai"), dict[str, Any](quality="low")
    result = llm.vision.t2i("a boat", seed=5, negative_prompt="people", **quality)
    assert [(each.code, each.path) for each in result.warnings] == [
        ("unsupported_option", "negative_prompt"),
        ("unsupported_option", "seed"),
    ]
    assert vendor.requests[0].json["quality"] == "low"
    extra: dict[str, Any] = {"extra": {"moderation": "low"}}
    llm.vision.t2i("a boat", **extra)
    assert vendor.requests[1].json["moderation"] == "low"


def test_size_becomes_the_nearest_aspect_ratio_with_a_warning(vendor: VendorServer, remote: Remote):
    result = remote("gemini").vision.t2i("a boat", width=1000, height=560)
    (warning,) = result.warnings
    assert (warning.code, warning.sent) == ("changed_option", "16:9")
    assert vendor.requests[0].json["generationConfig"]["imageConfig"] == {"aspectRatio": "16:9"}


def test_usage_and_model_are_reported(vendor: VendorServer, remote: Remote):
    result = remote("openai").vision.t2i("a boat")
    assert (result.usage.input, result.usage.output) == (30, 272)
    billing = result.usage.billing
    assert billing is not None
    assert billing.counts == {"input_image": 20, "output_image": 272}
    assert result.model == "openai/painter-1"


@pytest.mark.parametrize("name", ["fal", "replicate", "bfl", "veo"])
def test_jobs_report_their_states_and_are_asked_for_in_growing_pauses(
    call_style: CallStyle, vendor: VendorServer, remote: Remote, name: str
):
    seen: list[CallProgress] = []
    llm = remote(name)
    call(call_style, llm.vision, "t2v" if name == "veo" else "t2i", "waves", on_progress=seen.append)
    states = [each.what for each in seen]
    assert states[-1] == "bytes"
    assert len(states) >= 3
    if name == "replicate":
        assert [each.done for each in seen if each.what == "processing"] == [0.5]
    if name == "bfl":
        assert 0.4 in [each.done for each in seen]


def test_partial_pictures_arrive_before_the_last(call_style: CallStyle, vendor: VendorServer, remote: Remote):
    partial: dict[str, Any] = {
        "type": "image_generation.partial_image",
        "b64_json": fakes.CODED,
        "partial_image_index": 0,
    }
    usage: dict[str, Any] = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "input_tokens_details": {}}
    last: dict[str, Any] = {
        "type": "image_generation.completed",
        "b64_json": fakes.CODED,
        "output_format": "png",
        "usage": usage,
    }
    stream = b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in (partial, partial, last))
    llm = remote("openai", fakes.Answer(200, stream, {"content-type": "text/event-stream"}))
    seen: list[CallProgress] = []
    result = call(call_style, llm.vision, "t2i", "a boat", on_progress=seen.append, partial_images=2)
    assert [(each.done, each.total) for each in seen] == [(1, 3), (2, 3)]
    assert all(isinstance(each.part, ImagePart) for each in seen)
    assert (result.part.blob.read(), result.usage.output) == (PNG, 4)
    body = vendor.requests[0].json
    assert (body["stream"], body["partial_images"]) == (True, 2)


def test_server_that_does_not_stream_is_read_whole(vendor: VendorServer, remote: Remote):
    options: dict[str, Any] = {"partial_images": 2}
    assert remote("openai").vision.t2i("a boat", **options).part.blob.read() == PNG


def test_replicate_takes_versions_and_data_urls(vendor: VendorServer, remote: Remote):
    done = {"id": "p-1", "status": "succeeded", "output": f"data:image/png;base64,{fakes.CODED}"}
    llm = remote("replicate", done, vision_image_model="painters/one:0f1e2d")
    assert llm.vision.t2i("a boat").part.blob.read() == PNG
    assert vendor.sent("POST", "/predictions")[0].json["version"] == "0f1e2d"


def test_models_are_listed_and_a_missing_one_is_an_error(vendor: VendorServer, remote: Remote):
    llm = remote("replicate", vision_image_model=None)
    assert [each["tasks"] for each in llm.vision.list_models()] == [["t2i"]]
    with pytest.raises(CapabilityUnavailableError, match="replicate has no model of its own choice for t2v"):
        llm.vision.t2v("waves")
