"""Where generic addresses of shared and local memory begin; docs/house.md has the whole map."""

SHARED_WINDOW = 0xF000_0000
LOCAL_WINDOW = 0xF800_0000
