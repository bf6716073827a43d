'use strict';
// Where the library of each machine may be: a file that was built here, or the package that npm has installed beside this one. Each name stands
// here as it is, and each `require` in a `try`, so that bundlers follow those that are there and pass over the others.

/** Each calls `require`. What it returns is what the library exports, the name of its file, or the error. */
const LIBRARIES = {
    'linux-x64-gnu': [
        () => {
            try {
                return require('../fastgcm.linux-x64-gnu.node');
            } catch (error) {
                return error;
            }
        },
        () => {
            try {
                return require('@fastgcm/linux-x64-gnu');
            } catch (error) {
                return error;
            }
        },
    ],
    'linux-x64-musl': [
        () => {
            try {
                return require('../fastgcm.linux-x64-musl.node');
            } catch (error) {
                return error;
            }
        },
        () => {
            try {
                return require('@fastgcm/linux-x64-musl');
            } catch (error) {
                return error;
            }
        },
    ],
    'linux-arm64-gnu': [
        () => {
            try {
                return require('../fastgcm.linux-arm64-gnu.node');
            } catch (error) {
                return error;
            }
        },
        () => {
            try {
                return require('@fastgcm/linux-arm64-gnu');
            } catch (error) {
                return error;
            }
        },
    ],
    'linux-arm64-musl': [
        () => {
            try {
                return require('../fastgcm.linux-arm64-musl.node');
            } catch (error) {
                return error;
            }
        },
        () => {
            try {
                return require('@fastgcm/linux-arm64-musl');
            } catch (error) {
                return error;
            }
        },
    ],
};

module.exports = { LIBRARIES };
