#include "verify/tasm/runs/samples.h"

#include <algorithm>

#include "base/number/goldilocks.h"
#include "verify/tasm/compare.h"

namespace frazil::verify::tasm {
namespace {

using exec::Value;
namespace gl = goldilocks;

// To find the order in which a program reads streams of several types takes a run for each value.
constexpr size_t MostFound = 400;
constexpr size_t MostMixed = 256;
constexpr uint64_t FindFuel = 1 << 16;
constexpr size_t MostKept = 64;
constexpr size_t MostEdges = 512;
constexpr size_t StreamWords = 240;

uint64_t SeedOf(const std::string& seed) { return Random("samples " + seed).Next(); }

std::vector<uint64_t> ConstantsOf(const ir::Program& program, const mt::Program& assembly) {
  std::vector<uint64_t> constants;
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Const && ir::WordsOf(inst.type.element()) == 1)
        constants.push_back(function.words_of(inst)[0] % gl::P);
  AddConstants(assembly, constants);
  std::ranges::sort(constants);
  constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
  return constants;
}

}  // namespace

Limits LimitsOf(uint64_t fuel, const Deadline& deadline) {
  constexpr uint64_t MemoryBytes = 64 << 20;
  Limits limits;
  limits.fuel = fuel;
  limits.memory_bytes = MemoryBytes;
  limits.run_ms = std::max<uint64_t>(deadline.LeftMs(), 1);
  return limits;
}

Ram ProversRam(uint64_t seed) {
  return [seed](uint64_t address) -> uint64_t {
    uint64_t word = (address + 1) * 0x9e37'79b9'7f4a'7c15u ^ seed;
    word = (word ^ (word >> 30)) * 0xbf58'476d'1ce4'e5b9u;
    word = (word ^ (word >> 27)) * 0x94d0'49bb'1331'11ebu;
    word ^= word >> 31;
    // From 1 on: zeros are a case of their own.
    const uint64_t small = 1 + (word >> 8) % 15;
    switch (seed % 4) {
      case 0: return 0;
      case 1: return small;
      case 2: return word % gl::P;
      default: return word % 2 == 0 ? small : word >> 32;
    }
  };
}

Samples::Samples(const ir::Program& program, const exec::InterpreterProgram& prepared,
                 const Claim& claim, const mt::Program& assembly, const std::string& seed,
                 const Deadline& deadline)
    : program_(program),
      prepared_(prepared),
      claim_(claim),
      deadline_(deadline),
      space_(MakeInputSpace(program, program, {})),
      random_("assembly " + seed),
      maker_(space_, program, program, random_),
      sampler_(ConstantsOf(program, assembly), false, SeedOf(seed)),
      constants_(ConstantsOf(program, assembly)) {
  if (space_.scalars_only && !IsOne()) edges_ = maker_.EdgeTuples(MostEdges);
}

bool Samples::IsOne() const {
  return program_.entry_function().param_count() == 0 && space_.input_types.empty() &&
         space_.hint_types.empty();
}

bool Samples::FindStreams(Input& input, WordStream words, WordStream secrets,
                          std::span<const mt::Digest> digests) {
  if (found_ >= MostFound) return false;
  ++found_;
  exec::RunContext context;
  context.limits = LimitsOf(FindFuel, deadline_);
  const auto run = [&](const Input& with) {
    context.input = with.input;
    context.hints = with.hints;
    return prepared_.Run(exec::CopyValues(with.arguments), context);
  };
  size_t digest = 0;
  while (input.input.size() + input.hints.size() < MostMixed && !deadline_.Passed()) {
    const Result<exec::Outcome> outcome = run(input);
    if (!outcome) return false;
    const bool is_empty = outcome->trap && outcome->trap->kind == ir::Trap::OutOfBounds &&
                          (outcome->trap->op == ir::Op::Input || outcome->trap->op == ir::Op::Hint);
    if (!is_empty) return true;
    const bool is_input = outcome->trap->op == ir::Op::Input;
    std::vector<Value>& stream = is_input ? input.input : input.hints;
    bool fits = false;
    for (const ir::Type type : is_input ? space_.input_types : space_.hint_types) {
      const bool is_digest = !is_input && type.scalar == ir::Scalar::Digest;
      WordStream& from = is_input ? words : secrets;
      WordStream rest = from;
      std::optional<Value> value;
      if (!is_digest)
        value = rest.Take(type);
      else if (digest < digests.size())
        value = Value::Scalar(type, digests[digest]);
      if (!value) continue;
      stream.push_back(std::move(*value));
      fits = run(input).has_value();
      if (!fits) {
        stream.pop_back();
        continue;
      }
      digest += is_digest ? 1 : 0;
      from = rest;
      break;
    }
    if (!fits) return true;  // the machine finds the stream at its end there, too
  }
  return true;
}

