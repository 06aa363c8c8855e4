"""Async streaming with a timeout."""

from __future__ import annotations

import asyncio

from abstractcore import RequestTimeoutError, create_llm


async def main() -> None:
    """Prints the answer as it streams."""
    llm = create_llm(temperature=0, max_output_tokens=40)
    try:
        async with llm.astream("Name three colors of the rainbow.", timeout=120) as stream:
            async for text in stream.text():
                print(text, end="", flush=True)
    except RequestTimeoutError as error:
        print(f"\n{error}")
        return
    print(f"\n({stream.response.usage.output} tokens, {stream.response.finish_reason})")


asyncio.run(main())
