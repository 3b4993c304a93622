//! The shared queue: a Redis stream with one consumer group.
//!
//! Keys, all in one hash slot (`NS` is the namespace):
//! - `{NS}:tasks` the stream; entries have the fields `task` and `attempt`; group `workers`;
//! - `{NS}:known` a set of `TASK:ATTEMPT`: what is in the stream, so that pushing is idempotent;
//! - `{NS}:dead` the stream of messages set aside, with `reason`, at most 10,000;
//! - `{NS}:deployment` whose queue it is. Whoever pushes or connects to read compares, and takes a queue that is nobody's: a worker
//!   with another database would find none of these tasks there, and throw their messages away.
//!
//! A message in the hands of a worker that does not [`Queue::extend`] it for `takeover` goes to the next worker that asks
//! (XAUTOCLAIM). Entries are deleted when acknowledged, so the stream's length is the depth. Stream and set change together in
//! scripts; should they ever disagree (a key was evicted or deleted by hand), the next push makes the set anew. Should the group
//! be gone (FLUSHALL, a new Redis), the next worker that asks makes it.

mod scripts;

use std::time::Duration;

use async_trait::async_trait;
use foresite_store::ids::TaskId;
use foresite_store::tasks::TaskRef;
use foresite_store::time::millis;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::streams::{StreamAutoClaimReply, StreamId, StreamPendingCountReply, StreamReadReply};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError};
use tokio::sync::Mutex;

use crate::queue::{Delivery, Queue, QueueError};

const GROUP: &str = "workers";
/// How long an answer may take, besides the time a read is asked to wait.
const TIMEOUT: Duration = Duration::from_secs(5);
/// A message that was given out so often without an end is set aside; the database still knows its task.
const MAX_DELIVERIES: u64 = 10;
const PUSH_BATCH: usize = 500;
/// Before any message.
const BEGINNING: &str = "0-0";

/// The queue in Redis. Connects when first used, and again after Redis was away.
pub struct RedisQueue {
    client: Client,
    manager: ConnectionManager,
    /// Connections that wait for messages: a waiting read would hold up everything else on a shared one.
    readers: Mutex<Vec<MultiplexedConnection>>,
    /// Where the next search for a silent worker's message goes on: one looks at ten messages in workers' hands.
    searched: Mutex<String>,
    keys: Keys,
    deployment: String,
    takeover: Duration,
}

struct Keys {
    tasks: String,
    known: String,
    dead: String,
    deployment: String,
}

impl std::fmt::Debug for RedisQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisQueue").field("tasks", &self.keys.tasks).finish_non_exhaustive()
    }
}

impl RedisQueue {
    /// The queue of a deployment, in a namespace. `takeover` is how long a worker may be silent; use the tasks' lease. Does not
    /// connect yet.
    pub fn open(url: &str, namespace: &str, deployment: &str, takeover: Duration) -> Result<Self, QueueError> {
        let client = Client::open(url).map_err(|error| QueueError::Url(error.to_string()))?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(2)
            .set_max_delay(Duration::from_millis(200))
            .set_connection_timeout(Some(TIMEOUT))
            .set_response_timeout(Some(TIMEOUT));
        let manager = ConnectionManager::new_lazy_with_config(client.clone(), config).map_err(unreachable)?;
        let key = |name: &str| format!("{{{namespace}}}:{name}");
        let keys = Keys { tasks: key("tasks"), known: key("known"), dead: key("dead"), deployment: key("deployment") };
        let deployment = deployment.to_owned();
        let searched = Mutex::new(BEGINNING.to_owned());
        Ok(Self { client, manager, readers: Mutex::new(Vec::new()), searched, keys, deployment, takeover })
    }

    /// Asks Redis for a sign of life.
    pub async fn ping(&self) -> Result<(), QueueError> {
        redis::cmd("PING").query_async::<()>(&mut self.manager.clone()).await.map_err(unreachable)
    }

