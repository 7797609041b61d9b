"""Which papers there are, and what each of them brings: found by name when somebody asks, so that no room knows a paper."""

from warploom.base.library.paper import Paper
from warploom.base.library.shelves import find_paper, load_paper, outside_folders, paper_names, papers, with_papers

__all__ = ["Paper", "find_paper", "load_paper", "outside_folders", "paper_names", "papers", "with_papers"]
