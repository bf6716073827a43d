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
    let charts: Vec<Chart<'_>> = groups.iter().flat_map(|group| charts(results, group)).collect();
    if charts.is_empty() { Ok(None) } else { draw(&charts, 2, true).map(|image| Some(dense(&image))) }
}

/// The same picture in one line.
fn dense(image: &str) -> String {
    image.split_whitespace().collect::<Vec<_>>().join(" ").replace("> <", "><") + "\n"
}

/// The same charts of one group, each an image of its own: a page sets them side by side where it is wide
/// enough, below the name of the group.
pub(crate) fn images(results: &Results, group: &str) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
    charts(results, group).map(|chart| draw(&[chart], 1, false)).collect()
}

fn charts<'a>(results: &'a Results, group: &'a str) -> impl Iterator<Item = Chart<'a>> {
    let charts = [Kind::Throughput, Kind::Ratio].map(|kind| Chart { group, kind, lines: lines(results, group, kind) });
    charts.into_iter().filter(|chart| chart.bounds(|point| point.0).is_some_and(|range| range.start < range.end))
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

fn draw(charts: &[Chart<'_>], columns: usize, titled: bool) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut image = String::new();
    draw_to(&mut image, charts, columns, titled).map_err(|error| error.to_string())?;
    Ok(image)
}

fn draw_to(image: &mut String, charts: &[Chart<'_>], columns: usize, titled: bool) -> Drawn {
    let rows = charts.len().div_ceil(columns);
    let legend = charts.iter().map(|chart| chart.lines.len().div_ceil(LEGEND.0)).max().unwrap_or(0) as u32 * LEGEND.1;
    let size = (SIZE.0, SIZE.1 + MARGIN + legend + MARGIN);
    let area = SVGBackend::with_string(image, (columns as u32 * size.0, rows as u32 * size.1)).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, chart) in area.split_evenly((rows, columns)).iter().zip(charts) {
        let (plot, legend) = area.split_vertically(SIZE.1);
        chart.draw(&plot, titled)?;
        chart.draw_legend(&legend)?;
    }
    area.present()?;
    Ok(())
}

impl Chart<'_> {
    fn bounds(&self, of: fn(&(f64, f64)) -> f64) -> Option<Range<f64>> {
        let values = || self.lines.iter().flat_map(|(_, points)| points).map(of);
        Some(values().min_by(f64::total_cmp)?..values().max_by(f64::total_cmp)?)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, titled: bool) -> Drawn {
        let (Some(x), Some(y)) = (self.bounds(|point| point.0), self.bounds(|point| point.1)) else { return Ok(()) };
        let y = y.start / 1.15..y.end * 1.15;
        let range = y.end / y.start;
        let (what, unit) = match self.kind {
            Kind::Throughput => ("throughput", "GB/s"),
            Kind::Ratio => ("times faster than the base", "times"),
        };
        if titled {
            area.titled(self.group, ("sans-serif", 17))?;
        }
        let mut chart = ChartBuilder::on(area)
            .caption(what, ("sans-serif", 17))
            .margin_top(if titled { 24 } else { 4 })
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
            .label_style(("sans-serif", 15))
            .bold_line_style(RGBColor(220, 220, 220))
            .max_light_lines(0)
            .draw()?;
        for (number, (_, points)) in self.lines.iter().enumerate() {
            // What is drawn later lies upon it: it is seen on both sides of that.
            let upon = self.lines[number + 1..].iter().filter(|(_, later)| lies_upon(points, later, range)).count();
            let style = style(number).stroke_width(2 + 3 * upon as u32);
            chart.draw_series(LineSeries::new(points.iter().copied(), style).point_size(3 + 2 * upon as u32))?;
        }
        Ok(())
    }

    /// Names and colours, below the chart: in it they would cover the curves.
    fn draw_legend(&self, area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Drawn {
        let (columns, height) = (LEGEND.0, LEGEND.1 as i32);
        let width = (SIZE.0 - INSET) as i32 / columns as i32;
        for (number, (name, _)) in self.lines.iter().enumerate() {
            let (x, y) =
                (INSET as i32 + (number % columns) as i32 * width, MARGIN as i32 + (number / columns) as i32 * height + height / 2);
            area.draw(&PathElement::new([(x, y), (x + 16, y)], style(number)))?;
            area.draw(&Text::new(*name, (x + 22, y - 6), ("sans-serif", 15)))?;
        }
        Ok(())
    }
}

/// Returns whether `later` hides a half of a line that is drawn before it: there the two are less than three pixels apart. The chart's vertical
/// axis goes from a number to `range` times that number.
fn lies_upon(points: &[(f64, f64)], later: &[(f64, f64)], range: f64) -> bool {
    let pixels = |one: f64, other: f64| (one / other).ln().abs() / range.ln() * f64::from(SIZE.1);
    let hidden = points.iter().filter(|(x, y)| later.iter().any(|(at, other)| at == x && pixels(*y, *other) < 3.0)).count();
    2 * hidden > points.len()
}

/// A contender's line.
fn style(number: usize) -> ShapeStyle {
    COLOURS[number % COLOURS.len()].stroke_width(2)
}

/// Pixels of one chart without its legend; an SVG scales.
const SIZE: (u32, u32) = (640, 400);

/// The legend: columns, and pixels of a line. It begins where the horizontal axis does, with a margin above
/// and below.
const LEGEND: (usize, u32) = (3, 18);
const INSET: u32 = 68;
const MARGIN: u32 = 8;

/// Eight colours that stay apart for most kinds of colour blindness (Okabe and Ito, "Color Universal Design", 2008), with grey in place of yellow,
/// which is faint on white.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(130, 130, 130),
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

    /// A line that another one covers is the wider one.
    #[test]
    fn every_line_is_seen() {
        let mut results = example();
        let group = results.cases[0].case.group.clone();
        let widths = |results: &Results| {
            let image = super::images(results, &group).unwrap().remove(0);
            let lines =
                image.split("<polyline").skip(1).filter_map(|line| line.split_once("stroke-width=\"")?.1.split_once('"')?.0.parse().ok());
            lines.collect::<Vec<u32>>()
        };
        let before = widths(&results);
        let first = results.cases[0].contenders[0].contender.clone();
        for measured in &mut results.cases {
            let twin = measured.contenders.iter().find(|one| one.contender == first).cloned();
            measured.contenders.extend(twin.map(|twin| Measurement {
                contender: "twin".into(),
                median_ns: twin.median_ns * 1.001,
                ..twin
            }));
        }
        let after = widths(&results);
        assert!(before.iter().all(|width| *width < 5) && after.contains(&5), "{before:?} {after:?}");
    }

    #[test]
    fn images() {
        let results = example();
        let image = svg(&results, &["seal", "key"]).unwrap().unwrap();
        assert!(image.starts_with("<svg") && image.trim_end().ends_with("</svg>"));
        assert!(["ours", "rival, one", "rival two", "4K", "bytes", "GB/s"].iter().all(|label| image.contains(label)), "{image}");
        assert_eq!(image.matches("throughput").count(), 1);
        assert!(svg(&results, &["key", "no such group"]).unwrap().is_none());
        assert_eq!((super::images(&results, "seal").unwrap().len(), super::images(&results, "key").unwrap().len()), (2, 0));
    }

    /// What an image says, with the height at which each stands.
    fn texts(image: &str) -> Vec<(&str, i32)> {
        let elements = image.split("<text ").skip(1);
        let height = |element: &str| element.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
        elements.map(|element| (element.split(['>', '<']).nth(1).unwrap().trim(), height(element).unwrap())).collect()
    }

    /// Every name stands below the chart, and all stand in the image.
    #[test]
    fn the_legend_covers_no_curve() {
        let results = example();
        let mut names = 0;
        for image in super::images(&results, "seal").unwrap() {
            let texts = texts(&image);
            let axis = texts.iter().find(|(text, _)| *text == "bytes").unwrap().1;
            let bottom = image.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse::<i32>().unwrap();
            for (name, height) in texts.iter().filter(|(text, _)| ["ours", "rival, one", "rival two"].contains(text)) {
                assert!((axis + 4..bottom - 12).contains(height), "{name}: {height}, the axis {axis}, the image {bottom}");
                names += 1;
            }
        }
        assert_eq!(names, 6);
    }
}
