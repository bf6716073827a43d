//! Results as one page that needs nothing else: no script, no font, no other file.

use crate::{
    Machine, Measured, Results, chart,
    tables::{cell, names},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::error::Error;

/// The page of results: the machine, then for each group its charts and its table.
///
/// # Errors
/// None that writing to a string can meet.
pub fn html(results: &Results, title: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut sections = Vec::new();
    for (group, cases) in results.groups() {
        sections.push(section(results, group, &cases, &chart::images(results, group)?));
    }
    let body = html! {
        p {
            "Samples of all contenders were taken in turn. Times are medians; " b { "times" }
            " is the median of the ratios within each round, more than 1 is faster than "
            @if results.base.is_empty() { "the fastest" } @else { "the base (the fastest of " (results.base.join(", ")) ")" } "."
        }
        @for section in sections { (section) }
    };
    Ok(document(title, &results.machine, &body))
}

/// A page with this title that says on which machine all was measured, and then the rest.
fn document(title: &str, machine: &Machine, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                dl { @for (name, value) in machine.lines() { dt { (name) } dd { (value) } } }
                (body)
            }
        }
    };
    page.into_string()
}

/// A row for each contender and a column for each case: names are long, sizes are short, and a page is not
/// wide.
fn section(results: &Results, group: &str, cases: &[&Measured], charts: &[String]) -> Markup {
    let names = names(cases);
    html! {
        h2 { (group) }
        @if !charts.is_empty() { div class="charts" { @for chart in charts { (PreEscaped(chart)) } } }
        div class="table" {
            table {
                tr { th {} @for measured in cases { th { (measured.case.name) } } }
                @for name in &names {
                    tr {
                        th { (name) }
                        @for measured in cases {
                            td {
                                @if let Some([ns, throughput, times]) = cell(results, measured, name) {
                                    b { (ns) } " ns"
                                    @if !throughput.is_empty() { br; (throughput) " GB/s" }
                                    @if !times.is_empty() { br; (times) " times" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Charts stand side by side or one below the other, as the page is wide. A table that is wider than the page
/// scrolls by itself, beside its names. On a telephone charts scroll, too, because their letters would be too small to be read, and names are wrapped. In the dark, what the charts have in white, black and grey changes with the page; their colours are seen on both.
const STYLE: &str = ":root{color-scheme:light dark;--page:#fff;--text:#222;--line:#ddd;--grid:#dcdcdc}\
@media(prefers-color-scheme:dark){:root{--page:#181a1b;--text:#ddd;--line:#3c4043;--grid:#3c4043}}\
body{font:15px/1.5 sans-serif;max-width:86em;margin:2em auto;padding:0 1em;color:var(--text);background:var(--page)}\
a{color:inherit}dl{display:grid;grid-template-columns:max-content auto;gap:0 1em}dd{margin:0;overflow-wrap:anywhere}\
.charts{display:flex;flex-wrap:wrap}svg{flex:1 1 600px;max-width:min(100%,720px);height:auto}\
svg [fill='#FFFFFF']{fill:var(--page)}svg [fill='#000000']{fill:var(--text)}svg [stroke='#000000']{stroke:var(--text)}\
svg [stroke='#DCDCDC']{stroke:var(--grid)}.table{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px;line-height:1.35}\
th,td{padding:.25em .7em;text-align:right;vertical-align:top;white-space:nowrap}\
th:first-child{position:sticky;left:0;background:var(--page);text-align:left}tr:nth-child(n+2){border-top:1px solid var(--line)}\
h1,h2,p{overflow-wrap:anywhere}@media(max-width:700px){body{margin:1em auto}dl{display:block}dd{margin:0 0 .4em 1em}\
.charts{display:block;overflow-x:auto}svg{width:640px;max-width:none}\
th:first-child{min-width:7em;max-width:38vw;white-space:normal;overflow-wrap:anywhere}}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn one_page() {
        let page = html(&example(), "A & B").unwrap();
        // A group has its title once: what a chart says is what it shows.
        assert_eq!((page.matches("seal").count(), page.matches("throughput").count()), (1, 1), "{page}");
        assert!(page.contains("<h1>A &amp; B</h1>") && page.contains("&lt;avx&gt;") && !page.contains("<avx>"));
        assert_eq!((page.matches("<svg").count(), page.matches("<script").count()), (2, 0));
        assert_eq!((page.matches("<table>").count(), page.matches("<div class=\"table\"><table>").count()), (2, 2));
        assert_eq!(page.matches("<td>").count(), 3 * 3 + 1);
        // One case of all contenders, then the next.
        assert!(page.contains("<td><b>16.0</b> ns<br>4.00 GB/s<br>3.00 times</td>"), "{page}");
    }
}
