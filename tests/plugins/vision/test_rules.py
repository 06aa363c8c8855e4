"""Scenes composed by rules: what they find in prompts, where they put it, and what they say they do not know."""

from __future__ import annotations

import pytest

from abstractvision import ComposedScene, Motif, Text, compose_scene, render_scene, repaired
from abstractvision.drawing.motifs import motif_rows
from abstractvision.drawing.rules import change_scene
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


GRAMMAR_TEXT = """
    a an the this that these those there some one ones it its their they my our his her is are be has have having of
    in on at to with and or from into for as by next top side while add change color colour more instead another put
    turn also draw paint picture image drawing illustration painting photo scene show showing please make me us
"""
GRAMMAR = frozenset(GRAMMAR_TEXT.split())
"""Words that mean nothing in a picture, or are the request for it."""
COMMON_TEXT = """
    old young new big small tiny huge large little tall short wide narrow beautiful pretty nice ugly happy sad cute
    angry sleepy bright dark light shiny pale colorful striped spotted wooden broken empty full open closed round
    flat wet dry hot cold warm fast slow loud quiet flying swimming sitting standing running sleeping burning
    falling dancing eating smiling between through around up down front out back far away inside outside upside no
    not never always zeppelin dragon unicorn violin telephone teacup wizard knight king queen baby child mother
    doctor giraffe elephant penguin banana pizza guitar piano bridge church school window door chimney roof wall
    carpet mirror candle fog mist wind breeze morning noon afternoon yesterday tomorrow monday march spooky gothic
    watercolour oil pencil cartoon photorealistic minimalist van gogh 3d 4k été дом 家
"""
COMMON = COMMON_TEXT.split()


def known_words() -> list[str]:
    known = vocabulary()
    listed = [known.numbers, known.crowds, known.sides, known.relations, known.removing, known.colors, known.daylight]
    return sorted(
        {word for words in listed for word in words} | {*motif_words(), *setting_words()} | {"teal", "crimson"}
    )


WORDS = sorted({*COMMON, *known_words()} - GRAMMAR)
FRAMES = ("a {} house by the tree", "a house and a cat {}", "{}", "a house at night {} rain", "an apple {}")


def is_named(word: str, unknown: tuple[str, ...]) -> bool:
    return word in unknown or (word[0].isdecimal() and word[1:] in unknown)


def is_there_anyway(word: str, composed: ComposedScene) -> bool:
    """Whether the scene shows the same without the word: a motif named twice, the grass and the light of every day."""
    if motif_words().get(word) in composed.motifs:
        return True
    of_settings = {"meadow", *(name for name in ("night", "storm") if name in composed.scene.description)}
    is_usual = word in ("day", "sky", "middle", "center", "centre") or setting_words().get(word) in of_settings
    return is_usual and composed.motifs != ("apple",)


@pytest.mark.exhaustive
@pytest.mark.parametrize("frame", FRAMES)
def test_every_word_changes_the_picture_or_is_named(frame: str):
    """A word without which the picture is the same has no part in it."""
    without = compose_scene(" ".join(frame.format("").split()), seed=1)
    silent = list[str]()
    for word in WORDS:
        composed = compose_scene(frame.format(word), seed=1)
        items, others = (
            [item for item in each.scene.items if not (isinstance(item, Text) and frame == "{}")]
            for each in (composed, without)
        )
        if items == others and composed.scene.background == without.scene.background:
            silent += [] if is_named(word, composed.unknown) or is_there_anyway(word, composed) else [word]
    assert silent == []
    assert len(WORDS) > 480


def test_words_of_grammar_are_not_named():
    assert compose_scene(f"a house {' '.join(sorted(GRAMMAR))}").unknown == ()
    assert vocabulary().filler <= GRAMMAR


@pytest.mark.parametrize(
    ("prompt", "unknown"),
    [
        ("An old house and a young tree", ("old", "young")),
        ("a red blue car", ("red",)),
        ("three dragons and a car", ("dragons", "three")),
        ("a red rainbow", ("red",)),
        ("100 birds", ("100",)),
        ("two skyline", ("two",)),
        ("a cat under a dragon", ("dragon", "under")),
        ("two cats on the left", ("left",)),
        ("an apple on the left in the sky", ("sky", "left")),
        ("a house without trees", ("without",)),
        ("a desert in space", ("desert",)),
        ("50 cats and 50 dogs", ("50", "dogs")),
        ('a cake "a" "b" "c" "the fourth"', ("fourth",)),
        ("the cat's hat", ("hat",)),
        ("ein altes Häuschen", ("ein", "altes", "häuschen")),
        ("a red house by the sea by day", ()),
    ],
)
def test_words_that_are_not_drawn_are_named(prompt: str, unknown: tuple[str, ...]):
    assert compose_scene(prompt).unknown == unknown


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        ("make a red house", ()),
        ("make the two old red houses", ("old", "two")),
        ("remove the big house", ("big",)),
        ("remove the red house and the zebra", ("zebra", "red")),
        ("remove the house and the dog", ("dog",)),
        ("add a dog under a zebra at night", ("under", "zebra")),
        ('add a dog "Rex" in winter', ("rex", "winter")),
    ],
)
def test_words_of_a_change_that_are_not_drawn_are_named(change: str, unknown: tuple[str, ...]):
    changed = change_scene(compose_scene("a house and a tree").scene, change)
    assert changed is not None
    assert sorted(changed.unknown) == sorted(unknown)
