// For tests of the interpreter: texts run, and results shown as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/meaning/interpreter.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::exec {

inline ir::Program Parse(const std::string& text) { return ir::Parsed("frz 1\n" + text); }

inline Outcome Execute(const std::string& text, std::vector<Value> arguments = {},
                       const RunContext& context = {}) {
  Result<Outcome> outcome = Interpret(Parse(text), arguments, context);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().ToString();
  return outcome.has_value() ? *outcome : Outcome();
}

inline std::string Results(const Outcome& outcome) {
  if (outcome.trap) return outcome.trap->ToString();
  std::string text;
  for (const Value& value : outcome.results) text += (text.empty() ? "" : " ") + PrintValue(value);
  return text;
}

inline Value Index(int64_t v) { return Value::Int(ir::types::Index, v); }

}  // namespace frazil::exec
