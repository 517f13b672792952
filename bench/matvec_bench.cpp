// Matrix times vector with weights of 256 MiB, one thread, beside reading them: the better of two ways to add them all up. Sizes
// are parameters of the code. Outputs are checked against chains of our own.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernel_call.h"

#ifdef FRAZIL_HAS_DNNL
#include <dnnl.hpp>
#endif

namespace frazil::bench {
namespace {

constexpr size_t WeightBytes = size_t{256} << 20;

// W x with W [n, k], or x W with W [k, n].
std::string ProductText(bool by_rows, std::string_view x, std::string_view w) {
  const std::string cast = x == w ? ""
                                  : fmt::format(
                                        "  %f = map (%e = %w) -> tensor<{}, {}> {{\n    %g = cast "
                                        "%e : {}\n    yield %g\n  }}\n",
                                        x, by_rows ? "[%n, %k]" : "[%k, %n]", x);
  const std::string_view matrix = cast.empty() ? "%w" : "%f";
  if (by_rows)
    return fmt::format(R"(frz 1
func @main(%k: index, %n: index, %x: tensor<{0}, [%k, 1]>, %w: tensor<{1}, [%n, %k]>) -> (tensor<{0}, [%n, 1]>) {{
{2}  %c = matmul {3}, %x : tensor<{0}, [%n, 1]>
  return %c
}}
)",
                       x, w, cast, matrix);
  return fmt::format(R"(frz 1
func @main(%k: index, %n: index, %x: tensor<{0}, [1, %k]>, %w: tensor<{1}, [%k, %n]>) -> (tensor<{0}, [1, %n]>) {{
{2}  %c = matmul %x, {3} : tensor<{0}, [1, %n]>
  return %c
}}
)",
                     x, w, cast, matrix);
}

// Words that are plain numbers as one f32, as two bf16 and as bytes.
void FillWords(Floats& floats) {
  for (size_t i = 0; i < floats.size(); ++i) {
    const uint32_t low = 0x3f00u | (i * 7919 >> 4 & 0x7f),
                   high = 0xbe00u | (i * 104729 >> 5 & 0xff);
    floats.data()[i] = std::bit_cast<float>((i % 3 == 0 ? high : low) << 16 | low);
  }
}

float Element(const Floats& floats, bool is_half, size_t i) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(floats.address());
  uint32_t word = 0;
  if (is_half)
    std::memcpy(reinterpret_cast<unsigned char*>(&word) + 2, bytes + 2 * i, 2);
  else
    std::memcpy(&word, bytes + 4 * i, 4);
  return std::bit_cast<float>(word);
}

struct Form {
  const char* name;
  bool by_rows;
  std::string_view x, w;
};

struct Product {
  Form form;
  size_t k, n;
  Call call;
  Floats x, c;

  Product(const Form& f, size_t depth, size_t outputs, Floats& w)
      : form(f),
        k(depth),
        n(outputs),
        call{CompileText(ProductText(f.by_rows, f.x, f.w))},
        x(k),
        c(n) {
    FillWords(x);
    call.Add(uint64_t{k}).Add(uint64_t{n});
    call.arguments.insert(call.arguments.end(),
                          {x.address(), k, w.address(), k * n, c.address(), n});
  }

  void CheckBits(const Floats& w) {
    call();
    if (form.x != "f32") return;  // rounded: the tests have that
    for (size_t j = 0; j < n; j += std::max<size_t>(1, n / 31)) {
      float sum = 0;
      for (size_t e = 0; e < k; ++e)
        sum = std::fma(x.data()[e],
                       Element(w, form.w == "bf16", form.by_rows ? j * k + e : e * n + j), sum);
      CHECK(sum == c.data()[j]);
    }
  }
};

constexpr size_t GroupSize = 32;

std::string QuantizedText(int bits) {
  return fmt::format(R"(frz 1
func @main(%k: index, %n: index, %g: index, %b: index, %a: tensor<i8, [1, %k]>, %s: tensor<f32, [1, %g]>, %w: tensor<{0}, [%n, {1}]>, %t: tensor<f32, [%n, %g]>) -> (tensor<f32, [1, %n]>) {{
  %y = matmul.q %a, %s, %w, %t {{bits = {2}}} : tensor<f32, [1, %n]>
  return %y
}}
)",
                     bits == 8 ? "i8" : "u8", bits == 8 ? "%k" : "%b", bits);
}

struct Quantized {
  size_t bits, k, n, groups;
  Call call;
  Floats a, a_scales, w_scales, c;

