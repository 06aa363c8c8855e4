"""Scenes changed by rules: motifs added, removed or coloured, and the light of the day."""

from __future__ import annotations

import random

from ..scene import Item, Motif, Scene
from .backdrops import unseen_settings
from .composing import HORIZON, ComposedScene, dimming
from .placing import leave_out_places, placed
from .words import Mention, ReadPrompt, read_prompt


def change_scene(scene: Scene, prompt: str) -> ComposedScene | None:
    """Returns a scene as the English words that the rules know change it; None if they change nothing."""
    read = read_prompt(prompt)
    items = _without(scene.items, read) if read.removes else _colored(scene.items, read)
    added = [] if read.removes else [mention for mention in read.mentions if not _is_coloring(mention, scene.items)]
    chance = random.Random(len(scene.items))
    new = placed(added, scene.width, scene.height, HORIZON * scene.height, chance, is_landscape=True)
    items = [*items, *new, *dimming(read, scene.height)]
    if items == scene.items:
        return None
    _leave_out(read, added, scene.items)
    names = tuple(dict.fromkeys(mention.name for mention in read.mentions))
    return ComposedScene(scene.model_copy(update={"items": items}), names, read.left_out)


def _leave_out(read: ReadPrompt, added: list[Mention], items: list[Item]) -> None:
    """Notes the words of a change that change nothing."""
    read.leave_out_captions(read.captions)
    read.leave_out(read.daylight)
    read.leave_out_settings(unseen_settings([*read.settings]))
    leave_out_places(read, added, is_landscape=True)
    there = {item.name for item in items if isinstance(item, Motif)}
    for mention in read.mentions:
        if read.removes:
            read.leave_out_of(mention, "count", "color", "side", "relation")
            read.leave_out([] if mention.name in there else [mention.word])
        elif mention not in added:
            read.leave_out_of(mention, "count", "side", "relation")


def _without(items: list[Item], read: ReadPrompt) -> list[Item]:
    names = {mention.name for mention in read.mentions}
    return [item for item in items if not (isinstance(item, Motif) and item.name in names)]


def _is_coloring(mention: Mention, items: list[Item]) -> bool:
    """Returns whether a motif that is there already gets a colour."""
    return mention.color is not None and any(isinstance(item, Motif) and item.name == mention.name for item in items)


def _colored(items: list[Item], read: ReadPrompt) -> list[Item]:
    colors = {mention.name: mention.color for mention in read.mentions if _is_coloring(mention, items)}
    return [
        item.model_copy(update={"color": colors[item.name]})
        if isinstance(item, Motif) and item.name in colors
        else item
        for item in items
    ]
