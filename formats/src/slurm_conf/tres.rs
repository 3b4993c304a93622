//! Names of trackable resources (`cpu`, `mem`, `gres/gpu:a100`, `license/x`) and the engine's ids for them.

use foresite_engine::cluster::{GresType, Tres};
use foresite_engine::ids::{GresId, LicenseId};

use super::value;

/// Generic resources and licences met so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TresNames {
    /// By [`GresId`].
    pub(crate) gres: Vec<GresType>,
    /// By [`LicenseId`].
    pub(crate) licenses: Vec<(String, u32)>,
}

impl TresNames {
    /// The id of a generic resource or one type of it, made where it is new. Letter case plays no part: names of TRES have none
    /// (slurmdb_defs.c of 22.05.8), and they are kept in lower case. O(resources).
    pub(crate) fn gres_id(&mut self, name: &str, kind: Option<&str>) -> GresId {
        let (name, kind) = (name.to_ascii_lowercase(), kind.map(str::to_ascii_lowercase));
        let known = |gres: &GresType| gres.name == name && gres.kind == kind;
        let index = self.gres.iter().position(known).unwrap_or_else(|| {
            self.gres.push(GresType { name, kind, counted: false });
            self.gres.len() - 1
        });
        GresId::new(index)
    }

    /// The id of a licence, made with a total of zero where it is new. O(licences).
    pub(crate) fn license_id(&mut self, name: &str) -> LicenseId {
        let index = self.licenses.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.licenses.push((name.to_owned(), 0));
            self.licenses.len() - 1
        });
        LicenseId::new(index)
    }

    /// The resource of that name (letter case ignored).
    ///
    /// # Errors
    /// A clause: unknown, or not modelled.
    pub(crate) fn tres(&mut self, name: &str) -> Result<Tres, String> {
        let lower = name.trim().to_ascii_lowercase();
        match lower.as_str() {
            "cpu" | "cpus" => return Ok(Tres::Cpu),
            "mem" | "memory" => return Ok(Tres::Memory),
            "node" | "nodes" => return Ok(Tres::Node),
            "billing" => return Ok(Tres::Billing),
            _ => {}
        }
        match lower.split_once('/') {
            Some(("gres", gres)) if !gres.is_empty() => {
                let (name, kind) = gres.split_once(':').map_or((gres, None), |(name, kind)| (name, Some(kind)));
                Ok(Tres::Gres(self.gres_id(name, kind)))
            }
            Some(("license" | "licenses", license)) if !license.is_empty() => {
                Ok(Tres::License(self.license_id(license)))
            }
            _ if ["energy", "fs/disk", "vmem", "pages"].contains(&lower.as_str())
                || lower.starts_with("bb/")
                || lower.starts_with("ic/") =>
            {
                Err(format!("the resource '{lower}' is not modelled"))
            }
            _ => Err(format!("there is no resource '{}'", lower.chars().take(60).collect::<String>())),
        }
    }

    /// Reads `cpu=4,mem=100G,gres/gpu=2`; -1 clears an entry. Entries that cannot be read are given as clauses.
    pub(crate) fn amounts(&mut self, list: &str) -> (Vec<(Tres, u64)>, Vec<String>) {
        let (mut amounts, mut faults) = (Vec::new(), Vec::new());
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let Some((name, text)) = item.rsplit_once('=') else {
                faults.push(format!("'{}' is not resource=amount", item.chars().take(60).collect::<String>()));
                continue;
            };
            if text.trim() == "-1" {
                continue;
            }
            match self.tres(name) {
                Ok(tres) => {
                    let amount = if tres == Tres::Memory { value::megabytes(text) } else { value::count(text) };
                    match amount {
                        Some(amount) => amounts.push((tres, amount)),
                        None => {
                            faults.push(format!("'{}' is not an amount", text.chars().take(60).collect::<String>()))
                        }
                    }
                }
                Err(fault) => faults.push(fault),
            }
        }
        (amounts, faults)
    }

    /// Weights by resource from `name=weight[unit]` pairs: memory's weight becomes one per MB, others one per unit.
    pub(crate) fn weights(&mut self, list: &[(String, f64, String)]) -> (Vec<(Tres, f64)>, Vec<String>) {
        let (mut weights, mut faults) = (Vec::new(), Vec::new());
        for (name, weight, unit) in list {
            match self.tres(name) {
                Ok(tres) => {
                    let unit = unit.chars().next().and_then(value::unit_factor);
                    let base = if tres == Tres::Memory { 1024.0 * 1024.0 } else { 1.0 };
                    weights.push((tres, unit.map_or(*weight, |factor| weight / (factor / base))));
                }
                Err(fault) => faults.push(fault),
            }
        }
        (weights, faults)
    }
}
