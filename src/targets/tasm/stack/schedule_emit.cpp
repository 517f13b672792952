// Steps become TIR. Every step is applied to the symbolic stack again, and a node's operands are compared with
// what lies on top: a schedule that is wrong is never written down.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/stack/schedule_sums.h"
#include "targets/tasm/stack/scheduler.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {

using K = Step::Kind;
using tir::Kind;

namespace {

tir::Op MakeOp(Kind kind, uint64_t number = 0) {
  tir::Op op;
  op.kind = kind;
  op.number = number;
  return op;
}

}  // namespace

Kind KindOf(WordOp op) {
  switch (op) {
    case WordOp::Add: return Kind::Add;
    case WordOp::AddI: return Kind::AddI;
    case WordOp::Mul: return Kind::Mul;
    case WordOp::Invert: return Kind::Invert;
    case WordOp::Eq: return Kind::Eq;
    case WordOp::Split: return Kind::Split;
    case WordOp::Lt: return Kind::Lt;
    case WordOp::And: return Kind::And;
    case WordOp::Xor: return Kind::Xor;
    case WordOp::Log2Floor: return Kind::Log2;
    case WordOp::Pow: return Kind::Pow;
    case WordOp::DivMod: return Kind::DivMod;
    case WordOp::PopCount: return Kind::PopCount;
    case WordOp::XxAdd: return Kind::ExtAdd;
    case WordOp::XxMul: return Kind::ExtProduct;
    case WordOp::XInvert: return Kind::ExtInvert;
    case WordOp::XbMul: return Kind::ExtMul;
    case WordOp::Hash: return Kind::Hash;
    case WordOp::ReadIo: return Kind::ReadIo;
    case WordOp::WriteIo: return Kind::WriteIo;
    case WordOp::Divine: return Kind::Hint;
    case WordOp::ReadMem: return Kind::ReadMem;
    case WordOp::WriteMem: return Kind::WriteMem;
    case WordOp::Assert:
    case WordOp::AssertVector: return Kind::Assert;
    case WordOp::SpongeInit: return Kind::SpongeInit;
    case WordOp::SpongeAbsorb: return Kind::SpongeAbsorb;
    case WordOp::SpongeSqueeze: return Kind::SpongeSqueeze;
    case WordOp::SpongeAbsorbMem: return Kind::SpongeLoad;
    case WordOp::MerkleStep: return Kind::MerkleStep;
    case WordOp::XxDotStep: return Kind::FoldExt;
    case WordOp::XbDotStep: return Kind::FoldBase;
    case WordOp::Asm: return Kind::Asm;
    case WordOp::Call: return Kind::Call;
    default: break;
  }
  CHECK(false && "no instruction");
}

FunctionScheduler::FunctionScheduler(WordProgram& program, uint32_t function,
                                     std::vector<EmittedSite>& sites, uint64_t& next_slot)
    : program_(program),
      f_(program.functions[function]),
      is_entry_(function == 0 && !program.callable),
      sites_(sites),
      next_slot_(next_slot),
      first_slot_(next_slot),
      in_ram_(f_.words.size(), false) {
  if (!is_entry_) return;
  for (const std::vector<Word>& limbs : program.parallels)
    pinned_.insert(limbs.begin(), limbs.end());
}

// Asks for a word to live in RAM: the one that is too deep, or, where that does not help, what lies above it.
bool FunctionScheduler::TooDeep(const Stack& stack, Word w) {
  // One word after the other takes too long where hundreds have to go.
  constexpr size_t Patience = 40;
  if (attempt_ > Patience)
    for (size_t i = 0; i + Reach < stack.size(); ++i)
      if (!pinned_.contains(stack[i]) && !in_ram_[stack[i]] && !f_.is_const(stack[i]))
        requests_.insert(stack[i]);
  if (!pinned_.contains(w) && !in_ram_[w]) {
    requests_.insert(w);
    return false;
  }
  for (size_t d = 0; d < stack.size() && d < Reach; ++d) {
    const Word other = stack[stack.size() - 1 - d];
    if (!pinned_.contains(other) && !in_ram_[other] && !f_.is_const(other)) requests_.insert(other);
  }
  return false;
}

Location FunctionScheduler::Place(const WordNode& node, const Stack& stack) {
  Location location{node.location.line, 0};
  if (node.site < 0) return location;
  const WordSite& site = program_.sites[static_cast<size_t>(node.site)];
  EmittedSite emitted = site.trap;
  if (site.parallel >= 0)
    for (Word limb : program_.parallels[static_cast<size_t>(site.parallel)]) {
      const uint32_t depth = DepthOf(stack, limb);
      emitted.iteration.push_back(
          depth == UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(stack.size() - 1 - depth));
    }
  size_t index = 0;
  while (index < sites_.size() &&
         !(sites_[index].kind == emitted.kind && sites_[index].op == emitted.op &&
           sites_[index].iteration == emitted.iteration))
    ++index;
  if (index == sites_.size()) sites_.push_back(emitted);
  location.column = SiteMark | static_cast<uint32_t>(index);
  return location;
}

