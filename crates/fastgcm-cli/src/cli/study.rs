//! What `fastgcm study` may be asked for.

use super::Results;
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Study {
    /// Which paper.
    #[arg(value_parser = PossibleValuesParser::new(fastgcm_studies::study::NAMES))]
    pub(crate) name: String,
    /// A glance: few samples.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the tables to FILE, for a page.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: Results,
}
