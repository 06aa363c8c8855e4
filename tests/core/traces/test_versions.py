"""Databases of earlier versions: files that those wrote are opened, and their records and sums are whole."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import text

from abstractcore.schema import CallRecord, Usage
from abstractcore.traces import CostSums, TraceStore
from abstractcore.traces.contents import deflated, inflated
from tests.core.traces.stores import NOON, a_call, remove, write
from tests.core.traces.test_costs import assert_spend_is_the_sum_of_records, sums_of

FILES = Path(__file__).parent / "files"
SAVED = {"hit": Decimal("0.5"), "later hit": Decimal("0.25"), "precise hit": Decimal("0.0000000000005")}
IDS = {"asked", "retried", "failed", "free", "hit of unknown price", *SAVED}


@pytest.mark.parametrize("version", [1, 2])
def test_file_of_an_earlier_version_is_read_summed_and_written(tmp_path: Path, version: int):
    place = tmp_path / "traces.db"
    place.write_bytes(gzip.decompress((FILES / f"version-{version}.db.gz").read_bytes()))
    for opened in range(2):  # what was added is not added again
        store = TraceStore(place)
        records = {each: store.trace(each).root.record for each in IDS}
        assert all(isinstance(each, CallRecord) for each in records.values())
        found = {id: each.saved_cost for id, each in records.items() if isinstance(each, CallRecord)}
        assert {id: each for id, each in found.items() if each is not None} == SAVED
        calls = {each.trace_id: each.saved_cost for each in store.calls() if each.saved_cost}
        assert calls == {"hit": Decimal("0.5"), "later hit": Decimal("0.25")}  # half a picodollar is rounded
        known, saved = Decimal("1.75") + opened, Decimal("0.75")
        assert sums_of(store) == {(): CostSums(known, Decimal("0.125"), 0, saved)}
        assert sums_of(store, "tag:user")["two",] == CostSums(saved=Decimal("0.5"))
        assert sums_of(store, "tag:user", "tag:team")["two", "office"] == CostSums(saved=Decimal("0.5"))
        models = {model for (model,) in sums_of(store, "model")}
        assert models == ({"small", "large"} if version > 1 else {"small"})
        assert_spend_is_the_sum_of_records(store)
        write(store, a_call(cost="1", trace_id=f"new {opened}"))
        store.close()


def test_database_of_the_second_version_gets_what_its_caches_saved(url: str):
    hit = a_call(cost="0", usage=Usage(), cached_at=NOON, saved_cost=Decimal("0.5"), tags={"team": "office"})
    with_version_3 = TraceStore(url)
    write(with_version_3, hit, asked := a_call(cost="0.5"))
    with with_version_3.database.writing() as connection:
        row = connection.execute(text("SELECT id, detail FROM traces_records WHERE cost = 0")).one()
        detail = json.loads(inflated(bytes(row.detail))) | {"saved_cost": "0.5"}
        body = {"id": row.id, "detail": deflated(json.dumps(detail).encode())}
        connection.execute(text("UPDATE traces_records SET detail = :detail WHERE id = :id"), body)
        connection.execute(text("ALTER TABLE traces_records DROP COLUMN saved_cost"))
        connection.execute(text("ALTER TABLE traces_spend DROP COLUMN saved"))
        connection.execute(text("UPDATE traces_version SET version = 2"))
    with_version_3.close()
    store = TraceStore(url)
    try:
        assert sums_of(store, "tag:team")["office",] == CostSums(saved=Decimal("0.5"))
        assert sums_of(store) == {(): CostSums(Decimal("0.5"), saved=Decimal("0.5"))}
        assert [store.trace(each.trace_id).root.record for each in (hit, asked)] == [hit, asked]
        assert_spend_is_the_sum_of_records(store)
        write(store, hit)
        assert sums_of(store)[()].saved == Decimal("0.5")
    finally:
        remove(store)
