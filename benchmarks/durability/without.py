"""The agent without a store, which begins again after a crash: what the others are compared with.

`python without.py COMMAND`: `start` or `resume`, which do the same.
"""

from __future__ import annotations

from payment import ANSWER, ARGUMENTS, ExternalSystems, report


def main() -> None:
    """Runs the agent from its beginning to its end."""
    systems = ExternalSystems.from_environment()
    systems.request_model(has_result=False)
    systems.reached("waiting")
    systems.record_approval()
    systems.reached("approved")
    systems.pay(str(ARGUMENTS["to"]), int(ARGUMENTS["euros"]))
    systems.request_model(has_result=True)
    report("completed", output=ANSWER)


if __name__ == "__main__":
    main()
