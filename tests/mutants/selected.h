// Which of the planted mutations is in force: mutated copies of the emitters ask at every place that has one.
#pragma once

namespace frazil::mutants {

constexpr int MostMutants = 16384;

inline int selected = 0;                // 0: none, the emitters as they are
inline bool reached[MostMutants] = {};  // asked for since it was last cleared

inline bool Is(int number) {
  reached[number] = true;
  return selected == number;
}

}  // namespace frazil::mutants
