"""Error tables: decoding by code, type, status and message; rendering by the first matching row."""

import re

import pytest

from abstractcore import errors
from abstractcore.schema import WireResponse
from abstractcore_providers.common.error_table import (
    ErrorPattern,
    ErrorRow,
    ErrorTable,
    ReportedError,
    failure,
    own_rows,
)

TABLE = ErrorTable(
    (
        ErrorRow(errors.ModelNotFoundError, 404, "not_found", "no_model"),
        ErrorRow(errors.NotFoundError, 404, "not_found"),
        ErrorRow(errors.ContextOverflowError, 400, "bad", "too_long"),
        ErrorRow(errors.ServerError, 500, "broken"),
        ErrorRow(errors.BadRequestError, 400, "bad"),
    ),
    codes={"no_money": errors.QuotaError},
    types={"slow": errors.RateLimitError},
    statuses={498: errors.ContentFilterError},
    vague=frozenset({"bad"}),
    narrower=(ErrorPattern(re.compile("too many"), errors.ContextOverflowError, (errors.BadRequestError,)),),
    counts=(re.compile(r"(?P<prompt>[\d,]+) of (?P<context>[\d,]+)"),),
    hints={errors.QuotaError: "Pay."},
)


@pytest.mark.parametrize(
    ("reported", "status", "expected"),
    [
        (ReportedError(code="no_model", type="slow"), 500, errors.ModelNotFoundError),
        (ReportedError(code="no_money"), 400, errors.QuotaError),
        (ReportedError(code="unknown", type="slow"), 500, errors.RateLimitError),
        (ReportedError(type="not_found"), 500, errors.NotFoundError),
        (ReportedError(type="bad"), 401, errors.AuthenticationError),
        (ReportedError(type="bad"), None, errors.BadRequestError),
        (ReportedError(), 498, errors.ContentFilterError),
        (ReportedError(), None, errors.ServerError),
        (ReportedError("too many tokens"), 400, errors.ContextOverflowError),
        (ReportedError("too many tokens"), 401, errors.AuthenticationError),
        (ReportedError("too many tokens", code="no_money"), 400, errors.QuotaError),
        (ReportedError(type="slow", known=errors.QuotaError), 429, errors.QuotaError),
    ],
)
def test_error_code_precedes_type_and_status(reported: ReportedError, status: int | None, expected: type):
    error = TABLE.error(reported, status, "no words")
    assert type(error) is expected
    assert (error.status, error.code) == (status, reported.code or reported.type)


def test_overflow_tokens_are_read_from_message_or_body():
    read = [
        TABLE.error(ReportedError(reported, "too_long", counts=(1, 2)), 400, "")
        for reported in ("1,500 of 1,000", "no numbers")
    ]
    assert [(error.prompt_tokens, error.context_tokens) for error in read] == [(1500, 1000), (1, 2)]


def test_hint_depends_on_the_class_and_message_has_a_default():
    error = TABLE.error(ReportedError(code="no_money", wait=1.5, request_id="r-1"), 400, "no words")
    assert (error.message, error.hint, error.retry_after, error.request_id) == ("no words", "Pay.", 1.5, "r-1")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ModelNotFoundError("no"), "no_model"),
        (errors.NotFoundError("no"), None),
        (errors.UnsupportedContentError("no"), None),
        (errors.PluginError("no"), None),
    ],
)
def test_error_is_rendered_by_the_first_row_of_its_class(error: errors.AbstractCoreError, code: str | None):
    row = TABLE.row(error)
    assert row.code == code
    assert (row.status == 500) == isinstance(error, errors.PluginError)


def test_each_rendered_row_is_read_as_its_class():
    table = ErrorTable(own_rows(timeout=504))
    for row in table.rows:
        assert type(table.error(ReportedError(code=row.code), 418, "")) is row.error
        assert table.row(row.error("no")) is row
    assert [row.status for row in table.rows if row.code == "timeout"] == [504]


def test_rendered_failure_has_the_retry_after_of_its_error():
    rendered = failure(429, {"a": "é"}, errors.RateLimitError("no", retry_after=1.5), name="x")
    headers = {"content-type": "application/json", "name": "x", "retry-after": "2", "retry-after-ms": "1500"}
    assert rendered == WireResponse(429, headers, '{"a":"é"}'.encode())
