//! The real program as a test sees it: `foresite` processes with folders of their own, on free ports.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{EncodingKey, Header, encode};
use reqwest::blocking::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const JWT_SECRET: &str = "a secret of at least thirty-two bytes";
const ISSUER: &str = "https://issuer.test";
const AUDIENCE: &str = "foresite-test";

/// The example that the repository ships.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/micro").join(name)
}

/// The program: the one that `FORESITE_TEST_PROGRAM` names, or built once if it is not there or older than its sources (cargo
/// knows).
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(program) = std::env::var_os("FORESITE_TEST_PROGRAM") {
            return program.into();
        }
        // …/target/debug/deps/it-0123 stands beside …/target/debug/foresite.
        let here = std::env::current_exe().unwrap();
        let folder = here.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "foresite", "--target-dir"]).arg(folder.parent().unwrap());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success(), "building foresite");
        folder.join("foresite")
    })
}

/// Where a group of processes keeps things.
pub(crate) struct Place {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    /// The embedded defaults in a folder of its own.
    pub(crate) fn embedded() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// A shared database and queue.
    pub(crate) fn shared(database_url: &str, redis_url: &str) -> Self {
        Self::embedded().with("FORESITE_DATABASE_URL", database_url).with("FORESITE_REDIS_URL", redis_url)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command that knows nothing but this place.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FORESITE_")) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("FORESITE_DATA_DIR", self.folder().join("data"))
            .env("FORESITE_HTTP_LISTEN", "127.0.0.1:0")
            .env("FORESITE_GRPC_LISTEN", "127.0.0.1:0")
            .env("FORESITE_METRICS_LISTEN", "127.0.0.1:0")
            .env("FORESITE_JWT_HS256_SECRET", JWT_SECRET)
            .env("FORESITE_JWT_ISSUER", ISSUER)
            .env("FORESITE_JWT_AUDIENCE", AUDIENCE)
            .env("FORESITE_LOG", "warn")
            .envs(self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; gives its standard output.
    pub(crate) fn must(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a process that ends with the test.
    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        let mut command = self.command(arguments);
        Process { child: command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap() }
    }

    pub(crate) fn serve(&self) -> Service {
        Service::new(self.start(&["serve"]))
    }
}

/// A process; killed when dropped.
pub(crate) struct Process {
    pub(crate) child: Child,
}

impl Process {
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn terminate(mut self) -> std::process::ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `foresite serve`, up.
pub(crate) struct Service {
    pub(crate) process: Process,
    pub(crate) url: String,
    pub(crate) grpc: String,
    pub(crate) metrics: String,
    pub(crate) http: Client,
}

impl Service {
    /// A service that this command starts.
    pub(crate) fn of(mut command: Command) -> Self {
        Self::new(Process { child: command.stdout(Stdio::piped()).spawn().unwrap() })
    }

    fn new(mut process: Process) -> Self {
        let mut lines = BufReader::new(process.child.stdout.take().unwrap()).lines();
        let mut address = |what: &str| {
            let line = lines.next().expect("serve ended before it was up").unwrap();
            assert!(line.starts_with(what), "{line}");
            line.split_whitespace().last().unwrap().to_owned()
        };
        let (url, grpc, metrics) = (address("REST"), address("gRPC"), address("metrics"));
        let http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(60))
            // The service closes connections that rest for five seconds: a request must not meet that moment.
            .pool_idle_timeout(Duration::from_secs(2))
            .build()
            .unwrap();
        Self { process, url, grpc, metrics, http }
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.url)).bearer_auth(token)
    }

