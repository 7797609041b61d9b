"""Fluid flow by the lattice Boltzmann method."""
