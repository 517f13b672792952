// The inside of SelectWords: one function being lowered, others inlined into it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "targets/tasm/words/buffer_plans.h"
#include "targets/tasm/words/integers.h"
#include "targets/tasm/words/select.h"
#include "targets/tasm/words/word_builder.h"

namespace frazil::targets::tasm {

// What all functions of a program share.
struct ProgramState {
  const ir::Program& ir;
  WordProgram& words;
  BufferPlans plans{ir};
  uint64_t scratch = ScratchBase;
  bool heap = false;  // some scratch has a size known only at run time
  bool inline_all = false;
  bool check_raw = false;
  bool callable = false, first_on_top = false;
  mt::Profile profile = mt::Profile::Dot;
  SelectChoices choices = {};
  uint64_t most_work = 0;               // Limits::program_insts
  std::optional<Location> beyond = {};  // of a raw access to a constant address that is refused
  std::map<const ir::Data*, uint64_t> tables = {};  // address of each
  // IR function, which parameters are raw RAM, lengths of buffers -> ours
  std::map<std::tuple<uint32_t, std::vector<bool>, std::vector<uint64_t>>, uint32_t> functions = {};
  std::map<std::pair<uint32_t, std::vector<bool>>, std::vector<uint64_t>> lengths =
      {};  // first seen
  std::map<std::tuple<int, int, int>, int32_t> sites = {};
  std::vector<uint32_t> uses = {};  // static calls of each function
  std::vector<uint64_t> written_out =
      {};                // instructions of each, with those of the functions written out in it
  uint32_t nesting = 0;  // functions begun and not ended
  uint64_t work = 0;     // instructions that were lowered so far
};

inline constexpr uint64_t AnyLength = UINT64_MAX;

class Selector {
 public:
  Selector(ProgramState& state, WordFunction& function);

  Result<void> Entry();
  // The lengths of buffer parameters that are known.
  Result<void> Function(ir::FuncId id, const std::vector<bool>& raw_params,
                        const std::vector<uint64_t>& lengths);

 private:
  using Values = std::map<uint32_t, std::vector<Word>>;
  // A function whose body is being lowered: the one itself or an inlined one.
  struct Scope {
    const ir::Program* program;
    const ir::Function* f;
    Values values;
    std::set<uint32_t> raw;           // buffers that are the machine's RAM
    std::set<uint32_t> skipped = {};  // instructions that buffer plans leave out
  };

  // Where values travel together (into and out of regions and functions) each has its first word last, on top: so the
  // machine's own instructions leave and take them.
  std::vector<Word> Slice(const std::vector<Word>& words, size_t begin, size_t count) const {
    return Ordered({words.begin() + begin, words.begin() + begin + count});
  }

  // select.cpp
  Result<std::vector<Word>> Body(ir::RegionId region);  // gives what the terminator takes
  bool AllocAsPlanned(const ir::Inst& inst, ir::RegionId region, size_t at);
  Result<void> Inst(const ir::Inst& inst);
  Result<bool> ProverOp(const ir::Inst& inst);
  Result<void> ScalarOp(const ir::Inst& inst);
  std::vector<Word> FieldOp(const ir::Inst& inst);
  std::vector<Word> XFieldOp(const ir::Inst& inst);
  std::vector<Word> IntegerOp(const ir::Inst& inst);
  Word LogarithmOf(const ir::Inst& inst) const;
  Result<std::vector<Word>> CastOp(const ir::Inst& inst);
  std::vector<Word> ConstOp(ir::Type type, std::span<const uint64_t> words);
  std::vector<Word> Ordered(std::vector<Word> v) const { return {v.rbegin(), v.rend()}; }

