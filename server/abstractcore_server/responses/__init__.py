"""The Responses API: stored, in the background, compacted, and over WebSocket."""
