"""CUDA C++ to PTX or machine code through NVRTC; no GPU and no toolkit are needed."""

from warploom.compiler.cuda.nvrtc import compile_to_cubin, compile_to_ptx

__all__ = ["compile_to_cubin", "compile_to_ptx"]