    pub(crate) fn post(&self, token: &str, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.url)).bearer_auth(token)
    }

    /// A site of the token's tenant.
    pub(crate) fn site(&self, token: &str) -> String {
        let answer = self.post(token, "/v1/sites").json(&json!({"name": "test"})).send().unwrap();
        text_of(&expect(answer, 201), "id")
    }

    /// Uploads the example's configuration.
    pub(crate) fn config(&self, token: &str, site: &str) -> Response {
        let files =
            ["slurm.conf", "gres.conf", "sacctmgr.cfg"].map(|name| (name, std::fs::read(example(name)).unwrap()));
        self.config_of(token, site, &files.map(|(name, bytes)| (name.to_owned(), bytes)))
    }

    pub(crate) fn config_of(&self, token: &str, site: &str, files: &[(String, Vec<u8>)]) -> Response {
        let mut form = reqwest::blocking::multipart::Form::new();
        for (name, bytes) in files {
            let part = reqwest::blocking::multipart::Part::bytes(bytes.clone()).file_name(name.clone());
            form = form.part("file", part);
        }
        self.post(token, &format!("/v1/sites/{site}/configs")).multipart(form).send().unwrap()
    }

    pub(crate) fn trace(&self, token: &str, site: &str, bytes: Vec<u8>) -> Response {
        self.post(token, &format!("/v1/sites/{site}/traces?name=sacct.txt&timezone=UTC")).body(bytes).send().unwrap()
    }

    /// Uploads the example and gives its study document with the ids in it.
    pub(crate) fn example_study(&self, token: &str) -> Value {
        let site = self.site(token);
        let config = text_of(&expect(self.config(token, &site), 201), "id");
        let trace = std::fs::read(example("sacct.txt")).unwrap();
        let trace = text_of(&expect(self.trace(token, &site, trace), 201), "id");
        let text = std::fs::read_to_string(example("study.yaml")).unwrap();
        let mut document: Value = serde_norway::from_str(&text).unwrap();
        document["site"] = json!({"site": site, "config": config});
        document["trace"] = json!({"trace": trace, "timezone": "UTC"});
        document
    }

    pub(crate) fn submit(&self, token: &str, document: &Value) -> String {
        text_of(&expect(self.post(token, "/v1/studies").json(document).send().unwrap(), 202), "id")
    }

    /// Waits until a study has succeeded.
    pub(crate) fn await_success(&self, token: &str, study: &str) {
        let begin = std::time::Instant::now();
        loop {
            let now = expect(self.get(token, &format!("/v1/studies/{study}")).send().unwrap(), 200);
            match now["state"].as_str().unwrap() {
                "succeeded" => return,
                "queued" | "running" => {}
                other => panic!("the study is {other}: {now}"),
            }
            assert!(begin.elapsed() < Duration::from_secs(240), "not done: {now}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn comparison(&self, token: &str, study: &str) -> Vec<u8> {
        let answer = self.get(token, &format!("/v1/studies/{study}/comparison")).send().unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().unwrap().to_vec()
    }
}

/// The JSON of an answer that must have this status.
pub(crate) fn expect(answer: Response, status: u16) -> Value {
    let (found, text) = (answer.status().as_u16(), answer.text().unwrap());
    assert_eq!(found, status, "{text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

pub(crate) fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}")).to_owned()
}

/// A JSON web token; `age` is the seconds by which it has expired, negative for the future.
pub(crate) fn jwt(tenant: &str, role: &str, age: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    let claims =
        json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "test", "tenant": tenant, "role": role, "exp": now - age});
    encode(&Header::default(), &claims, &EncodingKey::from_secret(JWT_SECRET.as_bytes())).unwrap()
}

/// A token that is good for an hour.
pub(crate) fn token(tenant: &str, role: &str) -> String {
    jwt(tenant, role, -3600)
}

/// What `foresite run` writes for the example.
pub(crate) fn offline_comparison() -> &'static [u8] {
    static OFFLINE: OnceLock<Vec<u8>> = OnceLock::new();
    OFFLINE.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let place = Place::embedded();
        let folder = out.path().to_string_lossy().into_owned();
        place.must(&["run", &example("study.yaml").to_string_lossy(), "--out", &folder]);
        std::fs::read(out.path().join("comparison.json")).unwrap()
    })
}
