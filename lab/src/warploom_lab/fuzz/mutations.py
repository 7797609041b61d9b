"""How an input is spoilt: a few changes of a good one, each drawn from a seeded generator."""

from __future__ import annotations

import re
from random import Random

_NUMBERS = ("0", "-1", "1e999", "nan", "-inf", "0x", "9" * 30, "9" * 5000)
_SIGNS = ('"', "'", "/*", "(", ")", "[", "]]", "{", "=", ",", "+", "--", "-", ".", "%", "$", "\\", " ", "\n", "\r", "\0", "\x1b")
ODD_WORDS = (*_NUMBERS, *_SIGNS, "", "é", "\ud7ff", "𝟙", "true", "null", "a" * 3000)
_TOKENS = re.compile(r"\s+|[%$_.\w-]+|.", re.DOTALL)


def tokens(text: str) -> list[str]:
    """The words and signs of a text; joined they are the text."""
    return _TOKENS.findall(text)


def spoilt_text(text: str, words: list[str], random: Random) -> str:
    """A text with one to four of its tokens deleted, repeated, exchanged or replaced, or cut off, or with odd signs put in."""
    parts = tokens(text)
    for _ in range(random.randint(1, 4)):
        if not parts:
            return random.choice(ODD_WORDS)
        place = random.randrange(len(parts))
        match random.randrange(7):
            case 0:
                del parts[place]
            case 1:
                parts.insert(place, parts[place])
            case 2:
                other = random.randrange(len(parts))
                parts[place], parts[other] = parts[other], parts[place]
            case 3:
                parts[place] = random.choice(words)
            case 4:
                parts.insert(place, random.choice(ODD_WORDS))
            case 5:
                parts[place] = spoilt_number(parts[place], random)
            case _:
                if random.random() < 0.2:
                    parts = parts[:place]
                else:
                    parts[place] = random.choice(ODD_WORDS)
    return "".join(parts)


def spoilt_number(word: str, random: Random) -> str:
    """Another number where there was one, else the word with one letter changed."""
    if re.fullmatch(r"-?\d+", word):
        number = int(word[:15])
        return str(random.choice([0, -number, number + 1, number - 1, 2 * number, number << 20, 1 << 31, 1 << 63, 1 << 64]))
    if not word:
        return word
    place = random.randrange(len(word))
    return word[:place] + chr(random.randrange(32, 127)) + word[place + 1 :]


def spoilt_bytes(data: bytes, random: Random) -> bytes:
    """A file with bytes flipped, cut off, put in, or all gone."""
    changed = bytearray(data)
    match random.randrange(6):
        case 0:
            return bytes(changed[: random.randrange(len(changed) + 1)])
        case 1:
            place = random.randrange(len(changed) + 1)
            changed[place:place] = random.randbytes(random.randint(1, 64))
        case 2:
            start = random.randrange(len(changed) + 1)
            del changed[start : start + random.randint(1, 64)]
        case 3:
            start = random.randrange(len(changed) + 1)
            end = min(len(changed), start + random.randint(1, 4096))
            changed[start:end] = bytes(end - start)
        case _:
            for _ in range(random.randint(1, 8)):
                if changed:
                    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)
