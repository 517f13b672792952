//! The requests: each takes one item and answers with one JSON object.

use std::time::Instant;

use serde_json::{Value, json};
use triton_vm::error::{InstructionError, OpStackError};
use triton_vm::execution_trace_profiler::VMTableHeights;
use triton_vm::prelude::*;

use crate::wire;
use crate::proof_file;

const DEFAULT_CYCLES: u64 = 1 << 24;
const DEFAULT_PADDED_HEIGHT: u64 = 1 << 20;

const TABLES: [TableId; 9] = [
    TableId::Program,
    TableId::Processor,
    TableId::OpStack,
    TableId::Ram,
    TableId::JumpStack,
    TableId::Hash,
    TableId::Cascade,
    TableId::Lookup,
    TableId::U32,
];

/// The names of frazil::machines::tasm::CrashKind.
fn crash_kind(error: &InstructionError) -> Option<&'static str> {
    Some(match error {
        InstructionError::InstructionPointerOverflow => "InstructionPointer",
        InstructionError::JumpStackIsEmpty => "JumpStackEmpty",
        InstructionError::AssertionFailed(_) => "AssertionFailed",
        InstructionError::VectorAssertionFailed(..) => "VectorAssertionFailed",
        InstructionError::InverseOfZero => "InverseOfZero",
        InstructionError::DivisionByZero => "DivisionByZero",
        InstructionError::SpongeNotInitialized => "SpongeNotInitialized",
        InstructionError::LogarithmOfZero => "LogarithmOfZero",
        InstructionError::EmptyPublicInput(_) => "InputEmpty",
        InstructionError::EmptySecretInput(_) => "SecretEmpty",
        InstructionError::EmptySecretDigestInput => "DigestsEmpty",
        InstructionError::OpStackError(OpStackError::TooShallow) => "OpStackTooShallow",
        InstructionError::OpStackError(OpStackError::FailedU32Conversion(_)) => "NotU32",
        _ => return None,
    })
}

fn error_id(error: &InstructionError) -> Option<i128> {
    match error {
        InstructionError::AssertionFailed(error)
        | InstructionError::VectorAssertionFailed(_, error) => error.id,
        _ => None,
    }
}

/// Steps to the end or to the limit. The machine itself has no limit.
fn advance(state: &mut VMState, cycles: u64) -> Result<Option<Value>, String> {
    while !state.halting {
        if u64::from(state.cycle_count) >= cycles {
            let sentence = format!("the limit of {cycles} cycles was reached");
            return Ok(Some(crash("Cycles", state, None, sentence)));
        }
        // A failing step may leave the pointer where it was or not: the place is where it began.
        let place = state.instruction_pointer;
        if let Err(error) = state.step() {
            let kind = crash_kind(&error).ok_or_else(|| format!("unexpected: {error}"))?;
            state.instruction_pointer = place;
            return Ok(Some(crash(kind, state, error_id(&error), error.to_string())));
        }
    }
    Ok(None)
}

fn crash(kind: &str, state: &VMState, error_id: Option<i128>, sentence: String) -> Value {
    json!({
        "kind": kind,
        "address": state.instruction_pointer,
        "cycle": state.cycle_count,
        "error_id": error_id.map(|id| id.to_string()),
        "sentence": sentence,
    })
}

fn run_state(item: &Value) -> Result<(Program, PublicInput, NonDeterminism, VMState, Value), String> {
    let program = wire::program(item)?;
    let (input, secret) = wire::inputs(item)?;
    let cycles = wire::number(item, "cycles", DEFAULT_CYCLES)?.min(u64::from(u32::MAX));
    let mut state = VMState::new(program.clone(), input.clone(), secret.clone());
    let crash = advance(&mut state, cycles)?;
    let mut answer = json!({
        "output": wire::strings(&state.public_output),
        "cycles": state.cycle_count,
        "stack": wire::strings(&state.op_stack.stack),
    });
    if let Some(crash) = crash {
        answer["crash"] = crash;
    }
    Ok((program, input, secret, state, answer))
}

pub fn run(item: &Value) -> Result<Value, String> {
    Ok(run_state(item)?.4)
}

pub fn trace(item: &Value) -> Result<Value, String> {
    let (program, input, secret, _, mut answer) = run_state(item)?;
    if answer.get("crash").is_some() {
        return Ok(answer); // the machine gives no heights for crashed runs
    }
    let (aet, _) = VM::trace_execution(program, input, secret).map_err(|error| error.source.to_string())?;
    answer["heights"] = TABLES.iter().map(|&table| aet.height_of_table(table)).collect();
    answer["padded_height"] = aet.padded_height().into();
    Ok(answer)
}

fn all_heights(heights: &VMTableHeights) -> [u32; 9] {
    [
        heights.program,
        heights.processor,
        heights.op_stack,
        heights.ram,
        heights.jump_stack,
        heights.hash,
        heights.cascade,
        heights.lookup,
        heights.u32,
    ]
}

