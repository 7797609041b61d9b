"""What programs are told of the device: of `hopper` what an H200 says, and the machine's own numbers of every machine."""

from __future__ import annotations

import numpy as np

from support.places import DATA
from warploom.chip.machines import load_machine
from warploom.programs.properties import MOST_ATTRIBUTE, attribute_table, attributes, layout, properties

RECORDED = DATA / "h200" / "device.tsv"
NOT_HERE = {  # answered with 0
    "buses": {"PCI_DEVICE_ID", "GPU_PCI_DEVICE_ID", "GPU_PCI_SUBSYSTEM_ID"},
    "other devices": {"GPU_DIRECT_RDMA_SUPPORTED", "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS", "GPU_DIRECT_RDMA_WRITES_ORDERING"}
    | {"GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED", "DMA_BUF_SUPPORTED", "TIMELINE_SEMAPHORE_INTEROP_SUPPORTED"},
    "other processes": {"HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED", "HANDLE_TYPE_FABRIC_SUPPORTED", "IPC_EVENT_SUPPORTED"}
    | {"MEMPOOL_SUPPORTED_HANDLE_TYPES"},
    "memory of the host": {"HOST_REGISTER_SUPPORTED", "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM", "HOST_MEMORY_POOLS_SUPPORTED"}
    | {"READ_ONLY_HOST_REGISTER_SUPPORTED", "HOST_NUMA_MEMORY_POOLS_SUPPORTED", "HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED"},
    "calls that are missing": {"CAN_USE_64_BIT_STREAM_MEM_OPS", "CAN_USE_STREAM_WAIT_VALUE_NOR", "SPARSE_CUDA_ARRAY_SUPPORTED"}
    | {"DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED"},
}


def _recorded() -> dict[str, list[int]]:
    rows = (line.split() for line in RECORDED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: [int(each) for each in values.split(",")] for name, values in rows}


def test_hopper_answers_as_an_h200_but_for_what_is_not_here() -> None:
    told, recorded = attributes(load_machine("hopper"), "sm_90a"), _recorded()
    missing = set().union(*NOT_HERE.values())
    for each in attribute_table():
        expected = 0 if each.name in missing else recorded[str(each.number)][0]
        assert told[each.number] == expected, each
        assert each.name not in missing or recorded[str(each.number)][0] != 0, "it is not an exception"


def test_properties_say_the_same_as_an_h200() -> None:
    told = attributes(load_machine("hopper"), "sm_90a")
    record = np.frombuffer(properties(told, b"here", 1 << 31, 13), layout(13))[0]
    missing = {each.field for each in attribute_table() if each.name in set().union(*NOT_HERE.values())}
    for name, expected in _recorded().items():
        if name not in missing | {"totalGlobalMem"} and not name.isdigit():
            assert np.atleast_1d(record[name]).tolist() == expected, name
    assert bytes(record["name"]).rstrip(b"\0") == b"here" and record["totalGlobalMem"] == 1 << 31


def test_other_numbers_follow_the_machine_file() -> None:
    by_name = {each.name: each.number for each in attribute_table()}
    small = load_machine("hopper").scaled(1)
    told = attributes(small, "sm_90a")
    assert (told[by_name["MULTIPROCESSOR_COUNT"]], told[by_name["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]]) == (1, 232448)
    told = attributes(load_machine("gtx480"), "ptx")
    names = ("MAX_THREADS_PER_MULTIPROCESSOR", "MAX_REGISTERS_PER_BLOCK", "CLUSTER_LAUNCH", "COMPUTE_CAPABILITY_MAJOR")
    assert [told[by_name[name]] for name in names] == [1536, 32768, 0, 7]
    assert max(told) < MOST_ATTRIBUTE
