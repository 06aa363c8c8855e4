"""instructor: an object by a tool, by a JSON Schema, and asked for again after one that is not valid."""

from __future__ import annotations

import json
import sys

import instructor
from openai import OpenAI
from pydantic import BaseModel, Field


class City(BaseModel):
    """A city and its number of people."""

    name: str
    people: int = Field(gt=0)


QUESTION = [{"role": "user", "content": "Which city is it?"}]
openai = OpenAI(base_url=sys.argv[1], api_key="unused", max_retries=0)


def city(mode: instructor.Mode, max_retries: int = 0) -> dict[str, object]:
    """The object that the model gave."""
    client = instructor.from_openai(openai, mode=mode)
    given = {"model": "scripted", "messages": QUESTION, "max_retries": max_retries}
    return client.chat.completions.create(response_model=City, **given).model_dump()


tool = city(instructor.Mode.TOOLS)
schema = city(instructor.Mode.JSON_SCHEMA)
again = city(instructor.Mode.TOOLS, max_retries=2)
print(json.dumps({"tool": tool, "schema": schema, "again": again}))
