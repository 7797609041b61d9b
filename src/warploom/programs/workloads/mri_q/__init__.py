"""The Q matrix of magnetic resonance image reconstruction."""
