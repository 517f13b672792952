//! Tip5 and Triton VM for frazil_bench to call through dlopen. Built as its authors publish it (opt-level 3); Tip5
//! finds AVX-512 by itself.

use triton_vm::prelude::*;
use triton_vm::twenty_first::prelude::Sponge;

/// # Safety
/// `words` is to `count` words.
unsafe fn elements(words: *const u64, count: usize) -> Vec<BFieldElement> {
    if count == 0 {
        return vec![];
    }
    unsafe { std::slice::from_raw_parts(words, count) }.iter().map(|&word| BFieldElement::new(word)).collect()
}

/// Permutes one state of sixteen words `times` times, each after the other.
///
/// # Safety
/// `state` is to sixteen words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_tip5_permute(state: *mut u64, times: usize) {
    let words = unsafe { std::slice::from_raw_parts_mut(state, 16) };
    let mut sponge = Tip5::init();
    for (element, word) in sponge.state.iter_mut().zip(words.iter()) {
        *element = BFieldElement::new(*word);
    }
    for _ in 0..times {
        sponge.permutation();
    }
    for (element, word) in sponge.state.iter().zip(words) {
        *word = element.value();
    }
}

/// Hashes `count` pairs of digests (ten words each), independent of each other; digests to `out`. One permutation each.
///
/// # Safety
/// `pairs` is to 10 * count words, `out` to 5 * count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_tip5_hash_pairs(pairs: *const u64, out: *mut u64, count: usize) {
    // The elements' memory form is Montgomery's; words go in and out canonically, outside of what takes the time.
    let words = unsafe { elements(pairs, 10 * count) };
    let pairs: Vec<[Digest; 2]> = (words.chunks_exact(10))
        .map(|ten| [Digest::new(ten[..5].try_into().unwrap()), Digest::new(ten[5..].try_into().unwrap())])
        .collect();
    let out = unsafe { std::slice::from_raw_parts_mut(out, 5 * count) };
    for (digest, out) in Tip5::hash_pair_many(&pairs).iter().zip(out.chunks_exact_mut(5)) {
        for (element, word) in digest.values().iter().zip(out) {
            *word = element.value();
        }
    }
}

/// A program with its inputs, ready to run as often as one likes.
pub struct Machine {
    program: Program,
    input: PublicInput,
    secret: NonDeterminism,
}

/// Null if the words are not a program.
///
/// # Safety
/// Each pointer is to as many words as the count beside it says; digests have five words, ram cells two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_machine_new(
    code: *const u64,
    code_count: usize,
    input: *const u64,
    input_count: usize,
    secret: *const u64,
    secret_count: usize,
    digests: *const u64,
    digest_count: usize,
    ram: *const u64,
    cell_count: usize,
) -> *mut Machine {
    unsafe {
        let mut encoded = vec![BFieldElement::new(code_count as u64)];
        encoded.extend(elements(code, code_count));
        let Ok(program) = Program::decode(&encoded) else {
            return std::ptr::null_mut();
        };
        let digests: Vec<Digest> = (elements(digests, 5 * digest_count).chunks_exact(5))
            .map(|five| Digest::new(five.try_into().unwrap()))
            .collect();
        let cells: std::collections::HashMap<_, _> =
            elements(ram, 2 * cell_count).chunks_exact(2).map(|cell| (cell[0], cell[1])).collect();
        let input = PublicInput::new(elements(input, input_count));
        let secret = NonDeterminism::new(elements(secret, secret_count)).with_digests(digests).with_ram(cells);
        Box::into_raw(Box::new(Machine { program: *program, input, secret }))
    }
}

/// `VM::run`; the number of outputs, or -1 if it crashed.
///
/// # Safety
/// `machine` comes from `frazil_peer_machine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_machine_run(machine: *const Machine) -> i64 {
    let machine = unsafe { &*machine };
    let result = VM::run(machine.program.clone(), machine.input.clone(), machine.secret.clone());
    result.map_or(-1, |output| output.len() as i64)
}

/// `VM::trace_execution`; all nine heights, or false if it crashed.
///
/// # Safety
/// `machine` comes from `frazil_peer_machine_new`; `heights` is to nine words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_machine_trace(machine: *const Machine, heights: *mut u64) -> bool {
    let machine = unsafe { &*machine };
    let result = VM::trace_execution(machine.program.clone(), machine.input.clone(), machine.secret.clone());
    let Ok((aet, _)) = result else {
        return false;
    };
    let tables = [
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
    for (i, table) in tables.into_iter().enumerate() {
        unsafe { *heights.add(i) = aet.height_of_table(table) as u64 };
    }
    true
}

/// # Safety
/// `machine` comes from `frazil_peer_machine_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_machine_free(machine: *mut Machine) {
    drop(unsafe { Box::from_raw(machine) });
}
