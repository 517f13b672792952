// Row operations of oneDNN, a peer, and the sizes that they are measured at.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "native_call.h"

#ifdef FRAZIL_HAS_DNNL
#include <dnnl.hpp>
#endif

namespace frazil::bench {

#ifdef FRAZIL_HAS_DNNL
// A primitive of oneDNN with its arguments, ready to run on one thread.
class DnnlRows {
 public:
  DnnlRows(int64_t rows, int64_t columns)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), rows_(rows), columns_(columns) {
    if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(1);
  }

  void Softmax(Floats& x, Floats& y) {
    auto plain = Plain();
    dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, plain, 1);
    primitive_ = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(desc, engine_));
    arguments_ = {{DNNL_ARG_SRC, {plain, engine_, x.data()}},
                  {DNNL_ARG_DST, {plain, engine_, y.data()}}};
  }

  void LayerNorm(Floats& x, Floats& scale, Floats& bias, Floats& y) {
    auto plain = Plain();
    dnnl::memory::desc line({columns_}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
    dnnl::layer_normalization_forward::desc desc(
        dnnl::prop_kind::forward_inference, plain, 1e-5f,
        dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
    primitive_ = dnnl::layer_normalization_forward(
        dnnl::layer_normalization_forward::primitive_desc(desc, engine_));
    arguments_ = {{DNNL_ARG_SRC, {plain, engine_, x.data()}},
                  {DNNL_ARG_DST, {plain, engine_, y.data()}},
                  {DNNL_ARG_SCALE, {line, engine_, scale.data()}},
                  {DNNL_ARG_SHIFT, {line, engine_, bias.data()}}};
  }

  void Run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::memory::desc Plain() const {
    return {{rows_, columns_}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
  }
  dnnl::engine engine_;
  dnnl::stream stream_;
  int64_t rows_, columns_;
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};
#endif

// The text with another value in the place of each name.
inline std::string With(std::string_view text, std::string_view name, std::string_view value) {
  std::string result(text);
  for (size_t at = result.find(name); at != std::string::npos; at = result.find(name))
    result.replace(at, name.size(), value);
  return result;
}

struct Rows {
  size_t rows, columns;
};
constexpr Rows RowSizes[] = {{256, 64}, {128, 768}, {64, 4096}};

}  // namespace frazil::bench
