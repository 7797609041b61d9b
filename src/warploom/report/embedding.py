"""Provenance inside pictures: a program reads it from the file itself, whatever becomes of the file's name and folder."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

from warploom.simulation.provenance import Provenance

KEYWORD = "warploom-provenance"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def embed(path: Path, made_from: Sequence[Provenance]) -> None:
    """Write the provenance of a picture's results into it: a text chunk of a PNG, an element of an SVG or HTML file."""
    text = json.dumps([each.to_dict() for each in made_from])
    if path.suffix.lower() == ".png":
        path.write_bytes(_with_chunk(path.read_bytes(), text))
        return
    picture = path.read_text(encoding="utf-8")
    if path.suffix.lower() == ".svg":
        at = picture.index(">", picture.index("<svg")) + 1
        element = f'<metadata id="{KEYWORD}">{escape(text, quote=False)}</metadata>'
    else:
        at = picture.index("</head>")
        element = f'<script type="application/json" id="{KEYWORD}">{in_script(text)}</script>'
    path.write_text(picture[:at] + element + picture[at:], encoding="utf-8")


def in_script(text: str) -> str:
    """JSON as it may stand inside a script element: "</" would end that, and JSON may write the slash escaped."""
    return text.replace("</", "<\\/")


def packed(made_from: Sequence[Provenance]) -> dict[str, list]:
    """Provenances of many runs without saying anything twice: tables that several have in common stand in ``values``."""
    values: dict[str, int] = {}

    def packed_value(value: Any) -> Any:
        return values.setdefault(json.dumps(value), len(values)) if isinstance(value, dict) else value

    records = [{name: packed_value(value) for name, value in each.to_dict().items()} for each in made_from]
    return {"values": [json.loads(text) for text in values], "records": records}


def unpacked(data: dict[str, list]) -> list[dict]:
    """What `packed` packed: a dictionary for each run, as `Provenance.to_dict` gives it."""
    tables = [item.name for item in fields(Provenance) if str(item.type).startswith("dict")]
    return [record | {name: data["values"][record[name]] for name in tables} for record in data["records"]]


def embedded(path: Path) -> list[dict]:
    """The provenance that a PNG, or a page of the report or a profile, carries; empty where it carries none."""
    if path.suffix.lower() == ".html":
        found = re.search(rf'id="{KEYWORD}">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
        return unpacked(json.loads(found.group(1))) if found else []
    data = path.read_bytes()
    place = len(_SIGNATURE)
    while place + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        content = data[place + 8 : place + 8 + length]
        if kind == b"iTXt" and content.startswith(KEYWORD.encode() + b"\0"):
            return json.loads(zlib.decompress(content[len(KEYWORD) + 5 :]))
        place += 12 + length
    return []


def _with_chunk(picture: bytes, text: str) -> bytes:
    """A PNG with one more text chunk, compressed, behind its header."""
    header_end = len(_SIGNATURE) + 12 + 13
    # keyword, compressed, by zlib, no language, no translated keyword
    content = b"iTXt" + KEYWORD.encode() + b"\0" + b"\1\0" + b"\0" + b"\0" + zlib.compress(text.encode(), 9)
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return picture[:header_end] + chunk + picture[header_end:]
