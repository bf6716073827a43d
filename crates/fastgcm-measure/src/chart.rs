//! Charts as SVG: throughput, and how many times faster than the base, over size.

use crate::{Results, tables::names};
use plotters::prelude::*;
use std::{error::Error, ops::Range};

/// One image, with two charts side by side for each of these groups: throughput, and times faster than the base. Both axes are logarithmic:
/// messages of 16 bytes and of 16 MiB are both worth seeing, and twice as fast is the same step everywhere. Cases without bytes are not in
/// it; a group without two sizes has no charts, and where no group has any there is no image: `None`. Of more than eight contenders, the
/// eight that are fastest over all sizes are shown: there are no more colours that can be told apart.
///
/// # Errors
/// None that writing to a string can meet.
pub fn svg(results: &Results, groups: &[&str]) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
    let charts: Vec<Chart<'_>> = groups
        .iter()
        .flat_map(|group| [Kind::Throughput, Kind::Ratio].map(|kind| Chart { group, kind, lines: lines(results, group, kind) }))
        .filter(|chart| chart.bounds(|point| point.0).is_some_and(|range| range.start < range.end))
        .collect();
    if charts.is_empty() {
        return Ok(None);
    }
    let mut image = String::new();
    draw(&mut image, &charts).map_err(|error| error.to_string())?;
    Ok(Some(image))
}

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Throughput,
    Ratio,
}

struct Chart<'a> {
    group: &'a str,
    kind: Kind,
    lines: Vec<Line<'a>>,
}

/// A contender's name, and its points.
type Line<'a> = (&'a str, Vec<(f64, f64)>);

fn lines<'a>(results: &'a Results, group: &str, kind: Kind) -> Vec<Line<'a>> {
    let cases: Vec<_> = results.cases.iter().filter(|measured| measured.case.group == group).collect();
    let mut lines: Vec<Line<'a>> = names(&cases).into_iter().map(|name| (name, Vec::new())).collect();
    for measured in cases {
        // There is no 0 on a logarithmic axis.
        let Some(bytes) = measured.case.bytes.filter(|bytes| *bytes > 0) else { continue };
        for (name, points) in &mut lines {
            let Some(own) = measured.by(name) else { continue };
            let value = match kind {
                Kind::Throughput => measured.throughput(own),
                Kind::Ratio => results.base(measured).map(|base| own.times_faster_than(base)),
            };
            points.extend(value.map(|value| (bytes as f64, value)));
        }
    }
    for (_, points) in &mut lines {
        points.sort_by(|one, two| one.0.total_cmp(&two.0));
    }
    lines.retain(|(_, points)| !points.is_empty());
    if lines.len() > COLOURS.len() {
        lines.sort_by(|one, two| height(two).total_cmp(&height(one)));
        lines.truncate(COLOURS.len());
    }
    lines
}

/// How high a line lies in the chart: the mean of its points, on the logarithmic axis.
fn height((_, points): &Line<'_>) -> f64 {
    points.iter().map(|(_, value)| value.ln()).sum::<f64>() / points.len() as f64
}

/// An error of drawing.
type Drawn = Result<(), Box<dyn Error>>;

fn draw(image: &mut String, charts: &[Chart<'_>]) -> Drawn {
    let rows = charts.len().div_ceil(2);
    let area = SVGBackend::with_string(image, (2 * SIZE.0, rows as u32 * SIZE.1)).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, chart) in area.split_evenly((rows, 2)).iter().zip(charts) {
        chart.draw(area)?;
    }
    area.present()?;
    Ok(())
}

