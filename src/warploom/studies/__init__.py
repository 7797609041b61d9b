"""Questions that take many runs: sweeps, searches, papers' figures, comparison with real chips, speed."""
