//! `foresite token`: API tokens, made next to the database.

use anyhow::{Context, bail};
use clap::{Args, Subcommand, value_parser};
use foresite_api::app::audit::COMMAND_LINE;
use foresite_api::app::tokens::{self, NewToken};
use foresite_api::config::Config;
use foresite_api::rest::views::token::{IssuedToken, TokenView};
use foresite_api::startup::Storage;
use foresite_store::ids::{TenantId, TokenId};
use foresite_store::state::{Role, Scope};

use crate::exit::Exit;
use crate::service;

/// A day [ms].
const DAY_MS: i64 = 24 * 3_600_000;
/// A thousand years: who wants more wants no end.
const DAYS_MAX: i64 = 365_000;

/// Make, list and revoke API tokens; needs access to the database, no token.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    verb: Verb,
    /// Whose tokens.
    #[arg(long, global = true, default_value = "default")]
    tenant: String,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token; its secret is printed once.
    Create {
        /// What people call it.
        #[arg(long, default_value = "cli")]
        name: String,
        /// viewer (reads), operator (uploads, starts, cancels) or admin (manages tokens).
        #[arg(long, default_value = "operator", value_parser = role)]
        role: Role,
        /// Narrow it to this, repeatable: sites:read, sites:write, studies:read, studies:write, tokens:manage,
        /// webhooks:manage, quotas:read, quotas:manage, audit:read. Everything its role may where not given.
        #[arg(long = "scope", value_name = "SCOPE", value_parser = scope)]
        scopes: Vec<Scope>,
        /// Days until it ends; never where not given.
        #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=DAYS_MAX))]
        days: Option<u32>,
    },
    /// List all tokens, without their secrets.
    List,
    /// End a token at once.
    Revoke {
        /// Its id.
        id: String,
    },
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| "write viewer, operator or admin".to_owned())
}

fn scope(word: &str) -> Result<Scope, String> {
    let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    Scope::parse(word).ok_or_else(|| format!("write one of {}", known.join(", ")))
}

impl Token {
    /// Does what the verb says.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let config = match service::settings() {
            Ok(config) => config,
            Err(exit) => return Ok(exit),
        };
        let Some(tenant) = TenantId::parse(&self.tenant) else {
            eprintln!("foresite: '{}' is no tenant: 1 to 64 letters, digits, '.', '_', '-'", self.tenant);
            return Ok(Exit::Wrong);
        };
        service::runtime()?.block_on(self.run(&config, &tenant))
    }

    async fn run(self, config: &Config, tenant: &TenantId) -> anyhow::Result<Exit> {
        let store = Storage::open(config).await?.store;
        match self.verb {
            Verb::Create { name, role, scopes, days } => {
                // By the database's clock, which judges the token.
                let now = store.now().await?;
                let expires_at = days.map(|days| now + i64::from(days) * DAY_MS);
                let new = NewToken { name, role, scopes, expires_at };
                let (row, secret) = tokens::issue(&store, tenant, COMMAND_LINE, new).await?;
                let issued = IssuedToken::new(row, &secret);
                if self.json {
                    println!("{}", serde_json::to_string_pretty(&issued)?);
                } else {
                    // Alone on standard output, so that a shell can take it.
                    eprintln!(
                        "token {} of tenant {tenant}, role {}; shown only now:",
                        issued.token.id, issued.token.role
                    );
                    println!("{}", issued.secret);
                }
            }
            Verb::List => {
                let found: Vec<TokenView> = store.list_tokens(tenant).await?.into_iter().map(TokenView::from).collect();
                if self.json {
                    println!("{}", serde_json::to_string_pretty(&found)?);
                } else {
                    for token in found {
                        let state = match (&token.revoked_at, &token.expires_at) {
                            (Some(at), _) => format!("revoked {at}"),
                            (None, Some(at)) => format!("ends {at}"),
                            (None, None) => "does not end".to_owned(),
                        };
                        println!("{}  {:<8}  {}  {state}", token.id, token.role, token.name);
                    }
                }
            }
            Verb::Revoke { id } => {
                let parsed = TokenId::parse(&id).with_context(|| format!("'{id}' is no token's id"))?;
                if !tokens::withdraw(&store, tenant, COMMAND_LINE, &parsed).await? {
                    bail!("tenant {tenant} has no token {id}");
                }
                eprintln!("revoked {id}");
            }
        }
        Ok(Exit::Done)
    }
}