  Quantized(size_t b, size_t depth, Floats& w)
      : bits(b),
        k(depth),
        n(WeightBytes * 8 / bits / k),
        groups(k / GroupSize),
        call{CompileText(QuantizedText(static_cast<int>(bits)))},
        a(k / 4),
        a_scales(groups),
        w_scales(n * groups),
        c(n) {
    FillWords(a);
    call.Add(uint64_t{k}).Add(uint64_t{n}).Add(uint64_t{groups}).Add(uint64_t{k / 2});
    call.arguments.insert(call.arguments.end(), {a.address(), k});
    call.Add(a_scales);
    call.arguments.insert(call.arguments.end(), {w.address(), WeightBytes});
    call.Add(w_scales).Add(c);
  }

  size_t bytes() const { return WeightBytes + 4 * n * groups; }

  void CheckBits(const Floats& w) {
    call();
    const auto* weights = reinterpret_cast<const int8_t*>(w.address());
    const auto* numbers = reinterpret_cast<const int8_t*>(a.address());
    for (size_t t = 0; t < n; t += n / 31) {
      float sum = 0;
      for (size_t g = 0; g < groups; ++g) {
        int dot = 0;
        for (size_t e = g * GroupSize; e < (g + 1) * GroupSize; ++e) {
          const int byte = weights[(t * k + e) * bits / 8];
          const int nibble = ((e % 2 == 0 ? byte : byte >> 4) & 15) ^ 8;
          dot += numbers[e] * (bits == 8 ? byte : nibble - 8);
        }
        sum = std::fma(a_scales.data()[g] * w_scales.data()[t * groups + g],
                       static_cast<float>(dot), sum);
      }
      CHECK(sum == c.data()[t]);
    }
  }
};

constexpr Form Forms[] = {{"f32, x W", false, "f32", "f32"},
                          {"f32, W x", true, "f32", "f32"},
                          {"bf16, x W", false, "bf16", "bf16"},
                          {"bf16, W x", true, "bf16", "bf16"},
                          {"bf16 weights of f32, x W", false, "f32", "bf16"},
                          {"bf16 weights of f32, W x", true, "f32", "bf16"}};

}  // namespace

FRAZIL_FIGURE(matvec) {
  Floats w(WeightBytes / 4);
  FillWords(w);
  std::vector<std::unique_ptr<Product>> products;
  std::vector<std::function<void()>> functions = {
      [&] { Keep(peer::ReadOnce(w.size(), w.data())); },
      [&] { Keep(peer::ReadInFour(w.size(), w.data())); }};
  for (const Form& form : Forms) {
    const size_t k = 8192;
    const size_t n = WeightBytes / k / (form.w == "bf16" ? 2 : 4);
    products.push_back(std::make_unique<Product>(form, k, n, w));
    products.back()->CheckBits(w);
    functions.push_back([p = products.back().get()] { p->call(); });
  }
  std::vector<std::unique_ptr<Quantized>> quantized;
  for (size_t bits : {8, 4}) {
    quantized.push_back(std::make_unique<Quantized>(bits, 8192, w));
    quantized.back()->CheckBits(w);
    functions.push_back([q = quantized.back().get()] { q->call(); });
  }
  const auto times = InterleaveCpu(functions, 15, 0.001);
  const double read_s = std::min(times[0].min_s, times[1].min_s);
  for (size_t i = 0; i < products.size(); ++i)
    Judge(fmt::format("matrix x vector, {}, 256 MiB", products[i]->form.name),
          1e-9 * static_cast<double>(WeightBytes), "GB/s", times[2 + i].min_s, "reading them",
          read_s, 0.9);
  const double read = 1e-9 * static_cast<double>(WeightBytes) / read_s;
  for (size_t i = 0; i < quantized.size(); ++i) {
    const double ours =
        1e-9 * static_cast<double>(quantized[i]->bytes()) / times[2 + products.size() + i].min_s;
    Report({"native",
            fmt::format("matrix x vector, i{} in groups of 32, 256 MiB and scales",
                        quantized[i]->bits),
            ours, "GB/s", "reading them", read, ">= 0.9x", ours >= 0.9 * read});
  }
}

FRAZIL_FIGURE(matvec_in_cache) {
#ifdef FRAZIL_HAS_DNNL
  // The library may sit on OpenMP, which read its environment before we run.
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
  for (size_t n : {64, 256, 512}) {
    Floats w(n * n), y(n);
    FillWords(w);
    for (size_t f = 0; f < 2; ++f) {
      Product p(Forms[f], n, n, w);
      p.CheckBits(w);
      const auto size = static_cast<dnnl_dim_t>(n);
      const auto times =
          InterleaveCpu({[&] { p.call(); },
                         [&] {
                           dnnl_sgemm('N', p.form.by_rows ? 'T' : 'N', 1, size, size, 1, p.x.data(),
                                      size, w.data(), size, 0, y.data(), size);
                         }},
                        11, 0.005);
      Judge(fmt::format("matrix x vector, {}, {} x {}", p.form.name, n, n),
            4e-9 * static_cast<double>(n * n), "GB/s", times[0].min_s, "oneDNN sgemm",
            times[1].min_s, 1.0);
    }
  }
#endif
}

}  // namespace frazil::bench
