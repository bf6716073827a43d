//! Nothing: the tests are what is here.
