// Text and memory of witnesses.
#include "witness.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <random>
#include <sstream>

namespace frazil::mutants {
namespace {

using exec::Value;

constexpr size_t Page = 4096;
constexpr size_t Zone = 256;
constexpr unsigned char Canary = 0xa5;
// Longer buffers repeat their elements: a million of them one by one would take longer than the call.
constexpr int64_t Period = 65537;

Result<uint64_t> ParseWord(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, fault] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (fault != std::errc() || end != text.data() + text.size())
    return Fail(Diag::BadUsage, fmt::format("`{}` is not a number", text));
  return is_negative ? 0 - value : value;
}

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

Result<Recipe> ParseRecipe(std::string text) {
  Recipe recipe;
  const size_t open = text.find('(');
  if (open == std::string::npos) {
    for (const std::string& word : Split(text, ':')) recipe.words.push_back(TRY(ParseWord(word)));
    return recipe;
  }
  const size_t close = text.find(')');
  if (close == std::string::npos) return Fail(Diag::BadUsage, fmt::format("`{}` has no `)`", text));
  recipe.fill = text.substr(0, open);
  const std::vector<std::string> inner = Split(text.substr(open + 1, close - open - 1), ',');
  if (recipe.fill == "same") {
    recipe.same = static_cast<int>(TRY(ParseWord(inner.at(0))));
    return recipe;
  }
  for (const std::string& dim : Split(inner.at(0), 'x'))
    recipe.dims.push_back(static_cast<int64_t>(TRY(ParseWord(dim))));
  if (inner.size() > 1) recipe.seed = TRY(ParseWord(inner[1]));
  std::string rest = text.substr(close + 1);
  for (size_t at = 0; at < rest.size();) {
    const size_t next = std::min(rest.find_first_of("@!", at + 1), rest.size());
    const std::string part = rest.substr(at + 1, next - at - 1);
    if (rest[at] == '@') {
      recipe.offset = part == "end" ? Recipe::AtEnd : static_cast<int>(TRY(ParseWord(part)));
    } else {
      const std::vector<std::string> pair = Split(part, '=');
      recipe.set.emplace_back(static_cast<int64_t>(TRY(ParseWord(pair.at(0)))),
                              TRY(ParseWord(pair.at(1))));
    }
    at = next;
  }
  return recipe;
}

std::string PrintRecipe(const Recipe& recipe) {
  if (recipe.same >= 0) return fmt::format("same({})", recipe.same);
  std::string text;
  if (!recipe.words.empty()) {
    for (uint64_t word : recipe.words) {
      if (!text.empty()) text += ":";
      const int64_t number = static_cast<int64_t>(word);
      const bool is_small = number > -1'000'000 && number < 1'000'000'000;
      text += is_small ? fmt::format("{}", number) : fmt::format("0x{:x}", word);
    }
    return text;
  }
  for (int64_t dim : recipe.dims) text += fmt::format("{}{}", text.empty() ? "" : "x", dim);
  text = fmt::format("{}({},{})", recipe.fill, text, recipe.seed);
  if (recipe.offset == Recipe::AtEnd) text += "@end";
  if (recipe.offset > 0) text += fmt::format("@{}", recipe.offset);
  for (auto [index, word] : recipe.set) text += fmt::format("!{}=0x{:x}", index, word);
  return text;
}

uint64_t Cut(ir::Type type, uint64_t word) {
  if (type.scalar == ir::Scalar::Bool) return word & 1;
  if (type.scalar == ir::Scalar::Field) return word % 0xffff'ffff'0000'0001u;
  if (ir::Contains(ir::sets::Half, type.scalar)) return word & 0xffff;
  if (!ir::IsFixedInt(type.scalar) || ir::BitsOf(type) >= 64) return word;
  const int cut = 64 - ir::BitsOf(type);
  return ir::IsSigned(type.scalar) ? static_cast<uint64_t>(static_cast<int64_t>(word << cut) >> cut)
                                   : word << cut >> cut;
}

uint64_t Number(ir::Type type, int64_t value) {
  return ir::IsFloat(type.scalar) ? Value::Float(type, static_cast<double>(value)).word
                                  : Cut(type, static_cast<uint64_t>(value));
}

uint64_t Plain(ir::Type type, uint64_t random) {
  if (type.scalar == ir::Scalar::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(random)) * 0x1p-60f);
  if (type.scalar == ir::Scalar::F64)
    return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(random)) * 0x1p-60);
  return Cut(type, random);
}