  // select_memory.cpp
  std::vector<Word> LoadAt(Word address, uint32_t words, ir::Type element);
  void StoreAt(Word address, const std::vector<Word>& words);
  Word RawAddress(Word address, Location location);
  Word ElementAddress(const ir::Inst& inst, uint32_t buffer, uint32_t index);
  void CheckIndex(const std::vector<Word>& index, Word length, int32_t site);
  void Load(const ir::Inst& inst);
  void Store(const ir::Inst& inst);
  void Alloc(const ir::Inst& inst, bool zero);
  void Lookup(const ir::Inst& inst);
  void Atomic(const ir::Inst& inst);
  void ZeroFill(Word address, Word count);
  std::vector<Word> CheckRange(ir::Type type, std::vector<Word> words, int32_t site);
  std::vector<Word> ReadValue(WordOp from, ir::Type type, int32_t site);
  Word ReadBuffer(uint32_t param, ir::Type type);
  void WriteBuffer(Word address, Word length, ir::Type type);
  void WriteTables();

  // select_structure.cpp
  Result<void> If(const ir::Inst& inst);
  Result<void> IfChain(const ir::Inst& inst, uint32_t from);
  Result<void> For(const ir::Inst& inst);
  bool Unrolled(const ir::Inst& inst, uint64_t rounds) const;
  bool PowerLoop(const ir::Inst& inst, Word count);
  Result<void> While(const ir::Inst& inst);
  Result<void> Call(const ir::Inst& inst);
  Result<void> CallPrelude(const ir::Inst& inst);
  Result<std::vector<Word>> Inlined(const ir::Program& program, const ir::Function& callee,
                                    const std::vector<Word>& arguments,
                                    const std::vector<bool>& raw, Location location);
  struct Trip {
    Word count;
    bool small;  // the counter stays below 2^32 and is not negative: one limb counts
    Word end;    // of the counter where it is known to be reached; NoWord else
  };
  // select_dots.cpp
  struct Dot {
    const ir::Inst *a, *b;  // the loads; a is of extension elements
    bool base;              // b is of base elements
  };
  const ir::Inst* ElementOf(ir::ValueId factor, ir::ValueId index) const;
  std::optional<Dot> ReadDot(const ir::Inst& inst) const;
  bool DotLoop(const ir::Inst& inst, const Limbs& lo, const Trip& trip);

  Trip TripCount(const ir::Inst& inst, const Limbs& lo, const Limbs& hi, uint64_t step);
  bool WrittenOut(const ir::Inst& inst, uint32_t callee, const std::vector<Word>& arguments) const;
  std::optional<size_t> WorkOf(ir::RegionId region) const;
  bool Worthwhile(size_t yes, size_t no) const;
  bool AllConst(const std::vector<Word>& words) const;
  bool FoldsAway(ir::RegionId region, const std::vector<Word>& inits) const;
  bool TestIsQuiet(ir::RegionId region) const;
  std::vector<uint64_t> MaxOf(ir::Type type) const;
  std::vector<Word> Params(ir::Type type);
  std::vector<Word> Returned(const ir::Function& function, const std::vector<Word>& results) const;

  int32_t Site(ir::Trap kind);
  int32_t Site(ir::Trap kind, ir::Op op);
  const std::vector<Word>& Get(ir::ValueId id) const { return scope_->values.at(id.index); }
  const std::vector<Word>& Operand(const ir::Inst& inst, uint32_t i) const {
    return Get(f().operand(inst, i));
  }
  ir::Type OperandType(const ir::Inst& inst, uint32_t i) const {
    return f().type(f().operand(inst, i));
  }
  void Set(ir::ValueId id, std::vector<Word> words) { scope_->values[id.index] = std::move(words); }
  // Each its part of what traveled together.
  void SetResults(const ir::Inst& inst, const std::vector<Word>& words);
  void SetResult(const ir::Inst& inst, std::vector<Word> words) {
    Set(ir::Function::result_of(inst), std::move(words));
  }
  const ir::Function& f() const { return *scope_->f; }

  ProgramState& state_;
  WordBuilder b_;
  Integers ints_;
  Scope* scope_ = nullptr;
  ir::Op op_{};            // being lowered
  int32_t parallel_ = -1;  // index of the outermost parallel around
  int32_t parallels_ = 0;
  bool silent_ = false;                    // these instructions ran already: they cannot trap
  std::set<std::pair<Word, Word>> below_;  // pairs a < b that are known
  uint32_t depth_ = 0;
};

}  // namespace frazil::targets::tasm
