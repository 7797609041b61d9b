"""RegMutex (ISCA 2018), and what it compares with: sharing between pairs, and an owner warp that keeps what it took."""

from warploom.base.library import Paper

PAPER = Paper(
    name="regmutex",
    title="RegMutex",
    citation="Khorasani, Asghari Esfeden, Farmahini-Farahani, Jayasena, Sarkar: "
    "RegMutex: Inter-Warp GPU Register Time-Sharing, ISCA 2018",
    year=2018,
    address="https://doi.org/10.1109/ISCA.2018.00073",
    package=__name__,
    policies=("owner_warp", "owner_warp_first", "regmutex", "regmutex_paired"),
)
