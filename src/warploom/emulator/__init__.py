"""Executes machine code for a whole launch, warp by warp, and writes its trace."""
