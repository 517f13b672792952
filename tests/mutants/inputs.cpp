// Reading of `// try:` lines, and the dice.
#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace frazil::mutants {
namespace {

constexpr const char* Fills[] = {"plain", "mixed",  "plain", "small", "ones",
                                 "mod7",  "mod100", "signs", "wide"};

std::vector<int64_t> ParseValues(const std::string& text) {
  std::vector<int64_t> values;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const size_t dots = part.find("..");
    const int64_t first = std::stoll(part);
    const int64_t last = dots == std::string::npos ? first : std::stoll(part.substr(dots + 2));
    for (int64_t value = first; value <= last; ++value) values.push_back(value);
  }
  return values;
}

int64_t Evaluate(const std::string& text, const std::map<std::string, int64_t>& variables) {
  int64_t sum = 0;
  for (size_t at = 0; at < text.size();) {
    int64_t sign = 1;
    if (text[at] == '+' || text[at] == '-') sign = text[at++] == '-' ? -1 : 1;
    size_t end = std::min(text.find_first_of("+-", at), text.size());
    int64_t product = 1;
    std::stringstream factors(text.substr(at, end - at));
    for (std::string factor; std::getline(factors, factor, '*');) {
      const auto found = variables.find(factor);
      product *= found != variables.end() ? found->second : std::stoll(factor);
    }
    sum += sign * product;
    at = end;
  }
  return sum;
}

uint64_t Pick(std::mt19937_64& random, uint64_t below) { return random() % below; }

std::vector<uint64_t> AnyScalar(ir::Type type, std::mt19937_64& random) {
  std::vector<uint64_t> words(ir::WordsOf(type));
  for (uint64_t& word : words) {
    word = random();
    const uint64_t choice = Pick(random, 8);
    if (ir::IsFloat(type.scalar)) {
      const double number = choice < 5
                                ? static_cast<double>(static_cast<int64_t>(word >> 54)) - 500.0
                                : static_cast<double>(static_cast<int64_t>(word)) * 0x1p-60;
      word = exec::Value::Float(type, number).word;
    } else if (choice < 3) {
      word = Pick(random, 12);
    } else if (choice < 5) {
      word = (uint64_t{1} << Pick(random, 64)) - Pick(random, 2);
    } else if (choice < 6) {
      word = 0 - Pick(random, 10);
    }
    if (type.scalar == ir::Scalar::Field || type.scalar == ir::Scalar::XField ||
        type.scalar == ir::Scalar::Digest)
      word %= 0xffff'ffff'0000'0001u;
  }
  return words;
}

Recipe MakeRecipe(const std::string& text, ir::Type type,
                  const std::map<std::string, int64_t>& variables, std::mt19937_64& random) {
  Recipe recipe;
  if (text == "bits") {
    recipe.words = AnyScalar(type, random);
    return recipe;
  }
  const size_t open = text.find('(');
  if (open == std::string::npos) {
    recipe.words = {static_cast<uint64_t>(Evaluate(text, variables))};
    return recipe;
  }
  recipe.fill = text.substr(0, open);
  if (recipe.fill == "same") {
    recipe.same = std::atoi(text.c_str() + open + 1);
    return recipe;
  }
  if (recipe.fill == "any") recipe.fill = Fills[Pick(random, std::size(Fills))];
  std::stringstream sizes(text.substr(open + 1, text.find(')') - open - 1));
  for (std::string size; std::getline(sizes, size, 'x');)
    recipe.dims.push_back(std::max<int64_t>(Evaluate(size, variables), 0));
  recipe.seed = Pick(random, 1000);
  const uint64_t place = Pick(random, 4);
  const int bytes = static_cast<int>(ir::BytesOf(type.element()));
  if (place == 0) recipe.offset = Recipe::AtEnd;
  if (place == 1)
    recipe.offset =
        bytes * static_cast<int>(Pick(random, 64 / static_cast<uint64_t>(std::min(bytes, 64))));
  if (place == 2 && Pick(random, 4) == 0) recipe.offset = static_cast<int>(Pick(random, 64));
  if (recipe.length() > 0 && ir::IsFloat(type.scalar) && Pick(random, 4) == 0) {
    const uint64_t nan = type.scalar == ir::Scalar::F64   ? 0x7ff8000000000123u
                         : type.scalar == ir::Scalar::F32 ? 0xffc00123u
                                                          : 0x7fffu;
    recipe.set.emplace_back(
        static_cast<int64_t>(Pick(random, static_cast<uint64_t>(recipe.length()))), nan);
  }
  return recipe;
}

}  // namespace

InputMaker::InputMaker(const ir::Program& program, const std::string& text) : program_(program) {
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// fuel: ")) fuels_ = ParseValues(line.substr(9));
    if (!line.starts_with("// try: ")) continue;
    Try made;
    bool is_head = true;
    std::stringstream words(line.substr(8));
    for (std::string word; words >> word;) {
      if (word == ":") {
        is_head = false;
      } else if (is_head) {
        const size_t equal = word.find('=');
        made.variables.emplace_back(word.substr(0, equal), ParseValues(word.substr(equal + 1)));
      } else {
        made.arguments.push_back(word);
      }
    }
    tries_.push_back(std::move(made));
  }
  if (tries_.empty()) Default();
}

// Scalars of any kind; buffers of one length.
void InputMaker::Default() {
  Try made;
  made.variables.emplace_back("n", ParseValues("0..9,15..17,31..33,63..65,100,130"));
  for (uint32_t i = 0; i < program_.entry_function().param_count(); ++i) {
    const ir::Type type = program_.entry_function().param_type(i);
    made.arguments.push_back(!type.is_scalar()          ? "any(n)"
                             : type == ir::types::Index ? "n"
                                                        : "bits");
  }
  tries_.push_back(std::move(made));
}

Witness InputMaker::Make(std::mt19937_64& random, bool metered) const {
  Witness witness;
  const Try& chosen = tries_[Pick(random, tries_.size())];
  std::map<std::string, int64_t> variables;
  for (const auto& [name, values] : chosen.variables)
    variables[name] = values[Pick(random, values.size())];
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < chosen.arguments.size(); ++i) {
    const ir::Type type = program_.entry_function().param_type(i);
    witness.arguments.push_back(MakeRecipe(chosen.arguments[i], type, variables, random));
    if (type.is_buffer()) buffers.push_back(i);
  }
  if (!buffers.empty() && Pick(random, 8) == 0) {
    Recipe& shorter = witness.arguments[buffers[Pick(random, buffers.size())]];
    if (shorter.same < 0)
      shorter.dims[0] =
          std::max<int64_t>(0, shorter.dims[0] - 1 - static_cast<int64_t>(Pick(random, 3)));
  }
  if (buffers.size() > 1 && Pick(random, 4) == 0) {
    const size_t later = 1 + Pick(random, buffers.size() - 1);
    const uint32_t a = buffers[Pick(random, later)], b = buffers[later];
    const ir::Function& entry = program_.entry_function();
    const bool same_type = entry.param_type(a).element() == entry.param_type(b).element();
    if (same_type && witness.arguments[a].same < 0 && witness.arguments[b].same < 0) {
      witness.arguments[b] = {};
      witness.arguments[b].same = static_cast<int>(a);
    }
  }
  if (metered && !fuels_.empty())
    witness.form.fuel = static_cast<uint64_t>(fuels_[Pick(random, fuels_.size())]);
  return witness;
}

}  // namespace frazil::mutants
