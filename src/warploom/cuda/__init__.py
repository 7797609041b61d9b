"""CUDA C++ to PTX through NVRTC; no GPU and no toolkit are needed."""

from warploom.cuda.nvrtc import compile_to_ptx

__all__ = ["compile_to_ptx"]
