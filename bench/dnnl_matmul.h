// The matmul primitive of oneDNN on plain layouts, a peer: one thread, with a bias and an activation where they are asked for.
#pragma once

#include <dlfcn.h>

#include <optional>
#include <unordered_map>

#include "native_call.h"

#ifdef FRAZIL_HAS_DNNL
#include <dnnl.hpp>
#endif

namespace frazil::bench {

// Libraries may sit on OpenMP; it reads its environment before we run.
inline void OneThread() {
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
}

#ifdef FRAZIL_HAS_DNNL
class DnnlMatmul {
 public:
  using Type = dnnl::memory::data_type;
  struct Shape {
    int64_t m, k, n;
  };
  struct Types {
    Type a, b, c;
  };

  DnnlMatmul(Shape shape, void* a, void* b, void* c, float* bias = nullptr,
             std::optional<dnnl::algorithm> activation = {},
             Types types = {Type::f32, Type::f32, Type::f32})
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const auto plain = [](int64_t rows, int64_t columns, Type type) {
      return memory::desc({rows, columns}, type, memory::format_tag::ab);
    };
    const memory::desc from = plain(shape.m, shape.k, types.a);
    const memory::desc weights = plain(shape.k, shape.n, types.b);
    const memory::desc to = plain(shape.m, shape.n, types.c);
    const memory::desc line = plain(1, shape.n, Type::f32);
    arguments_ = {{DNNL_ARG_SRC, memory(from, engine_, a)},
                  {DNNL_ARG_WEIGHTS, memory(weights, engine_, b)},
                  {DNNL_ARG_DST, memory(to, engine_, c)}};
    dnnl::primitive_attr attributes;
    if (activation) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, *activation, 0.0f, 0.0f);
      attributes.set_post_ops(after);
    }
    if (bias != nullptr) arguments_.emplace(DNNL_ARG_BIAS, memory(line, engine_, bias));
    const dnnl::matmul::desc desc = bias != nullptr ? dnnl::matmul::desc(from, weights, line, to)
                                                    : dnnl::matmul::desc(from, weights, to);
    primitive_ = dnnl::matmul(dnnl::matmul::primitive_desc(desc, attributes, engine_));
  }

  void Run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::unordered_map<int, dnnl::memory> arguments_;
  dnnl::matmul primitive_;
};
#endif

}  // namespace frazil::bench
