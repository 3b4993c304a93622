//! Messages: given out once, kept once, taken over, set aside.

use std::time::{Duration, Instant};

use foresite_jobs_queue::{Delivery, LocalQueue, Queue, QueueError, RedisQueue};
use foresite_store::ids::TaskId;
use foresite_store::tasks::TaskRef;

use crate::fixtures::{blocking, redis, unique};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(100);

async fn redis_queue(takeover: Duration) -> RedisQueue {
    let url = blocking(|| redis().url()).await;
    RedisQueue::open(&url, &unique("messages"), "ours", takeover).unwrap()
}

fn task() -> TaskRef {
    TaskRef { task: TaskId::new(), attempt: 1 }
}

async fn next(queue: &dyn Queue, worker: &str) -> Option<Delivery> {
    queue.next(worker, SHORT).await.unwrap()
}

async fn messages_are_given_in_order_and_once(queue: &dyn Queue) {
    let tasks = [task(), task(), task()];
    queue.push(&tasks).await.unwrap();
    queue.push(&tasks[1..]).await.unwrap();
    assert_eq!(queue.depth().await.unwrap(), 3);
    for task in &tasks {
        let delivery = next(queue, "w").await.unwrap();
        assert_eq!((&delivery.task, delivery.deliveries), (task, 1));
        // In a worker's hands it is still known: pushing it again adds nothing.
        queue.push(std::slice::from_ref(task)).await.unwrap();
        queue.ack(&delivery).await.unwrap();
        queue.ack(&delivery).await.unwrap();
    }
    assert_eq!(next(queue, "w").await, None);
    assert_eq!(queue.depth().await.unwrap(), 0);
    // Acknowledged, it may come again; another attempt is another message.
    queue.push(&[tasks[0].clone(), TaskRef { attempt: 2, ..tasks[0].clone() }]).await.unwrap();
    assert_eq!(queue.depth().await.unwrap(), 2);
}

async fn a_released_message_comes_again(queue: &dyn Queue) {
    queue.push(&[task()]).await.unwrap();
    let first = next(queue, "a").await.unwrap();
    queue.release(&first).await.unwrap();
    let second = next(queue, "b").await.unwrap();
    assert_eq!(second.task, first.task);
    assert_eq!(queue.depth().await.unwrap(), 1);
}

