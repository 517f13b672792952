// Which value of the planned program stands in which bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/plan/plan.h"

namespace frazil::verify::plans {

class AbstractMemory {
 public:
  // Parameters hold themselves; results and the arena hold nothing.
  AbstractMemory(const ir::Function& entry, uint64_t arena_bytes);

  // The value whose first and last bytes these are. Nothing: none, or a part of one, or of several.
  std::optional<ir::ValueId> Read(const exec::PlanPlace& place) const;
  // Whatever was in any of these bytes is gone. Empty, or why nobody may write there.
  std::string Write(const exec::PlanPlace& place, ir::ValueId value);
  // Empty, or why there is no such place.
  std::string Misplaced(const exec::PlanPlace& place) const;
  static bool Overlap(const exec::PlanPlace& a, const exec::PlanPlace& b);

 private:
  using Room = std::pair<exec::PlanPlace::Room, uint32_t>;
  struct Held {
    uint64_t end;
    ir::ValueId value;
  };
  static Room RoomOf(const exec::PlanPlace& place) {
    const bool is_arena = place.room == exec::PlanPlace::Room::Arena;
    return {place.room, is_arena ? 0 : place.ordinal};
  }

  std::map<Room, uint64_t> sizes_;
  std::map<Room, std::map<uint64_t, Held>> held_;  // by where it begins; apart from each other
  // Tensors without elements, which are nowhere in anybody's way.
  std::map<std::pair<Room, uint64_t>, ir::ValueId> empty_;
};

// Of constant sizes; nothing where a size is a symbol or the bytes are too many.
std::optional<uint64_t> BytesOfTensor(const ir::Function& function, ir::Type tensor);

// How many elements a tensor of a form has under a step's arguments; nothing where a size is no constant, or too large.
std::optional<uint64_t> ElementsOf(const ir::Function& form, ir::Type tensor,
                                   const exec::PlanStep& step);

}  // namespace frazil::verify::plans
