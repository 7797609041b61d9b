"""Errors that people see: one sentence with the place and what to do."""


class WarploomError(Exception):
    """Bad input. The command line prints the message and exits with code 2, never with a traceback.

    The message is one sentence; it begins with the place (``file:line:`` where there is one) and says what to change.
    """


class SimulationError(WarploomError):
    """A run that went wrong: a bad access of the kernel, a deadlock, a design that lost a value."""
