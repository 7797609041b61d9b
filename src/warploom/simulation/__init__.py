"""From a program, a design and a machine to a result."""
