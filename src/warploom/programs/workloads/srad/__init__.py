"""Speckle-reducing anisotropic diffusion (the kind of Rodinia's srad)."""
