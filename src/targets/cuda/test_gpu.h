// A GPU for tests: LLVM's text form of a module, its address spaces and intrinsics put away, is compiled by clang for this
// machine, and the threads of a block are contexts that take turns at barriers and shuffles. Copies that are asynchronous
// arrive when they are waited for and not before; shared memory is full of rubbish when a block begins.
#pragma once

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "targets/cuda/driver/test_driver.h"

namespace frazil::targets::cuda::test_gpu {

constexpr size_t StackBytes = 256 << 10;
constexpr size_t SharedBytes = 256 << 10;
constexpr unsigned Warp = 32;

enum class Wait : uint8_t { No, Barrier, Shuffle, Gone };

struct Copy {
  void* to;
  const void* from;
  size_t bytes;
};

struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  Wait wait = Wait::No;
  uint32_t value = 0, source = 0, result = 0;  // of a shuffle
  std::vector<std::vector<Copy>> groups = {{}};
};

struct Block {
  std::vector<Thread> threads;
  ucontext_t scheduler;
  unsigned current = 0, number = 0, blocks = 0, shared_bytes = 0;
  void (*kernel)(const uint64_t*) = nullptr;
  const uint64_t* words = nullptr;
};
inline Block& Get() {
  static Block block;
  return block;
}

inline void Yield(Wait wait) {
  Block& block = Get();
  Thread& thread = block.threads[block.current];
  thread.wait = wait;
  swapcontext(&thread.context, &block.scheduler);
}

inline void Start() {
  Block& block = Get();
  block.kernel(block.words);
  Yield(Wait::Gone);
}

// All threads wait for the same thing, or some of a warp do: lets them go on. False: nobody can.
inline bool Release() {
  Block& block = Get();
  bool any = false, at_barrier = true, some = false;
  for (unsigned first = 0; first < block.threads.size(); first += Warp) {
    const auto end = std::min<size_t>(first + Warp, block.threads.size());
    bool shuffles = false, others = false;
    for (size_t t = first; t < end; ++t) {
      const Wait wait = block.threads[t].wait;
      shuffles |= wait == Wait::Shuffle;
      others |= wait == Wait::Barrier;
      at_barrier &= wait == Wait::Barrier || wait == Wait::Gone;
      some |= wait == Wait::Barrier;
    }
    if (!shuffles || others) continue;
    for (size_t t = first; t < end; ++t) {
      Thread& thread = block.threads[t];
      const size_t source = first + thread.source;
      const bool is_there = thread.source < Warp && source < end;
      thread.result = is_there ? block.threads[source].value : thread.value;
    }
    for (size_t t = first; t < end; ++t)
      if (block.threads[t].wait == Wait::Shuffle) block.threads[t].wait = Wait::No;
    any = true;
  }
  if (any || !at_barrier || !some) return any;
  for (Thread& thread : block.threads)
    if (thread.wait == Wait::Barrier) thread.wait = Wait::No;
  return true;
}

inline bool RunBlock(unsigned count) {
  Block& block = Get();
  block.threads.resize(count);
  for (Thread& thread : block.threads) {
    thread.stack.resize(StackBytes);
    thread.wait = Wait::No;
    thread.groups = {{}};
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = StackBytes;
    thread.context.uc_link = &block.scheduler;
    makecontext(&thread.context, Start, 0);
  }
  bool is_backward = false;
  do {
    // Another order each time: what needs a barrier and has none shows.
    is_backward = !is_backward;
    for (unsigned t = 0; t < count; ++t) {
      block.current = is_backward ? count - 1 - t : t;
      if (block.threads[block.current].wait == Wait::No)
        swapcontext(&block.scheduler, &block.threads[block.current].context);
    }
  } while (Release());
  return std::ranges::all_of(block.threads,
                             [](const Thread& thread) { return thread.wait == Wait::Gone; });
}

inline std::string HostText(std::string text) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  for (std::string_view line : {"target triple", "target datalayout"})
    if (const size_t at = text.find(line); at != std::string::npos)
      text.erase(at, text.find('\n', at) - at);
  replace(" addrspace(1)", "");
  replace(" addrspace(3)", "");
  replace("addrspacecast", "bitcast");
  replace("ptx_kernel ", "");
  replace(" immarg", "");
  replace("@scratch = external global [0 x i8]", "@scratch = global [262144 x i8] zeroinitializer");
  for (size_t at = text.find("@llvm.nvvm."); at != std::string::npos;
       at = text.find("@llvm.nvvm.", at)) {
    text.replace(at, 11, "@gpu_");
    for (size_t i = at; text[i] != '('; ++i)
      if (text[i] == '.') text[i] = '_';
  }
  return text;
}

