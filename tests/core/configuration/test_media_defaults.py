"""Policies for files at three levels: `config.toml`, `create_llm`, the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstractcore import ConfigurationError, InvalidInputError, Services, create_llm
from abstractcore.ports import Fallback
from abstractcore.user_folders import config_file_path
from tests.media_doubles import PICTURE, SOUND, Handler, registry

TEXT = frozenset({"text"})
BY = [Fallback(name, TEXT) for name in ("ocr", "observe")]


@pytest.fixture
def make(tmp_path: Path):
    """Creates an LLM with a configuration; it accepts images."""
    made: list[Services] = []

    def create(text: str | None, services_options: dict | None = None, **options):
        path = tmp_path / "config.toml"
        if text is not None:
            path.write_text(text)
        handlers = registry(Handler("pictures", "image", b"PICTURE", "image/png", tuple(BY)))
        made.append(
            Services(registry=handlers, environment={"ABSTRACTCORE_CONFIG": str(path)}, **services_options or {})
        )
        return create_llm("scripted", replies=["a"] * 3, accepts=["image"], services=made[-1], **options)

    yield create
    for services in made:
        services.close()


CONFIGURED = '[media_policy]\nimage = "ocr"\naudio = "fallback_only"\n'


def test_configured_policy_holds_where_the_call_sets_none(call_style, make):
    llm = make(CONFIGURED)
    picture, sound = call_style.generate(llm, "hi", media=[PICTURE, SOUND]).media
    assert (picture.policy, picture.policy_source, picture.fallback) == ("ocr", "configuration", "ocr")
    assert (sound.policy, sound.policy_source) == ("fallback_only", "configuration")
    assert llm.plan("hi", media=[PICTURE])[0].policy == "ocr"


@pytest.mark.parametrize(
    ("created", "called", "policy"),
    [
        ({}, {}, ("ocr", "configuration")),
        ({"image": "observe"}, {}, ("observe", "call")),
        ({"image": "observe"}, {"image": "native"}, ("native", "call")),
        ({"image": "observe"}, {"audio": "auto"}, ("observe", "call")),
        ({}, {"image": "auto"}, ("auto", "call")),
        ("native", {"audio": "auto"}, ("native", "call")),
        ({"image": "observe"}, "native", ("native", "call")),
        ({"image": "observe"}, None, ("ocr", "configuration")),
    ],
)
def test_explicit_policy_wins_by_kind(make, created, called, policy: tuple[str, str]):
    (decision,) = make(CONFIGURED, media_policy=created).plan("hi", media=[PICTURE], media_policy=called)
    assert (decision.policy, decision.policy_source) == policy


def test_services_may_have_policies_of_their_own_instead(make):
    llm = make(CONFIGURED, {"media_policy": {"image": "observe"}})
    assert llm.plan("hi", media=[PICTURE])[0].policy == "observe"
    assert make(CONFIGURED, {"media_policy": {}}).plan("hi", media=[PICTURE])[0].policy_source == "default"


@pytest.mark.parametrize(
    ("policy", "message", "hint"),
    [
        ({"image": "orc"}, "media_policy.image: unknown policy 'orc': use native, auto", "Did you mean ocr?"),
        ({"image": "refused"}, "media_policy.image: unknown policy 'refused'", "Did you mean refuse?"),
        ({"pictures": "ocr"}, "media_policy.pictures: unknown kind: use text, image", None),
        ({"image": 3}, "media_policy.image: expected the name of a policy, got 3", None),
    ],
)
def test_wrong_policy_of_services_is_refused_before_any_call(make, policy: dict, message: str, hint: str | None):
    with pytest.raises(InvalidInputError, match=message) as caught:
        make(None, {"media_policy": policy})
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[media_policy]\nimage = "orc"', r"config\.toml:2:1: media_policy\.image: unknown policy 'orc': use native"),
        (
            '[media_policy]\npictures = "ocr"',
            r"config\.toml:2:1: media_policy\.pictures: unknown kind: use text, image",
        ),
        ("[media_policy]\n\nimage = 3", r"config\.toml:3:1: media_policy\.image: expected the name of a policy, got 3"),
        ("media_policy = 'ocr'", r"config\.toml:1:1: media_policy: expected a table"),
        ("[media_polcy]", r"config\.toml:1:1: media_polcy: there is no such setting"),
        ("[media_policy", r"config\.toml:1:\d+: not TOML"),
        (None, r"config\.toml does not exist"),
    ],
)
def test_error_names_the_file_and_the_key(make, text: str | None, message: str):
    with pytest.raises(ConfigurationError, match=message):
        make(text)


def test_file_is_in_the_configuration_folder():
    path, named = config_file_path({})
    assert (path.name, named) == ("config.toml", False)
    assert config_file_path({"ABSTRACTCORE_CONFIG": "~/c.toml"}) == (Path("~/c.toml").expanduser(), True)
