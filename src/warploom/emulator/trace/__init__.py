"""The trace: what the emulator records of a launch and the timing core replays. Knows neither execution nor timing."""
