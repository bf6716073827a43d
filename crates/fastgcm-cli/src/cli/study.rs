//! What `fastgcm study` may be asked for.

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
    /// Write the tables to FILE, a line for each cell.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write everything to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the chart to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the tables to FILE, for a page.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Replace these files if they exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
