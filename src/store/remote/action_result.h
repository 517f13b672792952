// A record in the clothes of a build.bazel.remote.execution.v2.ActionResult, because servers that look at what is put
// under /ac/ expect one: bazel-remote then also checks that the content it names is there. Our bytes are its
// stdout_raw, untouched; its one output file names the content.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "store/format.h"

namespace frazil::store {

std::string PrintActionResult(const Record& record);
std::expected<Record, Reason> ParseActionResult(std::string_view bytes);

}  // namespace frazil::store
