// The points at which terms are evaluated. Whoever knows them writes two programs that differ and agree just there; so they
// come from SHA-256 of everything that is compared, and nothing has points without a seed.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace frazil::ir {
struct Program;
}
namespace frazil::machines::tasm {
struct Program;
}
namespace frazil::machines::tir {
struct Program;
}

namespace frazil::verify::tasm {

struct Options;

class Seed {
 public:
  // Each part counts with its length.
  explicit Seed(std::initializer_list<std::string_view> parts);
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(digest_.data()), digest_.size()};
  }

 private:
  std::array<uint8_t, 32> digest_;
};

// All that the symbolic run of a program depends on.
std::string SeedText(const machines::tasm::Program& program);
std::string SeedText(const machines::tir::Program& program);
std::string SeedText(const ir::Program& program);
std::string SeedText(const Options& options);

// The coordinates of one base after the other, uniform below p, at all points.
class Points {
 public:
  static constexpr size_t Count = 3;
  using Values = std::array<uint64_t, Count>;

  explicit Points(const Seed& seed) : seed_(seed) {}
  Values Next();

 private:
  Seed seed_;
  uint64_t blocks_ = 0;
};

}  // namespace frazil::verify::tasm
