//! The scripts: each changes stream and set together.

use foresite_store::tasks::TaskRef;
use redis::{Script, ScriptInvocation};

use super::{GROUP, Keys};
use crate::queue::Delivery;

/// KEYS: deployment. ARGV: deployment. Gives whose queue it is; nobody's becomes the caller's. A Redis that is full can still be read.
const ENTER: &str = r"
local owner = redis.call('GET', KEYS[1])
if not owner then
    redis.call('SET', KEYS[1], ARGV[1])
end
return owner or ARGV[1]
";

/// KEYS: stream, set, deployment. ARGV: deployment, task, attempt, task, attempt … Gives whose queue it is; another's is not touched.
/// First makes the set anew if it disagrees with the stream, then adds what is not in it.
const PUSH: &str = r"
local owner = redis.call('GET', KEYS[3])
if not owner then
    redis.call('SET', KEYS[3], ARGV[1])
elseif owner ~= ARGV[1] then
    return owner
end
if redis.call('XLEN', KEYS[1]) ~= redis.call('SCARD', KEYS[2]) then
    redis.call('DEL', KEYS[2])
    for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
        local member = tostring(entry[2][2]) .. ':' .. tostring(entry[2][4])
        if redis.call('SADD', KEYS[2], member) == 0 then
            redis.call('XDEL', KEYS[1], entry[1])
        end
    end
end
for i = 2, #ARGV, 2 do
    if redis.call('SADD', KEYS[2], ARGV[i] .. ':' .. ARGV[i + 1]) == 1 then
        redis.call('XADD', KEYS[1], '*', 'task', ARGV[i], 'attempt', ARGV[i + 1])
    end
end
return ARGV[1]
";

/// KEYS: stream, set. ARGV: group, entry, member. The member goes only with its own entry: after a takeover the same task and
/// attempt may stand in the stream again under another entry.
const ACK: &str = r"
pcall(redis.call, 'XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
    redis.call('SREM', KEYS[2], ARGV[3])
end
";

/// KEYS: stream. ARGV: group, entry, task, attempt. One step, so that nobody finds the task in no message; its member stays. Without
/// its entry the message is no longer the caller's to put back.
const RELEASE: &str = r"
pcall(redis.call, 'XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
    redis.call('XADD', KEYS[1], '*', 'task', ARGV[3], 'attempt', ARGV[4])
end
";

/// KEYS: stream, set, dead. ARGV: group, entry, member, task, attempt, deliveries, reason.
const DEAD_LETTER: &str = r"
pcall(redis.call, 'XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
    redis.call('SREM', KEYS[2], ARGV[3])
    redis.call('XADD', KEYS[3], 'MAXLEN', '~', 10000, '*',
        'task', ARGV[4], 'attempt', ARGV[5], 'deliveries', ARGV[6], 'reason', ARGV[7])
end
";

/// KEYS: stream. ARGV: group, entry.
const DISCARD: &str = r"
pcall(redis.call, 'XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
";

/// KEYS: stream. ARGV: group, consumer. Only a consumer that holds nothing may go: its messages would go with it.
const LEAVE: &str = r"
local ok, pending = pcall(redis.call, 'XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if ok and pending and not pending.err and #pending == 0 then
    pcall(redis.call, 'XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
";

/// A script with its keys and arguments, owned.
pub(super) struct Call {
    script: Script,
    keys: Vec<String>,
    arguments: Vec<String>,
}

impl Call {
    pub(super) async fn invoke_async<T: redis::FromRedisValue>(
        &self,
        connection: &mut (impl redis::aio::ConnectionLike + Send),
    ) -> redis::RedisResult<T> {
        let mut invocation: ScriptInvocation<'_> = self.script.prepare_invoke();
        for key in &self.keys {
            invocation.key(key);
        }
        for argument in &self.arguments {
            invocation.arg(argument);
        }
        invocation.invoke_async(connection).await
    }
}

pub(super) fn enter(keys: &Keys, deployment: &str) -> Call {
    Call { script: Script::new(ENTER), keys: vec![keys.deployment.clone()], arguments: vec![deployment.to_owned()] }
}

pub(super) fn push(keys: &Keys, deployment: &str, tasks: &[TaskRef]) -> Call {
    let mut arguments = vec![deployment.to_owned()];
    arguments.extend(tasks.iter().flat_map(|task| [task.task.to_string(), task.attempt.to_string()]));
    let keys = vec![keys.tasks.clone(), keys.known.clone(), keys.deployment.clone()];
    Call { script: Script::new(PUSH), keys, arguments }
}

pub(super) fn ack(keys: &Keys, delivery: &Delivery) -> Call {
    let arguments = vec![GROUP.to_owned(), delivery.receipt.clone(), member(&delivery.task)];
    Call { script: Script::new(ACK), keys: vec![keys.tasks.clone(), keys.known.clone()], arguments }
}

pub(super) fn release(keys: &Keys, delivery: &Delivery) -> Call {
    let task = &delivery.task;
    let arguments = vec![GROUP.to_owned(), delivery.receipt.clone(), task.task.to_string(), task.attempt.to_string()];
    Call { script: Script::new(RELEASE), keys: vec![keys.tasks.clone()], arguments }
}

pub(super) fn dead_letter(keys: &Keys, delivery: &Delivery, reason: &str) -> Call {
    let arguments = vec![
        GROUP.to_owned(),
        delivery.receipt.clone(),
        member(&delivery.task),
        delivery.task.task.to_string(),
        delivery.task.attempt.to_string(),
        delivery.deliveries.to_string(),
        reason.to_owned(),
    ];
    let keys = vec![keys.tasks.clone(), keys.known.clone(), keys.dead.clone()];
    Call { script: Script::new(DEAD_LETTER), keys, arguments }
}

pub(super) fn discard(keys: &Keys, entry: &str) -> Call {
    let arguments = vec![GROUP.to_owned(), entry.to_owned()];
    Call { script: Script::new(DISCARD), keys: vec![keys.tasks.clone()], arguments }
}

pub(super) fn leave(keys: &Keys, worker: &str) -> Call {
    let arguments = vec![GROUP.to_owned(), worker.to_owned()];
    Call { script: Script::new(LEAVE), keys: vec![keys.tasks.clone()], arguments }
}

fn member(task: &TaskRef) -> String {
    format!("{}:{}", task.task, task.attempt)
}
