"""The numbers of a machine, flat, as compiled code reads them: ``ctx.machine``.

A key of a table is the field of its name with the table's prefix (`schema`), in the order of the file. A number that the schema
gains needs its line here; a test says which one is missing.
"""

from __future__ import annotations

from typing import Annotated

from warploom.code.classes import OpClass
from warploom.records import Array, Record, dtype_of, f8, i8

CLASSES = len(OpClass)


class MachineRecord(Record):
    """Every number of a machine file, and a few that follow from them."""

    # [chip]
    sms: i8
    clock_core_mhz: f8
    clock_dram_mhz: f8
    clock_energy_mhz: f8
    quantum: i8
    ctas_launched_per_cycle: i8
    cta_interval: i8
    cta_follow_cycles: i8
    cta_follow_interval: i8
    # [sm]
    warps_per_sm: i8
    ctas_per_sm: i8
    threads_per_sm: i8
    registers_per_sm: i8
    register_rounding: i8
    max_registers_per_thread: i8
    uniform_registers: i8
    shared_bytes: i8
    sub_cores: i8
    schedulers: i8
    issue_width: i8
    fetch_width: i8
    decode_width: i8
    ibuffer_entries: i8
    branch_cycles: i8
    lone_warps: i8  # 0 or 1
    # [register_file]
    rf_banks: i8
    rf_entries_per_bank: i8
    rf_entry_bytes: i8
    rf_subarrays_per_bank: i8
    rf_read_ports: i8
    rf_write_ports: i8
    rf_single_ported: i8  # 0 or 1
    rf_mapping: i8  # the word's number in `schema`
    rf_operand_fetch_cycles: i8
    # [collectors]
    collectors_sp: i8
    collectors_sfu: i8
    collectors_mem: i8
    collectors_ports_in_sp: i8
    collectors_ports_in_sfu: i8
    collectors_ports_in_mem: i8
    collectors_ports_out_sp: i8
    collectors_ports_out_sfu: i8
    collectors_ports_out_mem: i8
    # [units]
    units_sp: i8
    units_sfu: i8
    units_issue_sp: i8
    units_issue_sfu: i8
    units_issue_mem: i8
    units_dispatch_sp: i8
    units_dispatch_sfu: i8
    units_dispatch_mem: i8
    units_writeback_width: i8
    units_forward_cycles: i8
    # [stages]
    stage_operands: i8  # the word's number in `schema`
    stage_dependences: i8
    stage_read_cycles: i8
    stage_memory_queue: i8
    stage_memory_interval: i8
    stage_store_interval: i8
    stage_global_interval: i8
    stage_value_interval: i8
    stage_shared_interval: i8
    stage_global_read_cycles: i8
    stage_shared_read_cycles: i8
    stage_variable_queue: i8
    stage_special_held_cycles: i8
    stage_variable_read_cycles: i8
    stage_double_pass_cycles: i8
    stage_uniform_cycles: i8
    stage_special_register_cycles: i8
    stage_special_uniform_cycles: i8
    stage_constant_cycles: i8
    stage_reduction_cycles: i8
    stage_special_interval: i8
    stage_special_uniform_interval: i8
    stage_wide_product_cycles: i8
    stage_tensor_cycles: i8
    stage_product_queue: i8
    stage_product_columns: i8
    stage_product_cycles: i8
    stage_product_register_cycles: i8
    stage_double_products: i8
    stage_double_product_cycles: i8
    stage_large_double_product_cycles: i8
    stage_double_product_interval: i8
    stage_sparse_cycles: i8
    stage_barrier_interval: i8
    stage_barrier_cycles: i8
    stage_sync_cycles: i8
    stage_fence_cycles: i8
    stage_launch_cycles: i8
    stage_exit_cycles: i8
    stage_stores_awaited: i8  # 0 or 1
    # [l0i]
    l0i_lines: i8
    l0i_prefetched: i8
    l0i_miss_cycles: i8
    l0i_near_lines: i8
    l0i_near_interval: i8
    l0i_near_miss_cycles: i8
    # [shared]
    shared_banks: i8
    shared_latency: i8
    shared_cycles_per_pass: i8
    shared_pause_cycles: i8
    shared_pairs: i8  # 0 or 1
    # [l1]
    l1_sets: i8
    l1_ways: i8
    l1_line_bytes: i8
    l1_hashed: i8  # 0 or 1
    l1_latency: i8
    l1_mshrs: i8
    l1_merged: i8
    l1_miss_queue: i8
    l1_store_credits: i8
    l1_atomic_credits: i8
    l1_unified: i8  # 0 or 1
    l1_sectored: i8  # 0 or 1
    # [l1i]
    l1i_sets: i8
    l1i_ways: i8
    l1i_line_bytes: i8
    l1i_hashed: i8  # 0 or 1
    l1i_latency: i8
    l1i_mshrs: i8
    l1i_merged: i8
    l1i_miss_queue: i8
    l1i_instruction_bytes: i8
    l1i_brought: i8
    l1i_prefetched: i8
    l1i_kept: i8  # 0 or 1
    # [l1c]
    l1c_sets: i8
    l1c_ways: i8
    l1c_line_bytes: i8
    l1c_hashed: i8  # 0 or 1
    l1c_latency: i8
    l1c_mshrs: i8
    l1c_merged: i8
    l1c_miss_queue: i8
    l1c_first_cycles: i8
    l1c_behind_cycles: i8
    l1c_behind_latency: i8
    l1c_address_cycles: i8
    l1c_again_cycles: i8
    # [l1t]
    l1t_sets: i8
    l1t_ways: i8
    l1t_line_bytes: i8
    l1t_hashed: i8  # 0 or 1
    l1t_latency: i8
    l1t_mshrs: i8
    l1t_merged: i8
    l1t_miss_queue: i8
    l1t_filter_cycles: i8
    l1t_word_cycles: i8
    # [interconnect]
    xbar_latency: i8
    xbar_flit_bytes: i8
    xbar_header_bytes: i8
    xbar_store_cycles: i8
    xbar_mask_cycles: i8
    xbar_taken_cycles: i8
    xbar_groups: i8
    xbar_joined: i8
    xbar_joined_code: i8
    xbar_buffered: i8  # 0 or 1
    # [l2]
    l2_slices: i8
    l2_sets: i8
    l2_ways: i8
    l2_dirty_ways: i8
    l2_line_bytes: i8
    l2_latency: i8
    l2_reply_latency: i8
    l2_hashed: i8  # 0 or 1
    l2_sectors_per_cycle: i8
    l2_line_write_cycles: f8
    l2_part_write_cycles: f8
    l2_fetched: i8
    l2_far_cycles: i8
    l2_mshrs: i8
    l2_atomic_cycles: f8
    l2_atomic_row_cycles: f8
    l2_atomic_again_cycles: f8
    l2_atomic_latency: i8
    l2_atomic_sectors: i8  # 0 or 1
    l2_merged: i8
    l2_dram_queue: i8
    # [dram]
    dram_channels: i8
    dram_interleave_bytes: i8
    dram_banks: i8
    dram_bank_groups: i8
    dram_hashed: i8  # 0 or 1
    dram_bank_low_bit: i8
    dram_bank_high_bit: i8
    dram_row_bit: i8
    dram_latency: i8
    dram_queue: i8
    dram_burst_bytes: i8
    dram_burst_cycles: f8
    dram_ccd: i8
    dram_ccdl: i8
    dram_rrd: i8
    dram_rcd: i8
    dram_ras: i8
    dram_rp: i8
    dram_rc: i8
    dram_cl: i8
    dram_wl: i8
    dram_cdlr: i8
    dram_wr: i8
    dram_rtpl: i8
    dram_rfc: i8
    dram_refi: i8
    # [bulk]
    bulk_lines: i8
    bulk_line_cycles: f8
    bulk_read_cycles: i8
    bulk_load_cycles: i8
    bulk_store_cycles: i8
    bulk_phase_cycles: i8
    # [memory]
    fixed_model: i8  # the word's number in `schema`
    fixed_latency: i8
    fixed_bytes_per_cycle: i8
    fixed_texture_latency: i8
    fixed_texture_lanes_per_cycle: i8
    # [compatibility]
    compat_fetch_when_empty: i8  # 0 or 1
    compat_unlisted_operations_take_one_cycle: i8  # 0 or 1
    compat_shared_atomics_in_parallel: i8  # 0 or 1
    compat_sector_atomics_in_parallel: i8  # 0 or 1
    compat_sectors_travel_alone: i8  # 0 or 1
    # derived
    latency: Annotated[Array[i8], CLASSES]  # by class of operation, compatibility applied
    initiation: Annotated[Array[i8], CLASSES]
    rf_banks_per_register: i8
    xbar_flits: Annotated[Array[i8], 5]  # of a packet with so many sectors of data


MACHINE_DTYPE = dtype_of(MachineRecord)