bool Samples::ReadStreams(Input& input, WordStream words, WordStream secrets,
                          std::span<const mt::Digest> digests) {
  if (IsMixed()) return FindStreams(input, words, secrets, digests);
  if (!space_.input_types.empty()) {
    while (words.left() > 0) {
      std::optional<Value> value = words.Take(space_.input_types[0]);
      if (!value) break;
      input.input.push_back(std::move(*value));
    }
  }
  if (space_.hint_types.empty()) return true;
  const ir::Type type = space_.hint_types[0];
  if (type.scalar == ir::Scalar::Digest) {
    for (const mt::Digest& digest : digests) input.hints.push_back(Value::Scalar(type, digest));
    return true;
  }
  while (secrets.left() > 0) {
    std::optional<Value> value = secrets.Take(type);
    if (!value) break;
    input.hints.push_back(std::move(*value));
  }
  return true;
}

std::optional<Input> Samples::Call(const mt::Inputs& inputs, bool fit) {
  Input input;
  size_t taken = 0;
  std::optional<std::vector<Value>> arguments = claim_.Arguments(inputs, fit, taken);
  if (!arguments) return std::nullopt;
  input.arguments = std::move(*arguments);
  const auto rest = std::span(inputs.input).subspan(taken);
  if (!ReadStreams(input, WordStream(rest, fit), WordStream(inputs.secret, fit), inputs.digests))
    return std::nullopt;
  return input;
}

std::optional<Input> Samples::Next() {
  if (IsOne()) return Input{};
  const uint64_t number = number_++;
  if (number % 4 == 0) return Made();
  if (number % 4 == 1 || kept_.empty()) return Flavored();
  return Neighbor();
}

void Samples::Keep(const Input& input) {
  if (kept_.size() < MostKept)
    kept_.push_back(input);
  else
    kept_[random_.Below(MostKept)] = input;
}

// Made for the types of the parameters, as for all other code.
std::optional<Input> Samples::Made() {
  const uint64_t number = made_++;
  if (space_.scalars_only) {
    Input input;
    const auto tuple = number < edges_.size() ? edges_[number] : maker_.RandomTuple();
    for (uint32_t i = 0; i < tuple.size(); ++i)
      input.arguments.push_back(Value::Scalar(space_.entry->param_type(i), tuple[i]));
    return input;
  }
  std::optional<Input> input = maker_.Make(number);
  if (!input) return std::nullopt;
  FillRam(*input);
  if (!IsMixed()) return input;
  const std::optional<Start> start = claim_.StartOf(*input);
  if (!start) return std::nullopt;
  Input fitting;
  fitting.arguments = std::move(input->arguments);
  size_t words = 0;
  for (const Value& value : input->input) words += WordCount(value.type);
  const mt::Inputs& inputs = start->inputs;
  const auto rest = std::span(inputs.input).last(words);
  if (!ReadStreams(fitting, WordStream(rest, true), WordStream(inputs.secret, true),
                   inputs.digests))
    return std::nullopt;
  return fitting;
}

// RAM is as large as it is, and what lies there is the prover's.
void Samples::FillRam(Input& input) {
  const std::optional<uint32_t> ram = claim_.ram();
  if (!ram) return;
  auto memory = std::make_shared<exec::Memory>(ir::types::Field, Claim::RamWords);
  const Ram prover = ProversRam(random_.Next());
  // One in three is so only at its beginning, which programs use most.
  const int64_t filled = random_.Chance(33) ? random_.Between(0, 64) : Claim::RamWords;
  for (int64_t i = 0; i < filled; ++i) {
    const uint64_t word = prover(static_cast<uint64_t>(i));
    memory->Set(i, std::span(&word, 1));
  }
  input.arguments[*ram] = Value::Buffer(std::move(memory));
}

