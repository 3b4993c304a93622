//! Connections to the gRPC door: so many at once, and none that says nothing at first.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// A connection that gives its place back when it is dropped.
pub(super) struct Connection {
    stream: TcpStream,
    /// Until the first byte: what the protocol's own keep-alive does not cover.
    patience: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

/// The listener's connections, at most `most` at once; more wait in the system's queue.
pub(super) fn incoming(
    listener: TcpListener,
    most: usize,
    patience: Duration,
) -> impl Stream<Item = io::Result<Connection>> {
    let places = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
    futures::stream::unfold((listener, places), move |(listener, places)| async move {
        // Never closed, so that this ends only with the program.
        let place = Arc::clone(&places).acquire_owned().await.ok()?;
        let accepted = listener.accept().await.map(|(stream, _)| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection stays with Nagle's algorithm");
            }
            Connection { stream, patience: Some(Box::pin(sleep(patience))), _place: place }
        });
        Some((accepted, (listener, places)))
    })
    .boxed()
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if read.is_ready() {
            self.patience = None;
        } else if let Some(patience) = &mut self.patience
            && patience.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
