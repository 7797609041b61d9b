"""PTX text to a `Module`: the directives outside functions."""

from __future__ import annotations

import re
from collections.abc import Callable

from warploom.base.errors import WarploomError
from warploom.compiler.ptx.body import BodyReader
from warploom.compiler.ptx.cursor import Cursor
from warploom.compiler.ptx.declarations import read_loc, read_parameter, read_variables, skip_attributes, skip_pragma
from warploom.compiler.ptx.module import Body, Function, FunctionName, Module, PtxParameter
from warploom.compiler.ptx.outline import outline
from warploom.compiler.ptx.scope import Counter, Scope
from warploom.compiler.ptx.source_lines import SourceLines, numbers_of
from warploom.compiler.ptx.tokens import tokenize

_LINKAGE = (".visible", ".extern", ".weak", ".common")
_SPACES = (".global", ".const", ".shared", ".tex")
_VERSION = re.compile(r"(\d+)\.(\d+)\Z")
_OLDEST, _NEWEST = (1, 0), (9, 99)
# what a kernel may say about its launch: how many numbers follow at most
_LAUNCH = {
    ".maxntid": 3,
    ".reqntid": 3,
    ".minnctapersm": 1,
    ".maxnctapersm": 1,
    ".maxnreg": 1,
    ".maxclusterrank": 1,
    ".reqnctapercluster": 3,
    ".explicitcluster": 0,
    ".noreturn": 0,
    ".abi_preserve": 1,
    ".abi_preserve_control": 1,
}


def parse(text: str, file: str = "<ptx>") -> Module:
    """Parse PTX. Anything that cannot be understood raises a `WarploomError` with file, line and the statement.

    Bodies of functions are read when they are needed; what is wrong in one concerns those who need it. Where a ``.file``
    directive names `file` itself, the lines of messages and of code are those of that file instead of the text's.
    """
    if not text.strip():
        raise WarploomError(f"{file}: the file is empty; PTX begins with .version.")
    return _ModuleReader(text, file).read()


