//! Proof files: everything that a verifier needs but the program.
//!
//! Bytes: "FRZPROOF", then 64-bit little-endian words: format (1), proof version, five words of the program
//! digest, number of inputs, the inputs, number of outputs, the outputs, number of proof words, the proof
//! words. Nothing may follow. Every word but the counts is a canonical field element.

use triton_vm::prelude::*;

const MAGIC: &[u8; 8] = b"FRZPROOF";
const FORMAT: u64 = 1;
const MAX_BYTES: u64 = 1 << 30;

pub fn write(path: &str, claim: &Claim, proof: &Proof) -> Result<(), String> {
    let mut bytes = MAGIC.to_vec();
    let mut word = |value: u64| bytes.extend_from_slice(&value.to_le_bytes());
    word(FORMAT);
    word(claim.version.into());
    claim.program_digest.values().iter().for_each(|element| word(element.value()));
    for list in [&claim.input, &claim.output, &proof.0] {
        word(list.len() as u64);
        list.iter().for_each(|element| word(element.value()));
    }
    // Written beside its name, then renamed: an interrupted run leaves no half proof.
    let part = format!("{path}.part");
    let written = std::fs::write(&part, &bytes).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| format!("the proof cannot be written to {path}: {error}"))
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn word(&mut self) -> Result<u64, String> {
        let (word, rest) = self.rest.split_first_chunk::<8>().ok_or("the proof file is cut off")?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }

    fn element(&mut self) -> Result<BFieldElement, String> {
        let word = self.word()?;
        if word >= BFieldElement::P {
            return Err("the proof file holds a word that is not a field element".into());
        }
        Ok(BFieldElement::new(word))
    }

    fn list(&mut self) -> Result<Vec<BFieldElement>, String> {
        let count = self.word()?;
        if count > self.rest.len() as u64 / 8 {
            return Err("the proof file is cut off".into());
        }
        (0..count).map(|_| self.element()).collect()
    }
}

pub fn read(path: &str) -> Result<(Claim, Proof), String> {
    let size = std::fs::metadata(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    if !size.is_file() || size.len() > MAX_BYTES {
        return Err(format!("{path} is not a proof file"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| format!("{path} is not a proof file"))?;
    let mut reader = Reader { rest };
    let format = reader.word()?;
    if format != FORMAT {
        return Err(format!("the proof file has format {format}; known is {FORMAT}"));
    }
    let version = u32::try_from(reader.word()?).map_err(|_| "the proof file is damaged")?;
    let mut digest = [BFieldElement::new(0); Digest::LEN];
    for element in &mut digest {
        *element = reader.element()?;
    }
    let (input, output, proof) = (reader.list()?, reader.list()?, reader.list()?);
    if !reader.rest.is_empty() {
        return Err("the proof file has bytes after its end".into());
    }
    let claim = Claim::new(Digest::new(digest)).about_version(version).with_input(input).with_output(output);
    Ok((claim, Proof(proof)))
}
