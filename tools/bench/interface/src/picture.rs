//! Draws the table as SVG: for each size a bar for each row, relative to the longest bar of the size.

use super::{Cell, OURS, SIZES};
use std::fmt::Write;

const WIDTH: u32 = 720;
/// The left end of the bars.
const LEFT: u32 = 200;
/// The length of the longest bar.
const LONGEST: f64 = 370.0;
const LINE: u32 = 19;
const HEAD: u32 = 52;

pub(super) fn draw(processor: &str, names: &[String], rows: &[Vec<Cell>]) -> String {
    let group = LINE * (names.len() as u32 + 1) + 12;
    let height = HEAD + group * SIZES.len() as u32;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"16\" font-weight=\"bold\">Time to seal a message, AES-256-GCM, {processor}</text>\n\
         <text x=\"12\" y=\"43\">Shorter is better. Bars of one size are in scale with each other.</text>\n"
    );
    for (column, (_, size)) in SIZES.iter().enumerate() {
        let top = HEAD + group * column as u32;
        let longest = rows.iter().map(|row| row[column].ns).fold(0.0, f64::max);
        let _ = writeln!(picture, "<text x=\"12\" y=\"{}\" font-weight=\"bold\">{size}</text>", top + LINE);
        for (number, (name, row)) in names.iter().zip(rows).enumerate() {
            let (cell, y) = (&row[column], top + LINE * (number as u32 + 1) + 6);
            let (length, is_ours) = (LONGEST * cell.ns / longest, number == OURS);
            let (colour, weight) = if is_ours { ("#0072b2", "bold") } else { ("#b3b3b3", "normal") };
            let beside = if is_ours { String::new() } else { format!(", {:.1} times", cell.times) };
            let _ = writeln!(
                picture,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-weight=\"{weight}\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"15\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-weight=\"{weight}\">{}{beside}</text>",
                LEFT - 8,
                y + 12,
                name,
                f64::from(LEFT) + length + 6.0,
                y + 12,
                cell.time(),
            );
        }
    }
    picture + "</svg>\n"
}
