"""The stages of an SM's pipeline, one module each; `warploom.core.sm` steps them in reverse order."""
