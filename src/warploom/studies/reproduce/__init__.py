"""Papers' figures as experiments, published numbers and verdicts."""
