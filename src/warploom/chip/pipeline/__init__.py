"""The stages of an SM's pipeline, one module each; `warploom.chip.run_sm` steps them in reverse order."""
