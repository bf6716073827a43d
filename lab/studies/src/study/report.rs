//! What a study found, for eyes and for programs.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};
use fastgcm_measure::{
    Machine, WIDTH,
    chart::{self, COLOURS},
    wrapped,
};
use maud::{PreEscaped, html};
use plotters::prelude::*;
use serde::Serialize;
use std::error::Error;

/// What a study found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Of which study.
    pub name: &'static str,
    /// Of which paper.
    pub paper: Paper,
    /// Whether what it says is so here, in a sentence or two.
    pub verdict: String,
    /// On what.
    pub machine: Machine,
    /// In the order of the paper.
    pub tables: Vec<Table>,
    /// What the chart shows.
    pub chart: Vec<Series>,
    /// What its axes show.
    pub axes: [&'static str; 2],
}

/// What is replayed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Paper {
    /// Who wrote what.
    pub title: &'static str,
    /// Where it is, or is to be found.
    pub link: &'static str,
    /// What it says.
    pub claim: &'static str,
}

/// A table, with what has to be known of it.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What, and of which paper and section.
    pub title: String,
    /// The head: one more than there are values in a row's name.
    pub head: Vec<String>,
    /// Rows, each with its name first.
    pub rows: Vec<Vec<String>>,
    /// A line each.
    pub notes: Vec<String>,
}

/// A line of the chart.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// What the two axes show.
    pub points: Vec<(f64, f64)>,
}

impl Table {
    /// Without rows.
    pub fn new(title: impl Into<String>, head: impl IntoIterator<Item = impl ToString>) -> Self {
        Self { title: title.into(), head: head.into_iter().map(|cell| cell.to_string()).collect(), rows: Vec::new(), notes: Vec::new() }
    }

