"""The body of a function: declarations, labels and instructions, in nested scopes."""

from __future__ import annotations

from typing import NoReturn

from warploom.compiler.ptx.cursor import Cursor
from warploom.compiler.ptx.declarations import read_loc, read_parameter, read_registers, read_variables, skip_pragma
from warploom.compiler.ptx.module import Body, Label, Operand, PtxInstruction, Register
from warploom.compiler.ptx.opcodes import Opcode, OperandRule, decode, why_unknown
from warploom.compiler.ptx.operands import OperandReader
from warploom.compiler.ptx.scope import Scope
from warploom.compiler.ptx.source_lines import SourceLines
from warploom.compiler.ptx.types import SIZE

_MAX_DEPTH = 100


class _Jump:
    """A branch whose target may stand further down."""

    __slots__ = ("at", "instruction", "name", "scope", "table")

    def __init__(self, instruction: PtxInstruction, name: str, scope: Scope, at: int, table: bool) -> None:
        self.instruction, self.name, self.scope, self.at, self.table = instruction, name, scope, at, table


class BodyReader:
    """Reads what stands between the braces of one function."""

    def __init__(self, cursor: Cursor, scope: Scope, source_lines: SourceLines) -> None:
        self._cursor = cursor
        self._body = Body()
        self._scope = scope
        self._source_lines = source_lines
        self._operands = OperandReader(cursor, scope)
        self._jumps: list[_Jump] = []

    def read(self) -> Body:
        """Read to the closing brace and resolve the labels."""
        cursor = self._cursor
        cursor.expect("{")
        depth = 1
        while depth:
            token = cursor.token
            cursor.statement = cursor.at
            if token == "{":
                depth += 1
                if depth > _MAX_DEPTH:
                    cursor.fail("braces are nested too deeply")
                cursor.at += 1
                self._enter(self._scope.inner())
            elif token == "}":
                depth -= 1
                cursor.at += 1
                if depth and self._scope.parent is not None:
                    self._enter(self._scope.parent)
            elif token[:1] == ".":
                self._directive(token)
            elif cursor.tokens[cursor.at + 1 : cursor.at + 2] == [":"]:
                self._label()
            elif token == ";":
                cursor.at += 1
            else:
                self._instruction()
        self._resolve()
        return self._body

    def _enter(self, scope: Scope) -> None:
        self._scope = self._operands.scope = scope

    def _directive(self, token: str) -> None:
        cursor = self._cursor
        if token == ".reg":
            read_registers(cursor, self._scope)
        elif token in (".shared", ".local", ".const", ".global"):
            for variable in read_variables(cursor, self._scope.find):
                self._declare(variable.name, variable)
                self._body.variables.append(variable)
        elif token == ".param":
            parameter = read_parameter(cursor, self._scope)
            cursor.expect(";")
            self._declare(parameter.name, parameter)
        elif token == ".loc":
            cursor.source_line = self._source_lines.at(read_loc(cursor))
        elif token == ".pragma":
            skip_pragma(cursor)
        else:
            cursor.fail(f"the directive {token[:40]} is not known inside a function")

    def _declare(self, name: str, what: object) -> None:
        if name in self._scope.names:
            self._cursor.fail(f"{name} is declared twice in one scope")
        self._scope.names[name] = what  # type: ignore[assignment]

    def _label(self) -> None:
        cursor = self._cursor
        name = cursor.name("a label")
        cursor.expect(":")
        if cursor.token == ".branchtargets":
            cursor.at += 1
            names: list[str] = []
            cursor.separated(lambda: names.append(cursor.name("a label")), ";")
            self._scope.tables[name] = names
        elif cursor.token in (".callprototype", ".calltargets"):
            cursor.fail("calls through a function pointer are not supported, because calls are inlined")
        elif name in self._scope.labels:
            cursor.fail(f"the label {name} stands twice in one scope")
        else:
            self._scope.labels[name] = len(self._body.instructions)
            self._body.labels.add(len(self._body.instructions))

    def _instruction(self) -> None:
        cursor = self._cursor
        guard = self._guard() if cursor.token == "@" else None
        opcode = decode(cursor.token)
        if opcode is None:
            self._unknown()
        line = cursor.line
        cursor.at += 1
        instruction = PtxInstruction(opcode, (), line, guard)
        first = opcode.rules[0].kind if opcode.rules else ""
        if first == "label" or opcode.name == "brx":
            self._branch(instruction)
        elif first == "call":
            instruction.call = self._operands.call()
        else:
            instruction.operands = self._read_operands(opcode)
        if cursor.token != ";":
            if cursor.token == ",":
                cursor.fail(f"{opcode.text} has too many operands")
            cursor.expect(";")
        cursor.at += 1
        self._body.instructions.append(instruction)

    def _unknown(self) -> NoReturn:
        cursor = self._cursor
        spelling = cursor.token
        if "." not in spelling:
            cursor.name("an instruction")
            cursor.at -= 1
        cursor.fail(why_unknown(spelling))

    def _guard(self) -> tuple[Register, bool]:
        cursor = self._cursor
        cursor.at += 1
        negated = cursor.accept("!")
        found = self._scope.find(cursor.token)
        if not isinstance(found, Register):
            cursor.name("a predicate")
            cursor.at -= 1
            cursor.fail(f"{cursor.token[:60]} is not declared" if found is None else f"{cursor.token} is not a predicate")
        if found.type != "pred":
            cursor.fail(f"register {found.name} has type .{found.type} and cannot guard an instruction")
        cursor.at += 1
        return found, negated

    def _read_operands(self, opcode: Opcode) -> tuple[Operand, ...]:
        cursor = self._cursor
        rules = opcode.rules
        if opcode.least != opcode.most:
            rules = self._chosen(opcode)
        operands: list[Operand] = []
        for position, rule in enumerate(rules):
            if position and not cursor.accept(","):
                if cursor.token == ";":
                    cursor.fail(f"{opcode.text} needs {opcode.least} operands, not {position}")
                cursor.expect(",")
            operands += self._operands.read(rule, opcode)
        if opcode.vector * SIZE.get(opcode.type, 0) > 32 or (opcode.vector == 8 and SIZE[opcode.type] != 4):
            cursor.fail("a vector has at most 32 bytes, and eight elements only if they have 32 bits each")
        return tuple(operands)

    def _chosen(self, opcode: Opcode) -> tuple[OperandRule, ...]:
        """The rules without the optional operands that are missing."""
        cursor = self._cursor
        end = cursor.at
        while cursor.tokens[end] not in (";", "}", ""):
            end += 1
        count = 1 + cursor.tokens[cursor.at : end].count(",") if end > cursor.at else 0
        missing = opcode.most - count
        if missing <= 0:
            return opcode.rules
        if count < opcode.least:
            cursor.fail(f"{opcode.text} needs {opcode.least} operands, not {count}")
        return tuple(rule for rule in opcode.rules if not rule.optional)

    def _branch(self, instruction: PtxInstruction) -> None:
        cursor = self._cursor
        table = instruction.opcode.name == "brx"
        if table:
            instruction.operands = tuple(self._operands.read(instruction.opcode.rules[0], instruction.opcode))
            cursor.expect(",")
        at = cursor.at
        self._jumps.append(_Jump(instruction, cursor.name("a label"), self._scope, at, table))

    def _resolve(self) -> None:
        end = self._cursor.at
        for jump in self._jumps:
            self._cursor.at = self._cursor.statement = jump.at
            self._cursor.source_line = jump.instruction.line
            names = [jump.name]
            if jump.table:
                names = jump.scope.find_table(jump.name) or []
                if not names:
                    self._cursor.fail(f"there is no .branchtargets list {jump.name} in this function", whole=False)
            labels = []
            for name in names:
                position = jump.scope.find_label(name)
                if position is None:
                    self._cursor.fail(f"the branch goes nowhere: there is no label {name[:60]} in this function", whole=False)
                labels.append(Label(name, position))
            if jump.table:
                jump.instruction.targets = tuple(labels)
            else:
                jump.instruction.operands = (labels[0],)
        self._cursor.at = end
