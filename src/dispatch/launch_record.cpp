// The words of a record, and what is forgotten when they change.
#include "dispatch/launch_record.h"

#include <algorithm>

namespace frazil::dispatch {

LaunchRecord::LaunchRecord(Slot& slot) : slot_(slot), words_(slot.words_.size) {}

bool LaunchRecord::SetBuffer(uint32_t param, const void* data, uint64_t length) {
  const std::vector<exec::CallParam>& params = slot_.words_.params;
  if (param >= params.size() || !params[param].is_buffer()) return false;
  uint64_t* at = words_.data() + params[param].word;
  const auto address = reinterpret_cast<uint64_t>(data);
  if (at[0] == address && at[1] == length) return true;
  at[0] = address;
  at[1] = length;
  vouched_.Forget();
  return true;
}

bool LaunchRecord::SetScalar(uint32_t param, std::span<const uint64_t> words) {
  const std::vector<exec::CallParam>& params = slot_.words_.params;
  if (param >= params.size() || params[param].is_buffer() || params[param].words != words.size())
    return false;
  std::ranges::copy(words, words_.begin() + params[param].word);
  return true;
}

}  // namespace frazil::dispatch
