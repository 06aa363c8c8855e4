"""Scenes composed by rules: a backdrop, then what the prompt names, from far to near."""

from __future__ import annotations

import hashlib
import random
from typing import NamedTuple

from ..boxes import own_box
from ..motifs import motif_rows
from ..scene import Circle, Gradient, Item, Path, Rect, Scene, Text
from .backdrops import Backdrop, backdrop_of, darkness_of, unseen_settings
from .placing import leave_out_places, placed
from .words import ReadPrompt, read_prompt

HORIZON = 0.66
_WIDTH = 1000.0
_CARD = ("#fdf6e3", "#e6ddc4")
_MOST_CAPTIONS = 3


class ComposedScene(NamedTuple):
    """A scene that rules composed, the names of its motifs, and the words of the prompt that are not drawn.

    `unknown` lacks words that mean nothing in a picture, such as "the". Of a prompt, 20,000 characters are read.
    """

    scene: Scene
    motifs: tuple[str, ...]
    unknown: tuple[str, ...]


def compose_scene(prompt: str, *, aspect: float = 1.0, seed: int | None = None) -> ComposedScene:
    """Composes a scene of the English words that the rules know; `aspect` is width by height.

    The same prompt and seed give the same scene. Without a known word, the prompt itself is set as text.
    """
    read = read_prompt(prompt)
    chance = random.Random(hashlib.sha256(prompt.encode()).hexdigest() if seed is None else seed)
    height = _WIDTH / aspect
    read.leave_out(read.removing)
    if not read.mentions and not read.settings:
        read.leave_out(read.daylight)
        return ComposedScene(_card(prompt, height), (), read.left_out)
    layers = {motif_rows()[mention.name].layer for mention in read.mentions}
    is_landscape = bool(read.settings) or bool(layers - {"thing"})
    if is_landscape:
        backdrop = backdrop_of([*read.settings], has_ground="ground" in layers, has_water="water" in layers)
        read.leave_out_settings(unseen_settings([*read.settings], backdrop))
        read.leave_out(word for word in read.daylight if word == "day" and "night" in read.settings)
        scenery = _scenery(backdrop, read, height, chance)
        background = Gradient(colors=list(backdrop.sky), positions=_until_horizon(len(backdrop.sky)), angle=90)
    else:
        scenery, background = [], Gradient(kind="radial", colors=["#ffffff", "#dfe9f3"])
        read.leave_out(read.daylight)
    motifs = placed(read.mentions, _WIDTH, height, HORIZON * height, chance, is_landscape=is_landscape)
    leave_out_places(read, read.mentions, is_landscape=is_landscape)
    names = tuple(dict.fromkeys(mention.name for mention in read.mentions))
    captions = _captions(read.captions[:_MOST_CAPTIONS], height)
    read.leave_out_captions(read.captions[_MOST_CAPTIONS:])
    items = [*scenery, *motifs, *dimming(read, height), *captions]
    description = ", ".join([*names, *read.settings])
    scene = Scene(width=_WIDTH, height=height, background=background, items=items, description=description)
    return ComposedScene(scene, names, read.left_out)


def _until_horizon(count: int) -> list[float]:
    return [HORIZON * index / (count - 1) for index in range(count)]


def _scenery(backdrop: Backdrop, read: ReadPrompt, height: float, chance: random.Random) -> list[Item]:
    horizon = HORIZON * height
    items: list[Item] = []
    if {"night", "space"} & set(read.settings):
        items += [_dot(chance.uniform(0, _WIDTH), chance.uniform(0, horizon), chance) for _ in range(70)]
    shore = horizon + (0.2 * height if backdrop.ground else 0)
    if backdrop.water:
        water = Gradient(colors=list(backdrop.water))
        items.append(Rect(kind="rect", x=0, y=horizon, width=_WIDTH, height=height - horizon, fill=water))
        items += [_wave(chance.uniform(0, _WIDTH), chance.uniform(horizon + 15, height), chance) for _ in range(14)]
    if backdrop.ground:
        top = shore if backdrop.water else horizon
        ground = Gradient(colors=list(backdrop.ground))
        edge = f"M 0 {top + 14:.0f} Q {_WIDTH / 4:.0f} {top - 18:.0f} {_WIDTH / 2:.0f} {top + 6:.0f}"
        edge += f" T {_WIDTH:.0f} {top:.0f} L {_WIDTH:.0f} {height:.0f} L 0 {height:.0f} Z"
        items.append(Path(kind="path", d=edge, fill=ground))
    return items


def _dot(x: float, y: float, chance: random.Random) -> Circle:
    return Circle(kind="circle", cx=x, cy=y, r=chance.uniform(0.7, 2.4), fill="white", opacity=chance.uniform(0.4, 1))


def _wave(x: float, y: float, chance: random.Random) -> Path:
    length = chance.uniform(20, 55)
    line = f"M {x:.0f} {y:.0f} q {length / 2:.0f} -7 {length:.0f} 0"
    return Path(kind="path", d=line, fill="none", stroke="white", stroke_width=2.5, opacity=0.45)


def dimming(read: ReadPrompt, height: float) -> list[Item]:
    """Returns the shade that darkens a scene of this height, if it is one."""
    darkness = darkness_of([*read.settings])
    shade = Rect(kind="rect", x=-_WIDTH, y=-height, width=3 * _WIDTH, height=3 * height, fill="#0a1030")
    return [shade.model_copy(update={"opacity": darkness})] if darkness else []


def _captions(captions: list[str], height: float) -> list[Item]:
    size = min(64.0, height / 12)
    return [
        Text(
            kind="text",
            x=_WIDTH / 2,
            y=height - size * (0.7 + 1.4 * (len(captions) - 1 - index)),
            text=caption,
            size=size,
            fill="white",
            bold=True,
            anchor="middle",
            width=_WIDTH * 0.92,
        )
        for index, caption in enumerate(captions)
    ]


def _card(prompt: str, height: float) -> Scene:
    """Returns the prompt set as text, in a frame."""
    text = " ".join(prompt.split())
    text = text if len(text) <= 280 else text[:279] + "…"
    size = max(min(90.0, height / 6, 1500 / (len(text) + 1) ** 0.72), 20.0)
    margin = min(_WIDTH, height) * 0.05
    frame = Rect(
        kind="rect",
        x=margin,
        y=margin,
        width=_WIDTH - 2 * margin,
        height=height - 2 * margin,
        fill="none",
        stroke="#b9a77c",
        stroke_width=4,
        radius=12,
    )
    words = Text(
        kind="text",
        x=_WIDTH / 2,
        y=height / 2,
        text=text,
        size=size,
        fill="#4a4032",
        anchor="middle",
        width=_WIDTH * 0.8,
    )
    box = own_box(words)
    assert box is not None
    words = words.model_copy(update={"y": words.y + height / 2 - box.middle[1]})
    return Scene(
        width=_WIDTH, height=height, background=Gradient(colors=list(_CARD)), items=[frame, words], description=text
    )
