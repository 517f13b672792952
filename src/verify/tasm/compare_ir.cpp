// IR against TIR and assembly. The words of parameters come first in the public input, those of results last in the
// output. Counterexamples come from the IR's interpreter where its streams are of one type.
#include "exec/meaning/interpreter.h"
#include "verify/tasm/compare.h"
#include "verify/tasm/sides/ir_side.h"

namespace frazil::verify::tasm {

namespace {

struct Streams {
  bool plain = true;  // every input and hint is a field element, or every hint is a digest
  bool digests = false, tokens = false;
};

Streams StreamsOf(const ir::Program& program) {
  Streams streams;
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == ir::Op::Tasm) streams.plain = false;
      if (inst.op == ir::Op::MerkleStep) streams.digests = true;
      if (inst.op != ir::Op::Input && inst.op != ir::Op::Hint) continue;
      const ir::Type type = function.type(ir::Function::result_of(inst));
      if (type.scalar != ir::Scalar::Field) streams.plain = false;
      if (inst.op == ir::Op::Hint) streams.tokens = true;
    }
  }
  if (streams.digests && streams.tokens) streams.plain = false;
  return streams;
}

// The arguments and streams that these inputs are; nothing if they are none.
bool ToCall(const ir::Program& program, const MachineStart& inputs, const Streams& streams,
            std::vector<exec::Value>& arguments, exec::RunContext& context) {
  const ir::Function& entry = program.entry_function();
  size_t at = 0;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_buffer()) {
      constexpr int64_t Length = 4096;
      auto memory = std::make_shared<exec::Memory>(type.element(), Length);
      for (auto [address, value] : inputs.inputs.ram) {
        if (address < static_cast<uint64_t>(Length))
          memory->Set(static_cast<int64_t>(address), {&value, 1});
      }
      arguments.push_back(exec::Value::Buffer(std::move(memory)));
      continue;
    }
    const bool word = type.scalar == ir::Scalar::Field || type.scalar == ir::Scalar::U32 ||
                      type.scalar == ir::Scalar::Bool;
    if (!word || at >= inputs.inputs.input.size()) return false;
    const uint64_t value = inputs.inputs.input[at++];
    if (type.scalar == ir::Scalar::U32 && value >> 32 != 0) return false;
    if (type.scalar == ir::Scalar::Bool && value > 1) return false;
    arguments.push_back(exec::Value::Word(type, value));
  }
  for (; at < inputs.inputs.input.size(); ++at) {
    context.input.push_back(exec::Value::Word(ir::types::Field, inputs.inputs.input[at]));
  }
  if (streams.digests) {
    for (const mt::Digest& digest : inputs.inputs.digests)
      context.hints.push_back(exec::Value::Scalar(ir::types::Digest, digest));
  } else {
    for (uint64_t word : inputs.inputs.secret)
      context.hints.push_back(exec::Value::Word(ir::types::Field, word));
  }
  return true;
}

bool Append(const exec::Value& value, std::vector<uint64_t>& words) {
  const uint32_t count = MachineWords(value.type);
  if (!value.type.is_scalar() || count == 0) return false;
  for (uint64_t word : value.scalar_words()) {
    if (count == 2) {
      words.push_back(word & 0xffff'ffffu);
      words.push_back(word >> 32);
    } else {
      const bool narrow = ir::IsFixedInt(value.type.scalar);
      words.push_back(narrow ? word & ((uint64_t{1} << ir::BitsOf(value.type)) - 1) : word);
    }
  }
  return true;
}

std::optional<Ending> RunIr(const ir::Program& program, const MachineStart& inputs,
                            const Streams& streams) {
  std::vector<exec::Value> arguments;
  exec::RunContext context;
  context.limits.fuel = 100'000;
  if (!ToCall(program, inputs, streams, arguments, context)) return std::nullopt;
  auto outcome = exec::Interpret(program, arguments, context);
  if (!outcome) return std::nullopt;
  Ending ending;
  if (outcome->trap) {
    const ir::Trap kind = outcome->trap->kind;
    // Limits of this run, and of a RAM that has a length here.
    if (ir::IsLimit(kind) || kind == ir::Trap::OutOfBounds) return std::nullopt;
    ending.crash = outcome->trap->ToString();
  }
  for (const auto* values : {&outcome->output, &outcome->results}) {
    for (const exec::Value& value : *values) {
      if (!Append(value, ending.output)) return std::nullopt;
    }
  }
  return ending;
}

}  // namespace

