"""How fast the simulator itself is."""