// Words of one flavor: edge values, bits, small numbers, constants of the program, all alike.
std::optional<Input> Samples::Flavored() {
  mt::Inputs inputs = sampler_.Next().inputs;
  while (inputs.input.size() < StreamWords) {
    const mt::Inputs more = sampler_.Next().inputs;
    inputs.input.insert(inputs.input.end(), more.input.begin(), more.input.end());
    inputs.secret.insert(inputs.secret.end(), more.secret.begin(), more.secret.end());
    inputs.digests.insert(inputs.digests.end(), more.digests.begin(), more.digests.end());
  }
  std::erase_if(inputs.ram, [](const auto& cell) {
    return cell.first >= static_cast<uint64_t>(Claim::RamWords);
  });
  return Call(inputs, true);
}

uint64_t Samples::OtherWord(uint64_t word) {
  switch (random_.Below(9)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return gl::Add(word % gl::P, 1);
    case 3: return gl::Sub(word % gl::P, 1);
    case 4: return random_.Below(16);
    case 5: return random_.Below(gl::P);
    case 6: return uint64_t{1} << random_.Below(33);
    case 7: return random_.Next() >> 32;
    default:
      return constants_.empty() ? random_.Below(64)
                                : gl::Add(constants_[random_.Below(constants_.size())],
                                          gl::FromInt64(random_.Between(-1, 1)));
  }
}

Value Samples::Changed(const Value& value, const std::vector<Value>& others) {
  // Equal values are where comparisons differ.
  if (random_.Chance(20)) {
    const Value& other = others[random_.Below(others.size())];
    if (other.type == value.type) return other;
  }
  std::vector<uint64_t> words = WordsOf(value);
  uint64_t& word = words[random_.Below(words.size())];
  word = OtherWord(word);
  const std::optional<Value> changed = WordStream(words, true).Take(value.type);
  return changed ? *changed : value;
}

void Samples::Change(Input& input) {
  const auto change_in = [&](std::vector<Value>& values) {
    Value& value = values[random_.Below(values.size())];
    if (!value.memory) {
      value = Changed(value, values);
      return;
    }
    const int64_t length = value.memory->length();
    if (length == 0) return;
    // Of RAM mostly the first words are used.
    const int64_t few = random_.Chance(70) ? std::min<int64_t>(length, 64) : length;
    const int64_t at = random_.Between(0, few - 1);
    std::vector<uint64_t> words(ir::WordsOf(value.memory->element()));
    value.memory->Get(at, words);
    const Value element = Value::Scalar(value.memory->element(), words);
    value.memory->Set(at, Changed(element, {element}).scalar_words());
  };
  std::vector<Value>* const all[] = {&input.arguments, &input.input, &input.hints};
  std::vector<std::vector<Value>*> some;
  for (std::vector<Value>* values : all)
    if (!values->empty()) some.push_back(values);
  if (some.empty()) return;
  std::vector<Value>& chosen = *some[random_.Below(some.size())];
  // A stream may end too early.
  if (&chosen != &input.arguments && random_.Chance(4)) {
    chosen.resize(random_.Below(chosen.size()));
    return;
  }
  // Two digests or more are seldom equal by chance.
  if (chosen.size() > 1 && random_.Chance(15)) {
    constexpr size_t Lengths[] = {5, 3, 2, 10, 1};
    const size_t length =
        std::min<size_t>(Lengths[random_.Below(std::size(Lengths))], chosen.size() / 2);
    const size_t from = random_.Below(chosen.size() - length + 1);
    const size_t to = random_.Chance(70) && from + 2 * length <= chosen.size()
                          ? from + length
                          : random_.Below(chosen.size() - length + 1);
    for (size_t i = 0; i < length; ++i)
      if (chosen[from + i].type == chosen[to + i].type && !chosen[from + i].memory)
        chosen[to + i] = chosen[from + i];
    return;
  }
  change_in(chosen);
}

std::optional<Input> Samples::Neighbor() {
  Input input = kept_[random_.Below(kept_.size())];
  input.arguments = exec::CopyValues(input.arguments);
  for (uint64_t changes = 1 + random_.Below(3); changes > 0; --changes) Change(input);
  return input;
}

}  // namespace frazil::verify::tasm
