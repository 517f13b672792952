// The circuit reader on anything: an error with a place, or a tree that prints and re-reads as itself, a program that
// comes back as a circuit of the same meaning, and a normal form that is its own normal form.
#include <string_view>

#include "base/check.h"
#include "frontends/circuits/circuits.h"
#include "frontends/circuits/gates.h"
#include "ir/digest.h"
#include "optimize/normalize/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  namespace circuits = frontends::circuits;
  circuits::CircuitOptions options;
  options.limits.nesting = 50;
  options.limits.program_insts = 20'000;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<circuits::Phrase> phrase = circuits::ParsePhrase(text, {.limits = options.limits});
  if (!phrase) {
    CHECK(ClassOf(phrase.error().diag) != ErrorClass::Internal);
    CHECK(phrase.error().location.line != 0);
    return 0;
  }
  const std::string printed = circuits::PrintPhrase(*phrase);
  const Result<circuits::Phrase> again = circuits::ParsePhrase(printed, {.limits = options.limits});
  CHECK(again.has_value() && *again == *phrase);
  CHECK(circuits::PrintPhrase(*again) == printed);
  (void)circuits::GatesOf(circuits::CallsOf(*phrase));
  const Result<ir::Program> program = circuits::ToProgram(*phrase, options);
  if (!program) {
    CHECK(ClassOf(program.error().diag) != ErrorClass::Internal);
    return 0;
  }
  const Result<circuits::CircuitText> back = circuits::FromProgram(*program);
  if (back) CHECK(circuits::ParseCircuit(back->text, options).has_value());
  const Result<optimize::NormalForm> form = optimize::Normalize(*program, options.limits);
  if (!form) return 0;
  const Result<optimize::NormalForm> twice = optimize::Normalize(form->program, options.limits);
  CHECK(twice.has_value() && ir::ExactDigest(twice->program) == ir::ExactDigest(form->program));
  return 0;
}