/// Whoever looks meanwhile finds the message: waiting or in a worker's hands, never gone.
#[tokio::test]
async fn a_message_is_never_gone_while_it_is_released() {
    let queue = &redis_queue(LONG).await;
    queue.push(&[task()]).await.unwrap();
    let release = async {
        for _ in 0..100 {
            let delivery = next(queue, "w").await.unwrap();
            queue.release(&delivery).await.unwrap();
        }
    };
    let look = async {
        loop {
            assert_eq!(queue.depth().await.unwrap(), 1);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { () = release => (), () = look => () }
}

async fn a_waiting_worker_is_woken(queue: &dyn Queue) {
    let pushed = task();
    let push = async {
        tokio::time::sleep(SHORT).await;
        queue.push(std::slice::from_ref(&pushed)).await.unwrap();
    };
    let started = Instant::now();
    let (delivery, ()) = tokio::join!(queue.next("w", Duration::from_secs(10)), push);
    assert_eq!(delivery.unwrap().unwrap().task, pushed);
    assert!(started.elapsed() < Duration::from_secs(2));
}

async fn a_dead_letter_is_kept_aside(queue: &dyn Queue) {
    queue.push(&[task()]).await.unwrap();
    let delivery = next(queue, "w").await.unwrap();
    queue.dead_letter(&delivery, "because").await.unwrap();
    assert_eq!((queue.depth().await.unwrap(), queue.dead_letters().await.unwrap()), (0, 1));
    assert_eq!(next(queue, "w").await, None);
}

/// Each promise on the queue in memory and on the one in Redis.
macro_rules! on_both_queues {
    ($($promise:ident,)+) => {
        $(mod $promise {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn in_memory() {
                super::$promise(&super::LocalQueue::new()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn in_redis() {
                super::$promise(&super::redis_queue(super::LONG).await).await;
            }
        })+
    };
}

on_both_queues! {
    messages_are_given_in_order_and_once,
    a_released_message_comes_again,
    a_waiting_worker_is_woken,
    a_dead_letter_is_kept_aside,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_workers_message_is_taken_over() {
    let queue = redis_queue(Duration::from_millis(500)).await;
    queue.push(&[task()]).await.unwrap();
    let first = next(&queue, "silent").await.unwrap();
    assert_eq!(next(&queue, "other").await, None);
    tokio::time::sleep(Duration::from_millis(600)).await;
    let taken = next(&queue, "other").await.unwrap();
    assert_eq!((&taken.task, taken.deliveries), (&first.task, 2));
    // Its first worker wakes up and acknowledges: the same entry, so the message is gone, as its task's row says who may write.
    queue.ack(&taken).await.unwrap();
    queue.ack(&first).await.unwrap();
    assert_eq!(queue.depth().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_workers_message_is_found_behind_many_busy_ones() {
    let takeover = Duration::from_secs(2);
    let queue = redis_queue(takeover).await;
    let tasks: Vec<_> = (0..35).map(|_| task()).collect();
    queue.push(&tasks).await.unwrap();
    let mut held = Vec::new();
    for _ in &tasks {
        held.push(next(&queue, "busy").await.unwrap());
    }
    let silent = held.pop().unwrap();
    tokio::time::sleep(takeover + SHORT).await;
    for delivery in &held {
        queue.extend("busy", delivery).await.unwrap();
    }
    let mut taken = None;
    for _ in 0..8 {
        taken = taken.or(queue.next("other", Duration::from_millis(1)).await.unwrap());
    }
    assert_eq!(taken.unwrap().task, silent.task);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extended_message_is_not_taken_over() {
    let queue = redis_queue(Duration::from_millis(600)).await;
    queue.push(&[task()]).await.unwrap();
    let delivery = next(&queue, "busy").await.unwrap();
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        queue.extend("busy", &delivery).await.unwrap();
        assert_eq!(queue.next("other", Duration::from_millis(1)).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_never_ended_is_set_aside() {
    let queue = redis_queue(Duration::from_millis(1)).await;
    queue.push(&[task()]).await.unwrap();
    let mut given = 0;
    while next(&queue, "w").await.is_some() {
        given += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(given, 10);
    assert_eq!((queue.depth().await.unwrap(), queue.dead_letters().await.unwrap()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_key_is_made_anew_by_the_next_push() {
    let namespace = unique("lost-key");
    let url = blocking(|| redis().url()).await;
    let queue = RedisQueue::open(&url, &namespace, "ours", LONG).unwrap();
    let tasks = [task(), task()];
    for key in ["known", "tasks"] {
        queue.push(&tasks).await.unwrap();
        let command = format!("DEL {{{namespace}}}:{key}");
        blocking(move || redis().command(&command)).await;
        queue.push(&tasks).await.unwrap();
        assert_eq!(queue.depth().await.unwrap(), 2, "after the loss of {key}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_deployments_messages_are_not_touched() {
    let namespace = unique("deployments");
    let url = blocking(|| redis().url()).await;
    let open = |deployment: &str| RedisQueue::open(&url, &namespace, deployment, LONG).unwrap();
    let (ours, others) = (open("ours"), open("others"));
    let is_refused =
        |result: Result<(), QueueError>| matches!(result, Err(QueueError::Foreign { owner, .. }) if owner == "ours");
    ours.push(&[task()]).await.unwrap();
    assert!(is_refused(others.enter().await));
    assert!(is_refused(others.push(&[task()]).await));
    assert!(is_refused(others.next("w", SHORT).await.map(drop)));
    assert_eq!(ours.depth().await.unwrap(), 1);
    // Emptied, it is whose who comes first: here a push of those who were there before.
    let command = format!("DEL {{{namespace}}}:deployment");
    blocking(move || redis().command(&command)).await;
    ours.push(&[task()]).await.unwrap();
    assert!(is_refused(others.next("w", SHORT).await.map(drop)));
    assert!(next(&ours, "w").await.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaving_keeps_what_is_still_held() {
    let queue = redis_queue(Duration::from_millis(200)).await;
    queue.leave("nobody").await.unwrap();
    queue.push(&[task()]).await.unwrap();
    next(&queue, "w").await.unwrap();
    queue.leave("w").await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let taken = next(&queue, "other").await.unwrap();
    queue.ack(&taken).await.unwrap();
    queue.leave("w").await.unwrap();
    queue.leave("other").await.unwrap();
}