impl Chart<'_> {
    fn bounds(&self, of: fn(&(f64, f64)) -> f64) -> Option<Range<f64>> {
        let values = || self.lines.iter().flat_map(|(_, points)| points).map(of);
        Some(values().min_by(f64::total_cmp)?..values().max_by(f64::total_cmp)?)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Drawn {
        let (Some(x), Some(y)) = (self.bounds(|point| point.0), self.bounds(|point| point.1)) else { return Ok(()) };
        let y = y.start / 1.15..y.end * 1.15;
        let (what, unit) = match self.kind {
            Kind::Throughput => ("throughput", "GB/s"),
            Kind::Ratio => ("times faster than the base", "times"),
        };
        area.titled(self.group, ("sans-serif", 14))?;
        let mut chart = ChartBuilder::on(area)
            .caption(what, ("sans-serif", 14))
            .margin_top(24)
            .margin_left(8)
            .margin_right(16)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x.log_scale().base(4.0), y.log_scale().base(2.0))?;
        chart
            .configure_mesh()
            .x_desc("bytes")
            .y_desc(unit)
            .x_label_formatter(&|bytes| short(*bytes))
            .y_label_formatter(&|value| format!("{}", (value * 1000.0).round() / 1000.0))
            .bold_line_style(RGBColor(220, 220, 220))
            .max_light_lines(0)
            .draw()?;
        for (number, (name, points)) in self.lines.iter().enumerate() {
            let style = COLOURS[number % COLOURS.len()].stroke_width(2);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), style).point_size(3))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        let corner = match self.kind {
            Kind::Throughput => SeriesLabelPosition::MiddleRight,
            Kind::Ratio => SeriesLabelPosition::UpperRight,
        };
        chart.configure_series_labels().position(corner).background_style(WHITE.mix(0.85)).border_style(RGBColor(200, 200, 200)).draw()?;
        Ok(())
    }
}

/// Pixels of one chart; an SVG scales.
const SIZE: (u32, u32) = (640, 400);

/// Eight colours that stay apart for most kinds of colour blindness (Okabe and Ito, "Color Universal Design", 2008), black last.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(240, 228, 66),
    RGBColor(0, 0, 0),
];

/// A number of bytes, briefly: 256, 4K, 16M.
fn short(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1_048_576.0 => format!("{}M", (bytes / 1_048_576.0).round()),
        bytes if bytes >= 1024.0 => format!("{}K", (bytes / 1024.0).round()),
        bytes => format!("{}", bytes.round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Measured, Measurement, results::tests::example};

    #[test]
    fn points() {
        let results = example();
        let throughput = lines(&results, "seal", Kind::Throughput);
        assert_eq!(throughput[0], ("ours", vec![(64.0, 4.0), (4096.0, 8.192)]));
        assert_eq!(
            throughput.iter().map(|(name, points)| (*name, points.len())).collect::<Vec<_>>(),
            [("ours", 2), ("rival two", 1), ("rival, one", 2)]
        );
        assert_eq!(lines(&results, "seal", Kind::Ratio)[0].1, [(64.0, 3.0), (4096.0, 0.9)]);
        assert_eq!([64.0, 4096.0, 1_048_576.0].map(short), ["64", "4K", "1M"]);
    }

    /// Ten contenders, the last of them the fastest: the two slowest have no line.
    #[test]
    fn no_more_lines_than_colours() {
        let contenders = (0..10).map(|number| Measurement::new(&format!("number {number}"), 1, vec![f64::from(20 - number)])).collect();
        let results = Results {
            cases: vec![Measured { case: Case::of_bytes("seal", 64), contenders }],
            ..Results::new(crate::Machine::here("test"))
        };
        let names: Vec<&str> = lines(&results, "seal", Kind::Throughput).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, (2..10).rev().map(|number| format!("number {number}")).collect::<Vec<_>>());
    }

    #[test]
    fn images() {
        let results = example();
        let image = svg(&results, &["seal", "key"]).unwrap().unwrap();
        assert!(image.starts_with("<svg") && image.trim_end().ends_with("</svg>"));
        assert!(["ours", "rival, one", "rival two", "4K", "bytes", "GB/s"].iter().all(|label| image.contains(label)), "{image}");
        assert_eq!(image.matches("throughput").count(), 1);
        assert!(svg(&results, &["key", "no such group"]).unwrap().is_none());
    }
}