void FunctionScheduler::EmitStep(const Step& step, Ops& out) {
  switch (step.kind) {
    case K::Push: out.push_back(MakeOp(Kind::Push, f_.const_of(step.word))); break;
    case K::Dup: out.push_back(MakeOp(Kind::Dup, step.number)); break;
    case K::Pick:
      out.push_back(step.number == 1 ? MakeOp(Kind::Swap, 1) : MakeOp(Kind::Pick, step.number));
      break;
    case K::Place: out.push_back(MakeOp(Kind::Place, step.number)); break;
    case K::Swap: out.push_back(MakeOp(Kind::Swap, step.number)); break;
    case K::Pop: out.push_back(MakeOp(Kind::Pop, step.number)); break;
    case K::Load: EmitLoad(SlotOf(step.word), out); break;
    case K::Store: EmitStore(SlotOf(step.word), out); break;
    case K::Node: break;
  }
}

tir::Op InstructionOf(const WordProgram& program, const WordNode& node) {
  tir::Op op = MakeOp(KindOf(node.op));
  switch (node.op) {
    case WordOp::AddI: op.number = node.number; break;
    case WordOp::ReadIo:
    case WordOp::Divine: op.number = node.results.size(); break;
    case WordOp::WriteIo: op.number = node.inputs.size(); break;
    case WordOp::ReadMem: op.number = node.results.size() - 1; break;
    case WordOp::WriteMem: op.number = node.inputs.size() - 1; break;
    case WordOp::Assert: op.number = 1; break;
    case WordOp::AssertVector: op.number = 5; break;
    case WordOp::Call: op.text = FunctionLabel(program, static_cast<uint32_t>(node.number)); break;
    case WordOp::Asm:
      op.text = node.text;
      op.effect =
          static_cast<int32_t>(node.results.size()) - static_cast<int32_t>(node.inputs.size());
      break;
    default: break;
  }
  return op;
}

void FunctionScheduler::EmitNode(const WordNode& node, const Stack& stack, Ops& out) {
  tir::Op op = InstructionOf(program_, node);
  op.location = Place(node, stack);
  switch (node.op) {
    // TIR has these the other way round than the machine; the two exchanges meet and vanish.
    case WordOp::Lt:
    case WordOp::Pow:
    case WordOp::DivMod: out.push_back(MakeOp(Kind::Swap, 1)); break;
    default: break;
  }
  if (op.kind == Kind::Assert && node.site >= 0)
    op.error_id = static_cast<int64_t>(op.location.column & ~SiteMark);
  out.push_back(std::move(op));
}

bool FunctionScheduler::Commit(const Steps& steps, Stack& stack, Ops& out) {
  if (failed_) return false;
  for (const Step& step : steps) {
    if (step.kind != K::Node) {
      const uint32_t depth = step.kind == K::Pop ? step.number - 1 : step.number;
      const bool moves = step.kind == K::Dup || step.kind == K::Pick || step.kind == K::Place ||
                         step.kind == K::Swap || step.kind == K::Pop;
      CHECK(!moves || (depth < stack.size() && depth < Reach));
      EmitStep(step, out);
      Apply(stack, step);
      continue;
    }
    const WordNode& node = f_.nodes[step.number];
    const std::vector<Word> wanted = InVariant(node.inputs, step.variant);
    CHECK(stack.size() >= wanted.size() &&
          std::equal(wanted.begin(), wanted.end(), stack.end() - wanted.size()));
    EmitNode(node, stack, out);
    stack.resize(stack.size() - (wanted.size() - node.returned));
    stack.insert(stack.end(), node.results.begin(), node.results.end());
  }
  return true;
}

bool FunctionScheduler::Try(Ops& out) {
  requests_.clear();
  path_.clear();
  walked_ = 0;
  failed_ = false;
  AssignSlots();
  Stack stack = f_.regions[0].params;
  std::erase_if(stack, [&](Word w) { return f_.is_const(w); });
  Exit exit;
  exit.exact = !is_entry_;
  if (exit.exact) exit.layout = f_.regions[0].yields;
  return Region(0, stack, exit, out);
}

// Then only an instruction's own operands are on the stack: the last resort, slow and always possible but for words that
// must stay.
void FunctionScheduler::PutAllInRam() {
  for (Word w = 0; w < in_ram_.size(); ++w)
    if (!f_.is_const(w) && !pinned_.contains(w)) in_ram_[w] = true;
  for (const WordNode& node : f_.nodes) {
    if (node.op != WordOp::Loop && node.op != WordOp::While) continue;
    const std::vector<Word>& params = f_.regions[node.regions[0]].params;
    for (size_t k = 0; k < params.size(); ++k)
      if (in_ram_[params[k]] && in_ram_[node.results[k]]) same_slot_[node.results[k]] = params[k];
  }
}

