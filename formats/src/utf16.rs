//! Text in UTF-16, as Windows PowerShell writes it with `>`: named, not read.

use crate::diagnostic::Diagnostic;

/// Whether a file begins with the byte order mark of UTF-16.
pub fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// What is to be said of such a file.
pub fn fault(file: &str) -> Diagnostic {
    let message = "the file is UTF-16, as PowerShell writes it, and not the text that Slurm printed";
    Diagnostic::error(file, message).cure(format!("convert it: iconv -f utf-16 -t utf-8 {file}"))
}
