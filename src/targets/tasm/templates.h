// The frozen yardstick: one template per node, nothing chosen.
#pragma once

#include "targets/tasm/schedule.h"

namespace frazil::targets::tasm {

// Values stay on the stack where they were made and are copied to the top for every use; the oldest goes to RAM when there are
// too many. Around structure everything that is still needed lies in RAM.
Scheduled ScheduleByTemplates(const WordProgram& program);

}  // namespace frazil::targets::tasm