// Is there a compiler?
inline bool IsThere() { return std::system("clang-22 --version > /dev/null 2>&1") == 0; }

inline test_driver::Run Compile(const std::string& text) {
  if (!text.starts_with("; ModuleID")) return {};
  std::string path = std::filesystem::temp_directory_path() / "frazil_gpu_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return {};
  std::ofstream(path + "/k.ll") << HostText(text);
  const std::string command = "clang-22 -w -O1 -march=x86-64-v3 -fPIC -shared -o " + path +
                              "/k.so " + path + "/k.ll && rm " + path + "/k.ll";
  if (std::system(command.c_str()) != 0) return {};
  void* const library = dlopen((path + "/k.so").c_str(), RTLD_NOW);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  std::remove((path + "/k.so").c_str());
  rmdir(path.c_str());
  if (library == nullptr) return {};
  return
      [library](const std::string& kernel, const test_driver::Shape& shape, const uint64_t* words) {
        // Kernels take words; more than they take do no harm.
        using Entry = void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t);
        static Entry entry;
        entry = reinterpret_cast<Entry>(dlsym(library, kernel.c_str()));
        void* const scratch = dlsym(library, "scratch");
        if (entry == nullptr) return test_driver::LaunchFailed;
        Block& block = Get();
        block.words = words;
        block.kernel = [](const uint64_t* w) {
          entry(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
                w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23]);
        };
        block.blocks = shape.blocks;
        block.shared_bytes = shape.shared_bytes;
        for (unsigned b = 0; b < shape.blocks; ++b) {
          if (scratch != nullptr) std::memset(scratch, 0xcb, SharedBytes);
          block.number = b;
          if (!RunBlock(shape.threads)) return test_driver::LaunchFailed;
        }
        return 0;
      };
}

}  // namespace frazil::targets::cuda::test_gpu

namespace gpu_test = frazil::targets::cuda::test_gpu;

extern "C" {
int gpu_read_ptx_sreg_tid_x() { return static_cast<int>(gpu_test::Get().current); }
int gpu_read_ptx_sreg_ntid_x() { return static_cast<int>(gpu_test::Get().threads.size()); }
int gpu_read_ptx_sreg_ctaid_x() { return static_cast<int>(gpu_test::Get().number); }
int gpu_read_ptx_sreg_nctaid_x() { return static_cast<int>(gpu_test::Get().blocks); }
int gpu_read_ptx_sreg_dynamic_smem_size() { return static_cast<int>(gpu_test::Get().shared_bytes); }
void gpu_barrier_cta_sync_aligned_all(int) { gpu_test::Yield(gpu_test::Wait::Barrier); }
void gpu_exit() { gpu_test::Yield(gpu_test::Wait::Gone); }
unsigned gpu_shuffle(unsigned value, unsigned source) {
  gpu_test::Block& block = gpu_test::Get();
  gpu_test::Thread& thread = block.threads[block.current];
  thread.value = value;
  thread.source = source;
  gpu_test::Yield(gpu_test::Wait::Shuffle);
  return thread.result;
}
unsigned gpu_shfl_sync_down_i32(unsigned, unsigned value, unsigned distance, unsigned) {
  return gpu_shuffle(value, gpu_test::Get().current % gpu_test::Warp + distance);
}
unsigned gpu_shfl_sync_idx_i32(unsigned, unsigned value, unsigned source, unsigned) {
  return gpu_shuffle(value, source);
}
void gpu_cp_async_cg_shared_global_16(void* to, const void* from) {
  gpu_test::Block& block = gpu_test::Get();
  block.threads[block.current].groups.back().push_back({to, from, 16});
}
void gpu_cp_async_commit_group() {
  gpu_test::Get().threads[gpu_test::Get().current].groups.emplace_back();
}
void gpu_cp_async_wait_group(unsigned count) {
  auto& groups = gpu_test::Get().threads[gpu_test::Get().current].groups;
  while (groups.size() > count + 1) {
    for (const gpu_test::Copy& copy : groups.front()) std::memcpy(copy.to, copy.from, copy.bytes);
    groups.erase(groups.begin());
  }
}
}