// With some payload.
uint64_t Nan(ir::Type type, uint64_t random) {
  if (type.scalar == ir::Scalar::F64) return 0x7ff8'0000'0000'0000u | (random % 1000);
  if (type.scalar == ir::Scalar::F32) return 0x7fc0'0000u | (random % 1000);
  return type.scalar == ir::Scalar::BF16 ? 0x7fc0u : 0x7e00u;
}

uint64_t Special(ir::Type type, uint64_t choice) {
  constexpr uint32_t Singles[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001,
                                  0xffc12345, 0x7f800001, 1,          0x807fffff};
  constexpr uint64_t Doubles[] = {
      0, 1ull << 63, 0x7ff0ull << 48, 0xfff0ull << 48, 0x7ff8000000000001u, 0xfff8123456789abcu, 1};
  if (type.scalar == ir::Scalar::F32) return Singles[choice % std::size(Singles)];
  if (type.scalar == ir::Scalar::F64) return Doubles[choice % std::size(Doubles)];
  constexpr uint64_t P = 0xffff'ffff'0000'0001u;
  constexpr uint64_t Field[] = {0, 1, P - 1, P - 2, 1ull << 32, 0xffff'ffffu, P >> 1, 1ull << 63};
  if (type.scalar == ir::Scalar::Field) return Field[choice % std::size(Field)];
  if (!ir::IsFixedInt(type.scalar)) return Cut(type, choice * 0x0101'0101'0101u);
  const uint64_t top = 1ull << (ir::BitsOf(type) - 1);
  const uint64_t integers[] = {0, 1, ~0ull, top, top - 1};
  return Cut(type, integers[choice % std::size(integers)]);
}

void Fill(exec::Memory& memory, const Recipe& recipe) {
  const ir::Type type = memory.element();
  std::mt19937_64 random(recipe.seed);
  const bool has_words = ir::WordsOf(type) > 1;
  std::vector<uint64_t> words(ir::WordsOf(type));
  const uint64_t modulus =
      recipe.fill.starts_with("mod") ? std::stoull("0" + recipe.fill.substr(3)) : 0;
  const int64_t made = std::min(memory.length(), Period);
  for (int64_t i = 0; i < made; ++i) {
    for (uint64_t& word : words) {
      const uint64_t number = random();
      if (recipe.fill == "zeros")
        word = 0;
      else if (recipe.fill == "ones")
        word = Number(type, 1);
      else if (recipe.fill == "small")
        word = Number(type, static_cast<int64_t>(number % 9) - 4);
      else if (recipe.fill == "nans")
        word = Nan(type, number);
      else if (recipe.fill == "signs")
        word = number % 2 == 0 ? Number(type, 0)
                               : Cut(type, uint64_t{1} << (8 * ir::BytesOf(type) - 1));
      else if (recipe.fill == "wide")
        word = Cut(type, number >> (number % 64));
      else if (modulus != 0)
        word = Number(type, static_cast<int64_t>(number % modulus));
      else if (recipe.fill == "mixed" && number % 16 < 9)
        word = Special(type, number >> 8);
      else
        word = has_words ? number % 0xffff'ffff'0000'0001u : Plain(type, number);
    }
    memory.Set(i, words);
  }
  const size_t period = static_cast<size_t>(made) * ir::BytesOf(type);
  for (size_t at = period; at < memory.size_bytes(); at += period)
    std::memcpy(memory.data() + at, memory.data(), std::min(period, memory.size_bytes() - at));
  for (auto [index, word] : recipe.set) {
    std::fill(words.begin(), words.end(), word);
    if (index < memory.length()) memory.Set(index, words);
  }
}

std::string PrintKind(const Form& form) {
  if (form.is_wasm) return "wasm";
  return fmt::format("{} {}", exec::CpuLevelName(form.level), form.tuned ? "tuned" : "first");
}

}  // namespace

