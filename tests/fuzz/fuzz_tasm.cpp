// Triton VM on any text: refused with a place, or a program that prints and reads back the same, comes back from its
// words, and whose run, traced run and static bounds agree.
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "machines/tasm/heights/bounds.h"
#include "machines/tasm/heights/cliff.h"
#include "machines/tasm/vm.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  using namespace frazil::machines::tasm;
  if (size == 0) return 0;
  const Profile profile = data[0] % 2 == 0 ? Profile::Dot : Profile::Horner;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<Program> program = Parse(text, profile);
  if (!program) {
    CHECK(!program.error().message.empty() && program.error().location.line > 0);
    CHECK(Printable(program.error().message) == program.error().message);
    return 0;
  }
  const Result<Program> again = Parse(Print(*program), profile);
  CHECK(again.has_value() && again->code == program->code);
  CHECK(Encode(*Decode(Encode(*program), profile)) == Encode(*program));

  Inputs inputs;
  for (size_t i = 0; i < size; ++i)
    (i % 2 == 0 ? inputs.input : inputs.secret).push_back(data[i] % 5);
  inputs.digests = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  const RunLimits limits = {.cycles = 3000, .memory_words = 1 << 16, .stop = nullptr};
  const RunResult run = Run(*program, inputs, limits);
  const TraceResult trace = Trace(*program, inputs, limits);
  CHECK(run.output == trace.run.output && run.stack == trace.run.stack &&
        run.cycles == trace.run.cycles);
  CHECK(run.crash.has_value() == trace.run.crash.has_value());
  CHECK(run.cycles <= limits.cycles && trace.profile[Table::Processor] == run.cycles);
  CHECK(!run.crash || (run.crash->kind == trace.run.crash->kind && !run.crash->sentence.empty()));
  CHECK(!ExplainCliff(*program, trace).Line().empty());
  const HeightBounds bounds = StaticBounds(*program, 3000);
  for (size_t i = 0; i < TableCount && !run.crash; ++i)
    CHECK(bounds.halts && bounds.lower.heights[i] <= trace.profile.heights[i] &&
          trace.profile.heights[i] <= bounds.upper.heights[i]);
  return 0;
}
