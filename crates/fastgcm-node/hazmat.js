'use strict';

const { UnverifiedOpener } = require('./lib/streams.js');

module.exports = { UnverifiedOpener };
