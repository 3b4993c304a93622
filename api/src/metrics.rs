//! Prometheus metrics of the two doors. Labels are few: no ids, no user names.

use foresite_store::Store;
use foresite_store::state::StudyState;
use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::error::{ApiError, ApiResult, Code};

/// Upper bounds [seconds]: from a cached read to a large upload.
const BUCKETS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The doors' own metrics, and the registry that holds every metric of the process.
#[derive(Clone)]
pub struct Metrics {
    registry: Registry,
    http_seconds: HistogramVec,
    grpc_seconds: HistogramVec,
    queue_depth: IntGauge,
    queue_oldest_seconds: IntGauge,
    studies: IntGaugeVec,
    refused: IntCounterVec,
    webhooks: IntCounterVec,
    webhooks_waiting: IntGauge,
}

impl Metrics {
    /// Registers the doors' metrics and the process figures.
    ///
    /// # Errors
    /// Only when the registry already holds metrics of these names.
    pub fn new(registry: Registry) -> ApiResult<Self> {
        let histogram = |name: &str, help: &str, labels: &[&str]| {
            let opts = HistogramOpts::new(name, help).buckets(BUCKETS.to_vec());
            let histogram = HistogramVec::new(opts, labels).map_err(ApiError::internal)?;
            registry.register(Box::new(histogram.clone())).map_err(ApiError::internal)?;
            Ok::<_, ApiError>(histogram)
        };
        let http_seconds = histogram(
            "foresite_http_request_seconds",
            "Time to answer HTTP requests.",
            &["route", "method", "status"],
        )?;
        let grpc_seconds = histogram(
            "foresite_grpc_request_seconds",
            "Time to answer gRPC requests.",
            &["service", "method", "code"],
        )?;
        let queue_depth = IntGauge::new("foresite_queue_depth", "Tasks that wait.").map_err(ApiError::internal)?;
        let queue_oldest_seconds =
            IntGauge::new("foresite_queue_oldest_seconds", "How long the longest-waiting task has waited.")
                .map_err(ApiError::internal)?;
        let studies = IntGaugeVec::new(Opts::new("foresite_studies", "Studies by state."), &["state"])
            .map_err(ApiError::internal)?;
        registry.register(Box::new(queue_depth.clone())).map_err(ApiError::internal)?;
        registry.register(Box::new(queue_oldest_seconds.clone())).map_err(ApiError::internal)?;
        registry.register(Box::new(studies.clone())).map_err(ApiError::internal)?;
        let counters = |name: &str, help: &str, label: &str| {
            let counter = IntCounterVec::new(Opts::new(name, help), &[label]).map_err(ApiError::internal)?;
            registry.register(Box::new(counter.clone())).map_err(ApiError::internal)?;
            Ok::<_, ApiError>(counter)
        };
        let refused = counters("foresite_refusals_total", "Requests refused, by the problem's code.", "code")?;
        let webhooks = counters("foresite_webhook_attempts_total", "Attempts to send webhooks, by end.", "outcome")?;
        // From the start at 0: a rate cannot see the first of a kind otherwise.
        for code in Code::ALL {
            refused.with_label_values(&[code.as_str()]);
        }
        for outcome in ["delivered", "retried", "failed"] {
            webhooks.with_label_values(&[outcome]);
        }
        let webhooks_waiting =
            IntGauge::new("foresite_webhooks_waiting", "Webhook deliveries that are still to be sent.")
                .map_err(ApiError::internal)?;
        registry.register(Box::new(webhooks_waiting.clone())).map_err(ApiError::internal)?;
        #[cfg(target_os = "linux")]
        registry
            .register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))
            .map_err(ApiError::internal)?;
        Ok(Self {
            registry,
            http_seconds,
            grpc_seconds,
            queue_depth,
            queue_oldest_seconds,
            studies,
            refused,
            webhooks,
            webhooks_waiting,
        })
    }

    /// The registry, for the workers' metrics.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Notes an HTTP request; `route` is the pattern. Methods beyond the standard's are one label.
    pub fn http(&self, route: &str, method: &str, status: u16, seconds: f64) {
        let method = match method {
            "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => method,
            _ => "other",
        };
        self.http_seconds.with_label_values(&[route, method, &status.to_string()]).observe(seconds);
    }

    /// Notes a gRPC request.
    pub fn grpc(&self, service: &str, method: &str, code: &str, seconds: f64) {
        self.grpc_seconds.with_label_values(&[service, method, code]).observe(seconds);
    }

    /// Notes a refusal.
    pub fn refused(&self, code: Code) {
        self.refused.with_label_values(&[code.as_str()]).inc();
    }

    /// Notes an attempt to send a webhook: `delivered`, `retried` or `failed`.
    pub fn webhook(&self, outcome: &str) {
        self.webhooks.with_label_values(&[outcome]).inc();
    }

    /// Asks the database for the figures that only it knows.
    ///
    /// # Errors
    /// 503 when the database is away; the figures then keep their last values.
    pub async fn refresh(&self, store: &Store) -> ApiResult<()> {
        let depth = store.queue_depth().await?;
        self.queue_depth.set(depth.queued);
        let now = store.now().await?;
        let waited_ms = depth.oldest_queued_at.map_or(0, |since| now - since);
        self.queue_oldest_seconds.set(waited_ms.max(0) / 1000);
        self.webhooks_waiting.set(store.count_waiting_deliveries().await?);
        let counted = store.count_studies().await?;
        for state in StudyState::ALL {
            let count = counted.iter().find(|(found, _)| found == state).map_or(0, |(_, count)| *count);
            self.studies.with_label_values(&[state.as_str()]).set(count);
        }
        Ok(())
    }

    /// Everything, in Prometheus' text format.
    ///
    /// # Errors
    /// When a metric cannot be written.
    pub fn text(&self) -> ApiResult<Vec<u8>> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text).map_err(ApiError::internal)?;
        Ok(text)
    }
}
