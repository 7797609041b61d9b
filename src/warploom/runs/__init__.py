"""From a program, a design and a machine to a result; many of them, and where results are stored."""
