"""The paper's data sets, a file each."""

from phonemic.tasks.sets import (
    afqmc,
    bq,
    c3,
    cluener,
    cluewsc,
    cmrc,
    csl,
    iflytek,
    niivtb,
    ocnli,
    phoner,
    thucnews,
    tnews,
    victsd,
    vietmed,
    vihos,
    vihsd,
    vinewsqa,
    vinli,
    viocd,
    visfd,
    vsfc,
    vsmec,
)

#: In the paper's order: Chinese, then Vietnamese.
ALL = tuple(
    module.DATASET
    for module in (
        tnews,
        iflytek,
        thucnews,
        afqmc,
        bq,
        csl,
        ocnli,
        cluewsc,
        c3,
        cmrc,
        cluener,
        vsmec,
        vihsd,
        vihos,
        visfd,
        viocd,
        victsd,
        vsfc,
        niivtb,
        phoner,
        vietmed,
        vinli,
        vinewsqa,
    )
)
