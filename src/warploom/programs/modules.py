"""The device code of a whole program: several modules, each with its kernels and variables, as one that simulations take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.instruction import Address, Code, Operand, Symbol, Variable
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.module import Module, PtxVariable
from warploom.compiler.sass.fatbin import FatEntry
from warploom.compiler.sass.module import SassModule
from warploom.programs.parameters import read_bytes
from warploom.programs.source import Source


@dataclass(frozen=True)
class KernelShape:
    """What a launch must know of a kernel: its name in the program, and offset and size of each parameter."""

    name: str
    parameters: tuple[tuple[int, int], ...]
    used: tuple[bool, ...]  # for each byte of the parameters, whether the kernel can read it

    @property
    def bytes(self) -> int:
        """Of all parameters together."""
        return max((offset + size for offset, size in self.parameters), default=0)


@dataclass
class LoadedModule:
    """One fat binary of the program."""

    source: Source
    code: str
    suffix: str  # what its variables' names end in, to tell them from those of other modules

    @cached_property
    def content(self) -> Module | SassModule:
        """Its kernels in the code that is asked for."""
        return self.source.kernels(self.code)

    @cached_property
    def _declared(self) -> Module | None:
        """Its PTX, read, whatever code is executed."""
        if isinstance(self.content, Module):
            return self.content
        return parse(self.source.ptx, self.source.place) if self.source.ptx is not None else None

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of its kernels."""
        return tuple(self.content.kernels)

    def shape(self, kernel: str) -> KernelShape:
        """What a launch must know of a kernel."""
        if kernel not in self.content.kernels:
            raise WarploomError(f"{self.source.place}: there is no kernel {kernel}.")
        if isinstance(self.content, Module):
            found = tuple((each.offset, each.size) for each in self.content.kernels[kernel].parameters)
        else:
            found = self.content.facts(kernel).parameters
        size = max((offset + bytes_ for offset, bytes_ in found), default=0)
        declared = self._declared.kernels.get(kernel) if self._declared is not None else None
        return KernelShape(kernel, found, read_bytes(declared, size) if declared is not None else (True,) * size)

    def compile(self, kernel: str, limit: int | None) -> Code:
        """A kernel's code under a limit of registers."""
        if isinstance(self.content, SassModule):
            code = self.content.kernel(kernel, limit)
        else:
            code = compile_kernel(self.content, kernel, Options(max_registers=limit))
        return renamed(code, self.suffix)

    def variables(self) -> tuple[Variable, ...]:
        """All its variables that can be placed."""
        return module_variables(self.content, self.suffix)

    def names(self) -> tuple[str, ...]:
        """Its variables as the program knows them."""
        return self.content.variable_names if isinstance(self.content, SassModule) else tuple(self.content.variables)

    def symbol(self, name: str) -> tuple[str, int, int] | None:
        """A variable as the program knows it: the placed variable, its place in there, its bytes."""
        return module_symbol(self.content, self.suffix, name)


@dataclass
class ProgramModules:
    """All modules of a program. Kernels of equal names in different modules are told apart by the module's number."""

    code: str
    modules: list[LoadedModule] = field(default_factory=list)
    _homes: dict[str, tuple[LoadedModule, str]] = field(default_factory=dict)

    def add(self, entries: Sequence[FatEntry], place: str) -> int:
        """Load a fat binary; its number."""
        number = len(self.modules)
        self.modules.append(LoadedModule(Source(place, images=tuple(entries)), self.code, f"@{number}" if number else ""))
        return number

    def find(self, number: int, kernel: str) -> KernelShape:
        """A kernel of a module, under a name that no other kernel of the program has."""
        module = self.modules[number]
        shape = module.shape(kernel)
        name = kernel if self._homes.get(kernel, (module, kernel))[0] is module else f"{kernel}@{number}"
        self._homes[name] = (module, kernel)
        return replace(shape, name=name)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that have been asked for."""
        return tuple(self._homes)

    def kernel(self, name: str, max_registers: int | None = None) -> Code:
        """The code of a kernel that was found before."""
        module, own = self._homes[name]
        return replace(module.compile(own, max_registers), name=name)


def module_variables(content: Module | SassModule, suffix: str) -> tuple[Variable, ...]:
    """All variables of a module that can be placed, under names that no other module has."""
    if isinstance(content, SassModule):
        found = content.variables()
    else:
        found = tuple(_variable(each) for each in content.variables.values() if _can_be_placed(each))
    return tuple(_renamed_variable(each, suffix) for each in found)


def module_symbol(content: Module | SassModule, suffix: str, name: str) -> tuple[str, int, int] | None:
    """A variable by the name in its module: the placed variable, its place in there, its bytes."""
    if isinstance(content, SassModule):
        found = content.variable(name)
        return (found[0] + suffix, found[1], found[2]) if found is not None else None
    declared = content.variables.get(name)
    return (name + suffix, 0, declared.size) if declared is not None else None


def _can_be_placed(variable: PtxVariable) -> bool:
    return variable.space in ("global", "const") and not variable.problem and not variable.extern


def _variable(declared: PtxVariable) -> Variable:
    pointers = tuple((offset, Symbol(target.name, addend), size) for offset, target, addend, size in declared.pointers)
    return Variable(declared.name, declared.space, declared.size, declared.alignment, declared.data, pointers)


def _renamed_variable(variable: Variable, suffix: str) -> Variable:
    pointers = tuple((offset, symbol._replace(name=symbol.name + suffix), size) for offset, symbol, size in variable.pointers)
    return replace(variable, name=variable.name + suffix, pointers=pointers)


def renamed(code: Code, suffix: str) -> Code:
    """Code whose variables have the module's ending."""
    if not suffix:
        return code
    names = {variable.name for variable in code.variables}

    def operand(each: Operand) -> Operand:
        if isinstance(each, Symbol) and each.name in names:
            return each._replace(name=each.name + suffix)
        if isinstance(each, Address) and isinstance(each.base, Symbol) and each.base.name in names:
            return each._replace(base=each.base._replace(name=each.base.name + suffix))
        return each

    for instruction in code.instructions():
        instruction.srcs = tuple(operand(each) for each in instruction.srcs)
    binary = code.binary
    if binary is not None:
        binary = binary._replace(banks=tuple((bank, name + suffix) for bank, name in binary.banks))
    return replace(code, variables=tuple(_renamed_variable(each, suffix) for each in code.variables), binary=binary)
