"""Calls are inlined: the kernel becomes one flat list of instructions on registers of its own.

Arguments and results travel through ``.param`` variables. Where every access to such a variable is to the same pieces of it,
the pieces become registers; otherwise the variable becomes local memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from warploom.base.errors import WarploomError
from warploom.compiler.code.supplied import NAMES, Supplied
from warploom.compiler.ptx.module import (
    Call,
    Function,
    Label,
    MemoryOperand,
    Module,
    Negated,
    Operand,
    ParameterAddress,
    PtxConstant,
    PtxInstruction,
    PtxParameter,
    PtxVariable,
    Register,
    Sink,
    SymbolAddress,
    Texel,
    Vector,
)
from warploom.compiler.ptx.opcodes import Opcode, OperandRule, decode
from warploom.compiler.ptx.types import SIZE

_MAX_INSTRUCTIONS = 200_000
_LAUNCHING = ("__cudaCDP", "cudaGetParameterBuffer", "cudaLaunchDevice")
_RESULTS = {Supplied.VPRINTF: 1, Supplied.MALLOC: 1}
_SIZES = {  # bytes of the result, then of the arguments
    Supplied.VPRINTF: (4, 8, 8),
    Supplied.MALLOC: (8, 8),
    Supplied.FREE: (8,),
    Supplied.ASSERT_FAIL: (8, 8, 4, 8, 8),
}
_RETURN = -1  # the position that stands for the end of the function until it is known


@dataclass
class Flat:
    """A kernel without calls."""

    instructions: list[PtxInstruction]
    labels: set[int]
    register_count: int
    variables: list[PtxVariable] = field(default_factory=list)  # what parameters in memory became


def opcode(text: str) -> Opcode:
    """The opcode of a spelling that is known to be right."""
    decoded = decode(text)
    assert decoded is not None, text
    return decoded


def _supplied(function: str, results: list[Register], arguments: list[Register]) -> Opcode:
    """The operation that calls a function which CUDA supplies."""
    rules = (*(OperandRule("d", each.type) for each in results), *(OperandRule("s", each.type) for each in arguments))
    type_ = results[0].type if results else ""
    return Opcode(f"call.{function}", "call", type_, "", "", (function,), 1, rules, len(rules), len(rules))


def flatten(module: Module, kernel: Function) -> Flat:
    """The kernel with every call inlined."""
    if kernel.problem:
        raise WarploomError(kernel.problem)
    if not any(instruction.call for instruction in kernel.body):
        flat = Flat(kernel.body, kernel.content.labels, kernel.content.register_count)
    else:
        inliner = _Inliner(module, kernel)
        inliner.expand(kernel, (), {})
        flat = Flat(inliner.instructions, inliner.labels, inliner.register_count)
    if any(_touches_parameters(instruction, kernel) for instruction in flat.instructions):
        _Staging(kernel, flat).run()
    return flat


def redirect(instruction: PtxInstruction, positions: list[int]) -> None:
    """Let a branch follow its targets to their new positions."""

    def moved(label: Label) -> Label:
        return Label(label.name, positions[label.position])

    if instruction.operands and isinstance(instruction.operands[0], Label):
        instruction.operands = (moved(instruction.operands[0]),)
    instruction.targets = tuple(map(moved, instruction.targets))


class _Inliner:
    def __init__(self, module: Module, kernel: Function) -> None:
        self.instructions: list[PtxInstruction] = []
        self.labels: set[int] = set()
        self.register_count = 0
        self._module = module
        self._kernel = kernel

    def expand(self, function: Function, callers: tuple[str, ...], parameters: dict[PtxParameter, PtxParameter]) -> None:
        """Append a copy of the function's body."""
        instance = _Instance(self.register_count, dict(parameters), function is self._kernel)
        self.register_count += function.content.register_count
        positions = []
        for place, instruction in enumerate(function.body):
            positions.append(len(self.instructions))
            if len(self.instructions) > _MAX_INSTRUCTIONS:
                raise WarploomError(
                    f"{self._module.place(instruction.line)}: the kernel {self._kernel.name} grows beyond "
                    f"{_MAX_INSTRUCTIONS} instructions when its calls are inlined."
                )
            if instruction.call is not None:
                self._call(instruction, instruction.call, instance, (*callers, function.name))
            elif instruction.opcode.name == "ret" and not instance.kernel:
                if place + 1 < len(function.body):
                    jump = instance.renamed(instruction)
                    jump.opcode, jump.operands = opcode("bra"), (Label("return", _RETURN),)
                    self.instructions.append(jump)
            else:
                self.instructions.append(instance.renamed(instruction))
        end = len(self.instructions)
        positions.append(end)
        for instruction in instance.instructions:
            redirect(instruction, positions)
        self.labels |= {positions[label] for label in function.content.labels} | {end}

    def _call(self, instruction: PtxInstruction, call: Call, caller: _Instance, callers: tuple[str, ...]) -> None:
        known = self._module.functions.get(call.function)
        supplied = call.function in NAMES and not (known is not None and known.defined)
        function = None if supplied else self._callee(instruction, call, callers)
        skip = None
        if instruction.guard is not None:
            guard, negated = instruction.guard
            skip = PtxInstruction(opcode("bra"), (Label("after", 0),), 0, (caller.register(guard), not negated))
            self.instructions.append(skip)
        if function is None:
            self._call_supplied(instruction, call, caller)
        else:
            self._inline(function, call, caller, callers)
        if skip is not None:
            skip.operands = (Label("after", len(self.instructions)),)
            self.labels.add(len(self.instructions))

    def _inline(self, function: Function, call: Call, caller: _Instance, callers: tuple[str, ...]) -> None:
        base = self.register_count
        staged: dict[PtxParameter, PtxParameter] = {}
        for formal, actual in zip(function.parameters, call.arguments, strict=True):
            if isinstance(actual, PtxParameter):
                staged[formal] = caller.parameter(actual)
            else:
                source = caller.register(actual) if isinstance(actual, Register) else actual
                self.instructions.append(PtxInstruction(_move(formal.type), (_register_of(formal, base), source), 0))
        for formal, result in zip(function.returns, call.returns, strict=True):
            if isinstance(result, PtxParameter):
                staged[formal] = caller.parameter(result)
        self.expand(function, callers, staged)
        for formal, result in zip(function.returns, call.returns, strict=True):
            if isinstance(result, Register):
                move = PtxInstruction(_move(formal.type), (caller.register(result), _register_of(formal, base)), 0)
                self.instructions.append(move)

    def _call_supplied(self, instruction: PtxInstruction, call: Call, caller: _Instance) -> None:
        """A function that CUDA supplies: one instruction, with its arguments and its result in registers."""
        sizes = tuple(each.size if isinstance(each, PtxParameter) else 0 for each in (*call.returns, *call.arguments))
        if len(call.returns) != _RESULTS.get(NAMES[call.function], 0) or sizes != _SIZES[NAMES[call.function]]:
            place = self._module.place(instruction.line)
            raise WarploomError(f"{place}: the call does not fit {call.function} as CUDA supplies it.")
        operands: list[Register] = []
        for actual in call.arguments:
            assert isinstance(actual, PtxParameter)
            operands.append(self._fresh(actual.size))
            load = PtxInstruction(
                opcode(f"ld.param.b{8 * actual.size}"), (operands[-1], MemoryOperand(caller.parameter(actual), 0)), 0
            )
            self.instructions.append(load)
        results = [self._fresh(result.size) for result in call.returns if isinstance(result, PtxParameter)]
        made = _supplied(call.function, results, operands)
        self.instructions.append(PtxInstruction(made, (*results, *operands), instruction.line))
        for register, result in zip(results, call.returns, strict=True):
            assert isinstance(result, PtxParameter)
            memory = MemoryOperand(caller.parameter(result), 0)
            self.instructions.append(PtxInstruction(opcode(f"st.param.b{8 * result.size}"), (memory, register), 0))

    def _fresh(self, size: int) -> Register:
        self.register_count += 1
        return Register(self.register_count - 1, f"b{8 * size}", f"%supplied{self.register_count}")

    def _callee(self, instruction: PtxInstruction, call: Call, callers: tuple[str, ...]) -> Function:
        """The function that is called, once it is certain that the call fits it."""
        place = self._module.place(instruction.line)
        function = self._module.functions.get(call.function)
        if function is None or not function.defined:
            hint = "it has no body in this file"
            if call.function.startswith(_LAUNCHING):
                hint = "it launches kernels from a kernel (dynamic parallelism), which is not supported"
            raise WarploomError(f"{place}: the function {call.function} cannot be called: {hint}.")
        if function.problem:
            raise WarploomError(function.problem)
        if call.function in callers:
            raise WarploomError(f"{place}: the function {call.function} calls itself; recursion is not supported.")
        if len(function.parameters) != len(call.arguments) or len(function.returns) != len(call.returns):
            raise WarploomError(
                f"{place}: the call gives {len(call.arguments)} arguments and takes {len(call.returns)} results, "
                f"but {call.function} has {len(function.parameters)} and {len(function.returns)}."
            )
        formals, actuals = [*function.parameters, *function.returns], [*call.arguments, *call.returns]
        for formal, actual in zip(formals, actuals, strict=True):
            in_memory = isinstance(actual, PtxParameter)
            if in_memory is not (formal.register is None) or (isinstance(actual, PtxParameter) and formal.size > actual.size):
                what = actual.name if isinstance(actual, PtxParameter | Register) else "a constant"
                raise WarploomError(f"{place}: {what} does not fit the parameter {formal.name} of {call.function}.")
        return function


