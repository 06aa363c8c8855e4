"""Scenes composed by rules: what they find in prompts, where they put it, and what they say they do not know."""

from __future__ import annotations

import pytest

from abstractvision import Motif, Text, compose_scene, render_scene, repaired
from abstractvision.drawing.motifs import motif_rows
from abstractvision.drawing.rules.vocabulary import motif_words, setting_words, vocabulary
from abstractvision.drawing.rules.words import read_prompt

PROMPTS = [
    "A red house by the sea at sunset with two boats",
    "three trees and a cat under a big tree",
    "a castle on a hill at night",
    "fish and a whale underwater",
    "a rocket past a planet",
    "a robot and a heart",
    "ein Haus am Meer",
    "a forest in autumn, a dozen sheep and a windmill on the left",
]


def motifs(prompt: str) -> list[Motif]:
    return [item for item in compose_scene(prompt).scene.items if isinstance(item, Motif)]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("aspect", [0.3, 1.0, 3.0])
def test_composed_scenes_need_no_repair(prompt: str, aspect: float):
    composed = compose_scene(prompt, aspect=aspect)
    assert repaired(composed.scene).repairs == ()
    assert composed.scene.width / composed.scene.height == pytest.approx(aspect)
    assert render_scene(composed.scene, 60, 20).blob.size


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("two red cars and a bus", [("car", 2, "red"), ("bus", 1, None)]),
        ("trees", [("tree", 3, None)]),
        ("a forest", [("tree", 7, None)]),
        ("five golden stars", [("star", 5, "gold")]),
        ("a pine tree", [("pine", 1, None)]),
        ("pine trees", [("pine", 3, None)]),
        ("a birthday cake", [("cake", 1, None)]),
        ("1000000 sheep", [("sheep", 60, None)]),
        ("Zebras!", []),
    ],
)
def test_motifs_have_number_and_color(prompt: str, found: list[tuple[str, int, str | None]]):
    assert [(each.name, each.count, each.color) for each in read_prompt(prompt).mentions] == found


def test_unknown_words_are_named_once():
    assert compose_scene("A zeppelin, a zeppelin and a red house").unknown == ("zeppelin",)


def test_prompt_without_a_known_word_is_set_as_text():
    composed = compose_scene("Quantum entanglement of ideas")
    (text,) = [item for item in composed.scene.items if isinstance(item, Text)]
    assert (text.text, composed.motifs) == ("Quantum entanglement of ideas", ())
    assert composed.unknown == ("quantum", "entanglement", "ideas")


def test_quoted_words_are_a_caption_and_not_drawn():
    composed = compose_scene('A cake "Happy house, Ann!"')
    assert composed.motifs == ("cake",)
    assert [item.text for item in composed.scene.items if isinstance(item, Text)] == ["Happy house, Ann!"]


def test_sky_is_above_the_ground_and_the_left_is_left():
    sun, cat, dog = (
        next(each for each in motifs("a sun, a cat on the left and a dog on the right") if each.name == name)
        for name in ("sun", "cat", "dog")
    )
    assert sun.y < min(cat.y, dog.y)
    assert cat.x < 400 < 600 < dog.x


def test_relations_place_one_motif_by_another():
    cat, tree = (next(m for m in motifs("a cat under a tree") if m.name == name) for name in ("cat", "tree"))
    assert abs(cat.x - tree.x) < tree.size / 2
    castle, hill = (next(m for m in motifs("a castle on a hill") if m.name == name) for name in ("castle", "hill"))
    assert castle.y + castle.size / 2 < hill.y + hill.size / 2
    names = [each.name for each in motifs("a house behind a tree")]
    assert names.index("house") < names.index("tree")


def test_same_prompt_and_seed_give_the_same_scene():
    assert compose_scene("six trees") == compose_scene("six trees")
    assert compose_scene("six trees", seed=1) == compose_scene("six trees", seed=1)
    assert compose_scene("six trees", seed=1).scene != compose_scene("six trees", seed=2).scene


def test_long_prompt_is_composed_of_its_beginning():
    assert len(motifs("a house and a tree, " * 50_000)) <= 60


def test_vocabulary_has_no_word_with_two_meanings():
    known = vocabulary()
    assert set(motif_words()) & (set(known.filler) | set(known.numbers) | set(known.relations)) == set()
    assert len(motif_words()) == sum(len(row.words) for row in motif_rows().values())
    assert len(setting_words()) == sum(map(len, known.settings.values()))
