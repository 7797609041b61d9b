"""Global alignment of two sequences (Needleman and Wunsch)."""