def _register_of(parameter: PtxParameter, base: int) -> Register:
    """The register of a parameter in the copy of its function whose registers begin at ``base``."""
    assert parameter.register is not None
    return parameter.register._replace(number=parameter.register.number + base)


class _Instance:
    """One copy of a function's body: its registers begin at ``base``, its own ``.param`` variables are copied."""

    def __init__(self, base: int, parameters: dict[PtxParameter, PtxParameter], kernel: bool) -> None:
        self.base = base
        self.kernel = kernel
        self._parameters = parameters
        self.instructions: list[PtxInstruction] = []

    def register(self, register: Register) -> Register:
        return register if self.base == 0 else register._replace(number=register.number + self.base)

    def parameter(self, parameter: PtxParameter) -> PtxParameter:
        if self.kernel:
            return parameter
        if parameter not in self._parameters:
            self._parameters[parameter] = replace(parameter)
        return self._parameters[parameter]

    def renamed(self, instruction: PtxInstruction) -> PtxInstruction:
        guard = instruction.guard
        renamed = PtxInstruction(
            instruction.opcode,
            tuple(map(self._operand, instruction.operands)),
            instruction.line,
            (self.register(guard[0]), guard[1]) if guard else None,
            targets=instruction.targets,
        )
        self.instructions.append(renamed)
        return renamed

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Register):
            return self.register(operand)
        if isinstance(operand, MemoryOperand):
            if isinstance(operand.base, Register):
                return MemoryOperand(self.register(operand.base), operand.offset)
            if isinstance(operand.base, PtxParameter):
                return MemoryOperand(self.parameter(operand.base), operand.offset)
        elif isinstance(operand, Vector):
            return Vector(tuple(self.register(item) if isinstance(item, Register) else item for item in operand.elements))
        elif isinstance(operand, Negated):
            return Negated(self.register(operand.predicate))
        elif isinstance(operand, ParameterAddress):
            return ParameterAddress(self.parameter(operand.parameter), operand.offset)
        elif isinstance(operand, Texel):
            texture = self.register(operand.texture) if isinstance(operand.texture, Register) else operand.texture
            coordinates = tuple(self.register(item) if isinstance(item, Register) else item for item in operand.coordinates)
            return Texel(texture, coordinates)
        return operand


