#include "verify/plans/memory.h"

#include <iterator>

namespace frazil::verify::plans {

using exec::PlanPlace;

std::optional<uint64_t> BytesOfTensor(const ir::Function& function, ir::Type tensor) {
  uint64_t bytes = ir::BytesOf(tensor.element());
  for (const ir::Dim dim : function.shape(tensor))
    if (dim.is_symbol() ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim.value), &bytes) ||
        bytes > (uint64_t{1} << 48))
      return std::nullopt;
  return bytes;
}

std::optional<uint64_t> ElementsOf(const ir::Function& form, ir::Type tensor,
                                   const exec::PlanStep& step) {
  uint64_t count = 1;
  for (const ir::Dim dim : form.shape(tensor)) {
    int64_t size = dim.value;
    if (dim.is_symbol()) {
      if (dim.param() >= step.arguments.size()) return std::nullopt;
      const auto* scalar = std::get_if<exec::PlanScalar>(&step.arguments[dim.param()]);
      if (scalar == nullptr || scalar->kind != exec::PlanScalar::Kind::Constant ||
          scalar->words.size() != 1)
        return std::nullopt;
      size = static_cast<int64_t>(scalar->words[0]);
    }
    if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count) ||
        count > (uint64_t{1} << 48))
      return std::nullopt;
  }
  return count;
}

AbstractMemory::AbstractMemory(const ir::Function& entry, uint64_t arena_bytes) {
  sizes_[{PlanPlace::Room::Arena, 0}] = arena_bytes;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (!entry.param_type(i).is_tensor()) continue;
    const auto bytes = BytesOfTensor(entry, entry.param_type(i));
    if (!bytes) continue;
    const Room room = {PlanPlace::Room::Param, i};
    sizes_[room] = *bytes;
    if (*bytes == 0)
      empty_[{room, 0}] = entry.param(i);
    else
      held_[room].insert_or_assign(0, Held{*bytes, entry.param(i)});
  }
  for (uint32_t i = 0; i < entry.results.size(); ++i)
    if (entry.results[i].is_tensor())
      if (const auto bytes = BytesOfTensor(entry, entry.results[i]))
        sizes_[{PlanPlace::Room::Result, i}] = *bytes;
}

std::string AbstractMemory::Misplaced(const PlanPlace& place) const {
  const auto size = sizes_.find(RoomOf(place));
  if (size == sizes_.end()) return "there is no such parameter or result";
  if (place.offset > size->second || place.bytes > size->second - place.offset)
    return "a tensor lies outside of its memory";
  if (place.room == PlanPlace::Room::Arena && place.offset % exec::PlanAlignment != 0)
    return "a tensor of the arena is not aligned";
  return {};
}

bool AbstractMemory::Overlap(const PlanPlace& a, const PlanPlace& b) {
  return RoomOf(a) == RoomOf(b) && a.bytes > 0 && b.bytes > 0 && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

std::optional<ir::ValueId> AbstractMemory::Read(const PlanPlace& place) const {
  if (place.bytes == 0) {
    const auto empty = empty_.find({RoomOf(place), place.offset});
    return empty == empty_.end() ? std::nullopt : std::optional(empty->second);
  }
  const auto room = held_.find(RoomOf(place));
  if (room == held_.end()) return std::nullopt;
  const auto held = room->second.find(place.offset);
  if (held == room->second.end() || held->second.end != place.offset + place.bytes)
    return std::nullopt;
  return held->second.value;
}

std::string AbstractMemory::Write(const PlanPlace& place, ir::ValueId value) {
  if (place.room == PlanPlace::Room::Param) return "a parameter is written";
  if (place.bytes == 0) {
    empty_.insert_or_assign({RoomOf(place), place.offset}, value);
    return {};
  }
  std::map<uint64_t, Held>& held = held_[RoomOf(place)];
  const uint64_t end = place.offset + place.bytes;
  auto at = held.lower_bound(place.offset);
  if (at != held.begin() && std::prev(at)->second.end > place.offset) --at;
  while (at != held.end() && at->first < end) at = held.erase(at);
  held.insert_or_assign(place.offset, Held{end, value});
  return {};
}

}  // namespace frazil::verify::plans
