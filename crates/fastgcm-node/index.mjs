import fastgcm from './index.js';

export const {
    AESGCM,
    AESGCMSIV,
    CobblestoneOpener,
    CobblestoneSealer,
    CounterNonces,
    InvalidTag,
    KCXAES256GCM,
    RandomNonces,
    SealedFile,
    Sealer,
    SealingKey,
    XAES256GCM,
    XorNonces,
    cpu,
    openFile,
    sealFile,
    version,
} = fastgcm;
