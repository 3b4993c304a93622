//! SQLite's work, on threads that may block. A caller that goes away (a client hung up) waits for its statement's end: the connection must
//! not be used by another before. diesel-async's own way to wait panics where actix-web serves, on runtimes of one thread.

use std::error::Error;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Poll};

use diesel_async::sync_connection_wrapper::SpawnBlocking;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

/// The runtime of whoever asks.
pub(crate) struct Blocking;

impl SpawnBlocking for Blocking {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn Error + Send + Sync + 'static>>> {
        let (running, is_over) = channel::<()>();
        let work = tokio::task::spawn_blocking(move || {
            // Dropped last, also when the work panics or is never begun.
            let _running = running;
            task()
        });
        Work { work, is_over }.map_err(Box::from).boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

struct Work<R> {
    work: JoinHandle<R>,
    is_over: Receiver<()>,
}

impl<R> Future for Work<R> {
    type Output = Result<R, tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.work).poll(cx)
    }
}

impl<R> Drop for Work<R> {
    fn drop(&mut self) {
        if self.work.is_finished() {
            return;
        }
        // Nothing is ever sent: this ends with the work.
        let wait = || self.is_over.recv().is_ok();
        let may_move_others =
            Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread);
        if may_move_others {
            tokio::task::block_in_place(wait);
        } else {
            wait();
        }
    }
}
