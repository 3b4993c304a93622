//! The value of `--constraint`: `a&b`, `a|b`, `(a|b)&c`, `[a|b]`, `a*2&b*3`.
//!
//! Slurm gives `&` and `|` no precedence: without parentheses they are applied from left to right.

use foresite_engine::ids::FeatureId;
use foresite_engine::job::FeatureExpr;

use super::remarks::{About, Remarked};

/// Parentheses deeper than this are no constraint.
const DEEPEST: u32 = 16;

/// Reads a constraint over the features a cluster has; what cannot be read, or no node has, is remarked on.
pub(super) fn parse(text: &str, features: &[String], about: &mut Remarked<'_>) -> FeatureExpr {
    let text = text.trim();
    if text.is_empty() || text == "(null)" {
        return FeatureExpr::Any;
    }
    let mut parser = Parser { rest: text, features, about };
    match parser.list(0) {
        Some(parsed) if parser.rest.is_empty() => parsed.finish(),
        _ => {
            about.say(About::Constraint, text);
            FeatureExpr::Unknown(text.to_owned())
        }
    }
}

struct Parser<'p, 'r> {
    rest: &'p str,
    features: &'p [String],
    about: &'p mut Remarked<'r>,
}

/// Terms joined by operators, in order.
struct List {
    terms: Vec<(FeatureExpr, Option<u32>)>,
    /// The operator before each term but the first.
    operators: Vec<char>,
}

impl Parser<'_, '_> {
    fn list(&mut self, depth: u32) -> Option<List> {
        let mut list = List { terms: vec![self.term(depth)?], operators: Vec::new() };
        while let Some(operator) = self.rest.chars().next().filter(|letter| matches!(letter, '&' | '|' | ',')) {
            self.rest = self.rest.get(1..)?;
            // A comma is an old spelling of `&`.
            list.operators.push(if operator == ',' { '&' } else { operator });
            list.terms.push(self.term(depth)?);
        }
        Some(list)
    }

    fn term(&mut self, depth: u32) -> Option<(FeatureExpr, Option<u32>)> {
        if depth > DEEPEST {
            return None;
        }
        if let Some(inner) = self.rest.strip_prefix('(') {
            self.rest = inner;
            let expression = self.list(depth + 1)?.finish();
            self.rest = self.rest.strip_prefix(')')?;
            return Some((expression, self.count()?));
        }
        if let Some(inner) = self.rest.strip_prefix('[') {
            self.rest = inner;
            let list = self.list(depth + 1)?;
            self.rest = self.rest.strip_prefix(']')?;
            let counted = list.terms.iter().any(|(_, count)| count.is_some());
            let expression = if counted || list.operators.contains(&'&') {
                list.finish()
            } else {
                FeatureExpr::MatchingOr(list.terms.into_iter().map(|(term, _)| term).collect())
            };
            return Some((expression, self.count()?));
        }
        let end = self.rest.find(['&', '|', ',', '(', ')', '[', ']', '*']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let expression = match self.features.iter().position(|feature| feature == name) {
            Some(index) => FeatureExpr::Has(FeatureId::new(index)),
            None => {
                self.about.say(About::Feature, name);
                FeatureExpr::Unknown(name.to_owned())
            }
        };
        Some((expression, self.count()?))
    }

    /// `*2`; `None` if a star is followed by no number.
    fn count(&mut self) -> Option<Option<u32>> {
        let Some(rest) = self.rest.strip_prefix('*') else { return Some(None) };
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (number, rest) = rest.split_at_checked(digits)?;
        self.rest = rest;
        Some(Some(number.parse().ok()?))
    }
}

impl List {
    fn finish(self) -> FeatureExpr {
        if self.terms.iter().any(|(_, count)| count.is_some()) {
            return self.counted();
        }
        let mut terms = self.terms.into_iter().map(|(term, _)| term);
        let Some(first) = terms.next() else { return FeatureExpr::Any };
        self.operators.into_iter().zip(terms).fold(first, |left, (operator, right)| match (operator, left) {
            ('&', FeatureExpr::And(mut all)) => {
                all.push(right);
                FeatureExpr::And(all)
            }
            ('&', left) => FeatureExpr::And(vec![left, right]),
            (_, FeatureExpr::Or(mut all)) => {
                all.push(right);
                FeatureExpr::Or(all)
            }
            (_, left) => FeatureExpr::Or(vec![left, right]),
        })
    }

    /// Counted terms, and what all nodes must have besides.
    fn counted(self) -> FeatureExpr {
        let mut counted = Vec::new();
        let mut all = Vec::new();
        for (term, count) in self.terms {
            match count {
                Some(count) => counted.push((term, count)),
                None => all.push(term),
            }
        }
        if all.is_empty() {
            return FeatureExpr::Counted(counted);
        }
        all.insert(0, FeatureExpr::Counted(counted));
        FeatureExpr::And(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::remarks::Remarks;
    use super::*;

    fn read(text: &str) -> (String, usize) {
        let features = ["a", "b", "c"].map(str::to_owned);
        let mut remarks = Remarks::new("t", false);
        let parsed = parse(text, &features, &mut remarks.of(1, 1));
        (words(&parsed), remarks.finish().len())
    }

    fn words(expression: &FeatureExpr) -> String {
        let list = |all: &[FeatureExpr]| all.iter().map(words).collect::<Vec<_>>().join(" ");
        match expression {
            FeatureExpr::Any => "any".into(),
            FeatureExpr::Has(id) => ["a", "b", "c"].get(id.index()).copied().unwrap_or("?").into(),
            FeatureExpr::Unknown(name) => format!("<{name}>"),
            FeatureExpr::And(all) => format!("and({})", list(all)),
            FeatureExpr::Or(all) => format!("or({})", list(all)),
            FeatureExpr::MatchingOr(all) => format!("same({})", list(all)),
            FeatureExpr::Counted(all) => {
                let terms: Vec<String> = all.iter().map(|(term, count)| format!("{}*{count}", words(term))).collect();
                format!("count({})", terms.join(" "))
            }
        }
    }

    #[test]
    fn constraints_are_read_from_left_to_right() {
        for (text, expected) in [
            ("", "any"),
            ("a", "a"),
            ("a&b&c", "and(a b c)"),
            ("a|b|c", "or(a b c)"),
            ("a|b&c", "and(or(a b) c)"),
            ("a&(b|c)", "and(a or(b c))"),
            ("[a|b]", "same(a b)"),
            ("[a|b]&c", "and(same(a b) c)"),
            ("a*2&b*3", "count(a*2 b*3)"),
            ("[a*2&b*4]", "count(a*2 b*4)"),
            ("a*2&c", "and(count(a*2) c)"),
        ] {
            assert_eq!(read(text), (expected.to_owned(), 0), "{text}");
        }
    }

    #[test]
    fn unknown_features_and_broken_constraints_are_remarked_on() {
        assert_eq!(read("a&x"), ("and(a <x>)".to_owned(), 1));
        for text in ["a&", "(a", "a)", "a**", "[a|b", "&", "a*x"] {
            assert_eq!(read(text), (format!("<{text}>"), 1), "{text}");
        }
        let deep = format!("{}a", "(".repeat(100_000));
        assert_eq!(read(&deep).1, 1);
    }
}
