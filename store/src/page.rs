//! Pages of a list.

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, Id> {
    /// The rows, newest first.
    pub items: Vec<T>,
    /// Pass as `before` to get the next page; `None` on the last one.
    pub next: Option<Id>,
}

/// Most rows on a page.
pub const PAGE_MAX: i64 = 200;

impl<T, Id> Page<T, Id> {
    /// A page of at most `limit` rows out of up to `limit + 1` loaded ones.
    pub(crate) fn new(mut items: Vec<T>, limit: i64, id_of: impl Fn(&T) -> Id) -> Self {
        let limit = usize::try_from(clamp(limit)).unwrap_or(1);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(id_of) } else { None };
        Self { items, next }
    }
}

/// A page size between 1 and [`PAGE_MAX`].
pub(crate) fn clamp(limit: i64) -> i64 {
    limit.clamp(1, PAGE_MAX)
}
