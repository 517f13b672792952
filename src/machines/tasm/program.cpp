// Programs as words: sizes, addresses, the machine's encoding and the way back.
#include "machines/tasm/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/number/goldilocks.h"
#include "machines/tasm/tip5/tip5.h"

namespace frazil::machines::tasm {
namespace {

std::optional<Opcode> FindNumber(uint64_t number, Profile profile) {
  if (number > 0xff) return std::nullopt;
  for (int i = 0; i < OpcodeCount; ++i) {
    const auto op = static_cast<Opcode>(i);
    if (Info(op).opcode == number && Info(op).In(profile)) return op;
  }
  return std::nullopt;
}

std::string Range(Argument argument) {
  switch (argument) {
    case Argument::Count: return "1 to 5";
    case Argument::Place: return "0 to 15";
    default: return "0 to p - 1";
  }
}

}  // namespace

uint64_t Program::Words() const {
  uint64_t words = 0;
  for (const Instruction& instruction : code)
    words += static_cast<uint64_t>(Info(instruction.op).words());
  return words;
}

std::vector<uint32_t> Program::Addresses() const {
  std::vector<uint32_t> addresses;
  addresses.reserve(code.size() + 1);
  uint32_t address = 0;
  for (const Instruction& instruction : code) {
    addresses.push_back(address);
    address += static_cast<uint32_t>(Info(instruction.op).words());
  }
  addresses.push_back(address);
  return addresses;
}

std::string_view Program::LabelAt(uint32_t instruction) const {
  const auto found = std::ranges::lower_bound(labels, instruction, {}, &Label::instruction);
  if (found == labels.end() || found->instruction != instruction) return {};
  return found->name;
}

bool ArgumentFits(Opcode op, uint64_t argument) {
  switch (Info(op).argument) {
    case Argument::None: return true;
    case Argument::Element: return argument < goldilocks::P;
    case Argument::Count: return argument >= 1 && argument <= 5;
    case Argument::Place: return argument <= 15;
    case Argument::Target: return argument < (uint64_t{1} << 32);
  }
  return false;
}

std::vector<uint64_t> Encode(const Program& program) {
  const std::vector<uint32_t> addresses = program.Addresses();
  std::vector<uint64_t> words;
  words.reserve(addresses.back());
  for (const Instruction& instruction : program.code) {
    const OpcodeInfo& info = Info(instruction.op);
    words.push_back(info.opcode);
    if (info.argument == Argument::None) continue;
    const bool target = info.argument == Argument::Target;
    words.push_back(target
                        ? addresses[std::min<uint64_t>(instruction.argument, program.code.size())]
                        : instruction.argument);
  }
  return words;
}

Result<Program> Decode(const std::vector<uint64_t>& words, Profile profile) {
  Program program;
  program.profile = profile;
  std::vector<uint32_t> index_of_address(words.size() + 1, UINT32_MAX);
  for (size_t address = 0; address < words.size();) {
    const std::optional<Opcode> op = FindNumber(words[address], profile);
    if (!op)
      return Fail(Diag::BadTasmWords, fmt::format("word {} is {}, which is no opcode of profile {}",
                                                  address, words[address], ProfileName(profile)));
    index_of_address[address] = static_cast<uint32_t>(program.code.size());
    Instruction instruction{.op = *op};
    if (Info(*op).argument != Argument::None) {
      if (address + 1 == words.size())
        return Fail(Diag::BadTasmWords, fmt::format("the argument of {} at word {} is missing",
                                                    Info(*op).mnemonic, address));
      instruction.argument = words[address + 1];
      if (!ArgumentFits(*op, instruction.argument))
        return Fail(
            Diag::BadTasmWords,
            fmt::format("the argument of {} at word {} is {}; it must be {}", Info(*op).mnemonic,
                        address, instruction.argument, Range(Info(*op).argument)));
    }
    program.code.push_back(instruction);
    address += static_cast<size_t>(Info(*op).words());
  }
  index_of_address[words.size()] = static_cast<uint32_t>(program.code.size());

  std::vector<uint32_t> targets;
  for (Instruction& instruction : program.code) {
    if (Info(instruction.op).argument != Argument::Target) continue;
    const uint64_t address = instruction.argument;
    if (address > words.size() || index_of_address[address] == UINT32_MAX)
      return Fail(Diag::BadTasmWords,
                  fmt::format("a call goes to word {}, where no instruction begins", address));
    instruction.argument = index_of_address[address];
    targets.push_back(index_of_address[address]);
  }
  std::ranges::sort(targets);
  const auto repeated = std::ranges::unique(targets);
  targets.erase(repeated.begin(), repeated.end());
  const std::vector<uint32_t> addresses = program.Addresses();
  for (const uint32_t target : targets)
    program.labels.push_back({fmt::format("address_{}", addresses[target]), target});
  return program;
}

Digest ProgramDigest(const Program& program) { return HashVarlen(Encode(program)); }

}  // namespace frazil::machines::tasm
