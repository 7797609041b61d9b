#!/bin/sh
# What a new user types in the first ten minutes, from an installed `warploom` alone: nothing here reads the source.
# All files are written into the folder that is named, which must be empty or new. A step that needs what this machine does
# not have (nvcc, a C compiler, an extra) is left out with a sentence; any other failure ends the script.
#
#     sh first-ten-minutes.sh FOLDER
set -eu

mkdir -p "${1:?name an empty folder: sh first-ten-minutes.sh FOLDER}"
cd "$1"
[ -z "$(ls)" ] || { echo "$1: it is not empty" >&2; exit 2; }

step() { printf '\n== %s\n' "$*"; }
left_out() { echo "left out: $*"; }
has() { python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null; }

step "what there is"
warploom --version
warploom designs rfv
warploom counters bank

step "a demonstration: designs on common ground, as a page (make demo is a larger one)"
if has altair; then
  warploom report --workloads vectoradd --size tiny --designs baseline,rfv --no-combinations --results demo --out demo.html
else
  left_out "reports and figures need: pip install 'warploom[report]'"
fi

step "run, inspect, compare, profile"
warploom run hotspot --size tiny --design baseline --design rfv
warploom inspect vectoradd
if has altair; then
  warploom compare --workloads vectoradd --designs baseline,rfv --size tiny --jobs 1 --out compare.html
else
  warploom compare --workloads vectoradd --designs baseline,rfv --size tiny --jobs 1
fi
warploom profile vectoradd --size tiny

step "a kernel of one's own, in PTX and in CUDA C++"
cat > scale.ptx <<'PTX'
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 values, .param .f32 factor)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [values];
    ld.param.f32 %f1, [factor];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    ld.global.f32 %f2, [%rd2];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd2], %f2;
    ret;
}
PTX
warploom run scale.ptx --grid 1 --block 64 --arg 'values=f32[64]:iota' --arg factor=3 --emulate-only --save values=values.npy
cat > sums.cu <<'CUDA'
#include <cstdio>
template <int width> __global__ void sums(const float *a, float *out)
{
    float sum = 0;
    for (int i = 0; i < width; i++) sum += a[threadIdx.x * width + i];
    out[threadIdx.x] = sum;
}
int main()
{
    float *a, *out, first;
    cudaMalloc(&a, 2048);
    cudaMalloc(&out, 128);
    cudaMemset(a, 0, 2048);
    sums<16><<<1, 32>>>(a, out);
    cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
    printf("the first sum is %g\n", first);
    return 0;
}
CUDA
if warploom inspect sums.cu --kernel 'sums<16>'; then
  warploom run sums.cu --kernel 'sums<16>' --grid 1 --block 32 --arg 'a=f32[512]:ones' --arg 'out=f32[32]' --emulate-only
else
  left_out "CUDA C++ needs: pip install 'warploom[cuda]'"
fi

step "a whole program, unchanged"
cat > driver.py <<'PYTHON'
"""A program that calls CUDA's driver by itself, as bindings do."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name


device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
values, factor = ctypes.c_uint64(), ctypes.c_float(3)
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
call("cuModuleLoadData", ctypes.byref(module), open("scale.ptx", "rb").read())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"scale")
call("cuMemAlloc_v2", ctypes.byref(values), 256)
numbers = (ctypes.c_float * 64)(*range(64))
call("cuMemcpyHtoD_v2", values, numbers, 256)
pointers = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in (values, factor)))
call("cuLaunchKernel", kernel, 1, 1, 1, 64, 1, 1, 0, None, pointers, None)
call("cuMemcpyDtoH_v2", numbers, values, 256)
assert list(numbers) == [3 * number for number in range(64)]
print("three times 63 is", int(numbers[63]))
PYTHON
if command -v "${CC:-cc}" >/dev/null; then
  warploom exec --record driver.wlr -- python3 driver.py
  warploom run driver.wlr --emulate-only
else
  left_out "programs need a C compiler"
fi
if command -v nvcc >/dev/null; then
  nvcc -o sums sums.cu
  warploom exec -- ./sums
else
  left_out "there is no nvcc here to make a program of sums.cu"
fi

step "a policy of one's own"
warploom new policy idea
warploom run vectoradd --size tiny --policy idea/idea.py --design idea

step "many runs from a plan, a figure for a paper, and all of it in one file for a colleague"
if has altair; then
  printf 'designs = ["baseline", "rfv"]\nworkloads = ["vectoradd", "hotspot"]\nsizes = "tiny"\n' > plan.toml
  warploom sweep plan.toml --dry-run
  warploom sweep plan.toml --out swept --picture figure.pdf --width 84mm --font-size 8
  warploom bundle plan.toml plan.zip --results swept
  rm -r plan.toml swept
  warploom run --from plan.zip
fi
warploom run vectoradd --size tiny --design rfv --json > result.json
warploom cite result.json
warploom bundle result.json result.zip
rm result.json
warploom run --from result.zip

printf '\nAll of it worked. Next: warploom --help\n'
