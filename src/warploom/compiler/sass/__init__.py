"""Machine code of real GPUs: cubins made by NVIDIA's compiler, read into the classes of `warploom.compiler.code`."""
