"""What kind of work each opcode of SASS is. One line for each opcode: its class, and for memory its space."""

from __future__ import annotations

from warploom.compiler.code.op_class import OpClass

SASS_CLASSES: dict[str, OpClass] = {
    **dict.fromkeys(("MOV", "UMOV", "SEL", "USEL", "FSEL", "PRMT", "UPRMT", "S2R", "S2UR", "CS2R", "P2R", "R2P"), OpClass.MOVE),
    **dict.fromkeys(
        ("R2UR", "LDC", "ULDC", "VOTE", "VOTEU", "MATCH", "NOP", "BMOV", "B2R", "LEPC", "QSPC", "ELECT"), OpClass.MOVE
    ),
    **dict.fromkeys(("LOP3", "ULOP3", "PLOP3", "UPLOP3", "SHF", "USHF", "BREV", "UBREV", "POPC", "UPOPC"), OpClass.LOGIC),
    **dict.fromkeys(("FLO", "UFLO", "BMSK", "UBMSK", "SGXT", "USGXT"), OpClass.LOGIC),
    **dict.fromkeys(("ISETP", "UISETP", "FSETP", "DSETP", "FCHK", "FSET", "HSETP2", "HSET2"), OpClass.COMPARE),
    **dict.fromkeys(("F2F", "F2I", "F2IP", "I2F", "I2FP", "I2IP", "F2FP", "FRND", "I2I"), OpClass.CONVERT),
    **dict.fromkeys(("IADD3", "UIADD3", "VIADD", "IABS", "LEA", "ULEA", "VABSDIFF", "VABSDIFF4"), OpClass.INT_ADD),
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX", "UIMNMX"), OpClass.INT_MINMAX),
    **dict.fromkeys(("IMAD", "UIMAD", "IDP"), OpClass.INT_MAD),
    **dict.fromkeys(("SHFL", "REDUX", "MOVM"), OpClass.SHUFFLE),
    "FADD": OpClass.F32_ADD,
    "FMNMX": OpClass.F32_MINMAX,
    "FMUL": OpClass.F32_MUL,
    "FFMA": OpClass.F32_MAD,
    "DADD": OpClass.F64_ADD,
    "DMUL": OpClass.F64_MUL,
    **dict.fromkeys(("DFMA", "DMMA"), OpClass.F64_MAD),
    **dict.fromkeys(("HFMA2", "HMMA", "IMMA", "BMMA", "QMMA", "HGMMA", "QGMMA", "IGMMA", "BGMMA"), OpClass.F32_MAD),
    "HADD2": OpClass.F32_ADD,
    "HMUL2": OpClass.F32_MUL,
    **dict.fromkeys(("HMNMX2", "VHMNMX"), OpClass.F32_MINMAX),
    "MUFU": OpClass.SFU,
    **dict.fromkeys(("LD", "LDG", "LDS", "LDSM", "LDL", "ST", "STG", "STS", "STSM", "STL", "ATOM"), OpClass.MEMORY),
    **dict.fromkeys(
        ("ATOMG", "ATOMS", "RED", "REDG", "LDGSTS", "SULD", "SUST", "SYNCS", "ARRIVES", "STAS", "REDAS"), OpClass.MEMORY
    ),
    **dict.fromkeys(("TEX", "TLD", "TLD4", "TXD", "MEMBAR", "ERRBAR", "CCTL", "CGAERRBAR"), OpClass.MEMORY),
    **dict.fromkeys(
        ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "BPT", "KILL", "BAR", "BSSY", "BSYNC", "BREAK"), OpClass.CONTROL
    ),
    **dict.fromkeys(("WARPSYNC", "ENDCOLLECTIVE", "YIELD", "NANOSLEEP", "DEPBAR", "LDGDEPBAR"), OpClass.CONTROL),
    **dict.fromkeys(("UTMALDG", "UTMASTG", "UTMAREDG", "UTMACCTL", "UTMAPF", "UBLKPF"), OpClass.CONTROL),
    **dict.fromkeys(("WARPGROUP", "USETMAXREG", "ACQBULK", "PREEXIT"), OpClass.CONTROL),
    **dict.fromkeys(("FENCE", "UTMACMDFLUSH", "UBLKCP", "UBLKRED", "UCGABAR_ARV", "UCGABAR_WAIT"), OpClass.CONTROL),
}
SASS_SPACES = {
    **dict.fromkeys(("LDG", "LDGSTS", "STG", "ATOMG", "REDG", "RED", "SULD", "SUST"), "global"),
    **dict.fromkeys(("LDS", "LDSM", "STS", "STSM", "ATOMS", "SYNCS", "ARRIVES", "STAS", "REDAS"), "shared"),
    **dict.fromkeys(("LDL", "STL"), "local"),
    **dict.fromkeys(("LD", "ST", "ATOM"), "generic"),
}
WARPGROUP_PRODUCTS = frozenset(("HGMMA", "QGMMA", "IGMMA", "BGMMA"))
TEXTURES = frozenset(("TEX", "TLD", "TLD4", "TXD"))
LOADS = frozenset(("LD", "LDG", "LDS", "LDSM", "LDL", "LDGSTS", "SULD")) | TEXTURES
STORES = frozenset(("ST", "STG", "STS", "STSM", "STL", "SUST"))
ATOMICS = frozenset(("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "SYNCS", "ARRIVES", "STAS", "REDAS"))  # STAS counts at a barrier
BULK_COPIES = frozenset(("UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"))
FENCES = frozenset(("MEMBAR",))
