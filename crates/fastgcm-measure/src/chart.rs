//! Charts as SVG: throughput over size, and how many times faster than the base.

use crate::{Results, tables::names};
use plotters::prelude::*;
use std::{error::Error, ops::Range};

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GB/s.
    Throughput,
    /// Times faster than the base.
    Ratio,
}

/// One chart of one group. Both axes are logarithmic: messages of 16 bytes and of 16 MiB are both worth seeing, and twice as fast is the same
/// step everywhere. Cases without bytes are not in it; a group without two sizes has no chart: `None`.
///
/// # Errors
/// None that writing to a string can meet.
pub fn svg(results: &Results, group: &str, kind: Kind) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
    let lines = lines(results, group, kind);
    let points = || lines.iter().flat_map(|(_, points)| points);
    let (x, y) = (bounds(points().map(|point| point.0)), bounds(points().map(|point| point.1)));
    if x.start >= x.end {
        return Ok(None);
    }
    let mut image = String::new();
    draw(&mut image, group, kind, &lines, x, y.start / 1.15..y.end * 1.15).map_err(|error| error.to_string())?;
    Ok(Some(image))
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
    lines
}

fn bounds(values: impl Iterator<Item = f64>) -> Range<f64> {
    values.fold(f64::INFINITY..0.0, |range, value| range.start.min(value)..range.end.max(value))
}

fn draw(image: &mut String, title: &str, kind: Kind, lines: &[Line<'_>], x: Range<f64>, y: Range<f64>) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::with_string(image, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (what, unit) = match kind {
        Kind::Throughput => ("throughput", "GB/s"),
        Kind::Ratio => ("times faster than the base", "times"),
    };
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{title}: {what}"), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x.log_scale().base(4.0), y.log_scale().base(2.0))?;
    chart
        .configure_mesh()
        .x_desc("bytes")
        .y_desc(unit)
        .x_label_formatter(&|bytes| short(*bytes))
        .y_label_formatter(&|value| format!("{value:.2}"))
        .light_line_style(RGBColor(240, 240, 240))
        .draw()?;
    for (number, (name, points)) in lines.iter().enumerate() {
        let style = COLOURS[number % COLOURS.len()].stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style).point_size(3))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    area.present()?;
    Ok(())
}

/// Pixels of a chart; an SVG scales.
const SIZE: (u32, u32) = (860, 460);

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
    use crate::results::tests::example;

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

    #[test]
    fn images() {
        let results = example();
        for kind in [Kind::Throughput, Kind::Ratio] {
            let image = svg(&results, "seal", kind).unwrap().unwrap();
            assert!(image.starts_with("<svg") && image.trim_end().ends_with("</svg>"));
            assert!(["ours", "rival, one", "rival two", "4K", "bytes"].iter().all(|label| image.contains(label)), "{image}");
        }
        assert!(svg(&results, "key", Kind::Ratio).unwrap().is_none());
        assert!(svg(&results, "no such group", Kind::Ratio).unwrap().is_none());
    }
}
