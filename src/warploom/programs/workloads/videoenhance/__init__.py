"""Enhancement of a video frame."""
