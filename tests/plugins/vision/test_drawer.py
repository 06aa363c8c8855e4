"""The backend without weights: who writes the scene, what is reported, and what cannot be done."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore import (
    LLM,
    CorruptFileError,
    InvalidInputError,
    MediaError,
    OutputValidationError,
    UnknownOptionError,
    UnsupportedContentError,
    create_llm,
)
from abstractcore.testing import CallStyle, ScriptedReply
from abstractvision import Motif, scene_of
from tests.backend_doubles import call
from tests.plugins.vision.pictures import pixel, pixels, share_of

BOAT: dict[str, Any] = {
    "description": "A boat.",
    "background": "#87ceeb",
    "items": [{"kind": "motif", "name": "boat", "x": 500, "y": 375, "size": 500, "color": "#ff0000"}],
}


def drawing(*scenes: Any, **options: Any) -> LLM:
    """An LLM that answers with these scenes, and draws."""
    replies = [each if isinstance(each, str) else json.dumps(each) for each in scenes]
    options["vision_backend"] = "drawing"
    return create_llm("scripted", replies=replies, **options)


@pytest.mark.process
def test_model_writes_the_scene(call_style: CallStyle):
    llm = drawing(BOAT)
    result = call(call_style, llm.vision, "t2i", "a boat", width=400, height=300)
    image = pixels(result.part)
    assert image.size == (400, 300)
    assert pixel(image, 2, 2) == (0x87, 0xCE, 0xEB, 255)
    assert share_of(image, (255, 0, 0)) > 0.01
    assert (result.metadata["method"], result.metadata["scene_by"]) == ("scene", "model")
    assert result.metadata["what"] == "a drawing of a scene that the language model wrote as data"
    assert result.warnings == ()
    scene = scene_of(result.part.blob.read())
    assert scene is not None
    assert (scene.width, scene.height) == (1000, 750)  # the canvas that the model was told


def test_repairs_are_warnings_and_tell_where():
    wrong = {**BOAT, "items": [{**BOAT["items"][0], "opacity": 60, "color": "navyblu"}]}
    result = drawing(wrong).vision.t2i("a boat", width=64, height=64)
    assert [(each.code, each.path) for each in result.warnings] == [
        ("scene_repaired", "scene.items[0].opacity"),
        ("scene_repaired", "scene.items[0].color"),
    ]


def test_scene_without_anything_on_the_canvas_goes_back_to_the_model():
    away = {**BOAT, "items": [{**BOAT["items"][0], "x": 9000}]}
    llm = drawing(away, BOAT)
    assert llm.vision.t2i("a boat", width=64, height=64).metadata["scene_by"] == "model"


def test_scene_that_is_cut_off_is_drawn_as_far_as_it_is_complete():
    text = json.dumps({**BOAT, "items": BOAT["items"] * 3})
    llm = create_llm("scripted", replies=[ScriptedReply.text(text[:-20], finish_reason="length")])
    result = llm.vision.t2i("boats", width=64, height=64)
    assert names_of(result.part) == ["boat", "boat"]
    (warning,) = result.warnings
    assert warning.message == "the answer was cut off: the 2 items that are complete are drawn"


def test_rules_take_the_place_of_a_model_that_fails_and_say_so():
    result = drawing("no scene", "no scene either").vision.t2i("a red house and a zeppelin", width=64, height=64)
    assert result.metadata["what"] == "a drawing of a scene that rules made of the words of the prompt"
    reason, words = result.warnings
    assert reason.code == "scene_by_rules"
    assert "OutputValidationError" in reason.message
    assert words.message == "these words are not drawn: zeppelin"


def test_model_alone_fails_if_it_is_the_one_that_was_asked_for():
    with pytest.raises(OutputValidationError):
        drawing("no", "no", vision_scene="model").vision.t2i("a house")


def test_rules_draw_for_the_embedded_model_which_is_too_small():
    with create_llm("local", vision_backend="drawing") as llm:
        drawn = llm.vision.t2i("a red house by the sea", width=320, height=240)
        night = llm.vision.i2i("make it night", drawn.part)
    assert [each.metadata["scene_by"] for each in (drawn, night)] == ["rules", "rules"]
    assert share_of(pixels(drawn.part), (255, 0, 0)) > 0.02
    assert drawn.warnings == night.warnings == ()


def test_rules_alone_need_no_model():
    llm = drawing(vision_scene="rules")
    result = llm.vision.t2i("three trees", width=64, height=64, seed=1)
    assert result.metadata["scene_by"] == "rules"
    scene = scene_of(result.part.blob.read())
    assert scene is not None
    assert [item.name for item in scene.items if isinstance(item, Motif)] == ["tree"] * 3
    again = llm.vision.t2i("three trees", width=64, height=64, seed=1)
    assert again.part.blob == result.part.blob


def test_count_makes_several_pictures():
    result = drawing(BOAT, {**BOAT, "background": "black"}).vision.t2i("a boat", width=32, height=32, count=2)
    assert [pixel(pixels(part), 1, 1)[0] for part in result.parts] == [0x87, 0]


@pytest.mark.parametrize("format", ["png", "svg"])
def test_drawing_is_changed_as_a_scene_from_its_file(call_style: CallStyle, tmp_path: Path, format: str):
    night = {**BOAT, "background": "black"}
    llm = drawing(BOAT, night)
    first = llm.vision.t2i("a boat", width=80, height=60, format=format)
    given = first.part.save(tmp_path / "boat.png") if format == "png" else first.part
    changed = call(call_style, llm.vision, "i2i", "make it night", given)
    image = pixels(changed.part)
    assert pixel(image, 0, 0)[:3] == (0, 0, 0)
    assert image.width / image.height == pytest.approx(4 / 3, rel=0.01)
    asked = llm.calls[-1].messages[-1].text
    assert '"name":"boat"' in asked
    assert asked.endswith("make it night")


def test_rules_change_a_drawing_where_no_model_can():
    llm = drawing(BOAT, "no scene", "no scene")
    first = llm.vision.t2i("a boat", width=64, height=64)
    changed = llm.vision.i2i("add two stars", first.part)
    assert changed.metadata["scene_by"] == "rules"
    assert changed.warnings[0].code == "scene_by_rules"
    assert names_of(changed.part) == ["boat", "star", "star"]
    rules: dict[str, Any] = {"scene": "rules"}
    assert names_of(llm.vision.i2i("remove the stars", changed.part, **rules).part) == ["boat"]
    green = llm.vision.i2i("a green boat", first.part, **rules).part
    scene = scene_of(green.blob.read())
    assert scene is not None
    assert [item.color for item in scene.items if isinstance(item, Motif)] == ["green"]
    assert pixels(llm.vision.i2i("make it night", first.part, **rules).part).tobytes() != pixels(first.part).tobytes()
    with pytest.raises(UnsupportedContentError, match="the rules know no word of this change"):
        llm.vision.i2i("mehr Licht", first.part, **rules)


def names_of(part: Any) -> list[str]:
    """The motifs of a drawing."""
    scene = scene_of(part.blob.read())
    assert scene is not None
    return [item.name for item in scene.items if isinstance(item, Motif)]


def test_photo_is_not_changed_but_refused():
    photo = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(photo, "JPEG")
    with pytest.raises(UnsupportedContentError, match="only pictures that this backend drew can be changed"):
        drawing(BOAT).vision.i2i("add a boat", photo.getvalue())


def test_enlarged_drawing_is_drawn_again_and_others_are_resampled(call_style: CallStyle):
    llm = drawing(BOAT)
    first = llm.vision.t2i("a boat", width=40, height=30)
    larger = call(call_style, llm.vision, "upscale_image", first.part, scale=3)
    assert (pixels(larger.part).size, larger.metadata["scene_by"]) == ((120, 90), "kept")
    plain = io.BytesIO()
    Image.linear_gradient("L").resize((20, 10)).save(plain, "PNG")
    resampled = call(call_style, llm.vision, "upscale_image", plain.getvalue(), scale=2)
    assert (pixels(resampled.part).size, resampled.metadata["method"]) == ((40, 20), "lanczos")


def test_turned_photo_is_enlarged_as_it_is_seen():
    photo = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (20, 10), "red").save(photo, "JPEG", exif=exif)
    assert pixels(drawing().vision.upscale_image(photo.getvalue()).part).size == (20, 40)


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "empty text": ({"prompt": "  "}, InvalidInputError, "prompt"),
    "absurd size": ({"width": 10_000_000}, InvalidInputError, "size: 10000000 x 1024 pixels cannot be drawn"),
    "no size": ({"height": 0}, InvalidInputError, "size"),
    "size in words": ({"width": "wide"}, InvalidInputError, "width: expected a whole number of pixels, got 'wide'"),
    "many pictures": ({"count": 1000}, InvalidInputError, "count: expected a whole number from 1 to 8"),
    "format": ({"format": "pgn"}, InvalidInputError, "Did you mean 'png'"),
    "scene": ({"scene": "rulez"}, InvalidInputError, "Did you mean 'rules'"),
    "model": ({"model": "sdxl"}, InvalidInputError, "drawings are made by the model of the LLM"),
    "argument": ({"colour": "red"}, UnknownOptionError, "colour"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_typed_error(case: str):
    options, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        given: dict[str, Any] = {"prompt": "a boat", **options}
        drawing(BOAT, BOAT).vision.t2i(**given)


def test_a_megabyte_of_text_is_composed_or_refused_and_fast():
    llm = drawing(vision_scene="rules")
    assert llm.vision.t2i("a house and a tree. " * 50_000, width=64, height=64).part.blob.size


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(50), b"GIF89a" + bytes(20)])
def test_unreadable_picture_is_a_typed_error(content: bytes):
    with pytest.raises(CorruptFileError, match="the image cannot be read: ") as caught:
        drawing().vision.upscale_image(content)
    assert "BytesIO" not in str(caught.value)


def test_missing_file_is_a_typed_error(tmp_path: Path):
    with pytest.raises(MediaError):
        drawing().vision.upscale_image(tmp_path / "none.png")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full disk")
def test_full_disk_is_an_os_error():
    with pytest.raises(OSError, match="No space left"):
        drawing(BOAT).vision.t2i("a boat", width=8, height=8).save("/dev/full")


def test_models_are_listed_by_task():
    listed = drawing().vision.list_models("upscale_image")
    assert [each["id"] for each in listed] == ["lanczos"]
