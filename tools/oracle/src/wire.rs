//! Field elements, digests and programs from and to JSON. Elements are base-10 strings: JSON numbers lose
//! digits above 2^53.

use serde_json::Value;
use triton_vm::prelude::*;

pub fn element(value: &Value) -> Result<BFieldElement, String> {
    let number = match value {
        Value::String(text) => text.parse::<u64>().ok().filter(|_| !text.starts_with('+')),
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    match number {
        Some(number) if number < BFieldElement::P => Ok(BFieldElement::new(number)),
        _ => Err(format!(
            "{value} is not a field element: a base-10 string from 0 to 18446744069414584320 is needed"
        )),
    }
}

pub fn elements(item: &Value, name: &str) -> Result<Vec<BFieldElement>, String> {
    match item.get(name) {
        None | Some(Value::Null) => Ok(vec![]),
        Some(Value::Array(values)) => values.iter().map(element).collect(),
        Some(_) => Err(format!("\"{name}\" must be an array of field elements")),
    }
}

pub fn digest(value: &Value) -> Result<Digest, String> {
    let sentence = || "a digest is an array of five field elements".to_string();
    let values = value.as_array().ok_or_else(sentence)?;
    let values: Vec<_> = values.iter().map(element).collect::<Result<_, _>>()?;
    Ok(Digest::new(values.try_into().map_err(|_| sentence())?))
}

pub fn number(item: &Value, name: &str, otherwise: u64) -> Result<u64, String> {
    match item.get(name) {
        None | Some(Value::Null) => Ok(otherwise),
        Some(value) => (value.as_u64())
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
            .ok_or_else(|| format!("\"{name}\" must be a number that is not negative")),
    }
}

pub fn text<'a>(item: &'a Value, name: &str) -> Result<&'a str, String> {
    (item.get(name).and_then(Value::as_str)).ok_or_else(|| format!("the text \"{name}\" is missing"))
}

pub fn program(item: &Value) -> Result<Program, String> {
    if let Some(words) = item.get("words") {
        let words = words.as_array().ok_or("\"words\" must be an array of field elements")?;
        let words: Vec<_> = words.iter().map(element).collect::<Result<_, _>>()?;
        let instructions = decode_words(&words)?;
        return Ok(instructions);
    }
    let code = text(item, "code")?;
    Program::from_code(code).map_err(|error| format!("Triton VM does not read the program: {error}"))
}

/// The crate decodes programs from its own length-prefixed form.
fn decode_words(words: &[BFieldElement]) -> Result<Program, String> {
    let mut encoded = vec![BFieldElement::new(words.len() as u64)];
    encoded.extend_from_slice(words);
    let program = *Program::decode(&encoded)
        .map_err(|error| format!("Triton VM does not decode the program's words: {error}"))?;
    Ok(program)
}

pub fn inputs(item: &Value) -> Result<(PublicInput, NonDeterminism), String> {
    let input = PublicInput::new(elements(item, "input")?);
    let mut secret = NonDeterminism::new(elements(item, "secret")?);
    if let Some(digests) = item.get("digests") {
        let digests = digests.as_array().ok_or("\"digests\" must be an array of digests")?;
        secret = secret.with_digests(digests.iter().map(digest).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(ram) = item.get("ram") {
        let sentence = || "\"ram\" must be an array of pairs [address, value]".to_string();
        let mut cells = std::collections::HashMap::new();
        for pair in ram.as_array().ok_or_else(sentence)? {
            match pair.as_array().map(Vec::as_slice) {
                Some([address, value]) => cells.insert(element(address)?, element(value)?),
                _ => return Err(sentence()),
            };
        }
        secret = secret.with_ram(cells);
    }
    Ok((input, secret))
}

pub fn strings(elements: &[BFieldElement]) -> Value {
    elements.iter().map(|element| Value::String(element.value().to_string())).collect()
}
