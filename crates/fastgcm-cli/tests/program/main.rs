//! The program, as people and shells call it. One binary, because linking each file of these tests takes longer than compiling it.

mod commands;
mod manners;
mod nothing_lost;
mod refused;
mod short_calls;
mod support;
mod under_fire;
