"""The script that compares the catalogue with the newest packages of the vendors."""

import sys
from importlib.metadata import files
from pathlib import Path
from zipfile import ZipFile

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
import news

OTHERS = {
    "groq": (
        "groq/types/chat/completion_create_params.py",
        'class P:\n    model: Literal["openai/gpt-oss-120b", "new/a"]',
    ),
    "pydantic_ai_slim": (
        "pydantic_ai/models/_known_model_names.py",
        'KnownModelName = TypeAliasType("KnownModelName", Literal["mistral:new-b", "test", "google:gemini-3.8-flash"])',
    ),
}


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """The installed packages of OpenAI, Anthropic and xAI as wheels, and small ones in the layout of the others."""
    for package in ("openai", "anthropic", "xai_sdk"):
        with ZipFile(tmp_path / f"{package}-1-py3-none-any.whl", "w") as wheel:
            for file in files(package) or ():
                if str(file) in {source.module for source in (*news.SOURCES, news.RETIRED)}:
                    wheel.write(file.locate(), str(file))
    for package, (module, text) in OTHERS.items():
        with ZipFile(tmp_path / f"{package}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(module, text)
    return tmp_path


def test_unknown_models_are_listed_by_package_and_provider(wheels: Path):
    lines = list(news.news(wheels, news.ours()))
    assert "groq: groq: new/a" in lines
    assert "pydantic-ai-slim: mistral: new-b" in lines
    assert not [line for line in lines if line.startswith("xai-sdk")], "all are known"


def test_a_package_without_its_names_is_reported(wheels: Path, capsys: pytest.CaptureFixture[str]):
    with ZipFile(wheels / "xai_sdk-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("xai_sdk/types/model.py", "Other = 1")
    assert news.main([str(wheels)]) == 1
    assert "has no ChatModel" in capsys.readouterr().err


def test_a_missing_package_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert news.main([str(tmp_path)]) == 1
    assert "no wheel of openai" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "day"), [("November 6th, 2024", "2024-11-06"), ("July 21st, 2025", "2025-07-21")])
def test_dates_of_anthropics_table(wheels: Path, text: str, day: str):
    with ZipFile(wheels / "anthropic-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("anthropic/types/model.py", 'Model = Literal["claude-opus-5"]')
        wheel.writestr("anthropic/resources/messages/messages.py", f'DEPRECATED_MODELS = {{"claude-opus-5": "{text}"}}')
    assert f"anthropic: anthropic: claude-opus-5 retires on {day}" in list(news.news(wheels, news.ours()))
