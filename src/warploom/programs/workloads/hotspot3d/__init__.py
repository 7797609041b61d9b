"""Temperature of a stack of chips over time (the kind of Rodinia's hotspot3D)."""