int64_t Recipe::length() const {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

std::string Form::Print() const {
  return fmt::format("{} {}{}", program, PrintKind(*this), metered() ? " metered" : "");
}

Result<Witness> ParseWitness(const std::string& text) {
  Witness witness;
  std::stringstream stream(text);
  std::string word;
  bool is_head = true;
  while (stream >> word) {
    if (!is_head) {
      witness.arguments.push_back(TRY(ParseRecipe(word)));
    } else if (word == ":") {
      is_head = false;
    } else if (witness.form.program.empty()) {
      witness.form.program = word;
    } else if (word == "wasm") {
      witness.form.is_wasm = true;
    } else if (word == "tuned" || word == "first") {
      witness.form.tuned = word == "tuned";
    } else if (word.starts_with("fuel=")) {
      witness.form.fuel = TRY(ParseWord(word.substr(5)));
    } else if (word.starts_with("memory=")) {
      witness.memory = TRY(ParseWord(word.substr(7)));
    } else {
      bool found = false;
      for (int i = 0; i < exec::CpuLevelCount; ++i)
        if (exec::CpuLevelName(static_cast<exec::CpuLevel>(i)) == word)
          witness.form.level = static_cast<exec::CpuLevel>(i), found = true;
      if (!found) return Fail(Diag::BadUsage, fmt::format("`{}` is no level and no form", word));
    }
  }
  return witness;
}

std::string PrintWitness(const Witness& witness) {
  const Form& form = witness.form;
  std::string text = fmt::format("{} {}", form.program, PrintKind(form));
  if (form.fuel) text += fmt::format(" fuel={}", *form.fuel);
  if (witness.memory) text += fmt::format(" memory={}", *witness.memory);
  text += " :";
  for (const Recipe& recipe : witness.arguments) text += " " + PrintRecipe(recipe);
  return text;
}

Room::Room(ir::Type element, int64_t length, int offset) {
  const size_t bytes = static_cast<size_t>(length) * ir::BytesOf(element);
  page_bytes_ = (bytes + 2 * Zone + 64 + Page - 1) / Page * Page;
  void* const all = ::mmap(nullptr, page_bytes_ + 2 * Page, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) std::abort();
  pages_ = static_cast<unsigned char*>(all) + Page;
  if (::mprotect(pages_, page_bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  start_ = offset == Recipe::AtEnd ? pages_ + page_bytes_ - bytes : pages_ + Zone + offset;
  unsigned char* const end = start_ + bytes;
  std::memset(pages_, Canary, static_cast<size_t>(start_ - pages_));
  std::memset(end, Canary, static_cast<size_t>(pages_ + page_bytes_ - end));
  memory_ = std::make_shared<exec::Memory>(element, length, start_);
}

Room::~Room() { ::munmap(pages_ - Page, page_bytes_ + 2 * Page); }

bool Room::intact() const {
  const auto kept = [](const unsigned char* from, const unsigned char* to) {
    return std::all_of(from, to, [](unsigned char byte) { return byte == Canary; });
  };
  return kept(pages_, start_) && kept(start_ + memory_->size_bytes(), pages_ + page_bytes_);
}

bool Arguments::intact() const {
  return std::ranges::all_of(rooms, [](const auto& room) { return room->intact(); });
}

Result<Arguments> MakeArguments(const ir::Program& program, const Witness& witness) {
  Arguments made;
  const ir::Function& entry = program.entry_function();
  if (witness.arguments.size() != entry.param_count())
    return Fail(Diag::BadUsage, fmt::format("{} arguments, and the program has {} parameters",
                                            witness.arguments.size(), entry.param_count()));
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const Recipe& recipe = witness.arguments[i];
    const ir::Type type = entry.param_type(i);
    const bool is_scalar = type.is_scalar();
    if (is_scalar != !recipe.words.empty())
      return Fail(Diag::BadUsage, fmt::format("argument {} is of another kind", i));
    if (is_scalar) {
      std::vector<uint64_t> words = recipe.words;
      words.resize(ir::WordsOf(type), 0);
      if (words.size() == 1) words[0] = Cut(type, words[0]);
      made.values.push_back(Value::Scalar(type, words));
      continue;
    }
    if (recipe.same >= 0) {
      made.values.push_back(made.values.at(static_cast<size_t>(recipe.same)));
      continue;
    }
    const ir::Type element = type.element();
    made.rooms.push_back(std::make_unique<Room>(element, recipe.length(), recipe.offset));
    Fill(*made.rooms.back()->memory(), recipe);
    made.values.push_back(type.is_buffer()
                              ? Value::Buffer(made.rooms.back()->memory())
                              : Value::Tensor(made.rooms.back()->memory(), recipe.dims));
  }
  return made;
}

exec::RunContext ContextOf(const Witness& witness) {
  exec::RunContext context;
  if (witness.form.fuel) context.limits.fuel = *witness.form.fuel;
  if (witness.memory) context.limits.memory_bytes = *witness.memory;
  return context;
}

}  // namespace frazil::mutants
