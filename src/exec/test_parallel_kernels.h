// For tests: random kernels around one `parallel`. Most of their indices are of the kinds that real kernels have, some collide.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::exec {

class KernelWriter {
 public:
  explicit KernelWriter(uint64_t seed) : random_(seed) {}

  std::string Write() {
    text_ =
        "frz 1\nfunc @kernel(%x: buffer<i32>, %y: buffer<i32>, %z: buffer<i32>, %n: u32, %m: u32, "
        "%s: index) {\n"
        "  %c0 = const 0 : index\n  %c1 = const 1 : index\n  %c2 = const 2 : index\n  %c3 = const "
        "3 : index\n"
        "  %ni = cast %n : index\n  %mi = cast %m : index\n  %nm = mul %ni, %mi : index\n  %one = "
        "const 1 : i32\n";
    const bool is_nested = Pick(3) == 0;
    const bool is_flat = !is_nested && Pick(2) == 0;
    indices_ = {"%c0", "%c1", "%c2", "%ni", "%mi", "%s"};
    text_ += fmt::format("  parallel %i = {} to {} {{\n", Pick(4) == 0 ? "%c1" : "%c0",
                         is_flat ? "%nm" : "%ni");
    own_ = {"%i"};
    if (is_nested) {
      text_ += "    parallel %j = %c0 to %mi {\n";
      own_.push_back("%j");
    }
    if (is_flat) {
      text_ +=
          fmt::format("    %q = div.floor %i, {0} : index\n    %r = rem.floor %i, {0} : index\n",
                      Pick(2) == 0 ? "%mi" : "%ni");
      own_.push_back("%q");
      own_.push_back("%r");
    }
    Statements(3);
    if (is_nested) text_ += "    yield\n    }\n";
    text_ += "    yield\n  }\n  return\n}\n";
    return text_;
  }

 private:
  uint64_t Pick(uint64_t count) { return random_() % count; }
  std::string Fresh() { return fmt::format("%t{}", next_++); }
  template <typename T>
  const T& OneOf(const std::vector<T>& list) {
    return list[Pick(list.size())];
  }

  std::string Make(std::string_view op, const std::string& a, const std::string& b) {
    std::string name = Fresh();
    text_ += fmt::format("    {} = {} {}, {} : index\n", name, op, a, b);
    return name;
  }

  // Mostly a * stride + b, as matrices are written, of what the iteration has.
  std::string Index() {
    std::string index;
    switch (Pick(8)) {
      case 0: index = own_[0]; break;
      case 1: index = Make("add", OneOf(own_), OneOf(indices_)); break;
      case 2: index = Make("sub", "%ni", OneOf(own_)); break;
      default:
        index = Make("add", Make("mul", OneOf(own_), OneOf(indices_)), OneOf(own_));
        if (Pick(4) == 0) index = Make("add", index, OneOf(indices_));
    }
    return index;
  }

  std::string Value() {
    std::string name = Fresh();
    if (Pick(3) == 0) {
      std::string a = Index();
      text_ += fmt::format("    {} = cast {} : i32\n", name, a);
      return name;
    }
    const char* buffers[] = {"%x", "%y", "%z"};
    std::string index = Pick(2) == 0 && !last_index_.empty() ? last_index_ : Index();
    text_ += fmt::format("    {} = load {}, {} : i32\n", name, buffers[Pick(3)], index);
    return name;
  }

  void Store() {
    std::string index = Pick(3) == 0 && !last_index_.empty() ? last_index_ : Index();
    last_index_ = index;
    std::string a = Value(), b = Value(), sum = Fresh();
    text_ += fmt::format("    {} = add {}, {} : i32\n", sum, a, b);
    const char* buffer = Pick(3) == 0 ? "%z" : "%y";
    if (Pick(5) == 0)
      text_ += fmt::format("    {} = atomic {}, {}, {} {{kind = {}}} : i32\n", Fresh(), buffer,
                           index, sum, Pick(2) == 0 ? "add" : "max");
    else
      text_ += fmt::format("    store {}, {}, {} : i32\n", buffer, index, sum);
  }

