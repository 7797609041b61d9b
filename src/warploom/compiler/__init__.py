"""From CUDA C++, PTX or NVIDIA's machine code to the machine code that is executed and timed."""
