"""Statements that are compiled once."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, delete, func, insert, select, update

from abstractcore import InvalidInputError
from abstractcore.database import ConstraintError, Database, Statement
from tests.core.database.notes import notes

INSERT = Statement(insert(notes))
FIND = Statement(select(notes).where(notes.c.id == bindparam("id")))
ALL = Statement(select(notes.c.id, notes.c.count).where(notes.c.count >= 0).order_by(notes.c.id))
COUNT = Statement(update(notes).values(count=notes.c.count + bindparam("more")))
DELETE = Statement(delete(notes).where(notes.c.id == bindparam("id")))


def test_values_and_rows_are_those_of_sqlalchemy(database: Database):
    facts = {"a": [1, None, "%s ? :x"]}
    with database.writing() as connection:
        assert INSERT.run(connection, id="a", count=1, facts=facts) == 1
        assert INSERT.run(connection, id="b", count=2, facts=None) == 1
        assert FIND.first(connection, id="c") is None
        for id in ("a", "b"):
            (expected,) = connection.execute(select(notes).where(notes.c.id == id))
            assert FIND.first(connection, id=id) == tuple(expected)
            assert FIND.all(connection, id=id) == [tuple(expected)]
        found = FIND.first(connection, id="a")
        assert (found.id, found.count, found.facts) == ("a", 1, facts)
        assert COUNT.run(connection, more=10) == 2
        assert ALL.all(connection) == [("a", 11), ("b", 12)]
        assert DELETE.run(connection, id="a") == 1
        assert DELETE.run(connection, id="a") == 0


def test_missing_value_is_an_error(database: Database):
    with database.reading() as connection, pytest.raises(KeyError, match="id"):
        FIND.first(connection)


def test_failure_is_that_of_the_database(database: Database):
    with pytest.raises(ConstraintError), database.writing() as connection:
        for _ in range(2):
            INSERT.run(connection, id="a", count=1, facts=None)


def test_list_of_values_is_refused(database: Database):
    statement = Statement(select(func.count()).where(notes.c.id.in_(bindparam("ids", expanding=True))))
    with database.reading() as connection, pytest.raises(InvalidInputError, match="IN cannot be compiled once"):
        statement.first(connection, ids=["a"])
