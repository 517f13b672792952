// Inputs for the search. They owe nothing to the judge's: a program says in `// try:` lines which sizes matter to it.
//
//   // try: n=0..70,127..129,3000000 c=0..3 : n c any(n+c) any(n+c)
//
// Variables with their values, then an argument for each parameter: a sum of products of variables and numbers, `bits`
// (any scalar, edges included) or fill(size), fill(rows x columns); `any` stands for some recipe of witness.h. Addresses,
// seeds, shared buffers and now and then a buffer that is too short come from chance. `// fuel: 0..50` asks for metered
// code too.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "witness.h"

namespace frazil::mutants {

class InputMaker {
 public:
  InputMaker(const ir::Program& program, const std::string& text);
  bool has_fuel() const { return !fuels_.empty(); }
  // Without a form.
  Witness Make(std::mt19937_64& random, bool metered) const;

 private:
  struct Try {
    std::vector<std::pair<std::string, std::vector<int64_t>>> variables;
    std::vector<std::string> arguments;
  };
  void Default();

  const ir::Program& program_;
  std::vector<Try> tries_;
  std::vector<int64_t> fuels_;
};

}  // namespace frazil::mutants
