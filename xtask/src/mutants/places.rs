//! Where mutants stand in a source, and the source with all of them in it, each behind its switch.
//!
//! cargo-mutants says of an operator where it stands; what a switch wants is the expression around it:
//! ```text
//! a ^ b << 8      becomes      (if crate::planted::is(7) { a & b << 8 } else { a ^ (if crate::planted::is(9) { b >> 8 } else { b << 8 }) })
//! ```
//! A function that is replaced by a value returns it at once, and an arm that is deleted gets a condition that fails. What must be known when
//! the program is compiled (constants, `const fn`) knows no switch, and wants a build of its own; so does a pointer.

use super::Mutant;
use std::{collections::BTreeMap, ops::Range};
use syn::{
    Pat,
    spanned::Spanned,
    visit::{self, Visit},
};

/// What is asked of the switch.
const SWITCH: &str = "crate::planted::is(";

/// A source, and what in it can be switched.
pub(super) struct Places {
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    found: Found,
}

/// Ranges of bytes, by where that stands which a mutant changes.
#[derive(Default)]
struct Found {
    /// Expressions, by their operator: where that ends, and the whole.
    operators: BTreeMap<usize, (usize, Range<usize>)>,
    /// Arms of a match: the condition if there is one, else the place for it.
    arms: BTreeMap<usize, Range<usize>>,
    /// What the compiler computes.
    constant: Vec<Range<usize>>,
}

/// A piece of a source, and what the fault of that number makes of it. Nothing is lost if the piece is empty: then it is an insertion.
pub(super) struct Edit {
    range: Range<usize>,
    number: usize,
    wrong: String,
}

impl Places {
    pub(super) fn of(text: String) -> Result<Self, String> {
        let mut found = Found::default();
        found.visit_file(&syn::parse_file(&text).map_err(|e| e.to_string())?);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Ok(Self { text, lines, found })
    }

