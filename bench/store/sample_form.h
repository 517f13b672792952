// Keys and forms for the store's figures, by number: x86-64 code that adds two words, 2 KB with its constants.
#pragma once

#include <fmt/format.h>

#include "base/sha256.h"
#include "exec/native/native_code.h"
#include "store/store.h"

namespace frazil::bench {

inline store::StoreKey SampleKey(uint64_t number) {
  store::StoreKey key;
  key.source_exact = Sha256Hex(fmt::format("program {}", number));
  key.toolchain = "bench";
  return key;
}

inline exec::CompiledForm SampleForm(uint64_t number) {
  exec::CompiledForm form;
  const store::StoreKey key = SampleKey(number);
  form.source_exact = key.source_exact;
  form.guard = key.guard;
  form.candidate = fmt::format("func @main(%0: i64, %1: i64) -> i64  // {}", number);
  form.candidate_exact = Sha256Hex(form.candidate);
  form.toolchain = key.toolchain;
  exec::NativeImage image;
  image.uses_run = false;
  // mov rax, [rdi]; add rax, [rdi + 8]; mov [rsi], rax; xor eax, eax; ret
  image.code = std::string("\x48\x8b\x07\x48\x03\x47\x08\x48\x89\x06\x31\xc0\xc3", 13);
  image.code.resize(2048, static_cast<char>(number));
  exec::PutImage(form, image);
  return form;
}

}  // namespace frazil::bench
