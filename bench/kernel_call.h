// Native kernels under measurement: from text to a call, and the judgment of a figure.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "ir/text/text.h"
#include "kernel_peer.h"
#include "native_call.h"

namespace frazil::bench {

inline std::shared_ptr<const exec::NativeCode> CompileText(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  if (!program) fmt::print(stderr, "{}\n{}\n", program.error().ToString(), text);
  CHECK(program.has_value());
  return Compile(*program);
}

struct Call {
  std::shared_ptr<const exec::NativeCode> code;
  std::vector<uint64_t> arguments = {};
  exec::NativeRun run = {};

  Call& Add(Floats& floats) {
    arguments.push_back(floats.address());
    arguments.push_back(floats.size());
    return *this;
  }
  Call& Add(uint64_t word) {
    arguments.push_back(word);
    return *this;
  }
  Call& Add(float value) { return Add(uint64_t{std::bit_cast<uint32_t>(value)}); }
  void operator()() {
    uint64_t results[1];
    CHECK(code->entry()(arguments.data(), results, &run) == 0);
  }
};

inline void Judge(const std::string& figure, double amount, const char* unit, double ours_s,
                  const char* peer, double peer_s, double goal) {
  const double ours = amount / ours_s, theirs = amount / peer_s;
  Report({"native", figure, ours, unit, peer, theirs, fmt::format(">= {}x", goal),
          ours >= goal * theirs});
}

}  // namespace frazil::bench
