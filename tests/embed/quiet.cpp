// A program with nothing but embedded kernels in it, which counts what its launches ask of the system: no memory, no
// lock. It counts by standing in for the functions of the C library.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "embed_kernels.hpp"

namespace {

long allocations = 0;
long locks = 0;

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  static auto* const real = Real<void*(size_t, size_t)>("aligned_alloc");
  return real(alignment, size);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++locks;
  static auto* const real = Real<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return real(mutex);
}
}

namespace {

struct Counts {
  long allocations;
  long locks;
};

// What `launch` asks for once it is warm.
template <typename Launch>
Counts CountsOf(const Launch& launch) {
  for (int i = 0; i < 3; ++i) launch();
  const long before_allocations = allocations, before_locks = locks;
  for (int i = 0; i < 1000; ++i) launch();
  return {allocations - before_allocations, locks - before_locks};
}

int failures = 0;

template <typename Launch>
void ExpectNone(const char* what, const Launch& launch) {
  const Counts counts = CountsOf(launch);
  std::printf("%-12s %ld allocations, %ld locks in 1000 launches\n", what, counts.allocations,
              counts.locks);
  failures += counts.allocations != 0 || counts.locks != 0;
}

void Must(const frazil::embed::Status& status) {
  if (status) return;
  std::printf("%s\n", status.ToString().c_str());
  ++failures;
}

}  // namespace

int main() {
  std::vector<float> x(4096, 1), y(4096, 2);
  // If the counters did not count, nothing here could fail.
  const Counts heard = CountsOf([] {
    std::vector<int> memory(100);
    asm volatile("" : : "r"(memory.data()) : "memory");
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  if (heard.allocations < 1000 || heard.locks < 1000) {
    std::printf("the counters do not count\n");
    return 1;
  }
  for (const size_t n : {size_t{0}, size_t{1}, size_t{16}, size_t{64}, size_t{4096}})
    ExpectNone("saxpy", [&] {
      Must(embed_kernels::saxpy(1e-9f, std::span(x).first(n), std::span(y).first(n)));
    });
  ExpectNone("softmax", [&] { Must(embed_kernels::softmax(x, y, 64, 64)); });
  // With scratch memory, which its thread keeps.
  ExpectNone("shared", [&] {
    Must(embed_kernels::block_reverse(frazil::embed::LaunchConfig::Blocks({2}, {256}),
                                      std::span(x).first(512), std::span(y).first(512)));
  });
  ExpectNone("refusal", [&] {
    if (embed_kernels::saxpy(1, std::span(x).first(10), std::span(y).first(9))) ++failures;
  });
  frazil::embed::Sequence sequence;
  for (int i = 0; i < 4; ++i)
    Must(sequence.Add(
        embed_kernels::saxpy_bind(1e-9f, std::span(x).first(64), std::span(y).first(64))));
  ExpectNone("sequence", [&] { Must(sequence.Run()); });
  return failures == 0 ? 0 : 1;
}
