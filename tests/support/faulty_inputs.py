"""A kind of input that ends in every way there is, for the test of the fuzzer."""

from __future__ import annotations

import os
import time
from random import Random

from warploom.base.errors import WarploomError
from warploom_lab.fuzz.kinds import Kind, Wrong

WAYS = ("accepted", "refused", "traceback", "wrong", "crash", "hang")


class Faulty(Kind):
    """The first letters of an input say how it ends."""

    def make(self, random: Random) -> str:
        return f"{random.choice(WAYS)} {random.random()}"

    def attempt(self, spoilt: str) -> None:
        match spoilt.split()[0]:
            case "refused":
                raise WarploomError("it is refused")
            case "traceback":
                raise KeyError(spoilt)
            case "wrong":
                raise Wrong("another result")
            case "crash":
                os._exit(11)
            case "hang":
                time.sleep(600)
