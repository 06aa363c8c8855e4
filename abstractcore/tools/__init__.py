"""Tools: functions that models call, the loop that runs the calls, and tools of models without native ones."""
