"""Three models behind one name: the first is down, the second is limited, the third answers. They are scripted.

With real models: create_llm(["anthropic/claude-haiku-5-5", "openai/gpt-5.4-mini", "local"]).
"""

from abstractcore import (
    LLM,
    AbstractCoreError,
    FallbackExhaustedError,
    RateLimitError,
    Routing,
    ServerError,
    Services,
    create_llm,
)
from abstractcore.testing import VirtualClock

clock = VirtualClock()  # so that a minute takes no time here
services = Services(clock=clock)


def model(name: str, *replies: str | AbstractCoreError) -> LLM:
    return create_llm(f"scripted/{name}", replies=list(replies), services=services, max_retries=0)


large = model("large", ServerError("the provider is down"), "I am back.", ServerError("down"))
small = model("small", RateLimitError("slow down", retry_after=20), RateLimitError("slow down"))
local = model("local", "Hello from this machine.", "Still here.", ServerError("out of memory"))
llm = create_llm([large, small, local], routing=Routing(cooldown=30), services=services)

for question in ("Hello?", "Are you there?"):
    response = llm.generate(question)
    asked = ", ".join(f"{attempt.model} ({attempt.error or 'answered'})" for attempt in response.attempts)
    print(f"{question} {response.content} Asked: {asked}.")

clock.advance(60)
print("A minute later:", llm.generate("Hello?").content)

try:
    llm.generate("And now?")
except FallbackExhaustedError as error:
    for failure in error.causes:
        print(f"{failure.member}: {failure.error.message}")
    print(f"Try again in {error.retry_after:.0f} s.")
