"""Measure on a GPU what `build.py` wrote, and keep it as plain files; NumPy, CuPy and Nsight Compute are all it needs.

    warploom-lab measure micro FOLDER --out OUT             microbenchmarks: what they wrote, in OUT/micro.npz
    warploom-lab measure counted FOLDER --out OUT           those that are counted, under ncu: OUT/counted.npz
    warploom-lab measure kernels FOLDER --out OUT --size S  workloads under ncu: OUT/kernels-S.tsv
                                          (chip: those for which it is not the same as paper)
    warploom-lab measure kernels FOLDER --out OUT --size own  single kernels, all of FOLDER/programs: OUT/kernels-own.tsv
    warploom-lab measure energy FOLDER --out OUT            energy of seconds-long loops: OUT/energy.tsv

Clocks and power limits are left as they are. ``--cache-control all`` of ncu flushes and invalidates all caches before every
launch, which is the state that `warploom validate` simulates.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import json
import os
import pickle
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

CYCLES = [
    "sm__cycles_active.max",
    "sm__cycles_active.avg",
    "gpc__cycles_elapsed.max",
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "launch__registers_per_thread",
]
STALL_REASONS = [
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
]
PIPES = ["adu", "alu", "cbu", "fma", "fmaheavy", "fmalite", "fp64", "lsu", "tensor", "tex", "uniform", "xu"]
COUNTERS = [
    *CYCLES,
    "sm__cycles_active.min",
    "smsp__inst_issued.sum",
    "smsp__thread_inst_executed.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sectors.sum",
    "l1tex__t_sectors_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_tex.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_sectors.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_write.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
]
WHY = {
    "sm__cycles_active.max": "cycles_active.max",
    **{f"smsp__warps_issue_stalled_{reason}.sum": f"stalled_{reason}" for reason in STALL_REASONS},
    "smsp__issue_active.sum": "issue_active",
    **{f"smsp__inst_executed_pipe_{pipe}.sum": f"pipe_{pipe}" for pipe in PIPES},
    **{
        f"{cache}{which}.sum": f"{cache}{which}"
        for cache in (
            "sm__icc_requests",
            "gcc__cache_requests_type_instruction",
            "gcc__cache_requests_type_constant",
            "idc__requests",
        )
        for which in ("", "_lookup_miss")
    },
}
DRAM = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
COUNTED = {  # rounds; those for DRAM are one pass of ncu each, so that it restores nothing before a launch
    "dram": DRAM,
    "dram-again": DRAM,
    "l2": [
        "lts__t_sectors_srcunit_tex.sum",
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "lts__t_sectors_op_red.sum",
        "lts__t_sectors_op_atom.sum",
        "lts__t_requests_srcunit_tex.sum",
        "lts__t_sectors_srcunit_ltcfabric.sum",
        "lts__t_sectors.sum",
        "lts__d_sectors.sum",
        "lts__d_sectors_fill_device.sum",
        "lts__t_tag_requests.sum",
        "l1tex__m_xbar2l1tex_read_sectors.sum",
        "l1tex__m_l1tex2xbar_write_sectors.sum",
        "sm__cycles_active.max",
    ],
}
TYPES = {
    "f32": np.float32, "f64": np.float64, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "u8": np.uint8, "u16": np.uint16,
}  # fmt: skip
TO_BEGIN, TO_END = 60, 8  # seconds that a process may take for its first launch, and for any other
SHOWN = 3  # launches of a kernel that are measured: the first, the middle and the last


def device_facts() -> dict[str, str]:
    """What was measured on, and when."""
    query = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit,temperature.gpu"
    words = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    facts = dict(zip(query.split(","), (word.strip() for word in words.stdout.split(",")), strict=False))
    return facts | {"date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())}


# Microbenchmarks


def _argument(kind: str, value: Any, words: dict[str, list[int]], kept: list[Any]) -> Any:
    """One argument of a launch; arrays are kept until it has ended."""
    import cupy

    if kind in ("u32", "u64"):
        return {"u32": np.uint32, "u64": np.uint64}[kind](value)
    if kind == "out":
        array = cupy.zeros(value, cupy.uint32)
    elif kind == "words":
        array = cupy.asarray(np.array(words[value], np.uint32))
    elif kind == "memory":
        array = cupy.empty(value, cupy.uint8)
    elif kind == "zeros":
        array = cupy.zeros(value, cupy.uint8)
    elif kind == "random":
        array = cupy.arange(value // 4, dtype=cupy.uint32) * cupy.uint32(2654435761)
    elif kind == "texture":
        array = _real_device().RealDevice().texture(np.zeros(value["shape"], np.float32), linear=value["linear"])
    elif kind == "chase":
        count, per = value["bytes"] // value["stride"], value["stride"] // 8
        order = np.random.default_rng(1).permutation(count) if value["random"] else np.arange(count)
        array = cupy.zeros(value["bytes"] // 8, cupy.uint64)
        follows = np.empty(count, np.uint64)
        follows[order] = np.roll(order, -1)
        array[::per] = cupy.asarray(follows * np.uint64(value["stride"])) + np.uint64(array.data.ptr)
    else:
        raise ValueError(kind)
    kept.append(array)
    return array


def _planned(folder: Path, *counted: str) -> dict[str, Any]:
    """The launches of microbenchmarks of which ncu counts one of these; "" is nothing."""
    plan = json.loads((folder / "launches.json").read_text())
    return plan | {"launches": [launch for launch in plan["launches"] if launch["counted"] in counted]}


def micro(folder: Path, out: Path, seconds: float) -> None:
    """Run all launches of the microbenchmarks and keep every word that they wrote.

    A launch that the GPU refuses takes its process with it, and one that does not end is ended with its process; the next
    process goes on behind it. What was measured is on disk at once.
    """
    started, first = time.time(), 0
    launches = _planned(folder, "")["launches"]
    kept = out / "micro.part"
    kept.unlink(missing_ok=True)
    problems: dict[str, str] = {}
    while first < len(launches) and time.time() - started < seconds:
        left = str(seconds - (time.time() - started))
        words = ["micro-part", str(folder), "--out", str(out), "--first", str(first), "--seconds", left]
        child = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, bufsize=0)
        first, problem = _followed(child, first)
        if problem:
            problems[launches[first - 1]["name"]] = problem
            print("FAILED", launches[first - 1]["name"], problem, file=sys.stderr, flush=True)
    found: dict[str, np.ndarray] = {}
    if kept.is_file():
        with kept.open("rb") as file:
            while True:
                try:
                    found |= pickle.load(file)
                except (EOFError, pickle.UnpicklingError):  # the last may have been cut off
                    break
    np.savez_compressed(out / "micro.npz", **found)  # type: ignore[arg-type]
    (out / "micro.json").write_text(json.dumps(device_facts() | {"problems": problems}, indent=1))
    print(f"micro: {len(found)} launches in {time.time() - started:.0f} s, {len(problems)} problems: {problems}")


def _followed(child: subprocess.Popen[bytes], first: int) -> tuple[int, str]:
    """Watch a process that writes a byte for every launch that has ended: the launch to go on with, and what was wrong."""
    assert child.stdout is not None
    reached, patience = first, TO_BEGIN
    while select.select([child.stdout], [], [], patience)[0]:
        ended = child.stdout.read(4096)
        if not ended:  # it has ended by itself; 0: it is through with all launches or with its time
            return (10**9, "") if child.wait() == 0 else (reached + 1, "the GPU refuses it")
        reached, patience = reached + len(ended), TO_END
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may hold it for longer; the next one need not wait
        child.wait(TO_END)
    return reached + 1, "it does not end"


def micro_part(folder: Path, out: Path, first: int, seconds: float) -> None:
    """Run the launches from one on, until the end or until the GPU refuses one."""
    import cupy

    plan = _planned(folder, "")
    started = time.time()
    warm_up(cupy)
    modules: dict[str, Any] = {}
    with (out / "micro.part").open("ab") as results:
        for launch in plan["launches"][first:]:
            if time.time() - started > seconds:
                break
            try:
                if launch["code"] not in modules:
                    modules[launch["code"]] = cupy.RawModule(path=str(folder / "code" / f"{launch['code']}.cubin"))
                found = _launched(modules[launch["code"]].get_function(launch["kernel"]), launch, plan["words"])
            except Exception as problem:  # the context may be lost
                print(launch["name"], type(problem).__name__, problem, file=sys.stderr, flush=True)
                os._exit(1)  # what is left of a lost context cannot be torn down
            pickle.dump(found, results)
            results.flush()
            os.write(sys.stdout.fileno(), b".")
    os._exit(0)


def _launched(function: Any, launch: dict[str, Any], words: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """What a launch wrote, one row for each repetition."""
    import cupy

    kept: list[Any] = []
    arguments = tuple(_argument(kind, value, words, kept) for kind, value in launch["arguments"])
    rows, times = [], []
    for _ in range(launch["repeats"]):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        function((launch["grid"],), (launch["block"],), arguments, shared_mem=launch["shared_bytes"])
        end.record()
        end.synchronize()
        rows.append(kept[0].get())
        times.append(cupy.cuda.get_elapsed_time(begin, end) * 1e-3)
    found = {launch["name"]: np.array(rows)}
    if launch["name"].startswith("stream"):
        found[f"{launch['name']}/seconds"] = np.array(times)
    return found


def warm_up(cupy: Any) -> None:
    """Let the clocks rise."""
    square = cupy.ones((4096, 4096), cupy.float32)
    for _ in range(30):
        square = square @ square * 1e-4
    cupy.cuda.get_current_stream().synchronize()


# Microbenchmarks under ncu


def counted(folder: Path, out: Path, seconds: float) -> None:
    """What ncu counts of each launch, caches empty before it: an array of the rounds for each counter."""
    command = [sys.executable, str(Path(__file__).resolve()), "launch-counted", str(folder), "--out", str(out), "--names"]
    known = set(known_metrics([metric for metrics in COUNTED.values() for metric in metrics], out))
    found: dict[str, list[float]] = {}
    for name, metrics in COUNTED.items():
        began = time.time()
        kinds = ["dram"] if metrics == DRAM else ["dram", "l2"]
        launches = _planned(folder, *kinds)["launches"]
        asked = [metric for metric in metrics if metric in known]
        rows = under_ncu([*command, *kinds], asked, "all", out / f"ncu-counted-{name}.csv", seconds)
        print(f"counted {name}: {len(rows)} of {len(launches)} launches in {time.time() - began:.0f} s", flush=True)
        for launch, row in zip(launches, rows, strict=False):
            for metric in asked:
                with contextlib.suppress(ValueError):  # what ncu could not count is no number
                    found.setdefault(f"{launch['name']}/{metric}", []).append(float(row.get(metric, "").replace(",", "")))
    np.savez_compressed(out / "counted.npz", **{key: np.array(values) for key, values in found.items()})  # type: ignore[arg-type]
    (out / "counted.json").write_text(json.dumps(device_facts(), indent=1))


def counted_launcher(folder: Path, kinds: list[str]) -> None:
    """Run launches that are counted, once each, all shown to ncu."""
    import ctypes

    import cupy

    driver = ctypes.CDLL("libcuda.so.1")
    plan = _planned(folder, *kinds)
    warm_up(cupy)
    modules: dict[str, Any] = {}
    for launch in plan["launches"]:
        if launch["code"] not in modules:
            modules[launch["code"]] = cupy.RawModule(path=str(folder / "code" / f"{launch['code']}.cubin"))
        function = modules[launch["code"]].get_function(launch["kernel"])
        kept: list[Any] = []
        arguments = tuple(_argument(kind, value, plan["words"], kept) for kind, value in launch["arguments"])
        cupy.cuda.get_current_stream().synchronize()
        driver.cuProfilerStart()
        function((launch["grid"],), (launch["block"],), arguments, shared_mem=launch["shared_bytes"])
        cupy.cuda.get_current_stream().synchronize()
        driver.cuProfilerStop()


# Kernels under ncu


def launcher(folder: Path, out: Path, size: str, names: list[str], plan_file: Path, profile: bool, seconds: float) -> None:
    """Run the workloads; with `profile`, show ncu the launches of the plan and no others."""
    import ctypes

    import cupy

    driver = ctypes.CDLL("libcuda.so.1")
    real = _real_device()
    from workload_goldens import PACKAGE, load

    plan = json.loads(plan_file.read_text()) if profile else {}
    seen: list[dict[str, Any]] = []
    counts: dict[str, dict[str, int]] = {}
    started = time.time()
    warm_up(cupy)

    class Watched(real.RealDevice):  # type: ignore[name-defined]
        def __init__(self, module: Path, workload: str) -> None:
            super().__init__(module)
            self.workload, self.counts = workload, counts.setdefault(workload, {})

        def launch(
            self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: Any, shared_bytes: int = 0
        ) -> None:
            number = self.counts.get(kernel, 0)
            self.counts[kernel] = number + 1
            of_all = plan.get(self.workload, {}).get(kernel, 0)
            shown = profile and number in {0, of_all // 2, of_all - 1} if of_all > SHOWN else profile
            if shown:
                row = {"workload": self.workload, "size": size, "kernel": kernel, "launch": number, "of": of_all}
                seen.append(row | {"grid": "x".join(map(str, grid)), "block": "x".join(map(str, block))})
                driver.cuProfilerStart()
            super().launch(kernel, grid, block, *arguments, shared_bytes=shared_bytes)
            if shown:
                driver.cuProfilerStop()

    for file in sorted((PACKAGE / "programs" / "workloads").glob("*/workload.py")):
        workload = load(file.parent)
        if (names and workload.name not in names) or (size == "chip" and workload.sizes.chip is None):  # it is the paper's
            continue
        if time.time() - started > seconds:
            print(f"no time left for {workload.name}", file=sys.stderr, flush=True)
            continue
        at = time.time()
        try:
            gpu = Watched(folder / "workloads" / f"{workload.name}.cubin", workload.name)
            workload.host(gpu, workload.inputs(size))
        except Exception as problem:
            print(f"FAILED {workload.name}: {type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        print(f"{workload.name} {size} {time.time() - at:.1f} s", flush=True)
    if profile:
        (out / f"seen-{size}.json").write_text(json.dumps(seen))
    else:
        plan_file.write_text(json.dumps(counts))


def own_launcher(folder: Path, out: Path) -> None:
    """Run the kernels that are described in JSON, once each, all shown to ncu."""
    import ctypes

    import cupy

    driver = ctypes.CDLL("libcuda.so.1")
    real = _real_device()
    warm_up(cupy)
    seen = []
    for file in sorted((folder / "programs").glob("*.json")):
        about = json.loads(file.read_text())
        gpu = real.RealDevice(folder / "programs" / f"{about['name']}.cubin")
        passed = [_described(gpu, argument) for argument in about["args"]]
        shape = tuple(about["grid"]), tuple(about["block"])
        row = {"workload": about["name"], "size": about.get("size", "own"), "kernel": about["kernel"], "launch": 0, "of": 1}
        seen.append(row | {"grid": "x".join(map(str, about["grid"])), "block": "x".join(map(str, about["block"]))})
        driver.cuProfilerStart()
        gpu.launch(about["kernel"], *shape, *passed, shared_bytes=about.get("shared_bytes", 0))
        driver.cuProfilerStop()
        (out / "seen-own.json").write_text(json.dumps(seen))


def _real_device() -> Any:
    """The module with the GPU as host programs see it, without the packages above it."""
    from warploom_lab.goldens.workload_goldens import stand_in_for_packages

    stand_in_for_packages()
    return importlib.import_module("warploom.programs.real")


def _described(gpu: Any, argument: dict[str, Any]) -> Any:
    """An argument of a kernel described in JSON; `warploom.studies.validate.programs` has the same for the emulator."""
    base, _, size = argument["type"].rstrip("]").partition("[")
    i = np.arange(int(size), dtype=np.int64) if size else np.int64(0)
    value = np.broadcast_to(np.asarray(eval(argument["init"], {"np": np}, {"i": i})), i.shape).astype(TYPES[base])[()]
    if "texture" in argument:
        return gpu.texture(value.reshape(argument["texture"]["shape"]), linear=argument["texture"]["linear"])
    return gpu.array(value) if size else value


def known_metrics(wanted: list[str], out: Path) -> list[str]:
    """Those of the metrics that this ncu knows."""
    listed = subprocess.run(["ncu", "--query-metrics", "--csv"], capture_output=True, text=True, check=False).stdout
    (out / "metrics.csv").write_text(listed)
    names = {line.split(",")[0].strip('"') for line in listed.splitlines()}
    if len(names) < 100:
        return wanted
    unknown = [one for one in wanted if one.split(".")[0] not in names and not one.startswith("launch__")]
    print("not known to ncu:", unknown, flush=True)
    return [one for one in wanted if one not in unknown]


def under_ncu(command: list[str], metrics: list[str], caches: str, log: Path, limit: float) -> list[dict[str, str]]:
    """The rows that ncu prints for the launches that the command shows it."""
    ncu = [
        "ncu",
        "--profile-from-start",
        "off",
        "--clock-control",
        "none",
        "--cache-control",
        caches,
        "--metrics",
        ",".join(metrics),
    ]
    ncu += ["--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
    try:
        subprocess.run([*ncu, *command], check=False, timeout=limit, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    except subprocess.TimeoutExpired:
        print("ncu ran past its limit", flush=True)
    lines = [line for line in log.read_text().splitlines() if line.startswith('"')] if log.exists() else []
    rows = list(csv.DictReader(lines))
    return rows[1:]  # the first names the units


def kernels(folder: Path, out: Path, size: str, names: list[str], seconds: float, why: bool) -> None:
    """Workloads, or single kernels where the size is `own`: all counters once, cycles twice more (caches cold, then as is)."""
    base = [sys.executable, str(Path(__file__).resolve())]
    plan = out / f"plan-{size}.json"
    common = [str(folder), "--out", str(out), "--size", size, "--plan", str(plan), "--seconds", str(seconds / 3)]
    if size == "own":
        shown = [*base, "launch-own", str(folder), "--out", str(out)]
    else:
        subprocess.run([*base, "launch", *common, "--names", *names], check=False, timeout=seconds)
        shown = [*base, "launch", *common, "--profile", "--names", *names]
    rounds = {"full": (known_metrics(COUNTERS, out), "all"), "again": (CYCLES, "all"), "as_is": (CYCLES, "none")}
    if why:
        rounds["why"] = (known_metrics(list(WHY), out), "all")
    tables = {}
    for name, (metrics, caches) in rounds.items():
        began = time.time()
        tables[name] = under_ncu(shown, metrics, caches, out / f"ncu-{size}-{name}.csv", seconds)
        print(f"{size} {name}: {len(tables[name])} launches in {time.time() - began:.0f} s", flush=True)
    seen = json.loads((out / f"seen-{size}.json").read_text())
    with (out / f"kernels-{size}.tsv").open("w") as file:
        file.write(f"# {json.dumps(device_facts())}\n")
        columns = [*seen[0], *COUNTERS, "cycles_again", "cycles_caches_as_is"]
        file.write("\t".join(columns) + "\n")
        for number, row in enumerate(seen):
            full = tables["full"][number] if number < len(tables["full"]) else {}
            if full and not full["Kernel Name"].startswith(row["kernel"].split("(")[0]):
                print("out of order", number, row, full["Kernel Name"], flush=True)
            numbers = [full.get(metric, "").replace(",", "") for metric in COUNTERS]
            for other in ("again", "as_is"):
                numbers.append(
                    tables[other][number]["sm__cycles_active.max"].replace(",", "") if number < len(tables[other]) else ""
                )
            file.write("\t".join([*(str(value) for value in row.values()), *numbers]) + "\n")
    if why:
        with (out / "stalls.tsv").open("w") as file:
            file.write(f"# {json.dumps(device_facts())}\n")
            file.write("\t".join([*seen[0], *WHY.values()]) + "\n")
            for row, counted in zip(seen, tables["why"], strict=False):
                file.write("\t".join([*map(str, row.values()), *(counted.get(one, "").replace(",", "") for one in WHY)]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", choices=("micro", "counted", "kernels", "energy", "micro-part", "launch-counted", "launch", "launch-own")
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", default="small", choices=("tiny", "small", "paper", "chip", "own"))
    parser.add_argument("--names", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--plan", type=Path)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--why", action="store_true", help="also where cycles go: stall reasons, pipes, instruction and constant caches"
    )
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.what == "micro":
        micro(asked.folder, asked.out, asked.seconds)
    elif asked.what == "counted":
        counted(asked.folder, asked.out, asked.seconds)
    elif asked.what == "launch-counted":
        counted_launcher(asked.folder, asked.names)
    elif asked.what == "micro-part":
        micro_part(asked.folder, asked.out, asked.first, asked.seconds)
    elif asked.what == "kernels":
        kernels(asked.folder, asked.out, asked.size, asked.names, asked.seconds, asked.why)
    elif asked.what == "launch":
        launcher(asked.folder, asked.out, asked.size, asked.names, asked.plan, asked.profile, asked.seconds)
    elif asked.what == "launch-own":
        own_launcher(asked.folder, asked.out)
    else:
        from energy import measure_energy

        measure_energy(asked.folder, asked.out, asked.seconds)


if __name__ == "__main__":
    main()
