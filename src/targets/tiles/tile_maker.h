// Plans of programs that nobody compared with anything: for this folder, and for tests. Everybody else prepares a
// isa::ProvedModule (tile.h); a check of the layers says so.
#pragma once

#include "targets/tiles/tile.h"

namespace frazil::targets::tiles {

// Of a checked program without tensors.
Result<std::shared_ptr<const TilePlan>> Prepare(std::shared_ptr<const ir::Program> program,
                                                const TileOptions& options = {});
inline Result<std::shared_ptr<const TilePlan>> Prepare(const ir::Program& program,
                                                       const TileOptions& options = {}) {
  return Prepare(std::make_shared<const ir::Program>(program), options);
}

}  // namespace frazil::targets::tiles