Result<std::vector<tir::Op>> FunctionScheduler::Run(uint32_t beam) {
  constexpr size_t MostAttempts = 2000;
  constexpr size_t MostWork = 40'000'000;  // nodes, over all attempts
  constexpr size_t SmallEnough = 20'000;   // nodes for more than one state at a time
  const size_t sites = sites_.size();
  const size_t nodes = f_.nodes.size();
  if (nodes > SmallEnough) beam = 1;
  Ops first;
  bool done = false, all = false;
  for (attempt_ = 0; !done; ++attempt_) {
    beam_ = 1;
    first.clear();
    sites_.resize(sites);
    done = Try(first);
    if (done) break;
    if (all)
      return Fail(Diag::LimitReached,
                  fmt::format("`{}` needs more words at a time than Triton VM can reach", f_.name));
    all = broken_ || requests_.empty() || attempt_ >= MostAttempts || attempt_ * nodes > MostWork;
    broken_ = false;
    if (all) PutAllInRam();
    for (Word w : requests_) PutInRam(w);
  }
  if (beam == 1) return first;
  const std::vector<EmittedSite> first_sites = sites_;
  beam_ = beam;
  Ops better;
  sites_.resize(sites);
  if (Try(better)) return better;
  sites_ = first_sites;
  return first;
}

std::string FunctionLabel(const WordProgram& program, uint32_t function) {
  const std::string& name = program.functions[function].name;
  if (!program.callable) return function == 0 ? "main" : fmt::format("{}_{}", name, function);
  // Functions that are put into one file must not share labels.
  const std::string& entry = program.functions[0].name;
  return function == 0 ? entry : fmt::format("{}_{}_{}", entry, name, function);
}

namespace {

// Ten for each word and for each row; what is in a loop runs often. Only differences count: what structures cost is the
// same in all schedules of a function.
int64_t PriceOf(const std::vector<tir::Op>& ops, int64_t times) {
  constexpr int64_t Often = 8;
  int64_t price = 0;
  for (const tir::Op& op : ops) {
    const tir::Operand operand = tir::Info(op.kind).operand;
    const bool argument = operand == tir::Operand::Element || operand == tir::Operand::Count ||
                          operand == tir::Operand::Depth;
    price += (argument ? 20 : 10) + 10 * times;
    const bool loop = op.kind == Kind::Loop || op.kind == Kind::While || op.kind == Kind::Repeat;
    const int64_t inside = loop ? std::min<int64_t>(times * Often, 512) : times;
    price += PriceOf(op.body, inside) + PriceOf(op.other, inside);
  }
  return price;
}

// Functions of more nodes are scheduled once.
constexpr size_t MostForTwo = 3000;

Result<std::vector<tir::Op>> BestSchedule(WordProgram& program, uint32_t function,
                                          std::vector<EmittedSite>& sites, uint64_t& next_slot,
                                          uint32_t beam) {
  WordFunction other = program.functions[function];
  const std::vector<EmittedSite> sites_before = sites;
  const uint64_t slot_before = next_slot;
  std::vector<tir::Op> first =
      TRY(FunctionScheduler(program, function, sites, next_slot).Run(beam));
  if (other.nodes.size() > MostForTwo || !OrderSums(other)) return first;
  std::vector<EmittedSite> other_sites = sites_before;
  uint64_t other_slot = slot_before;
  std::swap(program.functions[function], other);
  const auto second = FunctionScheduler(program, function, other_sites, other_slot).Run(beam);
  if (!second || PriceOf(*second, 1) >= PriceOf(first, 1)) {
    std::swap(program.functions[function], other);
    return first;
  }
  sites = std::move(other_sites);
  next_slot = other_slot;
  return *second;
}

}  // namespace

Result<Scheduled> Schedule(WordProgram& program, const ScheduleOptions& options) {
  Scheduled scheduled;
  uint64_t next_slot = SpillBase;
  tir::Op entry = MakeOp(Kind::Entry);
  entry.text = FunctionLabel(program, 0);
  scheduled.tir.ops.push_back(entry);
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    std::vector<tir::Op> body =
        TRY(BestSchedule(program, i, scheduled.sites, next_slot, options.beam));
    tir::Op start = MakeOp(Kind::FnStart);
    start.text = FunctionLabel(program, i);
    scheduled.tir.ops.push_back(start);
    for (tir::Op& op : body) scheduled.tir.ops.push_back(std::move(op));
    scheduled.tir.ops.push_back(MakeOp(Kind::FnEnd));
  }
  scheduled.spills = next_slot != SpillBase;
  return scheduled;
}

}  // namespace frazil::targets::tasm
