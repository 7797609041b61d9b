"""Particle forces among boxes of space (the kind of Rodinia's lavaMD)."""
