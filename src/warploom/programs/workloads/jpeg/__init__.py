"""The transform stage of JPEG encoding."""
