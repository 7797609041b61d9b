"""Monte Carlo pricing of a swaption portfolio in the LIBOR market model."""
