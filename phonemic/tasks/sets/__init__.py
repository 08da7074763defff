"""The paper's datasets and some beyond the paper, one file per dataset."""

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
    ud,
    victsd,
    vietbioner,
    vietmed,
    vihos,
    vihsd,
    vinewsqa,
    vinli,
    viocd,
    visfd,
    vsfc,
    vsmec,
    weibo,
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

#: Sets of the same kinds that the paper does not have.
BEYOND = (weibo.DATASET, ud.GSD, ud.GSDSIMP, vietbioner.DATASET, ud.VTB)
