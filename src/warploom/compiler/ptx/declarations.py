"""Declarations: registers, parameters, variables with their initial contents, and the directives that are read over."""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.ptx.cursor import Cursor
from warploom.compiler.ptx.module import FunctionName, PtxParameter, PtxVariable
from warploom.compiler.ptx.scope import Named, Scope
from warploom.compiler.ptx.source_lines import Location, Position
from warploom.compiler.ptx.types import SIZE

_MAX_BYTES = 1 << 32
_MAX_REGISTERS = 1 << 24

Find = Callable[[str], Named | None]


def _alignment(cursor: Cursor, default: int) -> int:
    if not cursor.accept(".align"):
        return default
    value = cursor.integer()
    if value < 1 or value & (value - 1) or value > 1 << 20:
        cursor.fail("an alignment is a power of two")
    return value


def _type(cursor: Cursor) -> str:
    token = cursor.token
    if not token.startswith(".") or token[1:] not in SIZE:
        if token in (".texref", ".samplerref", ".surfref", ".b128"):
            cursor.fail(f"{token} cannot stand here")
        cursor.fail(f"a type should stand where '{token[:40]}' does")
    cursor.at += 1
    return token[1:]


def _dimensions(cursor: Cursor) -> tuple[int, bool]:
    """The number of elements, and whether the first dimension was left open."""
    count, open_ended, first = 1, False, True
    while cursor.accept("["):
        if cursor.accept("]"):
            if not first:
                cursor.fail("only the first dimension of an array may be left open")
            open_ended = True
        else:
            size = cursor.integer()
            if not 0 <= size <= _MAX_BYTES:
                cursor.fail("an array cannot have this many elements")
            count *= size
            cursor.expect("]")
        first = False
        if count > _MAX_BYTES:
            cursor.fail("an array cannot be larger than memory")
    return count, open_ended


def read_registers(cursor: Cursor, scope: Scope) -> None:
    """``.reg .type a, %r<10>;``"""
    cursor.expect(".reg")
    if cursor.token in (".v2", ".v4"):
        cursor.fail("vector registers are not supported")
    type_ = _type(cursor)
    type_ = {"f16": "b16", "f16x2": "b32"}.get(type_, type_)

    def one() -> None:
        name = cursor.name("a register's name")
        if cursor.accept("<"):
            count = cursor.integer()
            if not 0 <= count <= _MAX_REGISTERS:
                cursor.fail(f"{count} registers are too many")
            cursor.expect(">")
            scope.add_range(name, count, type_)
        elif scope.add_register(name, type_) is None:
            cursor.fail(f"{name} is declared twice in one scope")

    one()
    if cursor.accept(";"):
        return
    cursor.expect(",")
    cursor.separated(one, ";")


def read_parameter(cursor: Cursor, scope: Scope) -> PtxParameter:
    """``.param .type name`` or ``.reg .type name``, without what follows it."""
    if cursor.accept(".reg"):
        type_ = _type(cursor)
        name = cursor.name("a parameter's name")
        register = scope.add_register(name, type_)
        if register is None:
            cursor.fail(f"{name} is declared twice in one scope")
        return PtxParameter(name, type_, SIZE[type_], SIZE[type_], register=register)
    cursor.expect(".param")
    alignment = _alignment(cursor, 0)
    if cursor.token in (".texref", ".samplerref", ".surfref"):
        cursor.fail(f"a parameter of type {cursor.token} is not supported; pass a texture object instead")
    vector = {".v2": 2, ".v4": 4}.get(cursor.token, 1)
    if vector > 1:
        cursor.at += 1
    type_ = _type(cursor)
    if type_ == "pred":
        cursor.fail("a parameter cannot be a predicate")
    pointer = cursor.accept(".ptr")
    if pointer:
        if cursor.token in (".global", ".const", ".shared", ".local"):
            cursor.at += 1
        _alignment(cursor, 1)
    name = cursor.name("a parameter's name")
    count, open_ended = _dimensions(cursor)
    if open_ended:
        cursor.fail("variable argument lists are not supported")
    size = SIZE[type_] * vector * count
    if size > 32764:
        cursor.fail(f"the parameter {name} of {size} bytes is too large")
    array = count != 1 or vector > 1
    return PtxParameter(name, "b8" if array else type_, size, alignment or SIZE[type_] * vector, pointer=pointer)


def skip_attributes(cursor: Cursor) -> None:
    """``.attribute(.managed)`` and the like."""
    while cursor.accept(".attribute"):
        cursor.expect("(")
        depth = 1
        while depth:
            token = cursor.next()
            depth += (token == "(") - (token == ")")


