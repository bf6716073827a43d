//! The program, as people and shells call it. One binary, because linking each file of these tests takes longer than compiling it.

mod commands;
mod locked;
mod manners;
mod newcomers;
mod nothing_lost;
mod salvage;
mod short_calls;
mod support;
mod trusted;
mod under_fire;
mod walk;
