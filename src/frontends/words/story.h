#pragma once
#include "frontends/words/parser.h"
namespace frazil::frontends::words {
inline bool LooksLikeStory(std::span<const Token>) { return false; }
class Story {
 public:
  Story(std::span<const Token>, Choices&, const Limits&) {}
  Result<Tree> ParseSentence() { return Fail(Diag::NotUnderstood, ""); }
  size_t furthest() const { return 0; }
};
}
