// Which form of the permutation this machine runs.
#include "machines/tasm/tip5_forms.h"

namespace frazil::machines::tasm::tip5 {

Form BestForm() { return PermutePortable; }

}  // namespace frazil::machines::tasm::tip5
