// Names of answers.
#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {

std::string_view AnswerName(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::Proved: return "proved";
    case Answer::Kind::Algebraic: return "algebraic";
    case Answer::Kind::Refuted: return "refuted";
    case Answer::Kind::Unknown: break;
  }
  return "unknown";
}

}  // namespace frazil::verify::tasm
