"""The most that a machine can have: physical sense, or the fixed lengths of the records that compiled code reads and writes."""

from __future__ import annotations

MAX_SMS = 160
MAX_WARPS = 64
MAX_CTAS = 32
MAX_SCHEDULERS = 4
MAX_COLLECTORS = 32
MAX_RF_BANKS = 32
MAX_WARP_REGISTERS = 4096
MAX_CACHE_LINES = 2048  # of one first-level cache
MAX_MSHRS = 256
MAX_MERGED = 64
MAX_L1_LATENCY = 128
MAX_TAG_BANKS = 4  # accesses on their way to the tags, up to latency x banks, must fit the load/store unit
MAX_L2_SLICES = 128
MAX_L2_LINES = 524288  # of all slices together: 64 MiB
MAX_CHANNELS = 64
MAX_L2_WAYS = 64
MAX_DRAM_BANKS = 16
MAX_QUANTUM = 256
CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)  # KB of shared memory that a launch can have, as CUDA hands it out
MAX_L0_LINES = 64  # of code, in a sub-core
MAX_PREFETCHED = 16  # lines of its stream buffer
MAX_MEMORY_QUEUE = 16  # memory instructions of a sub-core that have not been handed over
MAX_NEAR_LINES = 512  # of code, for all sub-cores
