// The depth guard of the recursive productions.
#pragma once

#include "frontends/words/parser.h"

namespace frazil::frontends::words {

struct Parser::Nesting {
  explicit Nesting(Parser& parser) : parser(parser) { ++parser.depth_; }
  ~Nesting() { --parser.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  Result<void> Check() const {
    if (parser.depth_ <= parser.limits_.nesting) return {};
    return Fail(Diag::LimitReached, "the text is nested too deeply (--max-nesting)",
                parser.Peek().location);
  }
  Parser& parser;
};

}  // namespace frazil::frontends::words
