"""Options for the compiler of CUDA C++ that say nothing of files."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SWITCHES = (
    "use_fast_math", "extra-device-vectorization", "restrict", "device-int128", "device-float128", "dopt", "device-debug",
    "generate-line-info", "lineinfo", "relocatable-device-code", "rdc", "device-c", "dc", "disable-warnings", "w",
    "device-as-default-execution-space", "default-device", "display-error-number", "no-display-error-number",
    "brief-diagnostics", "minimal", "no-source-include", "modify-stack-limit", "extensible-whole-program", "ewp",
    "device-stack-protector", "G",
)  # fmt: skip
_WITH_VALUE = (
    "std", "fmad", "ftz", "prec-div", "prec-sqrt", "maxrregcount", "dopt", "relocatable-device-code", "rdc", "restrict",
    "diag-error", "diag-suppress", "diag-warn", "brief-diagnostics", "jump-table-density", "modify-stack-limit",
    "builtin-move-forward", "builtin-initializer-list", "Ofast-compile", "define-macro", "undefine-macro", "use_fast_math",
    "device-stack-protector", "extra-device-vectorization",
)  # fmt: skip
_HARMLESS = re.compile(rf"-[DU].*|--?(?:{'|'.join(_SWITCHES)})|--?(?:{'|'.join(_WITH_VALUE)})=.*", re.DOTALL)


def about_files(options: Iterable[str]) -> list[str]:
    """Those of the compiler's options that name a file or a folder, or may do so: which it reads or writes is theirs to say."""
    return [option for option in options if not _HARMLESS.fullmatch(option)]


def is_header_folder(option: str) -> bool:
    """Whether an option names a folder of headers, which are only read."""
    return option.startswith(("-I", "--include-path=", "-include-path="))
