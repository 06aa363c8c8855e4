"""The user's own facts about models, in TOML: they add models, and win over the provider's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, Services, create_llm
from abstractcore.catalogue import FileCatalogue, provider_models
from abstractcore.catalogue.facts import Facts
from abstractcore.ports import BilledResponse, CatalogueFile, ModelProfile, Thinking
from abstractcore.schema import Usage
from abstractcore.user_folders import user_file_path
from tests.catalogue_files import PROVIDER, catalogue_of, write_file

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
            f'[[models]]\nprovider = "acme"\nmodel = "a"\nsettings.{".".join("a" * 500)} = 1',
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
            r"models.toml:5:1: model 'one': thinking.levels: expected a list, got int",
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
            r"'zzz' is not a meter. abstractcore/catalogue/price_values.py lists the meters.$",
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


def layers(count: int) -> str:
    """Returns tables of which each is like two others that are like the same two."""
    likes = ["".join(f'like = ["m{n + 1}a", "m{n + 1}b"]' for _ in range(n < count)) for n in range(count + 1)]
    return "".join(
        f'[[models]]\nprovider = "acme"\nmodel = "m{n}{side}"\n{like}\ncontext_tokens = {n + 1}\n'
        for n, like in enumerate(likes)
        for side in "ab"
    )


def test_each_model_that_others_are_like_is_merged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    merges: list[Facts] = []
    overriding = provider_models.overriding

    def counted(facts: Facts, more: Facts) -> Facts:
        merges.append(more)
        return overriding(facts, more)

    monkeypatch.setattr(provider_models, "overriding", counted)
    found = catalogue_of(tmp_path, *ROWS, user=layers(20))
    found.models(PROVIDER).check()
    assert len(merges) == 2 * 21
    assert found.profile(PROVIDER, "m0a").context_tokens == 1


@pytest.mark.parametrize("first", ["m0a", "m9a", "m21a"])
def test_depth_of_like_is_limited_whatever_is_read_first(tmp_path: Path, first: str):
    found = catalogue_of(tmp_path, *ROWS, user=layers(21))
    if first != "m0a":
        found.profile(PROVIDER, first)
    with pytest.raises(ConfigurationError, match="like: leads over more than 20 models to"):
        found.profile(PROVIDER, "m0a")


PRICES = """[[models]]
provider = "acme"
model = "other"
[[models.prices]]
rates = {input = "1"}
[[models]]
provider = "acme"
model = "mine"
[[models.prices]]
until = 2026-01-01
rates = {input = "1"}

  [[models.prices]]
  from = 2026-01-01
  [models.prices.rates]
  input = "2"
  output = "4"
  [[models.prices.when]]
  tier = ["batch"]
  times = "0.5"
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'output = "4"',
            'output = "-4"',
            r"17:3: .*prices\[1\]\.rates\.output: '-4' is not a decimal number of at least",
        ),
        (
            'output = "4"',
            "output = 4",
            r"17:3: .*prices\[1\]\.rates\.output: expected a decimal number as text, got int",
        ),
        ('output = "4"', 'outputs = "4"', r"15:3: .*prices\[1\]\.rates: 'outputs' is not a meter. Did you mean output"),
        ("  from = 2026-01-01", "", r"13:3: .*prices\[1\]: is valid at the same time as prices\[0\]"),
        ("  from = 2026-01-01", '  until = "x"', r"14:3: .*prices\[1\]\.until: 'x' is not a date or a time"),
        ('times = "0.5"', 'times = "x"', r"20:3: .*prices\[1\]\.when\[0\]\.times: 'x' is not a decimal number"),
        ('tier = ["batch"]', 'teir = ["batch"]', r"18:3: .*prices\[1\]\.when\[0\]: 'teir' is not"),
        ("until = 2026-01-01\n", "until = 2026-01-01\nfoo = 1\n", r"9:1: .*prices\[0\]: 'foo' is not a field"),
        ('"mine"\n[[models.prices]]', '"mine"\nprices = [\n  {}]\n[[models.prices]]', r"not TOML"),
    ],
)
def test_error_in_a_price_names_the_line_of_its_table(tmp_path: Path, old: str, new: str, expected: str):
    assert old in PRICES
    found = catalogue_of(tmp_path, *ROWS, user=PRICES.replace(old, new))
    with pytest.raises(ConfigurationError, match=rf"models\.toml:({expected}|\d+:\d+: {expected})"):
        found.models(PROVIDER).check()


def test_inline_prices_have_the_line_of_their_list(tmp_path: Path):
    found = catalogue(tmp_path, 'model = "one"\nprices = [\n  {rates = {input = "1"}},\n  {rates = {input = "1"}},\n]')
    with pytest.raises(ConfigurationError, match=r"models\.toml:4:1: .*prices\[1\]: is valid at the same time as"):
        found.models(PROVIDER).check()


BAD = '[[models]]\nprovider = "else"\nmodel = "x"\ntols = "never"\n[[models]]\nprovider = "acme"\nmodel = "mine"\n'


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ('tols = "never"', "tols: no such field"),
        ('[[models]]\nprovider = "else"\nmodel = "x"', "two tables for the model 'x'"),
        ('alias_of = "none"', "no model is called 'none'"),
    ],
)
def test_error_in_a_table_is_one_of_its_provider_alone(tmp_path: Path, fault: str, problem: str):
    problems: list[str] = []
    text = BAD.replace('tols = "never"', fault) + "context_tokens = 9\n"
    (tmp_path / "models.toml").write_text(text, encoding="utf-8")
    rows = {"acme": ROWS, "else": ()}
    files = {name: write_file(tmp_path / f"{name}.jsonl", *rows[name], provider=name) for name in rows}
    found = FileCatalogue(
        lambda: {name: CatalogueFile(name, file) for name, file in files.items()},
        {"ABSTRACTCORE_MODELS": str(tmp_path / "models.toml")},
        updates=tmp_path / "updates",
        notify=problems.append,
    )
    for _ in range(2):
        assert found.profile(PROVIDER, "mine").context_tokens == 9
        with pytest.raises(ConfigurationError, match=problem) as raised:
            found.profile("else", "any")
        assert raised.value.file == str(tmp_path / "models.toml")
    assert found.providers == ["acme", "else"]
    assert [problem in each and "of else cannot be used" in each for each in problems] == [True] * len(problems)
    assert len(problems) == ("alias" not in fault)


def test_other_providers_go_on_with_one_logged_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "models.toml").write_text('[[models]]\nprovider = "openai"\nmodel = "x"\n"a\\u202e" = 1\n')
    services = Services(environment={"ABSTRACTCORE_MODELS": str(tmp_path / "models.toml")})
    for _ in range(2):
        assert create_llm("scripted", replies=["hi"], services=services).generate("hi").content == "hi"
        create_llm("anthropic/claude-opus-5-5", api_key="k", services=services)
    with pytest.raises(ConfigurationError, match=r"models\.toml:1:1: model 'x': "):
        create_llm("openai/gpt-5.4-mini", api_key="k", services=services)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("abstractcore", "WARNING")
    assert "models.toml:1:1: model " in record.getMessage()
    assert record.getMessage().isprintable()
    services.close()


@pytest.mark.parametrize("text", ["[[models]\n", '[[models]]\nmodel = "x"\n', "models = [3]"])
def test_file_whose_tables_have_no_known_provider_is_an_error_of_all(tmp_path: Path, text: str):
    found = catalogue_of(tmp_path, *ROWS, user=text)
    for provider in (PROVIDER, "else"):
        with pytest.raises(ConfigurationError, match=r"models\.toml:1:"):
            found.profile(provider, "one")
