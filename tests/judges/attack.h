// Attacks on the judges of meaning. An attack makes a source and mutants of what was proposed for it (the candidate, its
// certificate, its guard, its machine code), asks a judge, and searches for an input on which a mutant that was called
// proved, exhaustive or algebraic differs. One that is found is a defect of the judge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judges/choices.h"

namespace frazil::tests {

struct Tally {
  // Every verdict counts as "proved": what the search then finds is what it would find of a judge that believes everything.
  bool blind = false;
  uint64_t mutants = 0;
  uint64_t refuted =
      0;  // or refused with a reason that is one: the module is malformed, the digests differ
  uint64_t unknown = 0;              // sampled counts here: nobody called it equal
  uint64_t equal = 0;                // called equal, and no input was found that tells them apart
  uint64_t wrong = 0;                // called equal, and an input tells them apart
  std::vector<std::string> stories;  // of the wrong ones

  void Judged(uint64_t Tally::* counter) {
    ++mutants;
    ++(this->*counter);
  }
  void Wrong(std::string story) {
    ++mutants;
    ++wrong;
    stories.push_back(std::move(story));
  }
  void Add(const Tally& other);
};

struct Attack {
  std::string_view name;
  std::string_view what;  // one line of the table
  uint64_t share;         // mutants in a whole run
  // One base, and at most so many mutants of it.
  void (*run)(Choices& choices, uint64_t mutants, Tally& tally);
};
std::span<const Attack> Attacks();
const Attack* AttackNamed(std::string_view name);

}  // namespace frazil::tests
