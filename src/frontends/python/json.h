// A JSON text as a tree of small nodes. Ours, because a kernel's way from JSON to IR is counted in microseconds and
// because errors need places. Numbers keep their text: Python's integers have no width, its floats print exactly.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace frazil::frontends::python {

enum class JsonKind : uint8_t { Null, False, True, Number, String, Array, Object };

struct JsonNode {
  JsonKind kind = JsonKind::Null;
  uint32_t offset = 0;              // of its first byte in the text
  std::string_view text;            // numbers as written; strings without escapes
  std::string_view key;             // in an object: its name
  const JsonNode* first = nullptr;  // arrays, objects: children in order
  const JsonNode* next = nullptr;   // the next child of the same parent

  bool is(JsonKind k) const { return kind == k; }
  // A member of an object, or null. The first one of that name.
  const JsonNode* Find(std::string_view name) const;
};

// Children of an array or object in a range-for.
class JsonChildren {
 public:
  struct Iterator {
    const JsonNode* node;
    const JsonNode& operator*() const { return *node; }
    void operator++() { node = node->next; }
    bool operator!=(const Iterator& other) const { return node != other.node; }
  };
  explicit JsonChildren(const JsonNode& parent) : first_(parent.first) {}
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {nullptr}; }

 private:
  const JsonNode* first_;
};

class JsonTree {
 public:
  // The text must outlive the tree.
  static Result<JsonTree> Parse(std::string_view text, const Limits& limits);
  const JsonNode& root() const { return *root_; }
  Location LocationOf(const JsonNode& node) const;

 private:
  friend class JsonParser;
  std::string_view text_;
  std::deque<JsonNode> nodes_;
  std::deque<std::string> strings_;
  const JsonNode* root_ = nullptr;
  mutable std::vector<uint32_t> line_starts_;  // made when the first place is asked for
};

}  // namespace frazil::frontends::python
