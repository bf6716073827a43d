'use strict';
// The version of the package, as package.json has it: not every bundler reads JSON.

module.exports = { version: '0.1.0' };
