"""Scenes as pictures: what their pixels are, in which files, and how large they may be."""

from __future__ import annotations

import io
import itertools
import math
import xml.etree.ElementTree as ET
from typing import Any, cast, get_args

import pytest
from PIL import Image

from abstractcore import InvalidInputError, MediaError
from abstractvision import Gradient, Motif, Scene, render_scene, scene_of
from abstractvision.drawing.font_metrics import text_width
from abstractvision.drawing.motif_names import MotifName
from abstractvision.drawing.motifs import motif_rows
from abstractvision.drawing.rendering import PictureFormat, rendered
from tests.plugins.vision.pictures import dark_lines, drawn, pixel, pixels, share_of

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)
SHAPES: dict[str, tuple[dict[str, Any], float]] = {
    "rect": ({"kind": "rect", "x": 10, "y": 20, "width": 50, "height": 40}, 0.2),
    "circle": ({"kind": "circle", "cx": 50, "cy": 50, "r": 30}, math.pi * 0.09),
    "ellipse": ({"kind": "ellipse", "cx": 50, "cy": 50, "rx": 40, "ry": 20}, math.pi * 0.08),
    "polygon": ({"kind": "polygon", "points": "0,0 100,0 0,100"}, 0.5),
    "path": ({"kind": "path", "d": "M0 0H100V50H0Z"}, 0.5),
    "rotated": ({"kind": "rect", "x": 30, "y": 0, "width": 40, "height": 100, "rotation": 90}, 0.4),
    "group": (
        {
            "kind": "group",
            "x": 50,
            "scale": 0.5,
            "items": [{"kind": "rect", "x": 0, "y": 0, "width": 100, "height": 100}],
        },
        0.25,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_covers_its_area(shape: str):
    item, area = SHAPES[shape]
    inner: list[dict[str, Any]] = item.get("items", [item])
    inner[0]["fill"] = "red"
    image = drawn(item, size=400)
    assert share_of(image, RED) == pytest.approx(area, abs=0.01)
    assert share_of(image, RED) + share_of(image, WHITE) > 0.97  # the rest is anti-aliased edges


def test_later_items_cover_earlier_ones_and_opacity_mixes():
    square = {"kind": "rect", "x": 0, "y": 0, "width": 100, "height": 100}
    image = drawn({**square, "fill": "red"}, {**square, "fill": "blue", "opacity": 0.5})
    assert pixel(image, 50, 50)[0] == pytest.approx(128, abs=2)
    assert pixel(image, 50, 50)[2] == pytest.approx(128, abs=2)


def test_gradient_goes_from_top_to_bottom_and_fills_the_whole_picture():
    scene = Scene(width=100, height=100, background=Gradient(colors=["red", "blue"]), items=[])
    image = pixels(render_scene(scene, 200, 100))
    assert pixel(image, 0, 0)[0] > 250
    assert pixel(image, 199, 99)[2] > 250
    assert pixel(image, 100, 50)[0] == pytest.approx(128, abs=4)


def test_background_none_is_transparent():
    assert pixel(drawn(background="none"), 5, 5) == (0, 0, 0, 0)


def test_canvas_of_another_form_stands_in_the_middle():
    square = {"kind": "rect", "x": 0, "y": 0, "width": 100, "height": 100, "fill": "red"}
    scene = Scene.model_validate({"width": 100, "height": 100, "background": "blue", "items": [square]})
    image = pixels(render_scene(scene, 200, 100))
    assert [pixel(image, x, 50)[:3] for x in (10, 100, 190)] == [BLUE, RED, BLUE]


def test_text_is_as_wide_as_its_font_says():
    image = drawn({"kind": "text", "x": 5, "y": 60, "text": "Høyde", "size": 30}, size=1000)
    columns = [x for x, is_dark in enumerate(dark_lines(image, columns=True)) if is_dark]
    width = text_width("Høyde", 300, bold=False)
    assert columns[0] >= 50
    assert columns[-1] - columns[0] == pytest.approx(width, rel=0.12)  # the advances, with the bearings of both ends


def test_wrapped_text_has_as_many_lines_as_it_needs():
    words = {"kind": "text", "x": 0, "y": 15, "text": "one two three four", "size": 12, "width": 60}
    image = drawn(words, size=400)
    dark = dark_lines(image)
    lines = sum(1 for above, here in itertools.pairwise(dark) if here and not above)
    assert lines == 2


def test_arrow_and_dashes_are_drawn():
    line = {"kind": "line", "x1": 10, "y1": 50, "x2": 90, "y2": 50, "stroke": "red", "stroke_width": 2}
    plain, arrow, dashed = (drawn({**line, **more}, size=400) for more in ({}, {"arrow": "end"}, {"dashed": True}))
    assert share_of(arrow, RED) > share_of(plain, RED) > share_of(dashed, RED) > 0


def test_motifs_of_the_type_are_those_of_the_data_and_all_can_be_drawn():
    assert set(get_args(MotifName)) == set(motif_rows())
    for name in motif_rows():
        scene = Scene(background="#123456", items=[Motif(kind="motif", name=name, x=500, y=500, size=1000)])
        assert share_of(pixels(render_scene(scene, 64, 64)), (0x12, 0x34, 0x56)) < 0.98, name


def test_motif_has_its_color_and_can_be_flipped():
    car = {"kind": "motif", "name": "car", "x": 50, "y": 50, "size": 100}
    green, flipped = drawn({**car, "color": "#00ff00"}), drawn({**car, "flip": True, "color": "#00ff00"})
    assert share_of(green, (0, 255, 0)) > 0.1
    assert share_of(flipped, (0, 255, 0)) == pytest.approx(share_of(green, (0, 255, 0)), abs=0.01)
    assert green.tobytes() != flipped.tobytes()


@pytest.mark.parametrize(("format", "name"), [("png", "PNG"), ("jpeg", "JPEG"), ("webp", "WEBP")])
def test_formats_have_the_requested_size(format: PictureFormat, name: str):
    part = render_scene(Scene(background="red", items=[]), 123, 45, format)
    with Image.open(io.BytesIO(part.blob.read())) as image:
        assert (image.format, image.size) == (name, (123, 45))
    assert part.blob.media_type == f"image/{format}"


@pytest.mark.parametrize("format", ["png", "svg"])
def test_png_and_svg_keep_their_scene(format: PictureFormat):
    text = {"kind": "text", "x": 1, "y": 50, "text": '<b> & "ö" ]]> </metadata>', "size": 10}
    scene = Scene.model_validate({"background": {"colors": ["red", "gold"]}, "items": [text], "description": "a < b"})
    assert scene_of(render_scene(scene, 50, 50, format).blob.read()) == scene


@pytest.mark.parametrize(
    "content", [b"", b"\x89PNG\r\n\x1a\n", b"<svg></svg>", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffiTXt", b"GIF89a"]
)
def test_other_pictures_have_no_scene(content: bytes):
    assert scene_of(content) is None


def test_svg_is_well_formed_and_refers_to_nothing_outside():
    hostile = [
        {"kind": "text", "x": 1, "y": 50, "text": "<image href='file:///etc/passwd'/>", "size": 10},
        {"kind": "rect", "x": 0, "y": 0, "width": 9, "height": 9, "fill": 'red"/><image href="http://x.example/"'},
        {"kind": "path", "d": 'M0 0L9 9"/><script/>', "stroke": "url(http://x.example/)"},
    ]
    scene = Scene.model_validate({"background": "url(#x)", "items": hostile})
    root = ET.fromstring(render_scene(scene, 10, 10, "svg").blob.read())
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "metadata", "defs", "rect", "text", "tspan", "path"}
    drawing = [value for element in root.iter() if "metadata" not in element.tag for value in element.attrib.values()]
    assert not [value for value in drawing if "http" in value or "file" in value]


@pytest.mark.parametrize(("width", "height"), [(0, 10), (10, -1), (20_000, 10), (10_000, 10_000)])
def test_absurd_sizes_are_refused(width: int, height: int):
    with pytest.raises(InvalidInputError, match=r"size: .* pixels cannot be drawn"):
        render_scene(Scene(background="red", items=[]), width, height)


def test_unknown_format_is_refused():
    with pytest.raises(InvalidInputError, match="format: expected one of png, jpeg, webp, svg, got 'gif'"):
        render_scene(Scene(background="red", items=[]), 10, 10, cast(PictureFormat, "gif"))


def test_failure_of_the_renderer_is_a_media_error(monkeypatch: pytest.MonkeyPatch):
    def fail(**options: object):
        raise ValueError("no such\nelement")

    monkeypatch.setattr("resvg_py.svg_to_bytes", fail)
    scene = Scene(background="red", items=[]).model_dump_json()
    with pytest.raises(MediaError, match="the scene cannot be drawn: no such element"):
        next(rendered(scene, 10, 10, "png"))
