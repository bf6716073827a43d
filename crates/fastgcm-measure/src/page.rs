//! Results as one page that needs nothing else: no script, no font, no other file.

use crate::{
    Measured, Results, chart,
    tables::{cell, names},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::error::Error;

/// The machine, then for each group its charts and its table.
///
/// # Errors
/// None that writing to a string can meet.
pub fn html(results: &Results, title: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut sections = Vec::new();
    for (group, cases) in results.groups() {
        sections.push(section(results, group, &cases, chart::svg(results, &[group])?));
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                dl { @for (name, value) in results.machine.lines() { dt { (name) } dd { (value) } } }
                p {
                    "Samples of all contenders were taken in turn. Times are medians; " b { "times" }
                    " is the median of the ratios within each round, more than 1 is faster than "
                    @if results.base.is_empty() { "the fastest" } @else { "the base (the fastest of " (results.base.join(", ")) ")" } "."
                }
                @for section in sections { (section) }
            }
        }
    };
    Ok(page.into_string())
}

fn section(results: &Results, group: &str, cases: &[&Measured], charts: Option<String>) -> Markup {
    let names = names(cases);
    html! {
        h2 { (group) }
        @if let Some(charts) = charts { (PreEscaped(charts)) }
        table {
            tr { th {} @for name in &names { th colspan="3" { (name) } } }
            tr { th {} @for _ in &names { th { "ns" } th { "GB/s" } th { "times" } } }
            @for measured in cases {
                tr {
                    th { (measured.case.name) }
                    @for name in &names { @for value in cell(results, measured, name).unwrap_or_default() { td { (value) } } }
                }
            }
        }
    }
}

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}\
dl{display:grid;grid-template-columns:max-content auto;gap:0 1em}dd{margin:0}svg{max-width:100%;height:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.1em .6em;text-align:right}\
tr:nth-child(n+3){border-top:1px solid #ddd}td:nth-child(3n+2),th[colspan]{border-left:1px solid #ddd}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn one_page() {
        let page = html(&example(), "A & B").unwrap();
        assert!(page.contains("<h1>A &amp; B</h1>") && page.contains("&lt;avx&gt;") && !page.contains("<avx>"));
        assert_eq!((page.matches("<svg").count(), page.matches("<table>").count(), page.matches("<script").count()), (1, 2, 0));
        assert_eq!(page.matches("<td>").count(), 3 * 3 * 3 + 3);
    }
}
