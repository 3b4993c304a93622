//! Printing that does not panic where the reader has gone (`foresite check … | head`): these stand before the macros of std.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Writes to standard output. Nobody who reads is no fault: the command goes on to its exit code. Whatever else fails ends it.
pub(crate) fn to_stdout(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        to_stderr(format_args!("foresite: standard output: {error}\n"));
        std::process::exit(1);
    }
}

/// Writes to standard error; nobody is left to be told if that fails.
pub(crate) fn to_stderr(text: Arguments<'_>) {
    drop(io::stderr().lock().write_fmt(text));
}

macro_rules! print {
    ($($text:tt)*) => { $crate::out::to_stdout(format_args!($($text)*)) };
}

macro_rules! println {
    () => { $crate::out::to_stdout(format_args!("\n")) };
    ($($text:tt)*) => { $crate::out::to_stdout(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::out::to_stderr(format_args!($($text)*)) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::out::to_stderr(format_args!("{}\n", format_args!($($text)*))) };
}
