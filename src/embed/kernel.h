// Kernels as data: what generated files place in read-only memory beside the machine code. References are offsets from
// their own address, so that the loader has nothing to relocate when a program starts; nothing is read before a launch.
//
// The words of a launch: each scalar parameter is one word (integers sign- or zero-extended, floats their bits), each
// buffer two, its address and its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"
#include "base/param_role.h"
#include "embed/cpu_level.h"
#include "embed/native_run.h"

namespace frazil::embed {

// Changes with every change of the structures below; generated code of another version does not compile.
constexpr uint32_t KernelDataVersion = 3;

using frazil::ParamRole;

// What a kernel may do with a buffer.
enum class Access : uint8_t { In = 1, Out = 2, InOut = 3 };

template <typename T>
struct Rel {
  int32_t offset;  // 0: there is none
  const T* get() const {
    return offset == 0 ? nullptr
                       : reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(this) +
                                                    static_cast<intptr_t>(offset));
  }
};

struct Blob {
  Rel<char> data;
  uint32_t size;
  std::string_view bytes() const {
    return size == 0 ? std::string_view() : std::string_view(data.get(), size);
  }
};

template <typename T>
struct List {
  Rel<T> data;
  uint32_t size;
  const T* begin() const { return data.get(); }
  const T* end() const { return size == 0 ? data.get() : data.get() + size; }
};

struct ParamData {
  Rel<char> name;
  Kind scalar;
  ParamRole role;
  Access access;  // buffers
  uint8_t element_bytes;
  uint16_t word;  // where its words begin
  uint16_t reserved;
};

// Two parameters, by their position.
struct PairData {
  uint16_t first;
  uint16_t second;
};

// A part of the estimated time of a launch: picoseconds times the product of words.
constexpr uint8_t NoFactor = 0xff;
struct WorkTerm {
  uint32_t picoseconds;
  uint8_t factors[4];
};

constexpr uint32_t PlainUsesRun = 1;  // its entry must be given a run
constexpr uint32_t RangedUsesRun = 2;
constexpr uint32_t PlainIsRanged =
    4;  // it takes the words of the ranged form, with all iterations as their range
constexpr uint32_t MostWords = 64;  // of one launch
constexpr uint16_t NoWord = 0xffff;
constexpr uint64_t AllBegin = 0, AllEnd = INT64_MAX;  // the range of all iterations

struct KernelData {
  uint32_t version;
  uint32_t flags;
  Rel<char> name;
  Rel<char> doc;
  List<ParamData> params;
  List<Kind> results;
  uint32_t word_count;
  uint16_t
      trips_word;  // the word that is the number of iterations, or NoWord: the code `trips` tells it
  uint16_t reserved;
  // By CPU level; one for which no verdict could be had has the code of the level below. `ranged` takes two more words,
  // begin and end.
  Rel<char> plain[CpuLevelCount];
  Rel<char> ranged[CpuLevelCount];
  Rel<char> trips;          // takes each scalar as a word and each buffer as its length
  List<PairData> disjoint;  // buffers that must not be the same for the ranged form
  List<PairData> at_most;   // scalars with first <= second for the ranged form
  List<PairData> covers;    // an extent, and a buffer that must be at least so long
  List<PairData>
      lengths;  // an extent, and a buffer whose length it is where the caller leaves it out
  List<WorkTerm> work;
  Blob isa;  // a .frzb file
  Blob ptx;
  Blob wasm;
  char digest[32];   // exact digest of the program, as it was before it was optimized
  Rel<char> record;  // for audits (aot/record.h); a launch never looks at it
  // The same kernel under a guard, which a launch prefers where its conditions hold; its code and these lists are all that is
  // used of it. Of other kernels they are empty.
  Rel<KernelData> guarded;
  List<PairData> guard_apart;  // buffers without a byte in common
  List<PairData> guard_cover;  // an extent, and a buffer that is at least so long
  List<PairData> guard_least;  // a scalar or a buffer, and the least that it or its length may be

  NativeEntry entry(const Rel<char>* forms, CpuLevel level) const;
  NativeEntry plain_entry(CpuLevel level) const { return entry(plain, level); }
  NativeEntry ranged_entry(CpuLevel level) const { return entry(ranged, level); }
};

static_assert(sizeof(KernelData) == 196 && alignof(KernelData) == 4);

// What one generated file holds.
struct ModuleData {
  uint32_t version;
  uint32_t size;
  Rel<char> name;
  Rel<Rel<KernelData>> kernels;

  const KernelData& operator[](size_t i) const { return *kernels.get()[i].get(); }
  const KernelData* Find(std::string_view name) const;  // null if there is none
};

inline NativeEntry EntryOf(const Rel<char>& form) {
  return reinterpret_cast<NativeEntry>(reinterpret_cast<uintptr_t>(&form) +
                                       static_cast<intptr_t>(form.offset));
}

// Null: there is no code for this level, nor for one below.
inline NativeEntry KernelData::entry(const Rel<char>* forms, CpuLevel level) const {
  const Rel<char>& form = forms[static_cast<size_t>(level)];
  return form.offset == 0 ? nullptr : EntryOf(form);
}

inline const KernelData* ModuleData::Find(std::string_view wanted) const {
  for (size_t i = 0; i < size; ++i)
    if (wanted == (*this)[i].name.get()) return &(*this)[i];
  return nullptr;
}

}  // namespace frazil::embed
