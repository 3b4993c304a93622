//! Cutting a row into fields, also where a field holds the delimiter.

use super::column::{Column, Content, looks_like_time};
use super::job_id::whole;
use super::layout::{Delimited, Layout, may_quote, without_quotes};

/// Delimiters in fields that are looked for in one row; more is a broken row.
const MOST_SURPLUS: usize = 64;

/// The fields of one row by column; the buffers are reused from row to row.
#[derive(Default)]
pub(crate) struct RowCutter {
    pieces: Vec<(usize, usize)>,
    at: Vec<(usize, usize)>,
    costs: Vec<u32>,
    choices: Vec<u16>,
    /// A row had just as many fields as there are columns: rows do not end with a delimiter.
    has_plain_rows: bool,
}

/// What R and pandas write where there is nothing.
fn is_nothing(text: &[u8]) -> bool {
    matches!(text, b"NA" | b"NaN" | b"nan" | b"NULL")
}

/// A row cut into fields.
pub(crate) struct Row<'a> {
    line: &'a [u8],
    at: &'a [(usize, usize)],
}

/// What came of cutting a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// As many fields as columns.
    Clean,
    /// Delimiters inside fields, told apart by the columns' contents.
    Repaired,
    /// So many fields, which fit the columns in no way.
    Broken(usize),
}

impl<'a> Row<'a> {
    /// The text of a column; empty if there is no such column.
    pub(crate) fn get(&self, column: Column) -> &'a [u8] {
        let text = self.at.get(column as usize).and_then(|&(from, to)| self.line.get(from..to)).unwrap_or_default();
        let text = without_quotes(text);
        let text = if column.may_have_decimals() { whole(text) } else { text };
        if is_nothing(text) && !column.names() { b"" } else { text }
    }
}

impl RowCutter {
    /// Cuts a row; [`Self::row`] gives its fields.
    pub(crate) fn cut(&mut self, layout: &Layout, line: &[u8]) -> Cut {
        self.at.clear();
        self.at.resize(Column::COUNT, (0, 0));
        match layout {
            Layout::KeyValue => self.cut_pairs(line),
            Layout::Delimited(layout) => self.cut_delimited(layout, line),
        }
    }

    /// The fields of the row cut last, which must be given again.
    pub(crate) fn row<'a>(&'a self, line: &'a [u8]) -> Row<'a> {
        Row { line, at: &self.at }
    }

    /// Takes what was joined to the row cut last into its last field.
    pub(crate) fn lengthen_last(&mut self, layout: &Delimited, line: &[u8]) {
        let end = layout.without_trailing(line).len();
        for (at, field) in self.at.iter_mut().zip(&layout.fields) {
            if field.is_some_and(|field| field + 1 == layout.contents.len()) {
                at.1 = end;
            }
        }
    }

