//! Where the plan has become emptier since the waiting jobs were last tried.

/// Spans kept apart; more are joined, which only makes the set larger.
const MOST_SPANS: usize = 16;

/// A set of times that contains every one at which processors have become free. It may contain more.
#[derive(Debug, Default)]
pub(super) struct Freed {
    spans: Vec<(i64, i64)>,
}

impl Freed {
    /// More is free in [from, to).
    pub(super) fn add(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        if let Some(span) = self.spans.iter_mut().find(|span| span.0 <= to && from <= span.1) {
            *span = (span.0.min(from), span.1.max(to));
        } else if self.spans.len() < MOST_SPANS {
            self.spans.push((from, to));
        } else if let Some(span) = self.spans.last_mut() {
            *span = (span.0.min(from), span.1.max(to));
        }
    }

    /// Forgets what is past.
    pub(super) fn advance(&mut self, now: i64) {
        self.spans.retain_mut(|span| {
            span.0 = span.0.max(now);
            span.0 < span.1
        });
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.spans.clear();
    }

    /// The first and the last time of the set, or `None` if it is empty.
    pub(super) fn bounds(&self) -> Option<(i64, i64)> {
        let first = self.spans.iter().map(|span| span.0).min()?;
        let last = self.spans.iter().map(|span| span.1).max()?;
        Some((first, last))
    }

    /// The spans, in no order; they may overlap.
    pub(super) fn spans(&self) -> &[(i64, i64)] {
        &self.spans
    }
}
