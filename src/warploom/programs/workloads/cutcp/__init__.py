"""Electrostatic potential of charges with a cutoff."""
