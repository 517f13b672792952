// A certificate under construction: terms are stated once, lines are kept once.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "ir/certificate.h"

namespace frazil::optimize {

class Proof {
 public:
  uint32_t SourceValue(uint32_t function, uint32_t value, ir::Type type);
  uint32_t Constant(ir::Type type, std::span<const uint64_t> words);
  uint32_t Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
                 std::span<const uint32_t> children);
  void Equal(std::string_view rule, uint32_t left, uint32_t right);
  void ClosedForm(uint32_t function, uint32_t inst, uint32_t result, uint32_t closed);

  const ir::Certificate& certificate() const { return certificate_; }
  ir::Certificate Take() { return std::move(certificate_); }

 private:
  uint32_t Term(ir::CertTerm term);

  ir::Certificate certificate_;
  std::map<std::vector<uint64_t>, uint32_t> terms_;
  std::set<std::vector<uint64_t>> lines_;
};

}  // namespace frazil::optimize