    fn cut_pairs(&mut self, line: &[u8]) -> Cut {
        let mut pairs = 0;
        let mut quoted = false;
        let mut from = 0;
        for (index, byte) in line.iter().copied().chain([b',']).enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b',' if !quoted || index == line.len() => {
                    let item = line.get(from..index).unwrap_or_default();
                    let (start, item) = match item {
                        [b'"', inner @ .., b'"'] => (from + 1, inner),
                        item => (from, item),
                    };
                    if let Some(equals) = memchr::memchr(b'=', item) {
                        let column = item.get(..equals).and_then(Column::named);
                        if let Some(at) = column.and_then(|column| self.at.get_mut(column as usize)) {
                            *at = (start + equals + 1, start + item.len());
                        }
                        pairs += 1;
                    }
                    from = index + 1;
                }
                _ => {}
            }
        }
        if pairs < 2 { Cut::Broken(pairs) } else { Cut::Clean }
    }

    fn cut_delimited(&mut self, layout: &Delimited, line: &[u8]) -> Cut {
        let line = layout.without_trailing(line);
        self.pieces.clear();
        if let [delimiter] = *layout.delimiter
            && may_quote(delimiter)
            && memchr::memchr(b'"', line).is_some()
        {
            self.cut_quoted(delimiter, line);
            if self.pieces.len() == layout.contents.len() {
                self.take_pieces(layout);
                return Cut::Clean;
            }
            // The quotes are a field's own.
            self.pieces.clear();
        }
        let mut from = 0;
        let width = layout.delimiter.len();
        let mut push = |end: usize| {
            self.pieces.push((from, end));
            from = end + width;
        };
        match *layout.delimiter {
            [delimiter] => memchr::memchr_iter(delimiter, line).for_each(&mut push),
            _ => memchr::memmem::find_iter(line, &*layout.delimiter).for_each(&mut push),
        }
        push(line.len());
        let wanted = layout.contents.len();
        self.has_plain_rows |= self.pieces.len() == wanted;
        if self.pieces.len() == wanted + 1 && self.ends_too_late(layout, line) {
            self.pieces.pop();
        }
        let found = self.pieces.len();
        if found == wanted {
            // A command line with both a delimiter and a newline in it can come out with the right number of fields.
            let last = self.pieces.last().and_then(|&(from, to)| line.get(from..to)).unwrap_or_default();
            if last.first() == Some(&b' ') && !matches!(layout.contents.last(), None | Some(Content::Free(_))) {
                return Cut::Broken(found);
            }
            self.take_pieces(layout);
            return Cut::Clean;
        }
        let surplus = found.saturating_sub(wanted);
        if found < wanted
            || surplus > MOST_SURPLUS
            || layout.has_commas_of_its_own()
            || !self.repair(layout, line, surplus)
        {
            return Cut::Broken(found);
        }
        Cut::Repaired
    }

    /// Whether it is a row of `--parsable` below a header of `--parsable2`: no row before was without the last delimiter, and the columns' contents fit.
    fn ends_too_late(&self, layout: &Delimited, line: &[u8]) -> bool {
        let fits = |(&(from, to), content): (&(usize, usize), &Content)| {
            line.get(from..to).is_some_and(|piece| is_nothing(piece) || content.admits(piece))
        };
        !self.has_plain_rows
            && !layout.has_commas_of_its_own()
            && self.pieces.last() == Some(&(line.len(), line.len()))
            && self.pieces.iter().zip(&layout.contents).all(fits)
    }

    /// Cuts where no quotes enclose the delimiter: they open at a field's begin, and close before the next delimiter.
    fn cut_quoted(&mut self, delimiter: u8, line: &[u8]) {
        let (mut from, mut is_quoted) = (0, line.first() == Some(&b'"'));
        for end in memchr::memchr_iter(delimiter, line).chain([line.len()]) {
            let field = line.get(from..end).unwrap_or_default();
            // Two quotes stand for one that is the field's own.
            let quotes = field.iter().skip(1).rev().take_while(|&&byte| byte == b'"').count();
            if is_quoted && quotes % 2 == 0 && end < line.len() {
                continue;
            }
            self.pieces.push((from, end));
            from = end + 1;
            is_quoted = line.get(from) == Some(&b'"');
        }
    }

    /// The columns' fields, of which each is one piece.
    fn take_pieces(&mut self, layout: &Delimited) {
        for (at, field) in self.at.iter_mut().zip(&layout.fields) {
            if let Some(&piece) = field.and_then(|field| self.pieces.get(field)) {
                *at = piece;
            }
        }
    }

    /// Shares `surplus` pieces out among the free-text columns so that every other column holds what it may, the likeliest
    /// column first. O(columns × surplus²).
    fn repair(&mut self, layout: &Delimited, line: &[u8], surplus: usize) -> bool {
        let (columns, width) = (layout.contents.len(), surplus + 1);
        self.costs.clear();
        self.costs.resize((columns + 1) * width, u32::MAX);
        self.choices.clear();
        self.choices.resize(columns * width, 0);
        if let Some(last) = self.costs.last_mut() {
            *last = 0;
        }
        for (column, content) in layout.contents.iter().enumerate().rev() {
            for used in 0..width {
                let most = if let Content::Free(_) = content { surplus - used } else { 0 };
                let weight = if let Content::Free(weight) = content { *weight } else { 0 };
                let mut best = (u32::MAX, 0u16);
                for extra in 0..=most {
                    let rest = self.costs.get((column + 1) * width + used + extra).copied().unwrap_or(u32::MAX);
                    let cost = rest.saturating_add(weight.saturating_mul(extra as u32));
                    if cost < best.0 {
                        best = (cost, extra as u16);
                    }
                }
                let piece = self.pieces.get(column + used).and_then(|&(from, to)| line.get(from..to));
                let admitted = |piece: &&[u8]| is_nothing(piece) || content.admits(piece);
                let Some(piece) = piece.filter(|piece| best.0 < u32::MAX && admitted(piece)) else { continue };
                if let Some(cost) = self.costs.get_mut(column * width + used) {
                    *cost = best.0.saturating_add(content.strangeness(piece));
                }
                if let Some(choice) = self.choices.get_mut(column * width + used) {
                    *choice = best.1;
                }
            }
        }
        if self.costs.first().is_none_or(|&cost| cost == u32::MAX) {
            return false;
        }
        let mut used = 0;
        for column in 0..columns {
            let extra = self.choices.get(column * width + used).copied().unwrap_or(0) as usize;
            let from = self.pieces.get(column + used).map_or(0, |piece| piece.0);
            // Time stamps in free text are another row's: two torn rows were glued together.
            let swallowed = self.pieces.get(column + used..=column + used + extra).unwrap_or_default();
            let is_stamp =
                |&(from, to): &(usize, usize)| to - from >= 19 && line.get(from..to).is_some_and(looks_like_time);
            if extra > 0 && swallowed.iter().any(is_stamp) {
                return false;
            }
            used += extra;
            let to = self.pieces.get(column + used).map_or(0, |piece| piece.1);
            for (at, field) in self.at.iter_mut().zip(&layout.fields) {
                if *field == Some(column) {
                    *at = (from, to);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cut(header: &str, row: &str, columns: &[Column]) -> (Cut, Vec<String>) {
        let (layout, _) = Layout::detect(header.as_bytes()).unwrap();
        let mut cutter = RowCutter::default();
        let cut = cutter.cut(&layout, row.as_bytes());
        let row = cutter.row(row.as_bytes());
        (cut, columns.iter().map(|&column| String::from_utf8_lossy(row.get(column)).into_owned()).collect())
    }

    #[test]
    fn a_delimiter_inside_a_field_is_told_by_the_other_columns() {
        let header = "JobID|JobName|Submit|State|Constraints|Reservation|Suspended|SubmitLine|WorkDir";
        let columns = [Column::JobName, Column::Constraints, Column::SubmitLine, Column::State];
        let (result, fields) = cut(
            header,
            "1|a|b|2024-01-01T00:08:00|COMPLETED|cpu-a|cpu-b||00:00:00|sbatch --wrap=env | grep SLURM | sed 's/^/export /g'|/home/x",
            &columns,
        );
        assert_eq!(result, Cut::Repaired);
        assert_eq!(fields, ["a|b", "cpu-a|cpu-b", "sbatch --wrap=env | grep SLURM | sed 's/^/export /g'", "COMPLETED"]);
        // What follows the delimiter has no time's shape (rec w2325).
        let row = "1|j|2024-01-01T00:08:00|FAILED|std|big||00:00:00|sbatch -C std|big -w n11 --requeue|/";
        let (result, fields) = cut(header, row, &columns);
        assert_eq!((result, fields[2].as_str()), (Cut::Repaired, "sbatch -C std|big -w n11 --requeue"));
    }

    #[test]
    fn what_stands_for_nothing_is_nothing_but_in_names() {
        let columns = [Column::User, Column::Constraints, Column::ReqGres];
        let fields = cut("JobID|User|State|Constraints|ReqGRES", "1|NA|COMPLETED|NA|nan", &columns);
        assert_eq!(fields, (Cut::Clean, vec!["NA".to_owned(), String::new(), String::new()]));
    }

    #[test]
    fn a_delimiter_more_at_the_end_of_rows_is_no_field() {
        let columns = [Column::State, Column::Constraints];
        let (result, fields) = cut("JobID|State|Constraints", "1|COMPLETED|CPU-M|", &columns);
        assert_eq!((result, fields), (Cut::Clean, vec!["COMPLETED".to_owned(), "CPU-M".to_owned()]));
        // What does not fit is a field's own delimiter, and so is every one after a row without the last one.
        let columns = [Column::JobName, Column::Partition];
        let (result, fields) = cut("JobID|JobName|State|Partition|Constraints", "1|j|x|COMPLETED|p|", &columns);
        assert_eq!((result, fields), (Cut::Repaired, vec!["j|x".to_owned(), "p".to_owned()]));
        let (layout, _) = Layout::detect(b"JobID|State|SubmitLine|Constraints").unwrap();
        let mut cutter = RowCutter::default();
        assert_eq!(cutter.cut(&layout, b"1|COMPLETED|sbatch a|"), Cut::Clean);
        let row = b"2|COMPLETED|sbatch --wrap=a | b|";
        assert_eq!(cutter.cut(&layout, row), Cut::Repaired);
        assert_eq!(cutter.row(row).get(Column::SubmitLine), b"sbatch --wrap=a | b");
    }

    /// sacct does not quote: with `--delimiter=,` nothing tells the commas of a list from those between fields.
    #[test]
    fn commas_of_lists_and_between_fields_are_not_told_apart() {
        let header = "JobID,State,ReqTRES,AllocTRES,Constraints";
        let row = "1,COMPLETED,cpu=1,mem=4G,cpu=1,mem=4G,";
        assert_eq!(cut(header, row, &[]).0, Cut::Broken(7));
    }

    #[test]
    fn rows_that_fit_in_no_way_are_broken() {
        let header = "JobID|Submit|State";
        assert_eq!(cut(header, "1|2024-01-01T00:08:00", &[]).0, Cut::Broken(2));
        assert_eq!(cut(header, "1|2024-01-01T00:08:00|COMPLETED|1", &[]).0, Cut::Broken(4));
        assert_eq!(cut("JobID|JobName|State", &format!("1|{}|FAILED", "|".repeat(100)), &[]).0, Cut::Broken(103));
    }

    #[test]
    fn quotes_enclose_delimiters_where_a_file_is_of_commas() {
        let header = "JobID,JobName,State,AllocTRES";
        let columns = [Column::JobName, Column::AllocTres];
        let of = |row: &str| cut(header, row, &columns);
        let fields = |name: &str, tres: &str| vec![name.to_owned(), tres.to_owned()];
        assert_eq!(of("1,\",\",FAILED,\"cpu=1,node=1\""), (Cut::Clean, fields(",", "cpu=1,node=1")));
        assert_eq!(of("1,\"a\"\",b\",FAILED,\"\""), (Cut::Clean, fields("a\"\",b", "")));
        // A quote that opens nothing is the field's own.
        assert_eq!(of("1,\"a,FAILED,cpu=1"), (Cut::Clean, fields("\"a", "cpu=1")));
        assert_eq!(of("1,\"a,b,FAILED,cpu=1").0, Cut::Broken(5));
        assert_eq!(of("1,\"a,FAILED").0, Cut::Broken(3));
    }

    #[test]
    fn pairs_are_read_with_quotes() {
        let row = "v=0.1.0,JobID=7,\"AllocTRES=billing=19,cpu=1\",JobName=a=b";
        let (result, fields) = cut(row, row, &[Column::JobId, Column::AllocTres, Column::JobName, Column::User]);
        assert_eq!(
            (result, fields),
            (Cut::Clean, vec!["7".into(), "billing=19,cpu=1".into(), "a=b".into(), String::new()])
        );
    }
}
