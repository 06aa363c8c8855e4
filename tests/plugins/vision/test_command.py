"""`abstractcore draw`, without a model: what it writes, prints and refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from abstractcore_cli.app import app

RULES = ("--provider", "scripted", "--option", "scene=rules")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def draw(*arguments: str) -> Any:
    """The result of the command."""
    return CliRunner().invoke(app, ("draw", *arguments), catch_exceptions=False)


@pytest.mark.process
def test_picture_is_named_after_the_prompt_and_replaces_nothing(tmp_path: Path):
    for name in ("a-red-house-by-the-sea.png", "a-red-house-by-the-sea-2.png"):
        result = draw("A red house, by the sea!", "--size", "80x60", *RULES)
        assert (result.exit_code, result.stdout) == (0, f"{name}\n")
        with Image.open(tmp_path / name) as image:
            assert image.size == (80, 60)
    assert "a drawing of a scene that rules made of the words of the prompt" in result.stderr
    assert "abstractvision:drawing:" in result.stderr


@pytest.mark.process
@pytest.mark.parametrize(("name", "kind"), [("house.jpg", "JPEG"), ("house.webp", "WEBP"), ("house.png", "PNG")])
def test_ending_of_the_output_is_the_format(name: str, kind: str):
    assert draw("a house", "-o", name, "--size", "32x32", *RULES).stdout == f"{name}\n"
    with Image.open(name) as image:
        assert image.format == kind


@pytest.mark.process
def test_vector_graphics_are_written_and_words_that_are_not_drawn_named():
    result = draw("a house and a zeppelin", "-o", "house.svg", *RULES)
    assert Path("house.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert "warning: these words are not drawn: zeppelin" in result.stderr


@pytest.mark.process
def test_several_pictures_are_numbered_and_a_folder_gets_their_names(tmp_path: Path):
    (tmp_path / "made").mkdir()
    result = draw("three trees", "-o", "made", "--count", "2", "--seed", "1", "--size", "16x16", *RULES)
    assert result.stdout.splitlines() == ["made/three-trees-1.png", "made/three-trees-2.png"]
    result = draw("three trees", "-o", "t.png", "--count", "2", "--size", "16x16", *RULES)
    assert result.stdout.splitlines() == ["t-1.png", "t-2.png"]


@pytest.mark.process
def test_quiet_prints_the_file_only_and_json_everything():
    assert draw("a house", "-q", "-o", "h.png", "--size", "16x16", *RULES).stderr == ""
    result = draw("a house", "--json", "-o", "h.png", "--size", "16x16", *RULES)
    made = json.loads(result.stdout)
    assert result.stderr == ""
    assert (made["files"], made["media_types"], made["exit_code"]) == (["h.png"], ["image/png"], 0)
    assert (made["backend"], made["metadata"]["scene_by"]) == ("abstractvision:drawing", "rules")


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "size": (("a house", "--size", "large"), "--size 'large' is not a size."),
    "mask": (("a house", "--mask", "m.png"), "--mask needs a picture to change."),
    "option": (("a house", "--option", "scene"), "--option 'scene' is not an argument."),
    "format": (("a house", "-o", "house.bmp"), "expected one of png, jpeg, webp, svg, got 'bmp'"),
    "absurd size": (("a house", "--size", "99999x99999"), "pixels cannot be drawn"),
    "empty text": ((" ",), "prompt"),
    "backend": (("a house", "--backend", "drawng"), "no backend of vision is called 'drawng'"),
    "photo": (("night", "--from", "photo.jpg"), "only pictures that this backend drew can be changed"),
    "missing picture": (("night", "--from", "none.png"), "none.png"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistake_is_a_usage_error_and_nothing_is_written(tmp_path: Path, case: str):
    arguments, message = REFUSED[case]
    photo = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(photo, "JPEG")
    (tmp_path / "photo.jpg").write_bytes(photo.getvalue())
    rules = () if "--from" in arguments else ("--option", "scene=rules")
    result = draw(*arguments, "--provider", "scripted", *rules)
    assert result.exit_code == 2, result.stderr
    assert message in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["photo.jpg"]


def test_file_that_cannot_be_written_is_a_usage_error(tmp_path: Path):
    result = draw("a house", "-o", "no/such/house.png", "--size", "16x16", *RULES)
    assert result.exit_code == 2
    assert "no/such/house.png cannot be written: there is no such folder" in result.stderr
