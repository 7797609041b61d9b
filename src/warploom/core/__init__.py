"""The timing core: SM pipelines with an open register file, the memory system, the chip loop, the shadow checker."""
