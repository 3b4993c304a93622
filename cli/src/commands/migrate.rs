//! `foresite migrate`: the database's tables.

use clap::{Args, Subcommand};
use foresite_api::startup;
use foresite_store::migrations;

use crate::exit::Exit;
use crate::service;

/// Bring the database's tables up to date, or back.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Debug, Subcommand)]
enum Direction {
    /// Apply every missing step; doing it twice, or twice at once, does no harm.
    Up,
    /// Undo the last applied step, with the data in it.
    Down,
    /// List all steps.
    Status,
}

impl Migrate {
    /// Migrates.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let config = match service::settings() {
            Ok(config) => config,
            Err(exit) => return Ok(exit),
        };
        let url = startup::database_url(&config.storage)?;
        service::runtime()?.block_on(async {
            match self.direction {
                Direction::Up => {
                    let applied = migrations::up(&url).await?;
                    applied.iter().for_each(|name| println!("applied {name}"));
                    if applied.is_empty() {
                        println!("up to date");
                    }
                }
                Direction::Down => match migrations::down(&url).await? {
                    Some(name) => println!("undone {name}"),
                    None => println!("nothing to undo"),
                },
                Direction::Status => {
                    for step in migrations::status(&url).await? {
                        println!("{:<8} {}", if step.applied { "applied" } else { "missing" }, step.name);
                    }
                }
            }
            Ok(Exit::Done)
        })
    }
}
