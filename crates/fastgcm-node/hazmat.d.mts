export * from './hazmat.js';