    /// The whole source with one mutant, without a switch.
    pub(super) fn alone(&self, mutant: &Mutant) -> String {
        let range = self.range(mutant);
        let replacement = if mutant.genre == "FnValue" { mutant.replacement.clone() } else { format!(" {} ", mutant.replacement) };
        format!("{}{replacement}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// The mutant as a switch of that number; `None` if it cannot be one.
    pub(super) fn edit(&self, mutant: &Mutant, number: usize) -> Option<Edit> {
        let Range { start, end } = self.range(mutant);
        if self.found.constant.iter().any(|range| range.contains(&start)) {
            return None;
        }
        // A null pointer that is read through: the optimiser may conclude that no switch is ever on.
        if mutant.genre == "FnValue" && mutant.name.contains("-> *") {
            return None;
        }
        let (range, wrong) = match mutant.genre.as_str() {
            "FnValue" => (start..start, format!("if {SWITCH}{number}) {{ return {}; }} ", mutant.replacement)),
            "MatchArmGuard" => (start..end, mutant.replacement.clone()),
            "MatchArm" => match self.found.arms.get(&start)?.clone() {
                place if place.is_empty() => (place, format!(" if !{SWITCH}{number})")),
                condition => (condition, "false".into()),
            },
            "BinaryOperator" | "UnaryOperator" => {
                let (behind, whole) = self.found.operators.get(&start)?.clone();
                let wrong = format!("{} {} {}", &self.text[whole.start..start], mutant.replacement, &self.text[behind..whole.end]);
                (whole, wrong)
            }
            _ => return None,
        };
        // A condition with `let` is not an expression that may stand in parentheses.
        let is_expression = !self.text[range.clone()].contains("let ");
        is_expression.then_some(Edit { range, number, wrong })
    }

    /// The source with all of these.
    pub(super) fn switched(&self, mut edits: Vec<Edit>) -> String {
        // What is outside comes first, and an insertion before what stands behind it.
        edits.sort_by_key(|Edit { range, .. }| (range.start, !range.is_empty(), std::cmp::Reverse(range.end)));
        switched(&self.text, 0..self.text.len(), &edits)
    }

    /// The bytes of what a mutant replaces.
    fn range(&self, mutant: &Mutant) -> Range<usize> {
        let offset = |(line, column): (usize, usize)| {
            let start = self.lines[line - 1];
            start + self.text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>()
        };
        offset(mutant.start)..offset(mutant.end)
    }
}

/// The number of the switch that stands last before that byte: there the compiler has found something wrong.
pub(super) fn blamed(switched: &str, byte: usize) -> Option<usize> {
    let at = switched.match_indices(SWITCH).map(|(at, _)| at).take_while(|at| *at <= byte).last()?;
    switched[at + SWITCH.len()..].split(')').next()?.parse().ok()
}

fn switched(text: &str, range: Range<usize>, mut edits: &[Edit]) -> String {
    let (mut result, mut at) = (String::new(), range.start);
    while let Some(Edit { range: outer, wrong, .. }) = edits.first() {
        result += &text[at..outer.start];
        at = outer.end;
        if outer.is_empty() {
            result += wrong;
            edits = &edits[1..];
            continue;
        }
        let (same, behind) = edits.split_at(edits.iter().take_while(|edit| edit.range == *outer).count());
        let (inside, behind) = behind.split_at(behind.iter().take_while(|edit| edit.range.start < outer.end).count());
        let wrong: String = same.iter().map(|edit| format!("if {SWITCH}{}) {{ {} }} else ", edit.number, edit.wrong)).collect();
        result += &format!("({wrong}{{ {} }})", switched(text, outer.clone(), inside));
        edits = behind;
    }
    result + &text[at..range.end]
}

impl Found {
    fn constant(&mut self, part: &impl Spanned) {
        self.constant.push(part.span().byte_range());
    }
}

impl<'a> Visit<'a> for Found {
    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let operator = binary.op.span().byte_range();
        self.operators.insert(operator.start, (operator.end, binary.span().byte_range()));
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        let operator = unary.op.span().byte_range();
        self.operators.insert(operator.start, (operator.end, unary.span().byte_range()));
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let pattern = arm.pat.span().byte_range();
        let condition = if let Pat::Guard(guarded) = &arm.pat { guarded.guard.span().byte_range() } else { pattern.end..pattern.end };
        self.arms.insert(pattern.start, condition);
        visit::visit_arm(self, arm);
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if function.sig.constness.is_some() {
            self.constant(&function.block);
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if function.sig.constness.is_some() {
            self.constant(&function.block);
        }
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.constant(item);
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.constant(item);
    }

    fn visit_trait_item_const(&mut self, item: &'a syn::TraitItemConst) {
        self.constant(item);
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.constant(item);
    }

    fn visit_expr_const(&mut self, block: &'a syn::ExprConst) {
        self.constant(block);
    }

    fn visit_expr_repeat(&mut self, array: &'a syn::ExprRepeat) {
        self.constant(&array.len);
        self.visit_expr(&array.expr);
    }

    fn visit_type(&mut self, kind: &'a syn::Type) {
        self.constant(kind);
    }

    fn visit_generic_argument(&mut self, argument: &'a syn::GenericArgument) {
        if let syn::GenericArgument::Const(value) = argument {
            self.constant(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(genre: &str, start: (usize, usize), end: (usize, usize), replacement: &str) -> Mutant {
        let [name, file] = [String::new(), String::new()];
        Mutant { name, file, genre: genre.into(), replacement: replacement.into(), start, end }
    }

    #[test]
    fn all_in_one() {
        let places = Places::of(
            "fn f(a: u8, b: u8) -> u8 {\n    a ^ b << 1\n}\nconst C: u8 = 1 + 1;\nfn g(a: u8) -> u8 {\n    match -a { 0 => 1, x if x > 2 => 2, _ => 3 }\n}\n".into(),
        )
        .unwrap();
        let mutants = [
            mutant("BinaryOperator", (2, 7), (2, 8), "&"),
            mutant("BinaryOperator", (2, 11), (2, 13), ">>"),
            mutant("FnValue", (2, 5), (2, 15), "0"),
            mutant("MatchArm", (6, 16), (6, 22), ""),
            mutant("MatchArm", (6, 24), (6, 39), ""),
            mutant("UnaryOperator", (6, 11), (6, 12), ""),
        ];
        let edits: Vec<Edit> = mutants.iter().zip(1..).map(|(mutant, number)| places.edit(mutant, number).unwrap()).collect();
        let switched = places.switched(edits);
        let is = |n: usize| format!("crate::planted::is({n})");
        let expected = [
            "fn f(a: u8, b: u8) -> u8 {".into(),
            format!(
                "    if {} {{ return 0; }} (if {} {{ a  &  b << 1 }} else {{ a ^ (if {} {{ b  >>  1 }} else {{ b << 1 }}) }})",
                is(3),
                is(1),
                is(2)
            ),
            "}".into(),
            "const C: u8 = 1 + 1;".into(),
            "fn g(a: u8) -> u8 {".into(),
            format!(
                "    match (if {} {{   a }} else {{ -a }}) {{ 0 if !{} => 1, x if (if {} {{ false }} else {{ x > 2 }}) => 2, _ => 3 }}",
                is(6),
                is(4),
                is(5)
            ),
            "}\n".into(),
        ];
        assert_eq!(switched, expected.join("\n"));
        assert_eq!(blamed(&switched, switched.find("b  >>").unwrap()), Some(2));

        let constant = mutant("BinaryOperator", (4, 17), (4, 18), "-");
        assert!(places.edit(&constant, 7).is_none());
        assert!(places.alone(&constant).contains("const C: u8 = 1  -  1;"));
    }
}
