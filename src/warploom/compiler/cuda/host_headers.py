"""What host headers give device code: NVRTC has none of them, and kernels need little of what they declare.

``HOST_HEADERS`` holds texts by name. Device functions (printf, malloc, memcpy, sqrt and the like) are NVRTC's own; here are
types, limits and constants, and names that only the host uses, so that a declaration left in a file is understood.
"""

from __future__ import annotations

_GUARD = "#pragma once\n"
_STANDARD = """
#ifndef WARPLOOM_STANDARD
#define WARPLOOM_STANDARD
namespace std {
template <class...> struct vector {}; template <class...> struct list {}; template <class...> struct deque {};
template <class...> struct map {}; template <class...> struct set {}; template <class...> struct queue {};
template <class...> struct unordered_map {}; template <class...> struct function {}; template <class...> struct unique_ptr {};
struct string {}; struct ifstream {}; struct ofstream {}; struct fstream {}; struct stringstream {}; struct mutex {};
struct thread {}; struct ostream {}; struct istream {}; struct cout {}; struct cerr {}; struct cin {}; struct endl {};
}
#endif
"""
_STDIO = "#ifndef EOF\n#define EOF (-1)\n#define BUFSIZ 8192\nstruct FILE;\n#endif\n"
_STDINT = """
#ifndef WARPLOOM_STDINT
#define WARPLOOM_STDINT
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long long uint64_t; typedef long long intptr_t; typedef unsigned long long uintptr_t;
typedef long long intmax_t; typedef unsigned long long uintmax_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#endif
"""
_LIMITS = """
#ifndef WARPLOOM_LIMITS
#define WARPLOOM_LIMITS
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#endif
"""
_FLOAT = """
#ifndef WARPLOOM_FLOAT
#define WARPLOOM_FLOAT
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#endif
"""
_MATH = """
#ifndef WARPLOOM_MATH
#define WARPLOOM_MATH
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#endif
"""
_TIME = """
#ifndef WARPLOOM_TIME
#define WARPLOOM_TIME
struct timeval { long tv_sec, tv_usec; };
struct timespec { long tv_sec, tv_nsec; };
typedef long clock_t;
#endif
"""
_ASSERT = _GUARD + "#ifndef assert\n#define assert(condition) ((condition) ? (void)0 : __trap())\n#endif\n"
_THREADS = _GUARD + "typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_barrier_t, pthread_attr_t;\n"
_STDDEF = _GUARD + "#ifndef NULL\n#define NULL 0\n#endif\n"
_UNISTD = _GUARD + "#ifndef _POSIX_VERSION\n#define _POSIX_VERSION 200809L\n#endif\n"
_STDLIB = _STDDEF + "#ifndef RAND_MAX\n#define RAND_MAX 2147483647\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#endif\n"

_C_NAMES = {
    "stdio": _STDIO,
    "stdlib": _STDLIB,
    "string": _STDDEF,
    "math": _MATH,
    "limits": _LIMITS,
    "float": _FLOAT,
    "stdint": _STDINT,
    "stddef": _STDDEF,
    "assert": _ASSERT,
    "time": _TIME,
    "ctype": _GUARD,
    "errno": _GUARD,
    "stdarg": _GUARD,
    "inttypes": _STDINT,
    "signal": _GUARD,
}
_CPP_NAMES = [
    "algorithm",
    "array",
    "atomic",
    "bitset",
    "chrono",
    "complex",
    "deque",
    "exception",
    "fstream",
    "functional",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "list",
    "locale",
    "map",
    "memory",
    "mutex",
    "new",
    "numeric",
    "ostream",
    "queue",
    "random",
    "ratio",
    "regex",
    "set",
    "sstream",
    "stack",
    "stdexcept",
    "streambuf",
    "string",
    "string_view",
    "thread",
    "tuple",
    "typeinfo",
    "unordered_map",
    "unordered_set",
    "utility",
    "valarray",
    "vector",
    "limits",
    "type_traits",
    "initializer_list",
]
_HOST_ONLY = [
    "strings.h",
    "malloc.h",
    "memory.h",
    "fcntl.h",
    "getopt.h",
    "sched.h",
    "omp.h",
    "dirent.h",
    "libgen.h",
    "dlfcn.h",
    "stdbool.h",
    "windows.h",
    "sys/types.h",
    "sys/stat.h",
    "sys/mman.h",
    "sys/resource.h",
    "sys/timeb.h",
    "sys/wait.h",
    "sys/sysinfo.h",
    "netdb.h",
    "arpa/inet.h",
    "cuda_profiler_api.h",
    "cutil.h",
    "cutil_inline.h",
    "cuda_gl_interop.h",
    "GL/glew.h",
    "GL/glut.h",
    "GL/freeglut.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_timer.h",
    "helper_string.h",
    "helper_image.h",
    "nvtx3/nvToolsExt.h",
    "curand.h",
    "cublas_v2.h",
]
# Of CUB what a kernel calls: the parts that launch kernels are the host's, and NVRTC does not take them.
_CUB_BLOCK = (
    "adjacent_difference discontinuity exchange histogram load merge_sort radix_rank radix_sort reduce scan shuffle store"
)
_CUB_WARP = "exchange load merge_sort reduce scan store"
_CUB = _GUARD + "".join(
    f"#include <cub/{part}/{part}_{name}.cuh>\n"
    for part, names in (("block", _CUB_BLOCK), ("warp", _CUB_WARP))
    for name in names.split()
)

HOST_HEADERS: dict[str, str] = {
    **{f"{name}.h": text for name, text in _C_NAMES.items()},
    **{f"c{name}": text for name, text in _C_NAMES.items()},
    **dict.fromkeys(_CPP_NAMES, _STANDARD),
    **dict.fromkeys(_HOST_ONLY, _GUARD),
    "sys/time.h": _TIME,
    "unistd.h": _UNISTD,
    "pthread.h": _THREADS,
    "cub/cub.cuh": _CUB,
}
