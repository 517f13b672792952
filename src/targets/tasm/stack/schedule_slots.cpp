// Words that live in RAM. What is made together and travels together, such as a digest, goes there together and lies in a
// row, in the order of the stack: one instruction stores it and one loads it.
#include <algorithm>

#include "targets/tasm/stack/scheduler.h"

namespace frazil::targets::tasm {

using tir::Kind;

namespace {

constexpr size_t MostTogether = 5;  // words of one read_mem or write_mem

tir::Op MakeOp(Kind kind, uint64_t number) {
  tir::Op op;
  op.kind = kind;
  op.number = number;
  return op;
}

bool MakesTogether(const WordNode& node) {
  return node.results.size() == MostTogether &&
         (node.op == WordOp::ReadIo || node.op == WordOp::Divine || node.op == WordOp::Hash);
}

// The last three ops are a push, an access to memory and the pop of its pointer.
tir::Op* LastAccess(std::vector<tir::Op>& out, Kind kind) {
  const size_t n = out.size();
  if (n < 3 || out[n - 3].kind != Kind::Push || out[n - 2].kind != kind ||
      out[n - 1].kind != Kind::Pop || out[n - 1].number != 1)
    return nullptr;
  return &out[n - 2];
}

}  // namespace

void FunctionScheduler::EmitLoad(uint64_t slot, Ops& out) {
  if (tir::Op* last = LastAccess(out, Kind::ReadMem);
      last != nullptr && last->number < MostTogether &&
      out[out.size() - 3].number == slot + last->number) {
    ++last->number;
    return;
  }
  out.push_back(MakeOp(Kind::Push, slot));
  out.push_back(MakeOp(Kind::ReadMem, 1));
  out.push_back(MakeOp(Kind::Pop, 1));
}

void FunctionScheduler::EmitStore(uint64_t slot, Ops& out) {
  if (tir::Op* last = LastAccess(out, Kind::WriteMem);
      last != nullptr && last->number < MostTogether &&
      out[out.size() - 3].number + last->number == slot) {
    ++last->number;
    return;
  }
  out.push_back(MakeOp(Kind::Push, slot));
  out.push_back(MakeOp(Kind::WriteMem, 1));
  out.push_back(MakeOp(Kind::Pop, 1));
}

// The words that a word is made with, the deepest first, or what a loop carries of them.
std::vector<Word> FunctionScheduler::Together(Word w) const {
  if (MakesTogether(f_.def(w))) return f_.def(w).results;
  if (f_.def(w).op != WordOp::Param) return {w};
  for (const WordNode& loop : f_.nodes) {
    if (loop.op != WordOp::While && loop.op != WordOp::Loop) continue;
    const std::vector<Word>& params = f_.regions[loop.regions[0]].params;
    const auto at = std::find(params.begin(), params.end(), w);
    if (at == params.end()) continue;
    const size_t k = static_cast<size_t>(at - params.begin());
    const size_t first = loop.op == WordOp::Loop ? 1 : 0;
    for (const std::vector<Word>& sources :
         {f_.regions[loop.regions.back()].yields,
          std::vector<Word>(loop.inputs.begin() + static_cast<ptrdiff_t>(first),
                            loop.inputs.end())}) {
      const uint32_t maker = f_.words[sources[k]].node;
      if (!MakesTogether(f_.nodes[maker])) continue;
      std::vector<Word> together;
      for (size_t i = 0; i < params.size(); ++i)
        if (f_.words[sources[i]].node == maker) together.push_back(params[i]);
      return together;
    }
  }
  return {w};
}

// Copies in any case: whether an init dies is decided by those that go on the stack. Those of words that lie in a row are
// copied first and stored then, the top first.
bool FunctionScheduler::StoreInits(State& state, const std::vector<std::pair<Word, Word>>& stored) {
  auto add = [&](Step step) {
    Apply(state.stack, step);
    state.steps.push_back(step);
  };
  for (size_t i = 0; i < stored.size();) {
    const std::vector<Word> together = Together(stored[i].second);
    size_t end = i;
    do {
      const Word init = stored[end].first;
      if (elsewhere().IsConst(init)) {
        add({Step::Kind::Push, 0, init});
      } else if (const uint32_t depth = DepthOf(state.stack, init); depth < Reach) {
        add({Step::Kind::Dup, depth});
      } else if (elsewhere().InRam(init)) {
        add({Step::Kind::Load, 0, init});
      } else {
        return TooDeep(state.stack, init);
      }
      ++end;
    } while (end < stored.size() &&
             std::find(together.begin(), together.end(), stored[end].second) != together.end());
    for (size_t k = end; k-- > i;) add({Step::Kind::Store, 0, stored[k].second});
    i = end;
  }
  return true;
}

// The same at the end of a round, for words that no other carried word is made of: they are brought up, then stored.
bool FunctionScheduler::StoreTogether(std::vector<std::pair<Word, Word>>& pending,
                                      const std::function<bool(Word)>& again,
                                      const std::function<bool(Word, bool)>& bring,
                                      const std::function<void(Step)>& add,
                                      std::set<Word>& overwritten) {
  for (size_t i = 0; i < pending.size();) {
    const std::vector<Word> together = Together(pending[i].second);
    size_t end = i;
    bool alone = true;
    for (; end < pending.size() &&
           std::find(together.begin(), together.end(), pending[end].second) != together.end();
         ++end)
      for (const auto& [from, to] : pending) {
        alone &= from != pending[end].second;
        alone &= to == pending[end].second || from != pending[end].first;
      }
    if (end - i < 2 || !alone) {
      i = std::max(end, i + 1);
      continue;
    }
    for (size_t k = i; k < end; ++k)
      if (!bring(pending[k].first, again(pending[k].first))) return false;
    for (size_t k = end; k-- > i;) {
      add({Step::Kind::Store, 0, pending[k].second});
      overwritten.insert(pending[k].second);
    }
    pending.erase(pending.begin() + static_cast<ptrdiff_t>(i),
                  pending.begin() + static_cast<ptrdiff_t>(end));
  }
  return true;
}

// A word lives as long as the region it is made in; a carried one as long as the region around its loop, because the
// loop's result lies in the same slot. Regions of which neither is inside of the other never run at a time: their words
// have the same slots.
void FunctionScheduler::AssignSlots() {
  slots_.clear();
  uint64_t end = first_slot_;
  std::function<void(uint32_t, uint64_t, std::vector<Word>)> assign =
      [&](uint32_t region, uint64_t next, std::vector<Word> words) {
        std::vector<uint32_t> inner;
        for (uint32_t n : f_.regions[region].nodes) {
          const WordNode& node = f_.nodes[n];
          words.insert(words.end(), node.results.begin(), node.results.end());
          if (node.op == WordOp::Loop || node.op == WordOp::While) {
            const std::vector<Word>& carried = f_.regions[node.regions[0]].params;
            words.insert(words.end(), carried.begin(), carried.end());
          }
          inner.insert(inner.end(), node.regions.begin(), node.regions.end());
        }
        for (Word w : words) {
          if (!in_ram_[w] || same_slot_.contains(w) || slots_.contains(w)) continue;
          const std::vector<Word> together = Together(w);
          for (size_t i = together.size(); i-- > 0;)
            if (in_ram_[together[i]] && !same_slot_.contains(together[i]) &&
                slots_.try_emplace(together[i], next).second)
              ++next;
        }
        end = std::max(end, next);
        for (uint32_t r : inner) assign(r, next, {});
      };
  assign(0, first_slot_, f_.regions[0].params);
  next_slot_ = end;
}

uint64_t FunctionScheduler::SlotOf(Word w) {
  if (auto same = same_slot_.find(w); same != same_slot_.end()) w = same->second;
  const auto [place, fresh] = slots_.try_emplace(w, next_slot_);
  if (fresh) ++next_slot_;
  return place->second;
}

// What a loop gives is where the word lies that it carried.
void FunctionScheduler::PutInRam(Word w) {
  for (Word one : Together(w)) {
    if (pinned_.contains(one) && one != w) continue;
    in_ram_[one] = true;
    for (const WordNode& node : f_.nodes) {
      if (node.op != WordOp::Loop && node.op != WordOp::While) continue;
      const std::vector<Word>& params = f_.regions[node.regions[0]].params;
      for (size_t k = 0; k < params.size(); ++k)
        if (params[k] == one) {
          in_ram_[node.results[k]] = true;
          same_slot_[node.results[k]] = one;
        }
    }
  }
}

}  // namespace frazil::targets::tasm
