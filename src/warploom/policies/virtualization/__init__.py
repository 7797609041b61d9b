"""The mechanisms of register file virtualization, each in a file of its own; `allocation/rfv.py` is the policy that uses them.

``mapping`` stands on ``throttling``, ``reserved_memory`` on these two, ``releasing`` on ``reserved_memory`` and ``throttling``;
``flag_cache``, ``notes`` and ``reporting`` stand alone.
"""
