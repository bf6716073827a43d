import hazmat from './hazmat.js';

export const { UnverifiedOpener } = hazmat;