  void Statements(int most) {
    for (uint64_t left = 1 + Pick(static_cast<uint64_t>(most)); left > 0; --left) {
      const std::string before = last_index_;
      switch (Pick(6)) {
        case 0: {
          std::string k = Fresh();
          text_ +=
              fmt::format("    for {} = %c0 to {} step 1 {{\n", k, Pick(2) == 0 ? "%mi" : "%c3");
          own_.push_back(k);
          Store();
          own_.pop_back();
          text_ += "    yield\n    }\n";
          last_index_ = before;
          break;
        }
        case 1: {
          std::string bound = Fresh(), index = OneOf(own_);
          text_ += fmt::format("    {} = lt {}, {} : index\n    if {} {{\n", bound, index,
                               OneOf(indices_), bound);
          Store();
          text_ += "    yield\n    } else {\n    yield\n    }\n";
          last_index_ = before;
          break;
        }
        default: Store();
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> own_, indices_;
  std::string last_index_;
  int next_ = 0;
};

// One access at i * stride + j * slope (+ offset), of sizes that wrap when they are multiplied, behind conditions that
// compare such numbers.
class WrappingKernelWriter {
 public:
  explicit WrappingKernelWriter(uint64_t seed) : random_(seed) {}

  std::string Write() {
    Line("%ni = cast %n : index");
    Line("%mi = cast %m : index");
    for (int64_t n : {0, 1, 2, 400}) Line("%c{0} = const {0} : index", n);
    const std::string stride = Size(), slope = Pick(2) == 0 ? "%c1" : Size(), offset = OneOf(Sizes);
    const int64_t low = OneOf(std::vector<int64_t>{0, 0, 0, 1, -8, -64, (int64_t{1} << 40) - 4});
    Line("%low = const {} : index", low);
    Line("%high = const {} : index", low + OneOf(std::vector<int64_t>{4, 9, 40}));
    Line("parallel %i = %low to %high {{");
    if (Pick(2) == 0) If("ge", OneOf(std::vector<std::string>{stride, slope, offset}), "%c1");
    const int64_t first = OneOf(std::vector<int64_t>{0, 0, 1, (int64_t{1} << 40) - 3});
    Line("%first = const {} : index", first);
    Line("%end = const {} : index", first + OneOf(std::vector<int64_t>{1, 2, 5}));
    Line("for %t = %first to %end step 1 {{");
    open_ += 'f';
    Line("%j = sub %t, %first : index");
    Line("%js = mul %j, {} : index", slope);
    Line("%jo = add %js, {} : index", offset);
    if (Pick(4) != 0) If("lt", Pick(2) == 0 ? "%jo" : "%js", stride);
    if (Pick(4) == 0) If("ge", "%js", "%c0");
    Line("%row = mul %i, {} : index", stride);
    Line("%in = add %row, %js : index");
    Line("%at = add %in, {} : index", Pick(2) == 0 ? "%c0" : offset);
    If("ge", "%at", "%c0");
    If("lt", "%at", "%c400");
    Line("%a = load %y, %at : i32");
    Line("%b = load %y, %at : i32");
    Line("%3a = add %a, %b : i32");
    Line("%number = cast %i : i32");
    Line("%sum = add %3a, %number : i32");
    Line("store %y, %at, %sum : i32");
    for (; !open_.empty(); open_.pop_back())
      text_ += open_.back() == 'f' ? "yield\n}\n" : "yield\n} else {\nyield\n}\n";
    Line("yield\n}}\nreturn\n}}");
    return text_;
  }

 private:
  inline static const std::vector<std::string> Sizes = {"%ni", "%mi", "%s"};
  uint64_t Pick(uint64_t count) { return random_() % count; }
  template <typename T>
  const T& OneOf(const std::vector<T>& list) {
    return list[Pick(list.size())];
  }
  template <typename... T>
  void Line(fmt::format_string<T...> line, T&&... values) {
    text_ += fmt::format(line, std::forward<T>(values)...) + "\n";
  }
  std::string Size() {
    std::string size = OneOf(Sizes);
    for (int factors = 0; factors < 2 && Pick(3) == 0; ++factors) {
      const std::string name = fmt::format("%size{}", next_++);
      Line("{} = mul {}, {} : index", name, size, OneOf(Sizes));
      size = name;
    }
    return size;
  }
  void If(std::string_view op, const std::string& a, const std::string& b) {
    const int number = next_++;
    Line("%if{} = {} {}, {} : index\nif %if{} {{", number, op, a, b, number);
    open_ += 'i';
  }

  std::mt19937_64 random_;
  std::string text_ =
      "frz 1\nfunc @kernel(%x: buffer<i32>, %y: buffer<i32>, %z: buffer<i32>, %n: u32, %m: u32, "
      "%s: index) {\n";
  std::string open_;
  int next_ = 0;
};

}  // namespace frazil::exec
