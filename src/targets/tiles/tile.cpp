// The door: how a plan is made, which of its forms a launch takes, and what an outcome is made of.
#include "targets/tiles/tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/lower/lower.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"
#include "targets/tiles/tile_maker.h"
#include "targets/tiles/tile_plan.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {
namespace {

using Kind = TileOp::Kind;

void FindDirect(TilePlan& plan) {
  const FunctionPlan& entry = plan.functions[0];
  plan.word_of_param.clear();
  plan.buffer_words.clear();
  plan.word_of_cell.assign(entry.cells.size(), -1);
  uint32_t word = 0;
  const auto cell_of = [&](Slot slot) { return entry.slots[static_cast<size_t>(slot)].place; };
  for (Slot slot : entry.params) {
    plan.word_of_param.push_back(word);
    if (slot == NoSlot)
      plan.buffer_words.push_back(word);
    else
      plan.word_of_cell[cell_of(slot)] = static_cast<int32_t>(word);
    word += slot == NoSlot ? 2 : 1;
  }
  if (entry.ops.empty() || entry.ops[0].kind != Kind::Parallel || entry.ops[0].stream == UINT32_MAX)
    return;
  const TileOp& parallel = entry.ops[0];
  const Stream& stream = entry.streams[parallel.stream];
  const bool alone =
      entry.ops.size() == 2 + parallel.part0 + parallel.part1 && entry.results.empty();
  const bool by_lane = std::ranges::all_of(
      stream.rows, [&](const Stream::Row& row) { return row.base == cell_of(parallel.result); });
  const bool has_iota =
      std::ranges::any_of(stream.ops, [](const Stream::Op& op) { return op.kind == Kind::Iota; });
  plan.direct = alone && by_lane && stream.setup.empty() && !stream.has_math && !has_iota &&
                stream.rows.size() <= 32 && stream.ops.size() <= 64;
  plan.direct_lo = cell_of(parallel.a);
  plan.direct_hi = cell_of(parallel.b);
}

void FindSingle(TilePlan& plan) {
  using Place = Stream::Operand::Kind;
  const FunctionPlan& entry = plan.functions[0];
  const Stream& stream = entry.streams[entry.ops[0].stream];
  if (stream.ops.size() != 1 || stream.needs_tiles || stream.ops[0].out.kind != Place::Row) return;
  const Stream::Op& op = stream.ops[0];
  if (op.kind != Kind::Kernel && op.kind != Kind::StoreRow) return;
  if (stream.rows.size() > SingleOp::MostRows) return;
  SingleOp& single = plan.single;
  single.kernel = op.kernel;
  single.bytes = op.bytes;
  single.copy = MovesOf(op.bytes, plan.level).copy;
  single.out = static_cast<int8_t>(op.out.number);
  single.row_count = static_cast<uint8_t>(stream.rows.size());
  for (size_t i = 0; i < stream.rows.size(); ++i)
    single.rows[i] = {plan.buffer_words[static_cast<size_t>(stream.rows[i].buffer)],
                      stream.rows[i].bytes};
  single.lo_word = plan.word_of_cell[plan.direct_lo];
  single.hi_word = plan.word_of_cell[plan.direct_hi];
  single.lo = static_cast<int64_t>(entry.cells[plan.direct_lo]);
  single.hi = static_cast<int64_t>(entry.cells[plan.direct_hi]);
  single.most =
      std::min(stream.many - 1, static_cast<int64_t>(LeastSharedWork / entry.ops[0].cost));
  // Conditions are looked at in the general way.
  single.is = plan.disjoint.empty() && plan.at_most.empty();
  for (size_t i = 0; i < 4; ++i) {
    if (op.in[i].kind == Place::Row) single.in[i].row = op.in[i].number;
    if (op.in[i].kind != Place::Cell) continue;
    single.in[i].word = plan.word_of_cell[static_cast<size_t>(op.in[i].number)];
    single.in[i].cell = &entry.cells[static_cast<size_t>(op.in[i].number)];
  }
}

Result<void> CompileForm(std::shared_ptr<const ir::Program> form, bool serial, TilePlan& plan) {
  const ir::Program& program = *form;
  Result<void> made = Compile(*form, serial, plan);
  const bool has_barriers =
      std::ranges::any_of(program.functions, [](const ir::Function& function) {
        return std::ranges::any_of(function.insts,
                                   [](const ir::Inst& inst) { return inst.op == ir::Op::Barrier; });
      });
  // Phases as parallels of their own, each judged by itself.
  if (has_barriers && (serial || !made)) {
    form = std::make_shared<const ir::Program>(TRY(ir::SplitBarriers(program)));
    made = Compile(*form, serial, plan);
  }
  if (!made) return made;
  plan.program = std::move(form);
  FindDirect(plan);
  if (plan.direct) FindSingle(plan);
  plan.straight = IsStraight(plan.functions[0]);
  return {};
}

bool ConditionsHold(const TilePlan& plan, const uint64_t* arguments) {
  for (const auto& [a, b] : plan.disjoint)
    if (arguments[plan.word_of_param[a]] == arguments[plan.word_of_param[b]]) return false;
  for (const auto& [a, b] : plan.at_most)
    if (static_cast<int64_t>(arguments[plan.word_of_param[a]]) >
        static_cast<int64_t>(arguments[plan.word_of_param[b]]))
      return false;
  return true;
}

}  // namespace

const TilePlan* TilePlan::Serial() const {
  serial_once_.Call([&] {
    auto plan = std::make_shared<TilePlan>();
    plan->source = source;
    plan->level = level;
    plan->options = options;
    plan->all_serial = true;
    if (CompileForm(source, true, *plan)) serial_ = std::move(plan);
  });
  return serial_.get();
}

