"""Agents of the Agent2Agent (A2A) protocol as tools of AbstractCore: `tools=[A2AAgent("https://agent.example")]`.

The official SDK, `a2a-sdk`, is imported when an agent is first used.
"""

from __future__ import annotations

from .agent import A2AAgent

__all__ = ["A2AAgent"]
