"""Sparse matrix times dense vector in jagged diagonal storage (the kind of Parboil's spmv)."""
