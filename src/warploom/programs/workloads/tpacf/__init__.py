"""Two-point angular correlation (the kind of Parboil's tpacf)."""
