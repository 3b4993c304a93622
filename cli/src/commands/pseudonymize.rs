//! `foresite pseudonymize`: names of people to pseudonyms, before files leave the site.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use foresite_formats::compression::Packing;
use foresite_formats::pseudonymize::{PseudonymError, Pseudonyms};
use foresite_formats::utf16;

use crate::exit::Exit;
use crate::files;
use crate::kind::{Kind, recognised};

/// So much of a file tells what it is [bytes].
const HEAD_BYTES: u64 = 64 << 10;

/// Replace users, accounts, groups, job names and reservations by pseudonyms, before files leave the site.
///
/// The same name becomes the same pseudonym in every file under the same key. What is not known to be harmless is left out: comments,
/// paths, scripts, columns that the simulation does not read. Simulations of the new files give the same schedules.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    openssl rand -base64 48 > site.key                                    once; keep it at the site\n  \
    foresite pseudonymize slurm.conf sacctmgr.cfg sacct.txt.zst --key site.key --out outgoing\n  \
    foresite pseudonymize sacct.txt --key site.key --out outgoing --table names.csv    who is who, for you alone")]
pub(crate) struct Pseudonymize {
    /// slurm.conf and its neighbours, `sacctmgr dump`, tables of sacctmgr and sshare, `sacct --parsable2`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A file with the site's own key, at least 32 bytes.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder for the new files, which keep their names; packed ones stay packed.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write who is who to this file (CSV). It undoes everything: keep it at the site.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

impl Pseudonymize {
    /// Rewrites every file.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let key = fs::read(&self.key).with_context(|| format!("cannot read {}", self.key.display()))?;
        let mut names = match Pseudonyms::new(key.trim_ascii()) {
            Ok(names) => names,
            Err(error) => return Ok(refuse(&self.key, &error)),
        };
        fs::create_dir_all(&self.out).with_context(|| format!("cannot make the folder {}", self.out.display()))?;
        for path in &self.files {
            let name = path.file_name().with_context(|| format!("{} is no file", path.display()))?;
            let target = self.out.join(name);
            if fs::canonicalize(path).ok() == fs::canonicalize(&target).ok() && target.exists() {
                bail!("{} would be overwritten; choose another folder for --out", path.display());
            }
            // Under another name until it is whole: half a file could pass for one.
            let part = self.out.join(format!(".{}.part", name.to_string_lossy()));
            let rewritten = rewrite(path, &part, &mut names);
            if rewritten.is_err() {
                fs::remove_file(&part).ok();
            }
            match rewritten {
                Ok(()) => fs::rename(&part, &target).with_context(|| format!("cannot write {}", target.display()))?,
                Err(PseudonymError::Io(error)) => return Err(error).with_context(|| path.display().to_string()),
                Err(error) => return Ok(refuse(path, &error)),
            }
            eprintln!("{} -> {}", path.display(), target.display());
        }
        if let Some(table) = &self.table {
            write_table(table, &names)?;
        }
        report(&names);
        Ok(Exit::Done)
    }
}

fn refuse(path: &Path, error: &PseudonymError) -> Exit {
    eprintln!("{}: {error}", path.display());
    Exit::Wrong
}

fn rewrite(path: &Path, target: &Path, names: &mut Pseudonyms) -> Result<(), PseudonymError> {
    let mut source = File::open(path)?;
    let mut head = Vec::new();
    (&mut source).take(HEAD_BYTES).read_to_end(&mut head)?;
    source.rewind()?;
    let text = || fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let name = files::name_of(path);
    let mut out = BufWriter::new(File::create(target)?);
    let packing = Packing::of(&head);
    match recognised(&name, &head) {
        Kind::SlurmConf | Kind::Neighbour(_) => out.write_all(names.slurm_conf(&text()?).as_bytes())?,
        Kind::Accounts | Kind::Events | Kind::Usage => out.write_all(names.accounts(&text()?).as_bytes())?,
        Kind::Trace => match packing {
            Packing::Plain => names.trace(&mut source, &mut out)?,
            Packing::Gzip => {
                let mut packed = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
                names.trace(&mut source, &mut packed)?;
                packed.finish()?;
            }
            Packing::Zstd => {
                let mut packed = zstd::Encoder::new(&mut out, 0)?;
                names.trace(&mut source, &mut packed)?;
                packed.finish()?;
            }
        },
        Kind::Reservations => {
            let words = "reservations name users and accounts, and are not rewritten yet: do not hand them over";
            return Err(PseudonymError::Unknown(words.to_owned()));
        }
        Kind::Utf16 => {
            let fault = utf16::fault(&name);
            return Err(PseudonymError::Unknown(format!("{}: {}", fault.message, fault.cure)));
        }
        Kind::Study | Kind::Sdiag | Kind::Other(..) | Kind::Unknown => {
            let words = "this is neither slurm.conf, a dump or table of sacctmgr nor sacct's output";
            return Err(PseudonymError::Unknown(words.to_owned()));
        }
    }
    out.flush()?;
    Ok(())
}

fn write_table(path: &Path, names: &Pseudonyms) -> anyhow::Result<()> {
    let mut text = String::from("kind,name,pseudonym\n");
    for (kind, name, pseudonym) in names.table() {
        text.push_str(&format!("{},\"{}\",{pseudonym}\n", kind.as_str(), name.replace('"', "\"\"")));
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn report(names: &Pseudonyms) {
    eprintln!("{} names replaced", names.table().count());
    let left_out: Vec<&str> = names.left_out().collect();
    if !left_out.is_empty() {
        eprintln!("left out: {}", left_out.join(", "));
    }
    if names.rows_left_out() > 0 {
        eprintln!("{} rows were left out: their fields cannot be told apart", names.rows_left_out());
    }
}
