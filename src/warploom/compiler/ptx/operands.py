"""Operands of instructions: read from the tokens and checked against the rule of their place."""

from __future__ import annotations

import re

from warploom.compiler.ptx.cursor import Cursor
from warploom.compiler.ptx.module import (
    Call,
    FunctionName,
    MemoryOperand,
    Negated,
    Operand,
    ParameterAddress,
    PtxConstant,
    PtxParameter,
    PtxVariable,
    Register,
    Sink,
    SpecialRegister,
    SymbolAddress,
    Texel,
    Vector,
)
from warploom.compiler.ptx.opcodes import Opcode, OperandRule
from warploom.compiler.ptx.scope import SPECIAL_SIZES, Named, Scope
from warploom.compiler.ptx.types import HOLDS, SIZE

_COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}
_ADDRESS_TYPES = {"u64", "s64", "b64", "u32", "s32", "b32"}
_LAYER = OperandRule("s", "u32")
_ENVIRONMENT = re.compile(r"%envreg\d+\Z")


class OperandReader:
    """Reads the operands of one function's instructions."""

    def __init__(self, cursor: Cursor, scope: Scope) -> None:
        self._cursor = cursor
        self.scope = scope

    def read(self, rule: OperandRule, opcode: Opcode) -> list[Operand]:
        """The operands at one place: two where ``d|p`` has both."""
        kind = rule.kind
        if kind == "s":
            return [self._source(rule)]
        if kind == "d":
            return [self._register(rule)]
        if kind == "[]":
            return [self._memory(opcode)]
        if kind in ("vd", "vs"):
            return [self._vector(rule, opcode.vector)]
        if kind in ("p|q", "d|p"):
            return self._two_destinations(rule)
        if kind in ("dm", "sm"):
            return [self._moved(rule)]
        if kind == "sa":
            return [self._source(rule)]
        if kind == "sp":
            return [self._pointer()]
        return [self._texel(opcode)]

    def _named(self, what: str) -> Named:
        cursor = self._cursor
        token = cursor.token
        found = self.scope.find(token)
        if found is None:
            # a special register is one token with its suffix; anything else that is unknown is an error
            if token.startswith("%") and "." in token:
                cursor.fail(f"{token[:40]} is neither a declared register nor a special register that is supported")
            if _ENVIRONMENT.match(token):
                cursor.fail(f"{token[:40]} is not supported; of these registers only those of cooperative grids are, 1 and 2")
            cursor.name(what)
            cursor.at -= 1
            cursor.fail(f"{token[:60]} is not declared")
        cursor.at += 1
        return found

    def _register(self, rule: OperandRule) -> Register:
        cursor = self._cursor
        found = self.scope.find(cursor.token)
        if not isinstance(found, Register):
            found = self._named("a register")
            if not isinstance(found, Register):
                cursor.at -= 1
                cursor.fail(f"a register should stand where '{cursor.token}' does")
            cursor.at -= 1
        self._check(found, rule)
        cursor.at += 1
        return found

    def _check(self, register: Register, rule: OperandRule) -> None:
        if (register.type, rule.type, rule.wider) not in HOLDS:
            self._cursor.fail(
                f"register {register.name} has type .{register.type}, which does not fit an operand of type .{rule.type}"
            )

    def _source(self, rule: OperandRule) -> Operand:
        cursor = self._cursor
        token = cursor.token
        first = token[:1]
        if first == "%":
            found = self.scope.find(token)
            if isinstance(found, Register):
                self._check(found, rule)
                cursor.at += 1
                return found
        elif first.isdigit() or first in ("-", "(", "~", "+") or token == "WARP_SZ":
            if rule.type == "pred" and rule.kind == "s" and token not in ("0", "1", "-"):
                cursor.fail("a predicate should stand here, not a constant")
            return PtxConstant(cursor.bits(rule.type))
        elif first == "!":
            if not rule.negatable:
                cursor.fail("a negated operand is not allowed here")
            cursor.at += 1
            return Negated(self._register(rule))
        found = self._named("an operand")
        if isinstance(found, Register):
            cursor.at -= 1
            self._check(found, rule)
            cursor.at += 1
            return found
        if isinstance(found, SpecialRegister):
            if SPECIAL_SIZES[found.name] < SIZE[rule.type] or rule.type[0] == "f" or rule.type == "pred":
                cursor.fail(
                    f"%{found.name} has {8 * SPECIAL_SIZES[found.name]} bits, which does not fit an operand of type .{rule.type}"
                )
            return found
        if isinstance(found, FunctionName):
            if found.kernel:
                cursor.fail("launching kernels from a kernel (dynamic parallelism) is not supported")
            cursor.fail("function pointers are not supported, because calls are inlined")
        if rule.type not in _ADDRESS_TYPES:
            cursor.fail(f"an address does not fit an operand of type .{rule.type}")
        offset = self._displacement()
        return SymbolAddress(found, offset) if isinstance(found, PtxVariable) else ParameterAddress(found, offset)

    def _displacement(self) -> int:
        cursor = self._cursor
        if cursor.token == "+":
            cursor.at += 1
            return cursor.integer()
        if cursor.token == "-":
            return cursor.integer()
        return 0

    def _memory(self, opcode: Opcode) -> MemoryOperand:
        cursor = self._cursor
        cursor.expect("[")
        base: Named | None = None
        if cursor.token[:1].isdigit() or cursor.token in ("-", "("):
            offset = cursor.integer()
        else:
            base = self._named("an address")
            offset = self._displacement()
        cursor.expect("]")
        if isinstance(base, Register):
            if SIZE[base.type] < 4 or base.type in ("f32", "f64"):
                cursor.fail(f"register {base.name} has type .{base.type}, which does not fit an address")
        elif isinstance(base, SpecialRegister | FunctionName):
            cursor.fail(f"{base.name} cannot be an address")
        elif isinstance(base, PtxParameter):
            if opcode.space != "param":
                cursor.fail(f"{base.name} is a parameter, which only ld.param and st.param can access")
            if base.register is None and not 0 <= offset <= base.size - opcode.vector * SIZE[opcode.type]:
                cursor.fail(f"this access lies outside the parameter {base.name} of {base.size} bytes")
        elif isinstance(base, PtxVariable) and opcode.space not in ("", base.space):
            cursor.fail(f"{base.name} is in {base.space} memory")
        if opcode.space == "param" and isinstance(base, PtxVariable | None):
            cursor.fail("a parameter should stand here")
        return MemoryOperand(base, offset)

    def _vector(self, rule: OperandRule, length: int) -> Operand:
        cursor = self._cursor
        if length == 1 and cursor.token != "{":
            return self._register(rule) if rule.kind == "vd" else self._source(rule)
        elements = self._braced(rule, rule.kind == "vd")
        if len(elements) != length:
            cursor.fail(f"{len(elements)} elements stand where {length} are needed")
        if length == 1:
            return elements[0]
        return Vector(elements)

    def _braced(self, rule: OperandRule, destination: bool) -> tuple[Register | PtxConstant | Sink, ...]:
        cursor = self._cursor
        cursor.expect("{")
        elements: list[Register | PtxConstant | Sink] = []

        def element() -> None:
            if destination:
                elements.append(Sink() if cursor.accept("_") else self._register(rule))
                return
            source = self._source(rule)
            if not isinstance(source, Register | PtxConstant):
                cursor.fail("registers and constants are all that may stand in a vector")
            elements.append(source)

        cursor.separated(element, "}")
        return tuple(elements)

    def _two_destinations(self, rule: OperandRule) -> list[Operand]:
        cursor = self._cursor
        first_rule = OperandRule("d", "pred") if rule.kind == "p|q" else rule
        operands: list[Operand] = [Sink() if cursor.accept("_") else self._register(first_rule)]
        if cursor.accept("|"):
            operands.append(Sink() if cursor.accept("_") else self._register(OperandRule("d", "pred")))
        else:
            operands.append(Sink())
        return operands

    def _moved(self, rule: OperandRule) -> Operand:
        """An operand of mov: a register, or a vector whose elements make up the type."""
        cursor = self._cursor
        if cursor.token != "{":
            return self._register(rule) if rule.kind == "dm" else self._source(rule)
        start, count, depth = cursor.at, 1, 0
        for token in cursor.tokens[start : start + 20]:
            depth += (token == "{") - (token == "}")
            count += token == "," and depth == 1
            if depth == 0:
                break
        size = SIZE[rule.type] // count if count in (2, 4) else 0
        if rule.type[0] != "b" or size < 2:
            cursor.fail(f"mov.{rule.type} cannot move {count} elements")
        return Vector(self._braced(OperandRule(rule.kind, f"b{8 * size}"), rule.kind == "dm"))

    def _pointer(self) -> Operand:
        cursor = self._cursor
        found = self._named("an address")
        if isinstance(found, Register) and SIZE[found.type] >= 4 and found.type[0] != "f":
            return found
        if not isinstance(found, PtxVariable):
            cursor.at -= 1
            cursor.fail("an address should stand here")
        return SymbolAddress(found)

    def _texel(self, opcode: Opcode) -> Texel:
        cursor = self._cursor
        cursor.expect("[")
        texture = self._named("a texture")
        if isinstance(texture, Register):
            if SIZE[texture.type] != 8 or texture.type == "f64":
                cursor.fail(f"register {texture.name} has type .{texture.type}, which cannot hold a texture")
        elif not (isinstance(texture, PtxVariable) and texture.space == "texref"):
            cursor.fail("a texture should stand here")
        cursor.expect(",")
        rule = OperandRule("s", opcode.source_type)
        coordinates: list[Register | PtxConstant] = []

        def coordinate() -> None:
            layer = opcode.space[0] == "a" and not coordinates
            source = self._source(_LAYER if layer else rule)
            if not isinstance(source, Register | PtxConstant):
                cursor.fail("registers and constants are all that coordinates may be")
            coordinates.append(source)

        if cursor.accept("{"):
            cursor.separated(coordinate, "}")
        elif opcode.space == "1d" and isinstance(self.scope.find(cursor.token), Register | None):
            coordinate()
        else:
            cursor.fail("samplers apart from their texture are not supported")
        wanted = _COORDINATES[opcode.space]
        if len(coordinates) != wanted and not (opcode.space == "3d" and len(coordinates) == 3):
            cursor.fail(f"a texture of geometry {opcode.space} needs {wanted} coordinates, not {len(coordinates)}")
        cursor.expect("]")
        return Texel(texture, tuple(coordinates))

    def call(self) -> Call:
        """``(returns), function, (arguments)``; the lists may be missing."""
        cursor = self._cursor
        returns: list[PtxParameter | Register | PtxConstant] = []
        arguments: list[PtxParameter | Register | PtxConstant] = []
        if cursor.accept("("):
            cursor.separated(lambda: returns.append(self._argument()), ")")
            cursor.expect(",")
        if isinstance(self.scope.find(cursor.token), Register):
            cursor.fail("calls through a function pointer are not supported, because calls are inlined")
        function = cursor.name("a function")
        if cursor.accept(","):
            cursor.expect("(")
            cursor.separated(lambda: arguments.append(self._argument()), ")")
        results = tuple(result for result in returns if not isinstance(result, PtxConstant))
        if len(results) != len(returns):
            cursor.fail("a constant cannot receive a result")
        return Call(function, results, tuple(arguments))

    def _argument(self) -> PtxParameter | Register | PtxConstant:
        cursor = self._cursor
        if cursor.token[:1].isdigit() or cursor.token == "-":
            return PtxConstant(cursor.integer() & 0xFFFFFFFFFFFFFFFF)
        found = self._named("an argument")
        if not isinstance(found, PtxParameter | Register):
            cursor.fail(f"{cursor.tokens[cursor.at - 1]} cannot be an argument")
        return found
