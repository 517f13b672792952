// What nearly every line of this folder speaks of: `using namespace simt_names;`. Internal to this folder.
#pragma once

#include "machines/simt/isa.h"
#include "machines/simt/module.h"
#include "machines/simt/operands.h"

namespace frazil::targets::isa::simt_names {

using machines::simt::Address;
using machines::simt::BufferPlace;
using machines::simt::Condition;
using machines::simt::ImmediateB;
using machines::simt::Instruction;
using machines::simt::Mode;
using machines::simt::Module;
using machines::simt::ModuleParts;
using machines::simt::Opcode;
using machines::simt::Place;
using machines::simt::PlaceOf;
using machines::simt::PredicatePlace;
using machines::simt::RegisterPlace;
using machines::simt::Shape;
using machines::simt::ShuffleKind;
using machines::simt::SpecialRegister;
using machines::simt::Type;

}  // namespace frazil::targets::isa::simt_names
