//! The gates as JUnit XML: a suite per study, a case per gate and scenario.

use super::{Comparison, html::escape};

/// The JUnit document.
pub(super) fn write(comparison: &Comparison) -> String {
    let failures = comparison.gates.iter().filter(|gate| gate.is_breached()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\">\n",
        escape(&comparison.inputs.name),
        comparison.gates.len()
    );
    for gate in &comparison.gates {
        let name = escape(&format!("{} by {}: {}", gate.metric, gate.by, gate.limit));
        out += &format!("    <testcase classname=\"{}\" name=\"{name}\"", escape(&gate.scenario));
        if gate.is_breached() {
            let reason = escape(&gate.reason());
            out += &format!(">\n      <failure message=\"{reason}\"/>\n    </testcase>\n");
        } else {
            out += "/>\n";
        }
    }
    out + "  </testsuite>\n</testsuites>\n"
}
