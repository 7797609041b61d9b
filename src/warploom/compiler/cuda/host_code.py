"""Sets the host's part of a CUDA file aside: functions that run on the host are blanked, the rest stays on its line.

NVRTC compiles device code alone and stumbles over launches (``<<<``) and over what a host's libraries declare. Kernels need
none of it. What is a function of the host is told from the text: it has a body and none of the marks ``__global__``,
``__device__`` and ``constexpr``, nor a macro that stands for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warploom.base.files import is_file

_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_DEVICE_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?(?=[ \t])((?:\\\n|[^\n])*)", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)
_SYSTEM_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)
_MARKS = ("__global__", "__device__", "constexpr")
_VARIABLE_MARKS = re.compile(r"\b(__shared__|__constant__|__managed__|typedef|using|const|friend|operator)\b")
_LABEL = re.compile(r"\s*(public|private|protected)\s*:")
_SCOPE = re.compile(r"^\s*(inline\s+)?namespace\b|^\s*extern\s*$")
_TYPE = re.compile(r"\b(struct|class|union)\b")
_TEMPLATE = re.compile(r"template\s*<(?:[^{}();<>]|<[^{}();<>]*>)*>")
_ENUM = re.compile(r"\benum\b")
_NUMBER = r"(?:unsigned\s+|signed\s+)?(?:float|double|int|long|short|char|bool|size_t|unsigned)\b"
_CONSTANT = re.compile(rf"\s*(?:static\s+)?(const)\s+{_NUMBER}[\w\s]*=[^;{{]*\Z")
_FUNCTION_END = re.compile(r"\)\s*(const|noexcept|override|final|volatile|\s|->[^{}]*|:[^:].*)*$", re.DOTALL)


def set_aside_host_code(source: str) -> str:
    """The source without the bodies and heads of functions of the host; every line keeps its number."""
    return _Scan(source).run()


def local_headers(source: str, folders: Sequence[Path]) -> dict[str, str]:
    """The headers of the user's own that a source includes, directly or not, by the names that it includes them under."""
    found: dict[str, str] = {}
    pending = [source]
    while pending:
        for name in _INCLUDE.findall(pending.pop()):
            file = next((folder / name for folder in folders if is_file(folder / name)), None)
            if file is not None and name not in found:
                found[name] = file.read_text(encoding="utf-8", errors="replace")
                pending.append(found[name])
                folders = [*folders, file.parent]
    return found


def system_headers(texts: Iterable[str]) -> set[str]:
    """The headers that are included as the system's, in angle brackets."""
    return {name for text in texts for name in _SYSTEM_INCLUDE.findall(text)}


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _named(head: str) -> str:
    """The name of the function that a head declares."""
    found = re.search(r"(\w+)\s*(?:<[^()]*>)?\s*\(", _TEMPLATE.sub("", head))
    return found.group(1) if found is not None else ""


@dataclass
class _Scan:
    """One pass over a file. ``code`` is the text with comments, literals and directives blanked; positions agree."""

    source: str
    code: str = ""
    blanked: list[tuple[int, int]] = field(default_factory=list)
    host_functions: set[str] = field(default_factory=set)  # the names of those that are set aside
    constants: list[int] = field(default_factory=list)  # where `const` must say more, for device code to see the value

    def run(self) -> str:
        directives = []
        pieces, last = [], 0
        for found in _OPAQUE.finditer(self.source):
            if found.group().lstrip().startswith("#"):
                directives.append(found.span())
            pieces += [self.source[last : found.start()], _blank(found.group())]
            last = found.end()
        self.code = "".join([*pieces, self.source[last:]])
        named = [name for name, body in _DEVICE_MACRO.findall(self.source) if any(mark in body for mark in _MARKS)]
        self.device = re.compile(rf"\b({'|'.join(map(re.escape, (*_MARKS, *named)))})\b")
        self._scope(0, False)
        text = list(self.source)
        for start, end in self.blanked:
            text[start:end] = _blank(self.source[start:end])
        for place in self.constants:
            text[place : place + len("const")] = ["constexpr", *[""] * (len("const") - 1)]
        for start, end in directives:  # conditions must stay balanced
            text[start:end] = self.source[start:end]
        return "".join(text)

    def _scope(self, at: int, in_type: bool) -> int:
        """Go through the declarations of a namespace or class; where it ends."""
        start, code = at, self.code
        while at < len(code):
            letter = code[at]
            if letter == "(":
                at = self._closing(at, "(", ")")
            elif letter == ";":
                if not in_type and self._host_prototype(code[start:at]):
                    self.blanked.append((start, at + 1))
                elif not in_type and (constant := _CONSTANT.match(code, start, at)) is not None:
                    self.constants.append(constant.start(1))
                start = at = at + 1
                continue
            elif letter == "}":
                return at
            elif letter == "{":
                at = self._braces(start, at)
                start = at = at + 1
                continue
            elif in_type and letter == ":" and (label := _LABEL.match(code, start)) is not None:
                start = max(start, label.end())
            at += 1
        return at

    def _braces(self, start: int, at: int) -> int:
        """What an opening brace begins; the place of the closing one."""
        head = self.code[start:at]
        plain = _TEMPLATE.sub("", head)
        if _SCOPE.search(head):
            return self._scope(at + 1, False)
        if _FUNCTION_END.search(head) and "=" not in re.sub(r"\([^()]*\)|operator\s*\S+", "", plain):
            end = self._closing(at, "{", "}")
            if not self.device.search(head):
                self.blanked.append((start, end + 1))
                self.host_functions.add(_named(head))
            return end
        if _TYPE.search(plain) and not _ENUM.search(plain) and "=" not in plain:
            return self._scope(at + 1, True)
        return self._closing(at, "{", "}")

    def _host_prototype(self, head: str) -> bool:
        """Whether this declares a function of the host, or asks for an instance of a template of one that is set aside."""
        if not _FUNCTION_END.search(head) or "=" in head or self.device.search(head):
            return False
        if head.lstrip().startswith("template"):
            return _named(head) in self.host_functions
        return not _VARIABLE_MARKS.search(re.sub(r"\([^()]*\)", "", head))

    def _closing(self, at: int, opening: str, closing: str) -> int:
        depth = 0
        for place in range(at, len(self.code)):
            depth += (self.code[place] == opening) - (self.code[place] == closing)
            if depth == 0:
                return place
        return len(self.code)
