"""Repairs: what models write wrong, what becomes of it, and what is reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from abstractvision import Rect, Scene, render_scene, repaired
from abstractvision.drawing.path_data import read_path
from abstractvision.drawing.repairs import MOST_ITEMS, MOST_LEVELS

RECT: dict[str, Any] = {"kind": "rect", "x": 10, "y": 10, "width": 50, "height": 50}


def scene(*items: dict[str, Any], **more: Any) -> Scene:
    return Scene.model_validate({"width": 100, "height": 100, "background": "white", "items": items, **more})


REPAIRS: dict[str, tuple[dict[str, Any], str]] = {
    "colour with a typing error": (
        {**RECT, "fill": "skyblu"},
        "items[0].fill: 'skyblu' is not a colour: #87ceeb is used",
    ),
    "colour in words": (
        {**RECT, "fill": "a deep navy"},
        "items[0].fill: 'a deep navy' is not a colour: #000080 is used",
    ),
    "no colour at all": ({**RECT, "fill": "?"}, "items[0].fill: '?' is not a colour: #808080 is used"),
    "opacity in percent": ({**RECT, "opacity": 40}, "items[0].opacity: 40 became 0.4"),
    "negative width": ({**RECT, "width": -50}, "items[0].width: -50 became 50"),
    "no size": ({**RECT, "width": 0}, "items[0]: a rect without size is left out"),
    "outside": ({**RECT, "x": 400}, "items[0]: a rect outside the canvas is left out"),
    "path with an error": (
        {"kind": "path", "d": "M 0 0 L 50 50 L x"},
        "items[0].d: drawn up to the first error",
    ),
    "path without a start": ({"kind": "path", "d": "L 50 50"}, "items[0]: a path without size is left out"),
    "one point": ({"kind": "polygon", "points": "5,5"}, "items[0]: a polygon without size is left out"),
    "one colour in a gradient": (
        {**RECT, "fill": {"colors": ["red"]}},
        "items[0].fill: a gradient has at least two colours",
    ),
    "positions in disorder": (
        {**RECT, "fill": {"colors": ["red", "blue"], "positions": [1, 0]}},
        "items[0].fill.positions: expected one for each colour, in order: spread evenly",
    ),
    "control characters": (
        {"kind": "text", "x": 1, "y": 50, "text": "a\x00b"},
        "items[0].text: characters that cannot be drawn are left out",
    ),
    "characters of other fonts": (
        {"kind": "text", "x": 1, "y": 50, "text": "漢字"},
        "items[0].text: not in the fonts of this package, drawn with those of the machine: 漢 字",
    ),
    "empty group": ({"kind": "group", "items": []}, "items[0]: an empty group is left out"),
}


@pytest.mark.parametrize("case", REPAIRS)
def test_mistake_is_repaired_and_reported(case: str):
    item, report = REPAIRS[case]
    result = repaired(scene(item))
    assert report in result.repairs
    assert repaired(result.scene).repairs in ((), result.repairs)  # the other fonts are named again


def test_numbers_with_units_are_read_and_absurd_ones_limited():
    (item,) = repaired(scene({**RECT, "x": "10px", "radius": " 3 ", "width": 1e300})).scene.items
    assert isinstance(item, Rect)
    assert (item.x, item.radius, item.width) == (10, 3, 100_000)


@pytest.mark.parametrize("value", [float("nan"), "wide", None])
def test_what_is_no_number_is_an_error_that_the_model_corrects(value: object):
    with pytest.raises(ValidationError, match=r"items\.0\.rect\.x"):
        scene({**RECT, "x": value})


def test_canvas_without_size_gets_one():
    result = repaired(scene(RECT, width=0))
    assert result.scene.width == 1
    assert "width: 0 became 1" in result.repairs


def test_thousands_of_items_and_deep_groups_are_cut():
    result = repaired(scene(*[RECT] * (MOST_ITEMS + 10)))
    assert len(result.scene.items) == MOST_ITEMS
    assert result.repairs == (f"items: there are more than {MOST_ITEMS:,}: the rest is left out",)
    deep: dict[str, Any] = RECT
    for _ in range(60):
        deep = {"kind": "group", "items": [RECT, deep]}
    result = repaired(scene(deep))
    assert f"a group in more than {MOST_LEVELS} groups is left out" in result.repairs[0]
    render_scene(scene(deep), 20, 20)


def test_group_outside_is_judged_where_it_is_drawn():
    moved = {"kind": "group", "x": 500, "items": [{**RECT, "x": -490}]}
    assert repaired(scene(moved)).repairs == ()
    away = {"kind": "group", "x": 500, "items": [RECT]}
    assert repaired(scene(away)).scene.items == []


def test_scene_without_mistakes_is_not_changed():
    given = scene(RECT, {"kind": "motif", "name": "sun", "x": 50, "y": 50, "size": 20, "color": "Gold"})
    assert repaired(given) == (given, ())


@pytest.mark.parametrize(
    ("text", "segments", "complete"),
    [
        ("M1,2 3,4z", "M1 2 L3 4 z", True),
        ("m1-2.5.5e1 1", "m1 -2.5 l5 1", True),
        ("M0 0a5 5 0 0110 10", "M0 0 a5 5 0 0 1 10 10", True),
        ("M0 0 C1 2 3 4", "M0 0", False),
        ("M0 0Z1 1", "M0 0 Z", False),
        ("", "", True),
    ],
)
def test_paths_are_read_as_svg_reads_them(text: str, segments: str, complete: bool):
    read = read_path(text)
    assert (str(read), read.complete) == (segments, complete)


ITEMS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["rect", "circle", "path", "polygon", "text", "line", "motif", "group", "ellipse"])},
    optional={
        **dict.fromkeys(["x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "size"], st.floats(-2e5, 2e5)),
        **dict.fromkeys(["x1", "x2", "y1", "y2", "rotation", "scale", "opacity"], st.floats(-1e3, 1e3)),
        **dict.fromkeys(
            ["fill", "stroke", "d", "points", "text"], st.text("MLQAZz019 .,-#&<>\"'rned漢\x00\n", max_size=12)
        ),
        "name": st.sampled_from(["sun", "cat"]),
        "items": st.just([RECT]),
    },
)


@given(st.lists(ITEMS, max_size=3))
def test_every_valid_scene_can_be_drawn(items: list[dict[str, Any]]):
    try:
        given = scene(*items)
    except ValidationError:
        return
    assert render_scene(given, 16, 16).blob.size
