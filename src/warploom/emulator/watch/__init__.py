"""What checked launches notice: the emulator notes accesses and synchronisation as events, and others judge them afterwards."""
