"""How functions of the timing core are put together: callees are typed and lowered once, and optimised where they are called.

Left to itself, Numba makes machine code for every function that another one calls, though the caller holds a copy of it anyway;
most of the time to compile a chip under a new combination of policies went into code that nobody runs. Here a *callee* stops at
LLVM's intermediate code; the *whole*, which Python calls, links in all its callees and is optimised once, with nothing to hide
from the optimiser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba._dynfunc import make_function
from numba.core import compiler, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.lowering import Lower
from numba.core.typing.templates import AbstractTemplate, infer_global

from warploom.errors import WarploomError
from warploom.jit.errors import explain

_NARROW = (types.int8, types.int16, types.int32, types.uint8, types.uint16)


class CalleeLibrary(JITCodeLibrary):
    """The code of one callee, for linking; what it calls itself is linked beside it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Close the library: it is for linking as it is."""
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = Linkage.linkonce_odr
        self._shared_module = self._final_module
        self._finalized = True

    def everything(self) -> list:
        """This library and all that it needs, each once."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


class WholeLibrary(JITCodeLibrary):
    """A function with all its callees, which nobody else sees: LLVM may inline and drop them as it likes.

    They keep no symbols: LLVM may have changed how a copy here is called, and the loader would give it to any other object
    that asks for a function of its name.
    """

    def finalize(self) -> None:
        """Link the callees in, optimise, and make machine code."""
        module = self._final_module
        self._own = {value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration}
        super().finalize()

    def _optimize_final_module(self) -> None:
        module = self._final_module
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration and value.name not in self._own:
                value.linkage = Linkage.private
        passes, builder = self._codegen._module_pass_manager()
        passes.run(module, builder)


def _symbol(name: str, arguments: tuple, abi_tags: Any = (), uid: int | None = None) -> str:
    """A callee's name in object code; Numba's spells out every field of every record among the types, ten thousand letters."""
    return f"{name}.{uid}.{hashlib.sha256(repr(arguments).encode()).hexdigest()[:16]}"


class _CalleeLowering(LoweringPass):
    """Numba's lowering, without wrappers and machine code."""

    inlined: bool

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Lower a typed function."""
        context = state.targetctx
        state.library = library = CalleeLibrary(context.codegen(), state.func_id.func_qualname)
        described = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=_symbol,
            inline=self.inlined,  # Numba's own option would be inherited by everything that the function calls
            noalias=state.flags.noalias,
            abi_tags=[],
        )
        failed = f"Function {state.func_id.func_name} failed at lowering"
        with typed_passes.fallback_context(state, failed), context.push_code_library(library):
            lower = Lower(context, library, described, state.func_ir, metadata=state.metadata)
            lower.lower()
        address = 0  # nobody calls it from Python: it is the name under which callers find the library
        name = make_function(described.lookup_module(), described.qualname, "", address, lower.env, (library,))
        context.insert_user_function(name, described, library.everything())
        state["cr"] = compiler._LowerResult(described, lower.call_helper, cfunc=name, env=lower.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class SeparateLowering(_CalleeLowering):
    """Of a callee that LLVM may inline."""

    _name, inlined = "separate_lowering", False


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(_CalleeLowering):
    """Of a callee that LLVM must inline."""

    _name, inlined = "inlined_lowering", True


@register_pass(mutates_CFG=True, analysis_only=False)
class WholeLowering(typed_passes.NativeLowering):
    """Numba's lowering, into a library that is optimised as a whole."""

    _name = "whole_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a typed function."""
        state.library = WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_cfunc_wrapper = True
        return super().run_pass(state)


class _Compiler(compiler.CompilerBase):
    """Numba's passes with another end, and without those that look for what the core does not have."""

    lowering: type

    def define_pipelines(self) -> list:
        """The passes of nopython mode."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        dropped = (untyped_passes.InlineClosureLikes, typed_passes.NopythonRewrites)  # closures, array expressions
        replaced = {typed_passes.NativeLowering: self.lowering}
        passes.passes = [(replaced.get(kind, kind), text) for kind, text in passes.passes if kind not in dropped]
        passes.finalize()
        return [passes]


class _SeparateCompiler(_Compiler):
    lowering = SeparateLowering


class _InlinedCompiler(_Compiler):
    lowering = InlinedLowering


class WholeCompiler(_Compiler):
    """For what Python calls."""

    lowering = WholeLowering


def make_callable(function: Callable, choose: Callable[..., Callable], *, inlined: bool, widened: bool) -> None:
    """Let compiled code call a function: a call compiles what `choose` answers to the types of its arguments.

    ``inlined``: LLVM must copy it into its callers. ``widened``: whole numbers of less than 64 bits become 64 bits wide, so that
    what is called with fields of many records is compiled once.
    """
    pipeline = _InlinedCompiler if inlined else _SeparateCompiler
    options: dict[str, Any] = {"pipeline_class": pipeline, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True}
    dispatchers: dict[Callable, Any] = {}
    compiled: dict[tuple, Any] = {}

    class Call(AbstractTemplate):
        key = function

        def generic(self, args: tuple, kws: dict) -> Any:
            """The signature of a call."""
            chosen = choose(*args)
            if chosen not in dispatchers:
                dispatchers[chosen] = numba.njit(**options)(chosen)
            called = types.Dispatcher(dispatchers[chosen])
            taken = tuple(types.int64 if widened and argument in _NARROW else argument for argument in args)
            try:
                signature: Any = called.get_call_type(self.context, taken, kws)
            except WarploomError:  # from a callee of this one
                raise
            except Exception as error:
                raise WarploomError(explain(chosen, error)) from error
            compiled[signature.args] = called.get_overload(signature)
            return signature

        def get_impl_key(self, signature: Any) -> Any:
            """What a lowered call refers to."""
            return compiled[signature.args]

    infer_global(function, types.Function(Call))


def callee(function: Any = None, *, inlined: bool = False, widened: bool = False, stands_for: Callable | None = None) -> Any:
    """A function for compiled code to call, as a decorator with or without arguments.

    ``inlined`` and ``widened`` as in `make_callable`. ``stands_for``: it is called where the source names another function,
    which remains for plain Python.
    """

    def mark(marked: Callable) -> Callable:
        make_callable(stands_for or marked, lambda *_: marked, inlined=inlined, widened=widened)
        return marked

    return mark if function is None else mark(function)
