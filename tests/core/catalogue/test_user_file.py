"""The user's own facts about models, in TOML: they add models, and win over the provider's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, Services
from abstractcore.catalogue import FileCatalogue
from abstractcore.catalogue.folders import user_file_path
from abstractcore.ports import BilledResponse, ModelProfile, Thinking
from abstractcore.schema import Usage
from tests.catalogue_files import PROVIDER, catalogue_of

ROWS = (
    {
        "model": "one",
        "accepts": ["image"],
        "context_tokens": 1,
        "thinking": {"levels": ["low"]},
        "refused": ["top_k"],
        "prices": [{"rates": {"input": "1"}}],
    },
    {"model": "two", "context_tokens": 2, "prices": [{"rates": {"input": "2"}}]},
    {"family": "fam", "accepts": ["image"], "cache_points": 4},
)
UNKNOWN = {"assumed": ["image"], "encodable": ["audio"]}


def catalogue(folder: Path, table: str) -> FileCatalogue:
    return catalogue_of(folder, *ROWS, user=f'[[models]]\nprovider = "acme"\n{table}', unknown=UNKNOWN)


def test_facts_of_a_known_model_are_overridden_and_the_rest_stays(tmp_path: Path):
    found = catalogue(tmp_path, 'model = "one"\ncontext_tokens = 7\nthinking = {can_be_off = false}')
    entry = found.entry(PROVIDER, "one-2026-10-07")
    assert entry.profile == ModelProfile(
        frozenset({"image"}), 7, thinking=Thinking(("low",), can_be_off=False), refused=frozenset({"top_k"})
    )
    assert entry.own_facts == {"context_tokens", "thinking"}
    assert entry.prices == [{"rates": {"input": "1"}}]


def test_new_model_refuses_nothing_that_an_unknown_one_does_not(tmp_path: Path):
    assert catalogue(tmp_path, 'model = "new"\ncontext_tokens = 7').profile(PROVIDER, "new") == ModelProfile(
        context_tokens=7, assumed=frozenset({"image"}), encodable=frozenset({"audio"})
    )
    assert catalogue(tmp_path, 'model = "fam-x"\ncontext_tokens = 7').profile(PROVIDER, "fam-x") == ModelProfile(
        context_tokens=7, assumed=frozenset({"image"}), encodable=frozenset({"audio"}), cache_points=4
    )


def test_files_that_the_user_lists_are_all_that_the_model_accepts(tmp_path: Path):
    found = catalogue(tmp_path, 'model = "new"\naccepts = ["audio/wav"]').profile(PROVIDER, "new")
    assert found == ModelProfile(accepts=frozenset({"audio/wav"}))


def test_like_names_models_whose_facts_come_first(tmp_path: Path):
    entry = catalogue(tmp_path, 'model = "mine"\nlike = "one-20261007"\ncontext_tokens = 7').entry(PROVIDER, "mine")
    assert (entry.profile.context_tokens, entry.profile.refused) == (7, frozenset({"top_k"}))
    assert entry.prices == [{"rates": {"input": "1"}}]
    both = catalogue(tmp_path, 'model = "mine"\nlike = ["one", "two"]').profile(PROVIDER, "mine")
    assert (both.context_tokens, both.refused) == (2, frozenset({"top_k"}))


def test_model_may_be_like_another_of_the_users(tmp_path: Path):
    table = 'model = "a"\nlike = "b"\n[[models]]\nprovider = "acme"\nmodel = "b"\nlike = "one"\ncontext_tokens = 8'
    assert catalogue(tmp_path, table).profile(PROVIDER, "a").context_tokens == 8


def test_model_of_the_file_may_be_like_itself(tmp_path: Path):
    assert catalogue(tmp_path, 'model = "one"\nlike = "one"\ncontext_tokens = 7').profile(PROVIDER, "one").refused


def test_dates_are_those_of_toml_or_text(tmp_path: Path):
    found = catalogue(tmp_path, 'model = "new"\nchecked = 2026-11-22\nretires = "2026-12-11"').profile(PROVIDER, "new")
    assert (found.checked, found.retires) == ("2026-11-22", "2026-12-11")


def test_dates_of_prices_are_those_of_toml_or_text(tmp_path: Path):
    prices = 'prices = [{{rates = {{input = "1"}}, from = {0}, when = [{{from = {0}, times = "2"}}]}}]'
    days = (tmp_path / "toml", "2026-01-01"), (tmp_path / "text", '"2026-01-01"')
    found: list[tuple[object, object]] = []
    for folder, day in days:
        folder.mkdir()
        entry = catalogue(folder, f'model = "new"\n{prices.format(day)}')
        charged = entry.pricing(PROVIDER, "new").charge(BilledResponse(Usage(1_000_000, 0), requested_at=1.8e9))
        assert charged.dollars == 2
        found.append((json.dumps(list(entry.entry(PROVIDER, "new").prices)), charged.price_row))
    assert found[0] == found[1]


def test_alias_of_the_users_leads_to_a_model_of_the_file(tmp_path: Path):
    found = catalogue(tmp_path, 'model = "fast"\nalias_of = "two"')
    assert found.profile(PROVIDER, "fast").context_tokens == 2
    assert found.models(PROVIDER).alias("fast") == "two"


def test_other_providers_have_no_part_of_it(tmp_path: Path):
    found = catalogue_of(tmp_path, user='[[models]]\nprovider = "else"\nmodel = "one"\ncontext_tokens = 3')
    assert found.profile(PROVIDER, "one").context_tokens is None
    assert found.profile("else", "one").context_tokens == 3
    assert found.providers == ["acme", "else"]


def test_services_read_the_file_that_their_environment_names(tmp_path: Path):
    path = tmp_path / "models.toml"
    path.write_text('[[models]]\nprovider = "openai"\nmodel = "mine"\ncontext_tokens = 3', encoding="utf-8")
    services = Services(environment={"ABSTRACTCORE_MODELS": str(path)})
    assert services.catalogue.profile("openai", "mine").context_tokens == 3
    assert Services(catalogue=services.catalogue).catalogue is services.catalogue


def test_default_place_is_the_configuration_folder_and_a_variable_names_another():
    path, named = user_file_path({})
    assert path.name == "models.toml"
    assert path.parent.name == "abstractcore"
    assert not named
    assert user_file_path({"ABSTRACTCORE_MODELS": "~/mine.toml"}) == (Path("~/mine.toml").expanduser(), True)
    assert user_file_path({"ABSTRACTCORE_MODELS": ""}) == (path, False)


def test_named_file_must_exist(tmp_path: Path):
    found = FileCatalogue(dict, {"ABSTRACTCORE_MODELS": str(tmp_path / "none.toml")}, updates=tmp_path)
    with pytest.raises(ConfigurationError, match=r"none\.toml does not exist"):
        found.profile(PROVIDER, "one")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[models]\n", r"models.toml:1:\d+: not TOML: "),
        ('[[models]]\nprovider = "acme"\nmodel =\n', r"models.toml:3:8: not TOML: Invalid value"),
        ("x = '''a\nb", r"models.toml:2:2: not TOML: Expected"),
        (f"x = {'9' * 5000}", r"models.toml:1:1: not TOML: .*4300 digits"),
        (
            f'[[models]]\nprovider = "acme"\nmodel = "a"\nsettings.{".".join("a" * 2000)} = 1',
            r"models.toml:4:1: model 'a': settings: nested deeper than",
        ),
        (
            "".join(f'[[models]]\nprovider = "acme"\nmodel = "m{n}"\nlike = "m{n + 1}"\n' for n in range(2000))
            + '[[models]]\nprovider = "acme"\nmodel = "m2000"',
            r"models.toml:\d+:1: model 'm\d+': like: leads over more than 20 models to 'm\d+'",
        ),
        (
            '# a\u2028b\x85c\r\n[[models]]\r\nprovider = "acme"\r\nmodel = "one"\r\nfoo = 5',
            r"models.toml:5:1: model 'one': foo: ",
        ),
        ("# a\u2028b\nx = [", r"models.toml:2:6: not TOML: "),
        ("models = 5", r"models.toml:1:1: expected \[\[models\]\] tables"),
        ('[[models]]\nprovider = "a"\nmodel = "b"\n\n[prices]\nx = 1\n', r"models.toml:5:1: expected \[\[models\]\]"),
        ('[[models]]\nmodel = "one"', r"models.toml:1:1: model 'one': provider: expected the name of a provider"),
        ('[[models]]\nprovider = "acme"', r"models.toml:1:1: models\[0\]: expected one of 'model' and 'family'"),
        ('[[models]]\nprovider = "acme"\nmodel = ""', r"models.toml:3:1: model '': model: expected a name, got ''"),
        ('[[models]]\nprovider = "acme"\nfamily = "f"', r"models.toml:3:1: .*a user's row is for one model"),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\n  contxt_tokens = 5',
            r"models.toml:4:3: model 'one': contxt_tokens: no such field. Did you mean context_tokens?",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\nthinking.levels = ["huge"]',
            r"models.toml:4:1: model 'one': thinking.levels\[0\]: 'huge' is not one of ",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\n[models.thinking]\nlevels = 5',
            r"models.toml:4:1: model 'one': thinking.levels: expected a list, got int",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\nzzz = 1',
            r"models.toml:4:1: .* zzz: no such field. \"A row\" in docs/catalogue.md lists the fields.$",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\nrefused = ["topk"]',
            r"models.toml:4:1: model 'one': refused: 'topk' is not an option. Did you mean top_k\?$",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\n[[models.prices]]\nrates = {inpt = "2"}',
            r"models.toml:\d+:1: model 'one': prices.*: 'inpt' is not a meter. Did you mean input\?$",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\n[[models.prices]]\nrates = {zzz = "2"}',
            r"'zzz' is not a meter. abstractcore/catalogue/meters.py lists the meters.$",
        ),
        (
            'models = [{provider = "acme", model = "one", tools = "maybe"}]',
            r"models.toml:1:1: model 'one': tools: 'maybe' is not one of",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "one"\n[[models]]\nprovider = "acme"\nmodel = "one"',
            r"models.toml:6:1: two tables for the model 'one' of acme; the first is on line 3",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "mine"\nlike = "onee"',
            r"models.toml:4:1: model 'mine': like: acme has no row for 'onee'. Did you mean one?",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "a"\nlike = "b"\n'
            '[[models]]\nprovider = "acme"\nmodel = "b"\nlike = "a"',
            r"models.toml:8:1: model 'b': like: the models a, b, a are like each other",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "a"\nalias_of = "a"',
            r"models.toml:4:1: model 'a': alias_of: the aliases a -> a have no end",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "a"\nalias_of = "none"',
            r"models.toml:4:1: model 'a': alias_of: no model is called 'none'",
        ),
        (
            '[[models]]\nprovider = "acme"\nmodel = "a"\nalias_of = "one"\ncontext_tokens = 5',
            r"models.toml:5:1: model 'a': context_tokens: an alias has no facts of its own",
        ),
    ],
)
def test_error_names_file_line_column_field_and_what_is_expected(tmp_path: Path, text: str, expected: str):
    found = catalogue_of(tmp_path, *ROWS, user=text)
    with pytest.raises(ConfigurationError, match=expected):
        found.models(PROVIDER).check()
