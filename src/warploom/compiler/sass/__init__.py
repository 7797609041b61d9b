"""Machine code of real GPUs: cubins made by NVIDIA's compiler, disassembled and read into the classes of `warploom.code`."""
