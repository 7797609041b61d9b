"""Provenance inside pictures: a program reads it from the file itself, whatever becomes of the file's name and folder."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from warploom.runs.provenance import Provenance

KEYWORD = "warploom-provenance"
_PLACE = "#"  # in a packed provenance: which of the values stands here
_IN_PDF = b"WarploomProvenance"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def embed(path: Path, made_from: Sequence[Provenance]) -> None:
    """Write the provenance of a picture's results into it: a text chunk of a PNG, an element of an SVG, a stream of a PDF."""
    text = json.dumps([each.to_dict() for each in made_from])
    if path.suffix.lower() == ".png":
        path.write_bytes(_with_chunk(path.read_bytes(), text))
        return
    if path.suffix.lower() == ".pdf":
        path.write_bytes(_with_stream(path.read_bytes(), text))
        return
    picture = path.read_text(encoding="utf-8")
    at = picture.index(">", picture.index("<svg")) + 1
    element = f'<metadata id="{KEYWORD}">{escape(text, quote=False)}</metadata>'
    path.write_text(picture[:at] + element + picture[at:], encoding="utf-8")


def in_script(text: str) -> str:
    """JSON as it may stand inside a script element, which "</" would end and "<!--" prolong: without any "<" as it is."""
    return text.replace("<", "\\u003c")


def packed(made_from: Sequence[Provenance]) -> dict[str, list]:
    """Provenances of many runs without saying anything twice: tables that several have in common stand in ``values``."""
    values: dict[str, int] = {}

    def packed_value(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        inner = {name: packed_value(item) for name, item in value.items()}
        return {_PLACE: values.setdefault(json.dumps(inner), len(values))}

    records = [packed_value(each.to_dict()) for each in made_from]
    return {"values": [json.loads(text) for text in values], "records": records}


def unpacked(data: dict[str, list]) -> list[dict]:
    """What `packed` packed: a dictionary for each run, as `Provenance.to_dict` gives it."""

    def unpacked_value(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: unpacked_value(item) for name, item in data["values"][value[_PLACE]].items()}

    return [unpacked_value(record) for record in data["records"]]


def embedded(path: Path) -> list[dict]:
    """The provenance that a PNG, a PDF or a page carries; empty where it carries none."""
    if path.suffix.lower() == ".html":
        found = re.search(rf'id="{KEYWORD}">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
        return unpacked(json.loads(found.group(1))) if found else []
    data = path.read_bytes()
    if path.suffix.lower() == ".pdf":
        stream = re.search(rb"/" + _IN_PDF + rb" /Filter /FlateDecode /Length (\d+) >>\nstream\n", data)
        return json.loads(zlib.decompress(data[stream.end() : stream.end() + int(stream[1])])) if stream else []
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


def _with_stream(document: bytes, text: str) -> bytes:
    """A PDF with one more object, compressed, to which its description points: appended, as PDF wants a file to be changed."""
    table = int(re.findall(rb"startxref\s+(\d+)", document)[-1])
    trailer = document[document.rindex(b"trailer") :]
    size, info = int(_found(rb"/Size (\d+)", trailer)), int(_found(rb"/Info (\d+) 0 R", trailer))
    about = _found(rb"\b%d 0 obj\s*<<(.*?)>>\s*endobj" % info, document)
    content = zlib.compress(text.encode(), 9)
    objects = {
        info: b"%d 0 obj\n<<%s /%s %d 0 R >>\nendobj\n" % (info, about, _IN_PDF, size),
        size: b"%d 0 obj\n<< /Type /%s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n"
        % (size, _IN_PDF, len(content), content),
    }
    out, entries = document.rstrip() + b"\n", b""
    for number, each in objects.items():
        entries += b"%d 1\n%010d 00000 n\r\n" % (number, len(out))
        out += each
    ending = b"trailer\n<< /Size %d /Root %s 0 R /Info %d 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n"
    return out + b"xref\n" + entries + ending % (size + 1, _found(rb"/Root (\d+) 0 R", trailer), info, table, len(out))


def _found(pattern: bytes, data: bytes) -> bytes:
    found = re.search(pattern, data, re.DOTALL)
    assert found is not None, "the PDF is otherwise than those that we draw"
    return found[1]
