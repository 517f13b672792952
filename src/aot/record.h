// What an embedded kernel says about itself, for whoever audits the program that it ends up in: the candidate that its
// code was made from, why that means what the source means, and for each piece of code the evidence. It stands in a
// section of its own (docs/decisions/0014), is found without running anything, and is never believed: an audit judges
// again and compares.
//
//   magic 16 | version 4 | bytes in all 4 | to the descriptor 4 | number of forms 4 | to the code of each form 4 .. | body
//
// "To" is a distance from the number's own place, as in embed/kernel.h. Records begin at multiples of 8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/unit.h"

namespace frazil::aot {

constexpr std::string_view RecordSection = ".frazil.kernels";
constexpr std::string_view RecordMagic = "frazil kernel \x1a\n";
constexpr uint32_t RecordVersion = 2;
constexpr size_t RecordHeadBytes = 32;
static_assert(RecordMagic.size() == 16);

enum class FormKind : uint8_t { Plain, InPieces, Whole, Trips };
std::string_view FormKindName(FormKind kind);  // "plain", "in pieces", "whole", "trips"

struct RecordedForm {
  FormKind kind = FormKind::Plain;
  exec::NativeImage image;  // all but its code, which lies elsewhere in the program
  uint64_t bytes = 0;       // of code
  verify::Evidence evidence;
};

struct KernelRecord {
  std::string name;
  std::string source_digest;  // exact, 64 hex digits
  verify::Evidence meaning;
  std::string source;       // text; empty: it is the candidate
  std::string candidate;    // text; empty: the build left the programs out
  std::string certificate;  // may be empty
  std::string guard;        // "true", or what a launch tests before it calls these forms
  std::vector<RecordedForm> forms;
};

// Forms in the order in which code is named: which of the kernel's code each one is.
struct FormOfKernel {
  RecordedForm form;
  std::string label;  // of its code in the generated assembly: "plain0"
};
std::vector<FormOfKernel> FormsOf(const BuiltKernel& kernel);

// The body of a record. `programs`: with the texts that an audit needs.
std::string PackRecord(const BuiltKernel& kernel, bool programs);
std::optional<KernelRecord> UnpackRecord(std::string_view body);  // nothing: damaged

}  // namespace frazil::aot
