"""SASS on the emulator: its instructions in the emulator's records, and warps whose lanes meet at convergence barriers.

To add an opcode, write a function ``(rows, instruction, record)`` in one of the ``encode_*`` files here, or in a new one, and
mark it with `encodes`; all files of that name are read. What LLVM has to compute is a `LaneOperation` in one of the files
``*_lanes``; what the opcode's text means is in `warploom.compiler.sass.forms`, what kind of work it is in
`warploom.compiler.code.sass_classes`.
"""
