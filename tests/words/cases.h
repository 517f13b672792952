// The case files of the words door: one text a line and what must come of it.
//
//   text => 42                  the answer
//   text => refused: part       not understood; the message quotes the part, from its start
//   text => ambiguous           two meanings
//   text => no answer: part     understood, but without a value; the message has the part
//   text => trap: part          the program traps; the sentence has the part
//   text => limit: part         a limit, named in the message
//
// Lines that start with '#' and empty lines do not count.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontends/words/words.h"

namespace frazil::tests {

enum class Expectation { Answer, Refused, Ambiguous, NoAnswer, Trap, Limit };

struct WordsCase {
  std::string file;
  uint32_t line = 0;
  std::string text;
  Expectation kind = Expectation::Answer;
  std::string value;  // the answer, or the part of the message

  std::string Place() const { return file + ":" + std::to_string(line) + ": " + text; }
};

// Every case of every .txt file of a folder, in order of names.
Result<std::vector<WordsCase>> LoadWordsCases(const std::filesystem::path& folder);

// Empty if this reading (or refusal), run to this answer, is what the case says; else what differs.
// `answer` is only asked for where a reading exists.
std::string CompareReading(const WordsCase& wanted,
                           const Result<frontends::words::Reading>& reading);
std::string CompareAnswer(const WordsCase& wanted, const Result<std::string>& answer);

}  // namespace frazil::tests