    /// Runs a command; makes the group and runs it again if the group was gone.
    async fn with_group<T: FromRedisValue>(
        &self,
        connection: &mut MultiplexedConnection,
        command: &Cmd,
    ) -> Result<T, RedisError> {
        match command.query_async(connection).await {
            Err(error) if error.code() == Some("NOGROUP") => {
                self.create_group(connection).await?;
                command.query_async(connection).await
            }
            other => other,
        }
    }

    /// From the stream's beginning: what was pushed before the group existed is given out too.
    async fn create_group(&self, connection: &mut MultiplexedConnection) -> Result<(), RedisError> {
        let mut command = redis::cmd("XGROUP");
        command.arg("CREATE").arg(&self.keys.tasks).arg(GROUP).arg("0").arg("MKSTREAM");
        match command.query_async::<()>(connection).await {
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
            other => other,
        }
    }

    fn own(&self, owner: String) -> Result<(), QueueError> {
        if owner == self.deployment {
            return Ok(());
        }
        Err(QueueError::Foreign { owner, deployment: self.deployment.clone() })
    }

    /// A connection to read with. A new one may lead to another Redis than the one before.
    async fn reader(&self, wait: Duration) -> Result<MultiplexedConnection, QueueError> {
        if let Some(mut reader) = self.readers.lock().await.pop() {
            reader.set_response_timeout(wait + TIMEOUT);
            return Ok(reader);
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(TIMEOUT))
            .set_response_timeout(Some(wait + TIMEOUT));
        let mut reader =
            self.client.get_multiplexed_async_connection_with_config(&config).await.map_err(unreachable)?;
        let owner = scripts::enter(&self.keys, &self.deployment).invoke_async(&mut reader).await;
        self.own(owner.map_err(unreachable)?)?;
        Ok(reader)
    }

    async fn read(
        &self,
        reader: &mut MultiplexedConnection,
        worker: &str,
        wait: Duration,
    ) -> Result<Option<Delivery>, RedisError> {
        while let Some(delivery) = self.take_over(reader, worker).await? {
            if delivery.deliveries <= MAX_DELIVERIES {
                return Ok(Some(delivery));
            }
            self.set_aside(&delivery, "given out too often without an end").await?;
        }
        let mut command = redis::cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(worker).arg("COUNT").arg(1);
        command.arg("BLOCK").arg(millis(wait).max(1)).arg("STREAMS").arg(&self.keys.tasks).arg(">");
        let reply: Option<StreamReadReply> = self.with_group(reader, &command).await?;
        let entry = reply.and_then(|reply| reply.keys.into_iter().next()).and_then(|key| key.ids.into_iter().next());
        match entry {
            Some(entry) => self.delivery(entry, 1).await,
            None => Ok(None),
        }
    }

    /// A message whose worker has been silent for too long. One call searches a part of those in workers' hands, the next call of any
    /// slot the part after it, and so round and round.
    async fn take_over(
        &self,
        reader: &mut MultiplexedConnection,
        worker: &str,
    ) -> Result<Option<Delivery>, RedisError> {
        let mut command = redis::cmd("XAUTOCLAIM");
        let from = self.searched.lock().await.clone();
        command.arg(&self.keys.tasks).arg(GROUP).arg(worker).arg(millis(self.takeover)).arg(from).arg("COUNT").arg(1);
        let reply: StreamAutoClaimReply = self.with_group(reader, &command).await?;
        self.searched.lock().await.clone_from(&reply.next_stream_id);
        let Some(entry) = reply.claimed.into_iter().next() else { return Ok(None) };
        let mut pending = redis::cmd("XPENDING");
        pending.arg(&self.keys.tasks).arg(GROUP).arg(&entry.id).arg(&entry.id).arg(1);
        let pending: StreamPendingCountReply = pending.query_async(reader).await?;
        let deliveries = pending.ids.first().map_or(1, |id| id.times_delivered as u64);
        self.delivery(entry, deliveries).await
    }

