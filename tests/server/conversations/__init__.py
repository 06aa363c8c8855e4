"""Conversations of several turns: clients of every API, with the history as they return it, and upstreams of every wire
format that keep their vendors' rules.
"""
