//! frazil-oracle: one JSON request per line on stdin, one JSON answer per line on stdout.
//!
//! Answers always come, in order: a request that cannot be served is answered with {"error": sentence}, and
//! a panic inside the machine is caught and becomes one. The protocol is described in README.md.

mod examples;
mod machine;
mod proof_file;
mod wire;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use serde_json::{Value, json};

/// Longest accepted request line. Larger ones are split by the client.
const MAX_LINE: usize = 1 << 30;

fn main() {
    // A caught panic is reported in the answer; the default hook would also write it to stderr.
    std::panic::set_hook(Box::new(|_| {}));
    let stdin = std::io::stdin();
    let stdout = std::io::stdout();
    for line in stdin.lock().lines() {
        let answer = match line {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) if line.len() > MAX_LINE => failure("the request is longer than 2^30 bytes"),
            Ok(line) => answer_line(&line),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                failure("the request is not UTF-8 text")
            }
            Err(_) => return,
        };
        let mut out = stdout.lock();
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return; // nobody listens any more
        }
    }
}

fn failure(sentence: impl Into<String>) -> Value {
    json!({ "error": sentence.into() })
}

fn answer_line(line: &str) -> Value {
    let request: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => return failure(format!("the request is not JSON: {error}")),
    };
    let mut answer = answer_request(&request);
    if let (Some(id), Some(fields)) = (request.get("id"), answer.as_object_mut()) {
        fields.insert("id".into(), id.clone());
    }
    answer
}

fn answer_request(request: &Value) -> Value {
    let Some(what) = request.get("do").and_then(Value::as_str) else {
        return failure("the request has no field \"do\" that says what is wanted");
    };
    let Some(items) = request.get("items") else {
        return guarded(what, request);
    };
    let Some(items) = items.as_array() else {
        return failure("\"items\" must be an array of requests");
    };
    // Proofs use all cores themselves, and much memory: one after the other.
    let results: Vec<Value> = match what {
        "prove" | "verify" => items.iter().map(|item| guarded(what, item)).collect(),
        _ => items.par_iter().map(|item| guarded(what, item)).collect(),
    };
    json!({ "results": results })
}

fn guarded(what: &str, item: &Value) -> Value {
    let served = catch_unwind(AssertUnwindSafe(|| serve(what, item)));
    match served {
        Ok(Ok(value)) => value,
        Ok(Err(sentence)) => failure(sentence),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            failure(format!("Triton VM panicked: {text}"))
        }
    }
}

fn serve(what: &str, item: &Value) -> Result<Value, String> {
    match what {
        "run" => machine::run(item),
        "trace" => machine::trace(item),
        "profile" => machine::profile(item),
        "digest" => machine::digest(item),
        "prove" => machine::prove(item),
        "verify" => machine::verify(item),
        "version" => Ok(machine::version()),
        "examples" => Ok(examples::examples()),
        other => Err(format!(
            "unknown request \"{other}\"; known are run, trace, profile, digest, prove, verify, version, examples"
        )),
    }
}
