"""A model that another one answers for from a day on: until then its own facts, from then on the other's."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, Services, Usage, create_llm
from abstractcore.catalogue import FileCatalogue
from abstractcore.ports import BilledResponse, CatalogueFile
from abstractcore.testing import VirtualClock
from tests.catalogue_files import PROVIDER, write_file

DAY = 20_788 * 86_400.0
"""The beginning of 2026-12-01, UTC."""
OLD = {
    "model": "old",
    "context_tokens": 1,
    "refused": ["seed"],
    "retires": "2026-12-01",
    "replaced_by": "new",
    "routed": True,
}
NEW = {"model": "new-3", "context_tokens": 9, "thinking": {"levels": ["low", "high"]}}
ROWS = (OLD, NEW, {"model": "new", "alias_of": "new-3"}, {"model": "older", "alias_of": "old"})


def catalogue(folder: Path, *rows: object, seconds: float, user: str = "") -> FileCatalogue:
    file = CatalogueFile(PROVIDER, write_file(folder / f"{PROVIDER}.jsonl", *rows))  # type: ignore[arg-type]
    (folder / "models.toml").write_text(user, encoding="utf-8")
    return FileCatalogue(
        lambda: {PROVIDER: file},
        {},
        user_file=folder / "models.toml",
        updates=folder / "none",
        time=lambda: DAY + seconds,
    )


@pytest.mark.parametrize("name", ["old", "older"])
def test_facts_are_those_of_the_other_model_from_the_day_on(tmp_path: Path, name: str):
    before = catalogue(tmp_path, *ROWS, seconds=-1).profile(PROVIDER, name)
    assert (before.context_tokens, before.refused, before.thinking) == (1, {"seed"}, None)
    found = catalogue(tmp_path, *ROWS, seconds=0)
    after = found.profile(PROVIDER, name)
    assert (after.context_tokens, after.refused) == (9, frozenset())
    assert after.thinking == found.profile(PROVIDER, "new").thinking
    assert (after.retires, after.replaced_by, after.routed) == ("2026-12-01", "new", True)


def test_facts_of_the_users_win_before_and_after_the_day(tmp_path: Path):
    user = f'[[models]]\nprovider = "{PROVIDER}"\nmodel = "old"\ncontext_tokens = 5\n'
    for seconds, refused in ((-1, {"seed"}), (0, frozenset[str]())):
        profile = catalogue(tmp_path, *ROWS, seconds=seconds, user=user).profile(PROVIDER, "old")
        assert (profile.context_tokens, profile.refused) == (5, refused)


@pytest.mark.parametrize(
    "row",
    [
        {**OLD, "replaced_by": "none"},
        {name: value for name, value in OLD.items() if name != "replaced_by"},
        {name: value for name, value in OLD.items() if name != "retires"},
    ],
)
def test_a_routed_model_without_a_day_or_a_row_of_the_other(tmp_path: Path, row: dict[str, object]):
    with pytest.raises(ConfigurationError, match=r"model 'old': routed: a routed model has `retires`, and a row for"):
        catalogue(tmp_path, row, *ROWS[1:], seconds=-1).profile(PROVIDER, "old")


@pytest.mark.parametrize("seconds", [-1.0, 0.0])
def test_calls_follow_the_rules_of_the_model_that_answers(seconds: float):
    services = Services(environment={}, clock=VirtualClock(time_of_day=DAY + seconds))
    with create_llm("google/gemini-2.5-pro", api_key="k", services=services) as llm:
        warnings = [warning.message for warning in llm.plan("hi", thinking="high").warnings]
    services.close()
    instead = "'gemini-3.8-flash' answers instead, by its own rules and at its price"
    retired = [f"the model 'gemini-2.5-pro' is retired as of 2026-12-01: {instead}"]
    assert warnings == (retired if seconds >= 0 else [])
    thinking = services.catalogue.profile("google", "gemini-2.5-pro").thinking
    assert thinking is not None
    assert (thinking.budget is None) == (thinking.levels != ()) == (seconds >= 0)


@pytest.mark.parametrize(("old", "new"), [("pro", "3.8-flash"), ("flash", "3.5-flash-lite")])
@pytest.mark.parametrize("provider", ["google", "google-interactions"])
def test_a_response_has_the_price_of_the_model_that_answered_on_its_day(provider: str, old: str, new: str):
    catalogue = Services(environment={}).catalogue
    usage = Usage(1000, 1000)

    def dollars(model: str, at: float) -> Decimal | None:
        return catalogue.pricing(provider, f"gemini-{model}").charge(BilledResponse(usage, requested_at=at)).dollars

    assert dollars(f"2.5-{old}", DAY - 1) == {"pro": Decimal("0.01125"), "flash": Decimal("0.0028")}[old]
    for at in (DAY, DAY + 40 * 86_400):
        assert dollars(f"2.5-{old}", at) == dollars(new, at)
