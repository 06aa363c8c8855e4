"""The public API: every name exists, is documented as public, and costs nothing before its first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import abstractcore


def test_every_public_name_resolves_once():
    assert len(set(abstractcore.__all__)) == len(abstractcore.__all__)
    for name in abstractcore.__all__:
        assert getattr(abstractcore, name) is getattr(abstractcore, name)


def test_every_error_is_public():
    from abstractcore import errors

    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.AbstractCoreError)
    }
    assert defined <= set(abstractcore.__all__)
    assert defined == {line.strip("|`- ").split()[0] for line in errors.__doc__.splitlines() if "Error" in line[:40]}


def test_no_error_shadows_a_builtin():
    import builtins

    assert [name for name in abstractcore.__all__ if hasattr(builtins, name)] == []


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'create_lmm'"):
        _ = abstractcore.create_lmm  # type: ignore[attr-defined]


def test_http_and_asyncio_are_imported_with_the_first_llm_only():
    code = """
import sys, abstractcore
print({"httpx2", "asyncio", "pydantic"} & set(sys.modules))
abstractcore.create_llm("scripted", replies=[])
print("httpx2" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr) == ("set()\nTrue\n", "")
