//! Real programs that come with the crate: its examples, and the code by which a recursive verifier evaluates all
//! constraints of the machine. As text, so that two assemblers read them.

use serde_json::{Value, json};
use triton_vm::constraints::{dynamic_air_constraint_evaluation_tasm, static_air_constraint_evaluation_tasm};
use triton_vm::example_programs::*;
use triton_vm::memory_layout::{
    DynamicTasmConstraintEvaluationMemoryLayout, StaticTasmConstraintEvaluationMemoryLayout,
};
use triton_vm::prelude::*;

pub fn examples() -> Value {
    let page = |index: u64| BFieldElement::new(index << 32);
    let fixed = static_air_constraint_evaluation_tasm(StaticTasmConstraintEvaluationMemoryLayout {
        free_mem_page_ptr: page(1),
        curr_main_row_ptr: page(2),
        curr_aux_row_ptr: page(3),
        next_main_row_ptr: page(4),
        next_aux_row_ptr: page(5),
        challenges_ptr: page(6),
    });
    let moving = dynamic_air_constraint_evaluation_tasm(DynamicTasmConstraintEvaluationMemoryLayout {
        free_mem_page_ptr: page(1),
        challenges_ptr: page(6),
    });
    // The second takes the pointers from the stack.
    let pointers = triton_asm!(push {page(2)} push {page(3)} push {page(4)} push {page(5)});
    let programs = [
        ("fibonacci", FIBONACCI_SEQUENCE.clone()),
        ("gcd", GREATEST_COMMON_DIVISOR.clone()),
        ("many u32", PROGRAM_WITH_MANY_U32_INSTRUCTIONS.clone()),
        ("sudoku", VERIFY_SUDOKU.clone()),
        ("mmr peaks", CALCULATE_NEW_MMR_PEAKS_FROM_APPEND_WITH_SAFE_LISTS.clone()),
        ("merkle paths", MERKLE_TREE_AUTHENTICATION_PATH_VERIFY.clone()),
        ("merkle update", MERKLE_TREE_UPDATE.clone()),
        ("constraints", Program::new(&[fixed, triton_asm!(write_io 1 halt)].concat())),
        ("constraints by pointers", Program::new(&[pointers, moving, triton_asm!(write_io 1 halt)].concat())),
    ];
    let programs: Vec<Value> =
        programs.iter().map(|(name, program)| json!({ "name": name, "code": program.to_string() })).collect();
    json!({ "examples": programs })
}
