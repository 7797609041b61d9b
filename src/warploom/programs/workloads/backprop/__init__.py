"""One training step of a neural network with one hidden layer."""
