"""Diffusion models on this machine: the real loading code of diffusers, with tiny random models made here.

They need torch, of several gigabytes, which the project does not install: `pip install diffusers torch transformers
accelerate` runs the tests that need it.
"""

from __future__ import annotations

import io
import sys
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore import (
    LLM,
    CallProgress,
    CapabilityUnavailableError,
    ContentFilterError,
    CorruptFileError,
    MissingExtraError,
    ModelStoreError,
    UnsupportedContentError,
    VideoPart,
    create_llm,
)
from tests.backend_doubles import PNG
from tests.plugins.vision.pictures import pixels

needs_diffusers = pytest.mark.skipif(
    find_spec("diffusers") is None or find_spec("torch") is None, reason="diffusers and torch are not installed"
)
pytestmark = [
    pytest.mark.weights,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def local(source: object, **options: Any) -> LLM:
    """An LLM with the backend of local models."""
    options |= {"vision_backend": "diffusers", "vision_image_model": None if source is None else str(source)}
    return create_llm("scripted", replies=[], **options)


def few(**more: Any) -> dict[str, Any]:
    """Arguments of a quick call."""
    return {"width": 64, "height": 64, "steps": 2, **more}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny models."""
    from tests.plugins.vision import tiny_models

    folder = tmp_path_factory.mktemp("models")
    return {name: getattr(tiny_models, name)(folder) for name in ("sdxl", "flux", "ltx")}


@needs_diffusers
@pytest.mark.parametrize("name", ["sdxl", "flux"])
def test_picture_is_made_changed_and_filled(models: dict[str, Path], name: str):
    llm = local(models[name])
    seen: list[CallProgress] = []
    first = llm.vision.t2i("a boat", seed=3, on_progress=seen.append, **few())
    assert pixels(first.part).size == (64, 64)
    assert [each.done for each in seen] == [1, 2]
    assert llm.vision.t2i("a boat", seed=3, **few()).part.blob == first.part.blob
    assert llm.vision.t2i("a boat", seed=4, **few()).part.blob != first.part.blob
    assert first.cost == 0
    changed = llm.vision.i2i("a house", first.part, seed=3, **few(strength=0.9))
    assert changed.part.blob != first.part.blob
    mask = io.BytesIO()
    Image.new("L", (64, 64), 255).save(mask, "PNG")
    filled = llm.vision.i2i("a house", first.part, mask=mask.getvalue(), seed=3, **few(strength=0.9))
    assert pixels(filled.part).size == (64, 64)


@needs_diffusers
def test_count_makes_several_and_other_options_are_warnings(models: dict[str, Path]):
    result = local(models["sdxl"]).vision.t2i("a boat", count=2, **few(quality="high", seed=1))
    assert len(result.parts) == 2
    assert [(each.code, each.path) for each in result.warnings] == [("unsupported_option", "quality")]


@needs_diffusers
def test_video_is_made_of_a_prompt_and_of_a_picture(models: dict[str, Path]):
    av: Any = import_module("av")
    llm = local(models["ltx"])
    for result in (
        llm.vision.t2v("waves", seconds=0.375, fps=24, **few()),
        llm.vision.i2v(PNG, prompt="waves", seconds=0.375, fps=24, **few()),
    ):
        assert isinstance(result.part, VideoPart)
        with av.open(io.BytesIO(result.part.blob.read())) as film:
            frames = list(film.decode(video=0))
        assert (len(frames), frames[0].width, frames[0].height) == (9, 64, 64)


@needs_diffusers
def test_model_of_another_kind_is_refused(models: dict[str, Path]):
    with pytest.raises(UnsupportedContentError, match="LTXPipeline makes videos"):
        local(models["ltx"]).vision.t2i("a boat", **few())
    with pytest.raises(UnsupportedContentError, match="StableDiffusionXLPipeline makes pictures"):
        local(models["sdxl"]).vision.t2v("waves", **few())


@needs_diffusers
def test_blackened_pictures_are_an_error_with_those_that_passed(
    models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    kind: Any = import_module("diffusers").StableDiffusionXLPipeline
    usual = kind.__call__

    def checked(self: Any, **arguments: Any) -> Any:
        result = usual(self, **arguments)
        result.nsfw_content_detected = [True, False]
        return result

    monkeypatch.setattr(kind, "__call__", wraps(usual)(checked))
    with pytest.raises(ContentFilterError, match="1 of 2 pictures") as caught:
        local(models["sdxl"]).vision.t2i("a boat", count=2, **few())
    assert caught.value.partial is not None
    assert len(caught.value.partial.parts) == 1


@needs_diffusers
def test_folder_without_a_model_and_bad_settings_are_typed(models: dict[str, Path], tmp_path: Path):
    with pytest.raises(ModelStoreError, match="cannot be loaded"):
        local(tmp_path).vision.t2i("a boat", **few())
    with pytest.raises(ModelStoreError, match="torch has no type 'float7'"):
        local(models["sdxl"], vision_dtype="float7").vision.t2i("a boat", **few())
    with pytest.raises(CorruptFileError):
        local(models["sdxl"]).vision.i2i("a boat", b"\x89PNG\r\n\x1a\n" + bytes(30), **few())


@pytest.mark.smoke
def test_missing_model_is_named():
    with pytest.raises(CapabilityUnavailableError, match="vision_image_model='folder or name on the hub'"):
        local(None).vision.t2i("a boat")
    assert local("some/model").vision.list_models() == [{"id": "some/model"}]


@pytest.mark.smoke
def test_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "diffusers", None)
    with pytest.raises(MissingExtraError, match="pip install diffusers torch transformers accelerate"):
        local(tmp_path).vision.t2i("a boat")
