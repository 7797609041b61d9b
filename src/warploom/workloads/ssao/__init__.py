"""Screen-space ambient occlusion."""