const exec::InterpreterProgram* TilePlan::Reference() const {
  reference_once_.Call([&] {
    if (Result<exec::InterpreterProgram> made = exec::InterpreterProgram::Create(*source))
      reference_ = std::make_unique<exec::InterpreterProgram>(std::move(*made));
  });
  return reference_.get();
}

Result<std::shared_ptr<const TilePlan>> Prepare(std::shared_ptr<const ir::Program> program,
                                                const TileOptions& options) {
  auto plan = std::make_shared<TilePlan>();
  plan->source = std::move(program);
  plan->options = options;
  plan->options.lanes = options.lanes / 64 * 64;
  plan->level = std::min(options.level, embed::HostLevel());
  if (Result<void> made = CompileForm(plan->source, false, *plan); !made) {
    if (made.error().diag != Diag::Unsupported) return std::unexpected(made.error());
    plan->lane_by_lane = made.error().message;
  }
  const bool conditional = !plan->disjoint.empty() || !plan->at_most.empty();
  if (conditional && plan->Serial() == nullptr)
    plan->lane_by_lane = "its conditions may fail, and it has no form in order";
  return plan;
}

Result<std::shared_ptr<const TilePlan>> Prepare(const isa::ProvedModule& module,
                                                const TileOptions& options) {
  if (module.program() != nullptr) return Prepare(module.program(), options);
  auto plan = std::make_shared<TilePlan>();
  plan->module = module.module();
  plan->lane_by_lane = module.why_no_program();
  return plan;
}

const std::string& LaneByLane(const TilePlan& plan) { return plan.lane_by_lane; }

int32_t RunGeneral(const TilePlan& plan, const uint64_t* arguments, uint64_t* results,
                   TileRun& run) {
  const TilePlan* form = &plan;
  if ((!plan.disjoint.empty() || !plan.at_most.empty()) && !ConditionsHold(plan, arguments)) {
    form = plan.Serial();
    CHECK(form != nullptr);
  }
  if (form->direct) {
    if (const std::optional<int32_t> status = RunDirect(*form, arguments, run.threads))
      return *status;
  }
  static const exec::RunContext defaults;
  const exec::RunContext& context = run.context != nullptr ? *run.context : defaults;
  SharedRun shared(form, context, run.threads);
  TileArena& arena = TileArena::OfThread();
  const TileArena::Mark mark = arena.mark();
  Worker worker(shared, arena);
  const bool ok = worker.RunEntry(arguments, results);
  arena.Release(mark);
  if (ok) return 0;
  run.trap = *worker.trap();
  run.trap_at = worker.trap_at();
  return 1 + static_cast<int32_t>(run.trap.kind);
}

Result<exec::Outcome> Run(const TilePlan& plan, std::span<const exec::Value> arguments,
                          const exec::RunContext& context, TileThreads threads) {
  if (plan.module) return isa::RunLaneExact(*plan.module, arguments, context);
  const bool scarce = context.limits.fuel < LeastFuel;
  if (!plan.lane_by_lane.empty() || scarce) {
    const exec::InterpreterProgram* reference = plan.Reference();
    if (reference == nullptr) return Fail(Diag::Unsupported, "the program cannot be interpreted");
    return reference->Run(arguments, context);
  }
  TRY_VOID(exec::CheckLaunch(*plan.source, arguments));
  std::vector<uint64_t> words, results(plan.functions[0].results.size() + 1);
  for (const exec::Value& argument : arguments) {
    if (argument.type.is_buffer()) {
      words.push_back(reinterpret_cast<uint64_t>(argument.memory->data()));
      words.push_back(static_cast<uint64_t>(argument.memory->length()));
    } else {
      words.push_back(argument.word);
    }
  }
  TileRun run{.context = &context, .threads = threads.most};
  exec::Outcome outcome;
  if (RunWords(plan, words.data(), results.data(), run) != 0) {
    outcome.trap = run.trap;
    outcome.trap_at = run.trap_at;
    return outcome;
  }
  const ir::Function& entry = plan.source->entry_function();
  for (size_t i = 0; i < entry.results.size(); ++i)
    outcome.results.push_back(exec::Value::Word(entry.results[i], results[i]));
  return outcome;
}

std::string Describe(const TilePlan& plan) {
  if (!plan.lane_by_lane.empty()) return fmt::format("lane by lane: {}\n", plan.lane_by_lane);
  const FunctionPlan& entry = plan.functions[0];
  std::string text =
      fmt::format("{} micro-ops, {} cells, {} tiles of {} lanes ({} bytes a lane), level {}\n",
                  entry.ops.size(), entry.cells.size(), entry.tile_count, entry.lanes,
                  entry.lane_bytes, embed::CpuLevelName(plan.level));
  for (const TileOp& op : entry.ops) {
    if (op.kind != Kind::Parallel) continue;
    const bool stream = op.stream != UINT32_MAX;
    text += fmt::format("parallel at line {}: {}{}{}, {} ops\n", op.where.line,
                        op.tiled ? "tiles" : "in order", stream ? ", a stream" : "",
                        op.threaded ? ", threads" : "",
                        stream ? entry.streams[op.stream].ops.size() : op.part1);
  }
  for (const TileOp& op : entry.ops)
    if (op.kind == Kind::Kernel && op.imm == 2)
      text += fmt::format("two ops in one: {}\n", ir::Info(op.op).mnemonic);
  return text;
}

}  // namespace frazil::targets::tiles
