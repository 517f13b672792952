// The line of an example that says how it is run: "// run: --input 1,2 --secret 3,1:2:3:4:5 --ram 7=8 -> 9".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/value.h"

namespace frazil::tests {

struct RunLine {
  std::vector<exec::Value> input;
  std::vector<exec::Value> secret;  // fields, and digests written with colons
  std::vector<std::pair<uint64_t, uint64_t>> ram;
  std::vector<uint64_t> output;
};

std::optional<RunLine> ReadRunLine(std::string_view source);

}  // namespace frazil::tests
