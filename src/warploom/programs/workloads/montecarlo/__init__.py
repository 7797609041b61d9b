"""Monte Carlo pricing of options (the kind of the CUDA SDK's MonteCarlo)."""