def _move(type_: str) -> Opcode:
    return opcode("mov.pred" if type_ == "pred" else f"mov.b{8 * max(SIZE[type_], 2)}")


def _parameter_of(operand: Operand) -> PtxParameter | None:
    if isinstance(operand, MemoryOperand) and isinstance(operand.base, PtxParameter):
        return operand.base
    return operand.parameter if isinstance(operand, ParameterAddress) else None


def _touches_parameters(instruction: PtxInstruction, kernel: Function) -> bool:
    """Whether the instruction names a ``.param`` variable that is not a parameter of the kernel."""
    for operand in instruction.operands:
        parameter = _parameter_of(operand)
        if parameter is not None and parameter not in kernel.parameters:
            return True
    return False


def _elements(operand: Operand) -> tuple[Register | PtxConstant | Sink, ...]:
    if isinstance(operand, Vector):
        return operand.elements
    assert isinstance(operand, Register | PtxConstant | Sink)
    return (operand,)


class _Staging:
    """Decides what becomes of each ``.param`` variable of the calls, and rewrites its accesses."""

    def __init__(self, kernel: Function, flat: Flat) -> None:
        self._kernel = kernel
        self._flat = flat
        self._pieces: dict[PtxParameter, dict[int, tuple[int, Register]]] = {}  # offset: (size, register)
        self._memory: dict[PtxParameter, PtxVariable] = {}

    def run(self) -> None:
        self._decide()
        flat = self._flat
        rewritten: list[PtxInstruction] = []
        positions: list[int] = []
        for instruction in flat.instructions:
            positions.append(len(rewritten))
            if _touches_parameters(instruction, self._kernel):
                rewritten += self._rewrite(instruction)
            else:
                rewritten.append(replace(instruction))
        positions.append(len(rewritten))
        for instruction in rewritten:
            redirect(instruction, positions)
        flat.instructions = rewritten
        flat.labels = {positions[label] for label in flat.labels}
        flat.variables = list(self._memory.values())

    def _decide(self) -> None:
        sizes: dict[PtxParameter, dict[int, int]] = {}
        in_memory: dict[PtxParameter, None] = {}
        for instruction in self._flat.instructions:
            for operand in instruction.operands:
                parameter = _parameter_of(operand)
                if parameter is None or parameter in self._kernel.parameters:
                    continue
                pieces = sizes.setdefault(parameter, {})
                if isinstance(operand, ParameterAddress):
                    in_memory[parameter] = None
                    continue
                assert isinstance(operand, MemoryOperand)
                size = SIZE[instruction.opcode.type]
                for element in range(instruction.opcode.vector):
                    if pieces.setdefault(operand.offset + element * size, size) != size:
                        in_memory[parameter] = None
        for parameter, pieces in sizes.items():
            end = 0
            for offset, size in sorted(pieces.items()):
                if offset < end:
                    in_memory[parameter] = None
                end = offset + size
            if parameter in in_memory:
                self._memory[parameter] = PtxVariable(parameter.name, "local", parameter.size, parameter.alignment)
            else:
                self._pieces[parameter] = {}
                for offset, size in sorted(pieces.items()):
                    register = Register(self._flat.register_count, f"b{8 * max(size, 2)}", f"{parameter.name}+{offset}")
                    self._flat.register_count += 1
                    self._pieces[parameter][offset] = (size, register)

    def _rewrite(self, instruction: PtxInstruction) -> list[PtxInstruction]:
        operands = list(instruction.operands)
        place = next(place for place, operand in enumerate(operands) if _parameter_of(operand) is not None)
        parameter = _parameter_of(operands[place])
        assert parameter is not None
        if parameter in self._memory:
            variable = self._memory[parameter]
            operand = operands[place]
            if isinstance(operand, ParameterAddress):
                operands[place] = SymbolAddress(variable, operand.offset)
                return [replace(instruction, operands=tuple(operands))]
            assert isinstance(operand, MemoryOperand)
            operands[place] = MemoryOperand(variable, operand.offset)
            name, _, rest = instruction.opcode.text.partition(".param")
            moved = opcode(f"{name}.local{rest.removeprefix('::func').removeprefix('::entry')}")
            return [replace(instruction, opcode=moved, operands=tuple(operands))]
        memory = operands[place]
        assert isinstance(memory, MemoryOperand)
        store = instruction.opcode.name == "st"
        values = _elements(operands[1 - place])
        type_ = instruction.opcode.type
        moves = []
        for element, value in enumerate(values):
            size, piece = self._pieces[parameter][memory.offset + element * SIZE[type_]]
            if isinstance(value, Sink):
                continue
            moved_opcode = self._conversion(value, type_, size, store)
            pair = (piece, value) if store else (value, piece)
            moves.append(PtxInstruction(moved_opcode, pair, instruction.line, instruction.guard))
        return moves

    @staticmethod
    def _conversion(value: Register | PtxConstant, type_: str, size: int, store: bool) -> Opcode:
        """The move between a piece and a register, which may be wider than the piece."""
        if isinstance(value, PtxConstant):
            return _move(f"b{8 * size}")
        have = max(SIZE[value.type], 1)
        if have == size or (have == 2 and size == 1 and store):
            return _move(f"b{8 * size}")
        if store:
            return opcode(f"cvt.u{8 * max(size, 2)}.u{8 * have}")
        sign = "s" if type_[0] == "s" else "u"
        return opcode(f"cvt.{sign}{8 * have}.{sign}{8 * size}")
