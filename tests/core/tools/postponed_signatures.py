"""Functions whose annotations are text, as everywhere after `from __future__ import annotations`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from abstractcore import Tool, ToolContext, tool

if TYPE_CHECKING:
    from decimal import Decimal


@tool
def before(a: Later) -> int:
    """Its type is defined below."""
    return a.n


@dataclass
class Later:
    n: int


def with_hidden_deps(context: ToolContext[Decimal], a: int) -> int:
    return a


def with_hidden_type(a: Decimal) -> None: ...


def local_tools() -> list[Tool[..., Any]]:
    """Returns tools whose types are local: one decorated, one not, one in a class, one of a closure."""

    class Unit(Enum):
        C = "c"

    @tool
    def decorated(unit: Unit) -> str:
        return unit.name

    def plain(unit: Unit | None = None) -> str:
        return str(unit)

    class Inner:
        def method(self, unit: Unit) -> str:
            return unit.name

    def closing() -> str:
        return Unit.C.name

    def closure(unit: Unit) -> str:
        return closing() + Unit.C.name

    for each in (plain, Inner().method, closure):
        assert Tool(each).spec.parameters["properties"]
    return [decorated]


class Shop:
    """A shop."""

    class Size(Enum):
        S = "s"

    def __init__(self, name: str) -> None:
        self.name = name

    @tool(timeout=3)
    def buy(self, item: str, size: Size = Size.S) -> str:
        """Buys an item.

        :param item: What to buy.
        """
        return f"{item} of {self.name}"

    @tool
    def sell(this, item: str) -> str:  # noqa: N805
        return f"{item} from {this.name}"

    def plain(self, item: str) -> str:
        return f"plain {item} of {self.name}"

    @tool
    @classmethod
    def classy(cls, item: str) -> str:
        return f"{cls.__name__} {item}"

    @classmethod
    @tool
    def classy_outside(cls, item: str) -> str:
        return f"{cls.__name__} {item}"

    @tool
    @staticmethod
    def static(item: str) -> str:
        return item

    @staticmethod
    @tool
    def static_outside(item: str) -> str:
        return item

    @classmethod
    def plain_classy(cls, item: str) -> str:
        return f"{cls.__name__} {item}"

    @staticmethod
    def plain_static(item: str) -> str:
        return item


class Caller:
    """Calls somebody."""

    def __init__(self, greeting: str) -> None:
        self.greeting = greeting

    async def __call__(self, name: str) -> str:
        return f"{self.greeting} {name}"


def logged(function: Any) -> Any:
    """A decorator as others write it."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@tool
@logged
def decorated_twice(a: Later, mode: Literal["x", "y"] = "x") -> str:
    """Does it."""
    return f"{a.n}{mode}"


def spread(a: int, unit: str = "c") -> str:
    return f"{a}{unit}"
