"""The five papers: what they published, and the experiments that measure the same on Warploom."""

PAPERS = ("rfc", "warped-rf", "compression", "rfv", "regmutex")
