// Bytes as a forged proof: one attack of tests/judges, its choices taken from the input. Whatever a judge calls equal is
// searched for a difference, and one that is found is a crash. FRAZIL_ATTACK names the attack.
#include <cstdio>

#include "base/check.h"
#include "judges/attack.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil::tests;
  static const Attack* const attack = AttackNamed(FRAZIL_ATTACK);
  CHECK(attack != nullptr);
  Choices choices(data, size);
  Tally tally;
  attack->run(choices, 2, tally);
  for (const std::string& story : tally.stories) std::fprintf(stderr, "%s\n", story.c_str());
  CHECK(tally.wrong == 0);
  return 0;
}
