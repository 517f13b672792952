// Values that have names in a text or in an answer, both ways: a table of rows {name, value}.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace frazil {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, size_t N>
constexpr std::optional<T> FindNamed(const Named<T> (&rows)[N], std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &Named<T>::name);
  if (row == std::end(rows)) return std::nullopt;
  return row->value;
}

// The name of the first row with that value; empty without one.
template <typename T, size_t N>
constexpr std::string_view NameOf(const Named<T> (&rows)[N], const T& value) {
  const auto* row = std::ranges::find(rows, value, &Named<T>::value);
  return row == std::end(rows) ? std::string_view() : row->name;
}

// The rows of a .def by the name that one of their columns holds; the first row of a name counts. For tables too long to be
// searched from the front.
template <typename Id>
class NameIndex {
 public:
  template <typename Rows, typename Column>
  NameIndex(const Rows& rows, Column column) {
    size_t i = 0;
    for (const auto& row : rows) ids_.emplace(row.*column, static_cast<Id>(i++));
  }
  std::optional<Id> Find(std::string_view name) const {
    const auto found = ids_.find(name);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, Id> ids_;
};

}  // namespace frazil
