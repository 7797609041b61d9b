"""Tracking with a particle filter (the kind of Rodinia's particlefilter)."""
