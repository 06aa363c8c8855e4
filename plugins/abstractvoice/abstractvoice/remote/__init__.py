"""Voices and ears of vendors, over HTTP and WebSocket."""
