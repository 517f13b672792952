// What a parameter of a kernel is for at a launch: one list for kernels in the IR and for embedded ones.
#pragma once

#include <cstdint>

namespace frazil {

enum class ParamRole : uint8_t {
  Value,   // a scalar that the caller gives
  Buffer,  // a buffer that the caller gives
  // A scalar integer that bounds a `parallel` whose iterations index buffers by themselves, or counts the elements of
  // such a reduction (ir/lanes/fold_match.h). Where the caller leaves it out, it is the common length of those buffers.
  Extent,
  LanesX,
  LanesY,
  LanesZ,
  GridX,
  GridY,
  GridZ,
  BlockX,
  BlockY,
  BlockZ,  // from the launch configuration
};

}  // namespace frazil