pub fn profile(item: &Value) -> Result<Value, String> {
    let (program, input, secret, _, mut answer) = run_state(item)?;
    if answer.get("crash").is_some() {
        return Ok(answer);
    }
    let (_, profile) = VM::profile(program, input, secret).map_err(|error| error.source.to_string())?;
    answer["heights"] = all_heights(&profile.total).as_slice().into();
    answer["padded_height"] = profile.padded_height.into();
    let line = |line: &triton_vm::execution_trace_profiler::ProfileLine| {
        json!({
            "label": line.label,
            "depth": line.call_depth,
            "start": all_heights(&line.table_heights_start),
            "stop": all_heights(&line.table_heights_stop),
        })
    };
    answer["lines"] = profile.profile.iter().map(line).collect();
    Ok(answer)
}

pub fn digest(item: &Value) -> Result<Value, String> {
    let program = wire::program(item)?;
    Ok(json!({
        "digest": wire::strings(&program.hash().values()),
        "words": wire::strings(&program.to_bwords()),
    }))
}

pub fn version() -> Value {
    json!({
        "oracle": env!("CARGO_PKG_VERSION"),
        "triton_vm": "9.0.1",
        "proof_version": triton_vm::proof::CURRENT_VERSION,
        "profile": "dot",
        "build": option_env!("FRAZIL_BUILD_PROFILE").unwrap_or("unknown"),
    })
}

pub fn prove(item: &Value) -> Result<Value, String> {
    let limit = wire::number(item, "max_padded_height", DEFAULT_PADDED_HEIGHT)?;
    let (program, input, secret, _, mut answer) = run_state(item)?;
    if answer.get("crash").is_some() {
        return Ok(answer); // crashed runs have no proof
    }
    let start = Instant::now();
    let claim = Claim::about_program(&program).with_input(input.individual_tokens.clone());
    let (aet, output) =
        VM::trace_execution(program, input, secret).map_err(|error| error.source.to_string())?;
    let trace_seconds = start.elapsed().as_secs_f64();
    let height = aet.padded_height();
    if height as u64 > limit {
        return Err(format!("the padded height {height} is above the limit of {limit}"));
    }
    let claim = claim.with_output(output);
    let start = Instant::now();
    let proof = Stark::default().prove(&claim, &aet).map_err(|error| format!("no proof: {error}"))?;
    let prove_seconds = start.elapsed().as_secs_f64();
    answer["heights"] = TABLES.iter().map(|&table| aet.height_of_table(table)).collect();
    drop(aet);
    let start = Instant::now();
    (Stark::default().verify(&claim, &proof))
        .map_err(|error| format!("the fresh proof does not verify: {error}"))?;
    answer["padded_height"] = height.into();
    answer["trace_seconds"] = trace_seconds.into();
    answer["prove_seconds"] = prove_seconds.into();
    answer["verify_seconds"] = start.elapsed().as_secs_f64().into();
    answer["proof_bytes"] = (8 * proof.0.len()).into();
    answer["peak_bytes"] = peak_memory().into();
    answer["claim"] = claim_json(&claim);
    if item.get("file").is_some() {
        proof_file::write(wire::text(item, "file")?, &claim, &proof)?;
    }
    Ok(answer)
}

/// The claim comes from the file; who asks may say which program it must be about.
pub fn verify(item: &Value) -> Result<Value, String> {
    let (claim, proof) = proof_file::read(wire::text(item, "file")?)?;
    let mut expected = None;
    if item.get("digest").is_some() {
        expected = Some(wire::digest(&item["digest"])?);
    } else if item.get("code").is_some() || item.get("words").is_some() {
        expected = Some(wire::program(item)?.hash());
    }
    let mut answer = json!({ "claim": claim_json(&claim), "proof_bytes": 8 * proof.0.len() });
    let mut reason = None;
    if expected.is_some_and(|expected| expected != claim.program_digest) {
        reason = Some("the proof is about another program".to_string());
    } else if claim.version != triton_vm::proof::CURRENT_VERSION {
        reason = Some(format!("the proof is of version {}, not {}", claim.version, triton_vm::proof::CURRENT_VERSION));
    }
    let start = Instant::now();
    if reason.is_none() {
        // A damaged proof may make the decoder panic; that is a proof that does not hold.
        let checked = std::panic::catch_unwind(|| Stark::default().verify(&claim, &proof));
        reason = match checked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("the proof does not hold: {error}")),
            Err(_) => Some("the proof does not hold: it is damaged".to_string()),
        };
    }
    answer["verify_seconds"] = start.elapsed().as_secs_f64().into();
    answer["holds"] = reason.is_none().into();
    if let Some(reason) = reason {
        answer["reason"] = reason.into();
    } else {
        answer["padded_height"] = proof.padded_height().map_err(|error| error.to_string())?.into();
    }
    Ok(answer)
}

fn claim_json(claim: &Claim) -> Value {
    json!({
        "program_digest": wire::strings(&claim.program_digest.values()),
        "version": claim.version,
        "input": wire::strings(&claim.input),
        "output": wire::strings(&claim.output),
    })
}

/// The highest resident size of this process so far.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
    1024 * kilobytes.unwrap_or(0)
}
