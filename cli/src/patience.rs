//! Calls that are tried again: a service that is being restarted, or asks for patience, is no reason to give up.

use std::time::{Duration, Instant};

use crate::client::ClientError;

/// The first wait between two tries; each is twice the one before, up to the longest, unless the service says how long.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(15);

/// Why a try gave no result.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Another try may do better, after as long as the service says.
    Later(ClientError, Option<Duration>),
    /// None can.
    Final(ClientError),
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Self::Final(error.into())
    }
}

/// For how long a call is tried again after its first failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience(pub(crate) Duration);

impl Patience {
    /// Makes a call until it succeeds, fails for good, or patience ends; the call must do no harm when it is made twice.
    pub(crate) async fn insist<T>(self, call: impl AsyncFn() -> Result<T, Failed>) -> Result<T, ClientError> {
        let mut first_failure = None;
        let mut failures = 0;
        loop {
            let (error, asked) = match call().await {
                Ok(value) => return Ok(value),
                Err(Failed::Final(error)) => return Err(error),
                Err(Failed::Later(error, asked)) => (error, asked),
            };
            let since = first_failure.get_or_insert_with(Instant::now);
            let Some(wait) = self.wait(failures, since.elapsed(), asked) else { return Err(error) };
            if failures == 0 {
                eprintln!("foresite: {error}; trying again for up to {} s", self.0.as_secs());
            }
            tokio::time::sleep(wait).await;
            failures += 1;
        }
    }

    /// How long to wait after so many failures before this one, the first of them so long ago; `None` when patience would end
    /// meanwhile.
    fn wait(self, failures: u32, since: Duration, asked: Option<Duration>) -> Option<Duration> {
        let own = FIRST.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST);
        // A front may say 0; at once would be too often.
        let wait = asked.map_or(own, |asked| asked.max(FIRST));
        (since.saturating_add(wait) <= self.0).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Patience = Patience(Duration::from_secs(60));

    #[test]
    fn waits_grow_and_end_with_patience() {
        let wait =
            |failures, since| MINUTE.wait(failures, Duration::from_secs(since), None).map(|wait| wait.as_millis());
        let first: Vec<_> = (0..8).map(|failures| wait(failures, 0)).collect();
        assert_eq!(first, [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000].map(Some));
        assert_eq!((wait(u32::MAX, 45), wait(6, 46), wait(0, 60)), (Some(15_000), None, None));
        assert_eq!(Patience(Duration::ZERO).wait(0, Duration::ZERO, None), None);
    }

    #[test]
    fn the_service_says_how_long_to_wait() {
        let asked = |seconds| MINUTE.wait(3, Duration::ZERO, Some(Duration::from_secs(seconds)));
        assert_eq!((asked(20), asked(0)), (Some(Duration::from_secs(20)), Some(FIRST)));
        // Until then it would be in vain.
        assert_eq!((asked(3600), asked(u64::MAX)), (None, None));
    }
}
