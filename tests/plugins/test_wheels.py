"""Plugins as users install them: the wheel in a clean environment beside the core's, used, and gone again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from abstractcore.stores.models import FileModelStore
from abstractvoice.speakers.weights import packaged_models
from tests.packages import ROOT, Environment, build_wheel, run

pytestmark = [pytest.mark.process, pytest.mark.weights]

USE = {
    "abstractvoice": """
import json
from abstractcore import CapabilityUnavailableError, create_llm
llm = create_llm("scripted", replies=[])
try:
    result = llm.voice.tts("It costs 12 euros.", format="mp3")
    print(json.dumps([result.backend, result.save("price.mp3").suffix, result.metadata["said"][0]["text"]]))
except CapabilityUnavailableError as error:
    print(json.dumps([type(error).__name__, str(error)]))
""",
    "abstractvision": """
import json
from abstractcore import CapabilityUnavailableError, create_llm
llm = create_llm("scripted", replies=[], vision_scene="rules")
try:
    result = llm.vision.t2i("a red house by the sea", width=64, height=48)
    larger = llm.vision.upscale_image(result.save("house.png"), scale=2)
    print(json.dumps([result.backend, result.part.blob.media_type, larger.part.to_pil().size]))
except CapabilityUnavailableError as error:
    print(json.dumps([type(error).__name__, str(error)]))
""",
    "abstractmusic": """
import json
from abstractcore import CapabilityUnavailableError, create_llm
llm = create_llm("scripted", replies=[], music_backend="rules")
try:
    result = llm.music.t2m("a calm waltz for flute", seconds=3, format="mp3", also=["midi", "musicxml"])
    result.save("waltz.mp3")
    print(json.dumps([result.backend, *(part.blob.media_type for part in result.parts)]))
except CapabilityUnavailableError as error:
    print(json.dumps([type(error).__name__, str(error)]))
""",
}
PRINTED = {
    "abstractvoice": ["abstractvoice:local", ".mp3", "It costs twelve euros."],
    "abstractvision": ["abstractvision:drawing", "image/png", [128, 96]],
    "abstractmusic": ["abstractmusic:rules", "audio/mpeg", "audio/midi", "application/vnd.recordare.musicxml+xml"],
}
TAKEN = {
    "abstractvoice": "abstractvoice:local",
    "abstractvision": "abstractvision:drawing",
    "abstractmusic": "abstractmusic:score",
}


@pytest.mark.parametrize("package", USE)
def test_wheel_works_in_a_clean_environment_and_leaves_nothing_behind(
    tmp_path: Path, package: str, models: FileModelStore
):
    if package == "abstractvoice":  # the environment below has neither pip nor uv
        FileModelStore(models.root, packaged=packaged_models()).pull("piper-joe")
    environment = Environment(tmp_path / "venv", package=package)
    environment.install(build_wheel(ROOT, tmp_path / "core"))
    cache = str(models.root.parent.resolve())
    env = {"HOME": str(tmp_path), "PATH": os.defpath, "ABSTRACTCORE_CACHE": cache}

    def use() -> list[object]:
        return json.loads(run(environment.python, "-W", "error", "-c", USE[package], cwd=tmp_path, env=env))

    def files() -> set[Path]:
        return set((tmp_path / "venv").rglob("*"))

    kind, message = use()
    assert kind == "CapabilityUnavailableError"
    assert package in str(message)
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # what was imported until now is compiled
    before = files()
    environment.install(build_wheel(ROOT / "plugins" / package, tmp_path / "plugin"))
    environment.check()
    assert use() == PRINTED[package]
    listed = run(environment.python, "-m", "abstractcore", "plugins", "--json", cwd=tmp_path, env=env)
    capability = package.removeprefix("abstract")
    used = [
        each["backend"] for each in json.loads(listed)["backends"] if each["used"] and each["capability"] == capability
    ]
    assert used == [TAKEN[package]]
    environment.uninstall(package)
    assert files() == before
    assert use()[0] == "CapabilityUnavailableError"