def read_variables(cursor: Cursor, find: Find, *, extern: bool = False) -> list[PtxVariable]:
    """``.space .align n .type name[n] = {…}, …;``"""
    space = cursor.next().removeprefix(".").partition("::")[0]
    skip_attributes(cursor)
    alignment = _alignment(cursor, 0)
    skip_attributes(cursor)
    variables: list[PtxVariable] = []
    if space == "tex" or cursor.token in (".texref", ".samplerref", ".surfref"):
        if space == "tex":
            _type(cursor)
        elif cursor.next() != ".texref":
            cursor.fail("samplers and surfaces are not supported")
        while True:
            variables.append(PtxVariable(cursor.name("a texture's name"), "texref", 8, 8))
            if cursor.accept("="):
                cursor.fail("initial settings of a texture are not supported; the launch gives them")
            if cursor.accept(";"):
                return variables
            cursor.expect(",")
    vector = {".v2": 2, ".v4": 4}.get(cursor.token, 1)
    if vector > 1:
        cursor.at += 1
    type_ = _type(cursor)
    if type_ == "pred":
        cursor.fail("a variable in memory cannot be a predicate")
    while True:
        name = cursor.name("a variable's name")
        count, open_ended = _dimensions(cursor)
        size = SIZE[type_] * vector * count
        if size > _MAX_BYTES:
            cursor.fail("a variable cannot be larger than memory")
        variable = PtxVariable(name, space, 0 if open_ended else size, alignment or SIZE[type_] * vector, extern)
        if cursor.accept("="):
            if space in ("shared", "local"):
                cursor.fail(f"a variable in {space} memory cannot have initial contents")
            contents = _Initializer(cursor, find, type_)
            contents.read()
            if open_ended:
                variable.size = size * -(-contents.size // size) if size else contents.size
            if contents.size > variable.size:
                cursor.fail(f"{name} has {variable.size} bytes but its initial contents have {contents.size}")
            variable.data, variable.pointers = contents.result()
            if contents.functions:
                variable.problem = f"{name} holds the address of the function {contents.functions[0]}, and calls are inlined"
        elif open_ended and not extern:
            cursor.fail(f"{name} needs a size")
        variables.append(variable)
        if cursor.accept(";"):
            return variables
        cursor.expect(",")


class _Initializer:
    """The initial contents of a variable: bytes, and addresses that are known when the module is loaded."""

    def __init__(self, cursor: Cursor, find: Find, type_: str) -> None:
        self._cursor, self._find, self._type = cursor, find, type_
        self._data = bytearray()
        self.functions: list[str] = []  # whose addresses are among the contents
        self._addresses: list[tuple[int, PtxVariable, int, int]] = []  # (offset, variable, addend, first byte of the address)

    @property
    def size(self) -> int:
        return len(self._data)

    def result(self) -> tuple[bytes, tuple[tuple[int, PtxVariable, int, int], ...]]:
        """The bytes without the zeros at their end, and whole addresses put together from their bytes."""
        size = SIZE[self._type]
        whole: list[tuple[int, PtxVariable, int, int]] = []
        for offset, variable, addend, byte in self._addresses:
            if byte == 0:
                whole.append((offset, variable, addend, size))
                continue
            start, of, plus, length = whole[-1] if whole else (0, None, 0, 0)
            if of is not variable or plus != addend or start + length != offset or byte != length:
                self._cursor.fail("the parts of an address in initial contents must follow each other")
            whole[-1] = (start, variable, addend, length + size)
        return bytes(self._data).rstrip(b"\0"), tuple(whole)

    def read(self, depth: int = 0) -> None:
        """One element, or a list of them in braces."""
        cursor = self._cursor
        if depth > 20:
            cursor.fail("these initial contents are nested too deeply")
        if cursor.accept("{"):
            cursor.separated(lambda: self.read(depth + 1), "}")
            return
        size = SIZE[self._type]
        following = cursor.tokens[cursor.at + 1] if cursor.token else ""
        if cursor.token[:2] in ("0x", "0X") and following == "(":
            mask = cursor.next()
            digits = mask.removesuffix("U")[2:]
            shift = len(digits) // 2 - 1 if len(digits) % 2 == 0 and digits.upper() == "FF" + "0" * (len(digits) - 2) else -1
            if shift < 0 or size != 1:
                cursor.fail(f"the mask {mask[:24]} should select one byte of an address")
            cursor.expect("(")
            variable, addend = self._address()
            cursor.expect(")")
            self._addresses.append((len(self._data), variable, addend, shift))
            self._data += bytes(1)
        elif isinstance(self._find(cursor.token), FunctionName):
            self.functions.append(cursor.next())
            self._data += bytes(size)
        elif cursor.token == "generic" or isinstance(self._find(cursor.token), PtxVariable):
            if size not in (4, 8):
                cursor.fail(f"an address does not fit type .{self._type}")
            variable, addend = self._address()
            self._addresses.append((len(self._data), variable, addend, 0))
            self._data += bytes(size)
        else:
            self._data += cursor.bits(self._type).to_bytes(size, "little")

    def _address(self) -> tuple[PtxVariable, int]:
        cursor = self._cursor
        generic = cursor.accept("generic")
        if generic:
            cursor.expect("(")
        name = cursor.name("a variable")
        found = self._find(name)
        if not isinstance(found, PtxVariable):
            cursor.fail(f"{name} is not a variable")
        if found.space not in ("global", "const"):
            cursor.fail(f"the address of {name} in {found.space} memory cannot be initial contents")
        if generic:
            cursor.expect(")")
        addend = 0
        if cursor.token in ("+", "-"):
            sign = 1 if cursor.next() == "+" else -1
            addend = sign * cursor.integer()
        return found, addend


def read_loc(cursor: Cursor) -> Location:
    """``.loc file line column`` with what newer compilers add to it."""
    cursor.expect(".loc")
    here = _position(cursor)
    inlined_at = None
    while cursor.accept(","):
        word = cursor.name("an attribute of .loc")
        if word == "function_name":
            cursor.name("a label")
            if cursor.accept("+"):
                cursor.integer()
        elif word == "inlined_at":
            inlined_at = _position(cursor)
        else:
            cursor.fail(f".loc has no attribute {word}")
    return Location(here, inlined_at)


def _position(cursor: Cursor) -> Position:
    return cursor.integer(), cursor.integer(), cursor.integer()


def skip_pragma(cursor: Cursor) -> None:
    """``.pragma "…", "…";``"""
    cursor.expect(".pragma")
    while cursor.next() != ";":
        pass
