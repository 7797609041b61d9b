"""How functions of the timing core are put together: callees are typed and lowered once, and optimised where they are called.

Left to itself, Numba makes machine code for every function that another one calls, though the caller holds a copy of it anyway;
most of the time to compile a chip under a new combination of policies went into code that nobody runs. Here a *callee* stops at
LLVM's intermediate code; the *whole*, which Python calls, links in all its callees and is optimised once, with nothing to hide
from the optimiser.

All of it rests on inner parts of Numba, which may change with any version; `warploom.jit.ways` looks whether they are there.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite.binding import Linkage
from numba._dynfunc import make_function
from numba.core import compiler, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.cpu import CPUContext
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.lowering import Lower


class CalleeLibrary(JITCodeLibrary):
    """The code of one callee. It is not optimised and never made machine code: the wholes that call it link it in."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing more is added. Each function may now be linked into several wholes, which all keep one copy (linkonce_odr)."""
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
    """Lower a callee that LLVM may inline."""

    _name, inlined = "separate_lowering", False


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(_CalleeLowering):
    """Lower a callee that LLVM must inline."""

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


# Passes for what the core does not have: with blocks, exceptions with values, closures, literals as types, array expressions,
# overloads that Numba itself inlines, arguments that are None.
_DROPPED = (
    untyped_passes.DeadBranchPrune,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineClosureLikes,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.WithLifting,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
)


class _Compiler(compiler.CompilerBase):
    """Numba's passes with another end, and without those that look for what the core does not have."""

    lowering: type

    def define_pipelines(self) -> list:
        """The passes of nopython mode."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        replaced = {typed_passes.NativeLowering: self.lowering}
        passes.passes = [(replaced.get(kind, kind), text) for kind, text in passes.passes if kind not in _DROPPED]
        passes.finalize()
        return [passes]


class SeparateCompiler(_Compiler):
    """For what other compiled functions call."""

    lowering = SeparateLowering


class InlinedCompiler(_Compiler):
    """For what is copied into the functions that call it."""

    lowering = InlinedLowering


class WholeCompiler(_Compiler):
    """For what Python calls."""

    lowering = WholeLowering


# What is used here besides what the imports name: of modules and classes, and of the instances of classes.
INNER_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (compiler, ("_LowerResult", "CompilerBase", "DefaultPassBuilder")),
    (typed_passes, ("NativeLowering", "fallback_context")),
    (JITCodeLibrary, ("_codegen", "_final_module", "_finalized", "_linking_libraries", "_shared_module")),
    (JITCodeLibrary, ("_optimize_final_module", "_optimize_functions", "enable_object_caching", "finalize")),
    (JITCPUCodegen, ("_data_layout", "_module_pass_manager")),
    (compiler.DefaultPassBuilder, ("define_nopython_pipeline",)),
    (compiler.CompilerBase, ("define_pipelines",)),
    (PythonFunctionDescriptor, ("from_specialized_function", "lookup_module")),
    (CPUContext, ("insert_user_function", "push_code_library")),
    (Lower, ("call_helper", "env", "lower")),
)