    /// One row more.
    pub fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = impl ToString>) {
        self.rows.push([name.into()].into_iter().chain(cells.into_iter().map(|cell| cell.to_string())).collect());
    }

    /// One note more.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl Report {
    /// Of nothing yet.
    pub fn new(name: &'static str, paper: Paper, machine: Machine) -> Self {
        Self { name, paper, verdict: String::new(), machine, tables: Vec::new(), chart: Vec::new(), axes: ["bytes", "times"] }
    }

    /// For a terminal of 100 columns.
    pub fn text(&self) -> String {
        let mut lines = vec![("paper", self.paper.title.to_owned()), ("at", self.paper.link.into()), ("says", self.paper.claim.into())];
        lines.push(("verdict", self.verdict.clone()));
        lines.extend(self.machine.lines());
        let mut text: String = lines.iter().map(|(name, value)| wrapped(value, &format!("{name:<10} "))).collect();
        for own in &self.tables {
            let mut table = comfy_table::Table::new();
            table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH as u16);
            table.set_header(&own.head);
            own.rows.iter().for_each(|row| {
                table.add_row(row);
            });
            table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
            text += &format!("\n{}{table}\n", wrapped(&own.title, ""));
            own.notes.iter().for_each(|note| text += &wrapped(note, "  "));
        }
        text
    }

    /// For a page.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text: String = self.machine.lines().iter().map(|(name, value)| format!("* {name}: {value}\n")).collect();
        for table in &self.tables {
            let rule = format!("|---|{}\n", "---:|".repeat(table.head.len().saturating_sub(1)));
            text += &format!("\n**{}**\n\n{}{rule}", table.title, line(&table.head));
            table.rows.iter().for_each(|row| text += &line(row));
            if !table.notes.is_empty() {
                text += "\n";
                table.notes.iter().for_each(|note| text += &format!("* {note}\n"));
            }
        }
        text
    }

    /// For a spreadsheet: a line for each cell.
    ///
    /// # Errors
    /// None that a table in memory can meet; they are those of the crate `csv`.
    pub fn csv(&self) -> Result<String, Box<dyn Error + Send + Sync>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["processor", "program", "table", "row", "column", "value"])?;
        for table in &self.tables {
            for row in &table.rows {
                for (head, cell) in table.head.iter().zip(row).skip(1) {
                    writer.write_record([&self.machine.processor, &self.machine.program, &table.title, &row[0], head, cell])?;
                }
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// For a program.
    ///
    /// # Errors
    /// None that a report can meet; they are those of the crate `serde_json`.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }

    /// The chart, as SVG; `None` if there is nothing to be drawn.
    ///
    /// # Errors
    /// None that writing to a string can meet.
    pub fn svg(&self) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
        let mut image = String::new();
        let drawn = self.draw(&mut image).map_err(|error| error.to_string())?;
        Ok(drawn.then(|| chart::dense(&image)))
    }

    /// For a browser: one page that needs nothing else.
    ///
    /// # Errors
    /// As of [`svg`](Self::svg).
    pub fn html(&self) -> Result<String, Box<dyn Error + Send + Sync>> {
        let lead = html! {
            p class="lead" { (self.verdict) }
            p { "The paper: " a href=(self.paper.link) { (self.paper.title) } ". It says: " (self.paper.claim) }
        };
        let body = html! {
            @if let Some(chart) = self.svg()? { div class="charts wide" { (PreEscaped(chart)) } }
            @for table in &self.tables {
                h2 { (table.title) }
                div class="table" {
                    table {
                        tr { @for cell in &table.head { th { (cell) } } }
                        @for row in &table.rows {
                            tr { @for (at, cell) in row.iter().enumerate() { @if at == 0 { th { (cell) } } @else { td { (cell) } } } }
                        }
                    }
                }
                @for note in &table.notes { p { (note) } }
            }
        };
        Ok(fastgcm_measure::document(&format!("fastgcm-study, {}", self.name), &lead, &self.machine, &body))
    }

    fn draw(&self, image: &mut String) -> Result<bool, Box<dyn Error>> {
        let points = || self.chart.iter().flat_map(|line| &line.points);
        let range = |of: fn(&(f64, f64)) -> f64| Some(points().map(of).min_by(f64::total_cmp)?..points().map(of).max_by(f64::total_cmp)?);
        let (Some(x), Some(y)) = (range(|point| point.0), range(|point| point.1)) else { return Ok(false) };
        let area = SVGBackend::with_string(image, (PLOT + LEGEND, 400)).into_drawing_area();
        area.fill(&WHITE)?;
        let (plot, legend) = area.split_horizontally(PLOT);
        // No gain is in sight, where there are ratios.
        let bottom = if y.start < 8.0 { y.start.min(1.0) } else { y.start };
        let y = bottom / 1.1..y.end * 1.1;
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .margin_right(24)
            .caption(self.axes[1], FONT)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x.log_scale().base(2.0), y.log_scale().base(2.0))?;
        let round = |value: &f64| format!("{}", (value * 100.0).round() / 100.0);
        chart
            .configure_mesh()
            .x_desc(self.axes[0])
            .label_style(FONT)
            .bold_line_style(RGBColor(220, 220, 220))
            .x_label_formatter(&round)
            .y_label_formatter(&round)
            .max_light_lines(0)
            .draw()?;
        // Beside the end of its line stands each name, as far as there is room: from the highest down.
        let mut lines: Vec<_> =
            self.chart.iter().enumerate().filter_map(|(number, line)| Some((number, line, *line.points.last()?))).collect();
        let right = |line: &Series| line.points.iter().max_by(|a, b| a.0.total_cmp(&b.0)).copied().unwrap_or_default();
        lines.sort_by(|a, b| right(b.1).1.total_cmp(&right(a.1).1));
        let mut free = 16;
        for (number, line, _) in lines {
            let paper = line.name.starts_with("paper") || line.name == "post";
            let style = COLOURS[number % COLOURS.len()].stroke_width(if paper { 1 } else { 3 });
            chart.draw_series(LineSeries::new(line.points.iter().copied(), style).point_size(if paper { 3 } else { 0 }))?;
            let height = chart.backend_coord(&right(line)).1.clamp(free, 400);
            free = height + 18;
            legend.draw(&PathElement::new([(4, height), (24, height)], style))?;
            legend.draw(&Text::new(line.name.as_str(), (30, height - 7), FONT))?;
        }
        area.present()?;
        drop(chart);
        drop((plot, legend, area));
        Ok(true)
    }
}

/// Pixels; an SVG scales.
const PLOT: u32 = 640;
const LEGEND: u32 = 400;
/// A size that is read: plotters writes four fifths of that number into the image.
const FONT: (&str, u32) = ("sans-serif", 16);
