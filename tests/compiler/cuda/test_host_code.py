"""A user's CUDA file as it is: what belongs to the host is set aside, and every line of device code stays where it was."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.cuda.host_code import set_aside_host_code
from warploom.programs import Device
from warploom.programs.own_kernel import OwnKernel

WHOLE = """#include <stdio.h>
#include <vector>
#include <cuda_runtime.h>
#include "helper.h"
using namespace std;
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)
#define BOTH __host__ __device__
const float half_of_it = 0.5f, unused = 2;
const float quarter = half_of_it * half_of_it;
struct Pair {
    float a, b;
    void show() { printf("%f { \\n", a); }
    __device__ float sum() const { return a + b; }
};
FILE *log_file; /* } */
BOTH float twice(float x) { return 2 * x; }
__global__ void scale(float *x, int n, float k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair = {x[i], k};
    if (i < n) x[i] = twice(helper(pair.sum())) * quarter;
}
namespace inner { void host(vector<float> &v) { for (auto f : v) printf("%f", f); } }
int main(int argc, char **argv) {
    float *d; CHECK(cudaMalloc(&d, 4096));
    scale<<<4, 256>>>(d, 1024, 2.0f); // "}"
    return 0;
}
"""
HELPER = """#include <sys/time.h>
__device__ inline float helper(float x) { return x; }
double now() { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec; }
"""


def test_a_whole_program_compiles(tmp_path: Path) -> None:
    file = tmp_path / "whole.cu"
    (tmp_path / "helper.h").write_text(HELPER)
    assert "scale" in compile_to_ptx(WHOLE, str(file))


def test_device_code_stays_on_its_line() -> None:
    aside = set_aside_host_code(WHOLE)
    assert len(aside.splitlines()) == len(WHOLE.splitlines())
    for number, (before, after) in enumerate(zip(WHOLE.splitlines(), aside.splitlines(), strict=True), 1):
        if number in range(16, 22):  # the device's functions
            assert before == after
    for gone in ("<<<", "int main", "show", "inner { void"):
        assert gone not in aside


def test_a_mistake_in_device_code_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "helper.h").write_text(HELPER)
    with pytest.raises(WarploomError, match=r"whole.cu\(19\).*undefined"):
        compile_to_ptx(WHOLE.replace("Pair pair = {x[i], k};", "Pair pair = {y[i], k};"), str(tmp_path / "whole.cu"))


def test_a_header_that_is_not_there_is_named() -> None:
    with pytest.raises(WarploomError, match=r"lost\.h"):
        compile_to_ptx('#include "lost.h"\nint main() { return 0; }\n', "lost.cu")


@pytest.mark.parametrize(
    "text",
    [
        "#include <cooperative_groups.h>\n__global__ void k() { cooperative_groups::this_thread_block().sync(); }",
        "#include <cuda_fp16.h>\n__global__ void k(__half *x) { x[0] = __hadd(x[0], x[1]); }",
        "#include <mma.h>\n__global__ void k() { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; "
        "nvcuda::wmma::fill_fragment(f, 0.0f); }",
        "#include <stdint.h>\n#include <limits.h>\n#include <float.h>\n#include <math.h>\n#include <assert.h>\n"
        "__global__ void k(uint32_t *x) { assert(x); x[0] = INT_MAX + (uint32_t)(FLT_MAX * M_PI); }",
    ],
)
def test_headers_of_cuda_and_of_the_host(text: str) -> None:
    if "include <cuda_fp16" in text and importlib.util.find_spec("nvidia") is None:
        pytest.skip("no headers of CUDA are installed")
    assert ".entry" in compile_to_ptx(text, "headers.cu")


@pytest.mark.compiled
def test_cub(tmp_path: Path) -> None:
    file = tmp_path / "total.cu"
    file.write_text(
        "#include <cub/cub.cuh>\n"
        'extern "C" __global__ void total(const int *x, int *out) {\n'
        "    typedef cub::BlockReduce<int, 128> Reduce;\n    __shared__ typename Reduce::TempStorage room;\n"
        "    int sum = Reduce(room).Sum(x[threadIdx.x]);\n    if (threadIdx.x == 0) out[0] = sum;\n}\n"
        "int main() { total<<<1, 128>>>(0, 0); }\n"
    )
    own = OwnKernel(str(file), (1, 1, 1), (128, 1, 1), "total", ("x=s32[128]:iota", "out=s32[1]"))
    program = own.open("sm_90")
    device = Device(lambda name, _shape: program.module().kernel(name), record=None)  # type: ignore[union-attr]
    assert program.host(device, program.inputs("tiny"))["out"] == sum(range(128))


@pytest.mark.compiled
def test_options_of_the_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "step.h").write_text("#define STEP 3\n")
    file = tmp_path / "count.cu"
    file.write_text(
        "#include <step.h>\ntemplate <typename T> constexpr T step = STEP + MORE;\n"
        'extern "C" __global__ void count(int *x) { if constexpr (STEP > 2) x[threadIdx.x] += step<int>; }\n'
    )
    words = ["run", str(file), "--grid", "1", "--block", "32", "--arg", "x=s32[32]", "--emulate-only", "--json"]
    options = ["--include", str(folder), "--define", "MORE=4", "--std", "c++17"]
    assert run_command(words) == 2  # the header is not found
    capsys.readouterr()
    for code in ("ptx", "sm_90"):
        assert run_command([*words, *options, "--code", code]) == 0
        about = json.loads(capsys.readouterr().out)["provenance"]
        assert about["spec"]["program"]["options"] == [f"-I{folder}", "-DMORE=4", "-std=c++17"]
        assert about["spec"]["code"] == code and bool(about["digests"]["tools"]) == (code != "ptx")


@pytest.mark.parametrize(
    "host_part",
    [
        "template <class T> struct Check {}; template <> struct Check<int> { bool same(int *x) { return compare(x); } };",
        "opaque_t show(const int *, opaque_t *);",
        "template <class T> void fill(T *x) { x[0] = later(); }\ntemplate void fill<float>(float *);",
        "#include <sys/lost.h>\nint lost() { return errors(); }",
        "#include <cuda.h>",
        "#include <unistd.h>\n#if _POSIX_VERSION < 200112L\n#error clocks\n#endif",
        "#include <iostream>\nusing std::cerr; using std::endl;",
        "__device__ __int128 wide;",
    ],
)
def test_what_public_files_hold_beside_kernels(host_part: str) -> None:
    ptx = compile_to_ptx(f"{host_part}\nint main() {{ k<<<1, 1>>>(); }}\n__global__ void k() {{}}", "public.cu")
    assert ".entry" in ptx


def test_a_header_of_the_system_that_is_needed_is_named() -> None:
    with pytest.raises(WarploomError, match=r"lost\.h"):
        compile_to_ptx("#include <lost.h>\n__global__ void k(lost *x) { x->y = 1; }\nint main() { return 0; }\n", "lost.cu")