bool IsSpecified(const ir::Program& program, const MachineStart& inputs, const Seed& seed) {
  Terms terms(seed);
  Facts facts(terms);
  auto fill = [&](Base kind, const std::vector<uint64_t>& words) {
    for (size_t i = 0; i < words.size(); ++i)
      facts.Replace(terms.Atom(kind, 0, i), terms.Constant(words[i]));
  };
  fill(Base::Input, inputs.inputs.input);
  fill(Base::Secret, inputs.inputs.secret);
  for (size_t i = 0; i < inputs.inputs.digests.size() * 5; ++i)
    facts.Replace(terms.Atom(Base::Digest, 0, i),
                  terms.Constant(inputs.inputs.digests[i / 5][i % 5]));
  for (auto [address, value] : inputs.inputs.ram) {
    const Term at = terms.Constant(address);
    facts.Replace(terms.Apply(Base::Ram, {&at, 1}), terms.Constant(value));
  }
  Heads heads;
  auto side = MakeIrSide(program, &heads);
  Exec exec(facts, false);
  exec.Begin(side->state, false, 0);
  constexpr int MaxSteps = 20'000;
  for (int i = 0; i < MaxSteps; ++i) {
    const Step step = side->Advance(exec);
    if (step.kind == Step::Kind::Continue) continue;
    return step.kind == Step::Kind::End || step.kind == Step::Kind::Crash;
  }
  return false;
}

namespace {

bool UsesRam(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (entry.param_type(i).is_buffer()) return true;
  }
  return false;
}

Verdict CompareWith(const ir::Program& source, const Seed& seed, const Options& options,
                    std::function<std::unique_ptr<Side>(Heads*)> candidate,
                    const std::function<std::optional<Ending>(const MachineStart&)>& run) {
  if (std::string reason = Refuses(source); !reason.empty()) return Unknown{std::move(reason)};
  Options whole = options;
  whole.fragments = false;
  std::vector<uint64_t> constants;
  for (const ir::Function& function : source.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == ir::Op::Const && ir::WordsOf(inst.type.element()) == 1)
        constants.push_back(function.words_of(inst)[0] % goldilocks::P);
    }
  }
  Sampler sampler(std::move(constants), false, 0x1c0de);
  Sides sides{seed, {}, {}};
  sides.source = [&](Heads* heads) { return MakeIrSide(source, heads); };
  sides.candidate = std::move(candidate);
  const Streams streams = StreamsOf(source);
  return Decide(
      sides, whole, sampler, [&](const MachineStart& inputs) -> std::optional<std::string> {
        if (!streams.plain) return std::nullopt;
        auto a = RunIr(source, inputs, streams), b = run(inputs);
        if (!a || !b) return std::nullopt;
        // The interpreter does not say how much it read.
        a->inputs_read = b->inputs_read;
        a->secrets_read = b->secrets_read;
        a->digests_read = b->digests_read;
        auto difference = Difference(*a, *b);
        if (difference && b->crash && UsesRam(source) && !IsSpecified(source, inputs, sides.seed))
          return std::nullopt;
        return difference;
      });
}

}  // namespace

Verdict Compare(const ir::Program& source, const tir::Program& candidate, const Options& options) {
  if (auto shapes = tir::Check(candidate); !shapes) return Unknown{shapes.error().message};
  return CompareWith(
      source, SeedOf(source, candidate, options), options,
      [&](Heads* heads) { return MakeTirSide(candidate, heads); },
      [&](const MachineStart& inputs) { return RunTir(candidate, inputs); });
}

Verdict Compare(const ir::Program& source, const mt::Program& candidate, const Options& options) {
  const Machine machine(candidate);
  return CompareWith(
      source, SeedOf(source, candidate, options), options,
      [&](Heads* heads) { return MakeTasmSide(candidate, false, heads); },
      [&](const MachineStart& inputs) { return RunProgram(machine, inputs); });
}

}  // namespace frazil::verify::tasm