    /// Reads an entry; one that is none of ours is set aside.
    async fn delivery(&self, entry: StreamId, deliveries: u64) -> Result<Option<Delivery>, RedisError> {
        let task = entry.get::<String>("task").and_then(|text| TaskId::parse(&text));
        let attempt = entry.get::<i64>("attempt");
        match task.zip(attempt) {
            Some((task, attempt)) => {
                Ok(Some(Delivery { task: TaskRef { task, attempt }, deliveries, receipt: entry.id }))
            }
            None => {
                let mut connection = self.manager.clone();
                scripts::discard(&self.keys, &entry.id).invoke_async::<()>(&mut connection).await?;
                tracing::warn!(message = %entry.id, "a message in the task stream is none of ours; removed");
                Ok(None)
            }
        }
    }

    async fn set_aside(&self, delivery: &Delivery, reason: &str) -> Result<(), RedisError> {
        tracing::warn!(task.id = %delivery.task.task, task.attempt = delivery.task.attempt, reason, "message set aside");
        let mut connection = self.manager.clone();
        scripts::dead_letter(&self.keys, delivery, reason).invoke_async::<()>(&mut connection).await
    }

    async fn length(&self, key: &str) -> Result<u64, QueueError> {
        redis::cmd("XLEN").arg(key).query_async(&mut self.manager.clone()).await.map_err(unreachable)
    }
}

#[async_trait]
impl Queue for RedisQueue {
    async fn enter(&self) -> Result<(), QueueError> {
        let owner = scripts::enter(&self.keys, &self.deployment).invoke_async(&mut self.manager.clone()).await;
        self.own(owner.map_err(unreachable)?)
    }

    async fn push(&self, tasks: &[TaskRef]) -> Result<(), QueueError> {
        for batch in tasks.chunks(PUSH_BATCH) {
            let mut connection = self.manager.clone();
            let owner = scripts::push(&self.keys, &self.deployment, batch).invoke_async(&mut connection).await;
            self.own(owner.map_err(unreachable)?)?;
        }
        Ok(())
    }

    async fn next(&self, worker: &str, wait: Duration) -> Result<Option<Delivery>, QueueError> {
        let mut reader = self.reader(wait).await?;
        // A connection that failed is dropped, not kept.
        let delivery = self.read(&mut reader, worker, wait).await.map_err(unreachable)?;
        self.readers.lock().await.push(reader);
        Ok(delivery)
    }

    async fn extend(&self, worker: &str, delivery: &Delivery) -> Result<(), QueueError> {
        // JUSTID: the idle time starts anew, the delivery count stays.
        let mut command = redis::cmd("XCLAIM");
        command.arg(&self.keys.tasks).arg(GROUP).arg(worker).arg(0).arg(&delivery.receipt).arg("JUSTID");
        command.query_async::<redis::Value>(&mut self.manager.clone()).await.map(drop).map_err(unreachable)
    }

    async fn ack(&self, delivery: &Delivery) -> Result<(), QueueError> {
        let mut connection = self.manager.clone();
        scripts::ack(&self.keys, delivery).invoke_async::<()>(&mut connection).await.map_err(unreachable)
    }

    async fn release(&self, delivery: &Delivery) -> Result<(), QueueError> {
        let mut connection = self.manager.clone();
        scripts::release(&self.keys, delivery).invoke_async::<()>(&mut connection).await.map_err(unreachable)
    }

    async fn dead_letter(&self, delivery: &Delivery, reason: &str) -> Result<(), QueueError> {
        self.set_aside(delivery, reason).await.map_err(unreachable)
    }

    async fn depth(&self) -> Result<u64, QueueError> {
        self.length(&self.keys.tasks).await
    }

    async fn dead_letters(&self) -> Result<u64, QueueError> {
        self.length(&self.keys.dead).await
    }

    async fn leave(&self, worker: &str) -> Result<(), QueueError> {
        let mut connection = self.manager.clone();
        scripts::leave(&self.keys, worker).invoke_async::<()>(&mut connection).await.map_err(unreachable)
    }
}

fn unreachable(error: RedisError) -> QueueError {
    QueueError::Unreachable(error.to_string())
}