class _ModuleReader:
    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._outline = outline(text)
        self._source_numbers = numbers_of(file, self._outline.tokens)
        mapped = bool(self._source_numbers)
        self._cursor = Cursor(self._outline.tokens, self._outline.lines, file, mapped=mapped)
        self._module = Module(file, (0, 0), "", ptx=text, mapped=mapped)
        self._globals = Scope(None, Counter())
        self._aliases: dict[str, str] = {}

    def read(self) -> Module:
        cursor = self._cursor
        self._header()
        while cursor.token:
            cursor.statement = cursor.at
            self._statement()
        for alias, name in self._aliases.items():
            if name in self._module.functions:
                self._module.functions[alias] = self._module.functions[name]
        return self._module

    def _header(self) -> None:
        cursor, module = self._cursor, self._module
        if not cursor.token:
            raise WarploomError(f"{cursor.file}: the file holds nothing but comments; PTX begins with .version.")
        if cursor.token != ".version":
            cursor.fail("this is not PTX, which begins with .version", whole=False)
        cursor.at += 1
        version = _VERSION.match(cursor.token)
        if version is None:
            cursor.fail("a version such as 8.0 should stand here")
        module.version = (int(version[1]), int(version[2])) if len(version[0]) < 10 else (0, 0)
        if not _OLDEST <= module.version <= _NEWEST:
            cursor.fail(f"PTX version {version[0][:20]} is not known; 6.0 to 9.4 are")
        cursor.at += 1
        cursor.statement = cursor.at
        cursor.expect(".target")
        module.target = cursor.name("a target such as sm_75")
        while cursor.accept(","):
            cursor.name("an option of the target")
        if cursor.accept(".address_size"):
            module.address_size = cursor.integer()
            if module.address_size not in (32, 64):
                cursor.fail("an address has 32 or 64 bits")
        else:
            module.address_size = 32

    def _statement(self) -> None:
        cursor = self._cursor
        linkage = set()
        while cursor.token in _LINKAGE:
            linkage.add(cursor.next())
        token = cursor.token
        if token in _SPACES:
            for variable in read_variables(cursor, self._globals.find, extern=".extern" in linkage):
                previous = self._module.variables.get(variable.name)
                if previous is not None and not previous.extern:
                    cursor.fail(f"{variable.name} is declared twice")
                self._module.variables[variable.name] = variable
                self._globals.names[variable.name] = variable
        elif token in (".entry", ".func"):
            self._function(entry=token == ".entry")
        elif token == ".file":
            self._file()
        elif token == ".section":
            self._section()
        elif token == ".loc":
            read_loc(cursor)
        elif token == ".pragma":
            skip_pragma(cursor)
        elif token == ".alias":
            cursor.at += 1
            alias = cursor.name("a function")
            cursor.expect(",")
            self._aliases[alias] = cursor.name("a function")
            cursor.expect(";")
        elif not cursor.accept(";"):
            if token.startswith("."):
                cursor.fail(f"the directive {token[:40]} is not known")
            cursor.fail(f"a directive should stand where '{token[:40]}' does", whole=False)

    def _file(self) -> None:
        cursor = self._cursor
        cursor.at += 1
        cursor.integer()
        if not cursor.next().startswith('"'):
            cursor.at -= 1
            cursor.fail("a file's name in quotes should stand here")
        while cursor.accept(","):
            cursor.integer()

    def _section(self) -> None:
        """Debug information: read over to its closing brace."""
        cursor = self._cursor
        while cursor.next() != "{":
            pass
        while cursor.next() != "}":
            pass

    def _function(self, entry: bool) -> None:
        cursor, module = self._cursor, self._module
        line = cursor.line
        cursor.at += 1
        counter = Counter()
        scope = Scope(self._globals, counter)
        skip_attributes(cursor)
        returns = self._parameters(scope) if not entry and cursor.token == "(" else []
        name = cursor.name("a function's name")
        parameters = self._parameters(scope) if cursor.token == "(" else []
        function = Function(name, entry, line, parameters, returns)
        self._launch(function)
        offset = 0
        for parameter in parameters:
            offset = -(-offset // parameter.alignment) * parameter.alignment
            parameter.offset = offset
            offset += parameter.size
        table = module.kernels if entry else module.functions
        previous = table.get(name)
        if name in (module.functions if entry else module.kernels) or (
            previous is not None and previous.defined and cursor.token == "{"
        ):
            cursor.fail(f"{name} is defined twice")
        self._globals.names.setdefault(name, FunctionName(name, kernel=entry))
        if cursor.accept(";"):
            if previous is None and not entry:
                table[name] = function
            return
        function.read_body = self._body(scope, counter)
        table[name] = function

    def _body(self, scope: Scope, counter: Counter) -> Callable[[], Body]:
        """What reads the body at the cursor, which moves past it."""
        cursor = self._cursor
        span = self._outline.bodies.get(cursor.at)
        if span is None:
            if cursor.token == "{":  # it has no end: the reader says where it breaks off
                BodyReader(cursor, scope, SourceLines(self._source_numbers)).read()
            cursor.expect("{")
            cursor.fail("the file ends in the middle of something: is it truncated?")
        cursor.at += 2
        file, mapped, numbers = cursor.file, cursor.mapped, self._source_numbers
        text = self._text

        def read() -> Body:
            tokens, lines = tokenize(text[span.start : span.end], span.line)
            try:
                body = BodyReader(Cursor(tokens, lines, file, mapped=mapped), scope, SourceLines(numbers)).read()
            except WarploomError as problem:
                return Body(problem=str(problem))
            body.register_count = counter.value
            return body

        return read

    def _parameters(self, scope: Scope) -> list[PtxParameter]:
        cursor = self._cursor
        parameters: list[PtxParameter] = []

        def one() -> None:
            parameter = read_parameter(cursor, scope)
            if parameter.register is None:
                if parameter.name in scope.names:
                    cursor.fail(f"{parameter.name} is declared twice in one scope")
                scope.names[parameter.name] = parameter
            parameters.append(parameter)

        cursor.expect("(")
        cursor.separated(one, ")")
        return parameters

    def _launch(self, function: Function) -> None:
        cursor = self._cursor
        while cursor.token in _LAUNCH or cursor.token == ".pragma":
            word = cursor.token
            if word == ".pragma":
                skip_pragma(cursor)
                continue
            cursor.at += 1
            numbers: list[int] = []
            if _LAUNCH[word]:
                numbers.append(cursor.integer())
                while len(numbers) < _LAUNCH[word] and cursor.accept(","):
                    numbers.append(cursor.integer())
            if word == ".reqntid":
                if any(not 0 < number <= 1024 for number in numbers):
                    cursor.fail("a block has 1 to 1024 threads along each axis")
                x, y, z = (*numbers, 1, 1)[:3]
                function.required_block = (x, y, z)
