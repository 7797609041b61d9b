"""What a warp is: lanes in lockstep, and registers of 32 bits in each of them."""

import numpy as np

LANES = 32
FULL = np.uint32(0xFFFFFFFF)  # the mask of all lanes
REGISTER_BITS = 32 * LANES  # of one register of all lanes
