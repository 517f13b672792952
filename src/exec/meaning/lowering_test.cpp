// Lowering changes no meaning: the interpreter runs a program, tensor ops and barriers included,
// and the same program after each pass. Results, buffers, output and traps must be the same to the
// bit; only the op that a trap names may be another one.
#include "exec/meaning/test_lowering.h"
#include "ir/text/test_text.h"

namespace frazil::exec {
namespace {

std::string Tensor(std::string_view element, std::string_view dims) {
  return fmt::format("tensor<{}, [{}]>", element, dims);
}

TEST(Lowering, ReducesOfEveryKindTypeAndAxis) {
  struct Kind {
    std::string_view kind;
    std::vector<std::string_view> types;
  };
  const std::vector<std::string_view> ints = {"i8", "u16", "i64", "index", "u64"};
  const std::vector<std::string_view> floats = {"f16", "bf16", "f32", "f64"};
  std::vector<std::string_view> numbers = ints;
  numbers.insert(numbers.end(), floats.begin(), floats.end());
  std::vector<std::string_view> summed = numbers;
  summed.insert(summed.end(), {"field", "xfield"});
  std::vector<std::string_view> bits = ints;
  bits.push_back("bool");
  for (const Kind& kind : {Kind{"sum", summed}, Kind{"product", summed}, Kind{"min", numbers},
                           Kind{"max", numbers}, Kind{"minimum", floats}, Kind{"maximum", floats},
                           Kind{"and", bits}, Kind{"or", bits}, Kind{"xor", bits}}) {
    for (std::string_view type : kind.types) {
      for (int axis = 0; axis < 3; ++axis) {
        const std::string_view left[] = {"%m, 5", "%n, 5", "%n, %m"};
        ExpectSameText(
            fmt::format("frz 1\nfunc @main(%n: index, %m: index, %t: {}) -> ({}) {{\n"
                        "%r = reduce %t {{kind = {}, axis = {}, chains = {}, block = {}}} : {}\n"
                        "return %r\n}}\n",
                        Tensor(type, "%n, %m, 5"), Tensor(type, left[axis]), kind.kind, axis,
                        axis == 2 ? 64 : 1, axis == 0 ? 3 : 4096, Tensor(type, left[axis])),
            4);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Lengths around the borders of chains and blocks, static and symbolic.
TEST(Lowering, ReduceTreesOfEveryLength) {
  for (int chains : {1, 2, 8}) {
    for (int block : {8, 24}) {
      for (int length = 0; length <= 130; length += length < 60 ? 1 : 7) {
        ExpectSameText(
            fmt::format("frz 1\nfunc @main(%t: {}) -> ({}) {{\n"
                        "%r = reduce %t {{kind = sum, axis = 0, chains = {}, block = {}}} : {}\n"
                        "return %r\n}}\n",
                        Tensor("f32", std::to_string(length)), Tensor("f32", ""), chains, block,
                        Tensor("f32", "")),
            1);
        ASSERT_FALSE(testing::Test::HasFailure()) << length;
      }
    }
  }
  ir::Program program = *ir::ParseText(R"(frz 1
func @main(%n: index, %t: tensor<f32, [%n]>) -> (tensor<f32, []>) {
  %r = reduce %t {kind = sum, axis = 0, chains = 4, block = 12} : tensor<f32, []>
  return %r
}
)");
  for (int64_t length = 0; length < 120; ++length) {
    auto make = [&] {
      auto memory = std::make_shared<Memory>(ir::types::F32, length);
      for (int64_t i = 0; i < length; ++i)
        memory->Set(
            i, Value::Float(ir::types::F32, 1.0 / (1 + static_cast<double>(i))).scalar_words());
      return std::vector<Value>{Value::Int(ir::types::Index, length),
                                Value::Tensor(memory, {length})};
    };
    ExpectSame(program, make, {}, fmt::format("length {}", length));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(Lowering, LongReduces) {
  for (int length : {4095, 4096, 4097, 12289}) {
    ExpectSameText(
        fmt::format(
            "frz 1\nfunc @main(%t: {0}) -> (tensor<f16, []>) {{\n"
            "%r = reduce %t {{kind = sum, axis = 0, chains = 64, block = 4096}} : tensor<f16, []>\n"
            "return %r\n}}\n",
            Tensor("f16", std::to_string(length))),
        2);
  }
}

TEST(Lowering, Matmuls) {
  for (std::string_view type :
       {"f32", "f64", "f16", "bf16", "i32", "u8", "index", "field", "xfield"}) {
    for (std::string_view batch : {"", "2, ", "%n, "}) {
      for (std::string_view op : {"matmul", "matmul.fast"}) {
        if (op == "matmul.fast" && type != "f32" && type != "f64") continue;
        ExpectSameText(
            fmt::format("frz 1\nfunc @main(%n: index, %k: index, %a: {0}, %b: {1}) -> ({2}) {{\n"
                        "%c = {3} %a, %b : {2}\nreturn %c\n}}\n",
                        Tensor(type, fmt::format("{}3, %k", batch)),
                        Tensor(type, fmt::format("{}%k, %n", batch)),
                        Tensor(type, fmt::format("{}3, %n", batch)), op),
            8);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// NaN payloads and every type survive all moves.
TEST(Lowering, MovesKeepBits) {
  for (std::string_view type :
       {"f16", "bf16", "f32", "f64", "bool", "i8", "int<3>", "xfield", "digest"}) {
    std::string e(type);
    std::string body = "%r = reshape %t : " + Tensor(e, "3, %n, 2") +
                       "\n"
                       "%p = transpose %r {perm = [2, 0, 1]} : " +
                       Tensor(e, "2, 3, %n") +
                       "\n"
                       "%s = slice %p {start = [1, 2, 0], step = [-1, -2, 1]} : " +
                       Tensor(e, "2, 2, %n") +
                       "\n"
                       "%c = concat %p, %s, %p {axis = 1} : " +
                       Tensor(e, "2, 8, %n") +
                       "\n"
                       "%i = iota {axis = 0} : tensor<index, [2, 2]>\n"
                       "%g = gather %c, %i {axis = 1} : " +
                       Tensor(e, "2, 2, 2, %n") +
                       "\n"
                       "%one = slice %t {start = [0, 2], step = [1, 1]} : " +
                       Tensor(e, "1, 3") +
                       "\n"
                       "%b = broadcast %one {axes = [1, 2]} : " +
                       Tensor(e, "%n, 4, 3") +
                       "\n"
                       "%j = const 0 : index\n%x = extract %t, %j, %j : " +
                       e +
                       "\n"
                       "%f = broadcast %x {axes = []} : " +
                       Tensor(e, "%n") +
                       "\n"
                       "%m = map (%u = %f) -> " +
                       Tensor(e, "%n") +
                       " {\nyield %u\n}\n"
                       "tensor.store %buf, %m : " +
                       Tensor(e, "%n") +
                       "\n"
                       "%l = tensor.load %buf : " +
                       Tensor(e, "2") +
                       "\n"
                       "return %g, %b, %l, %x\n}\n";
    ExpectSameText("frz 1\nfunc @main(%n: index, %t: " + Tensor(e, "%n, 6") + ", %buf: buffer<" +
                       e + ">) -> (" + Tensor(e, "2, 2, 2, %n") + ", " + Tensor(e, "%n, 4, 3") +
                       ", " + Tensor(e, "2") + ", " + e + ") {\n" + body,
                   60);
    if (testing::Test::HasFailure()) return;
  }
}

// Sizes that only the run knows: each op traps as the interpreter does, in the same iteration.
TEST(Lowering, SymbolicSizesTrapAlike) {
  const std::string_view lines[] = {
      "%r = reshape %t : tensor<i32, [%b, %a]>",
      "%r = reshape %t : tensor<i32, [%b]>",
      "%r = broadcast %t {axes = [0, 1]} : tensor<i32, [%b, 3]>",
      "%r = broadcast %t {axes = [1, 2]} : tensor<i32, [2, %b, %c]>",
      "%r = slice %t {start = [1, 2], step = [1, -1]} : tensor<i32, [%b, %c]>",
      "%r = slice %t {start = [0, 0], step = [4611686018427387904, 1]} : tensor<i32, [%b, 3]>",
      "%r = slice %t {start = [2, 0], step = [-9223372036854775808, 1]} : tensor<i32, [%b, 3]>",
      "%r = concat %t, %t {axis = 0} : tensor<i32, [%b, 3]>",
      "%x = iota {axis = 0} : tensor<index, [%b]>\n%r = gather %t, %x {axis = 0} : tensor<i32, "
      "[%b, 3]>",
      "%r = extract %t, %b, %c : i32",
      "%r = tensor.load %buf : tensor<i32, [%b, %c]>",
      "%r = iota {axis = 1} : tensor<i8, [%b, %c]>",
      "%x = broadcast %k {axes = []} : tensor<i32, [%b, %c]>\ntensor.store %buf, %x : tensor<i32, "
      "[%b, %c]>",
  };
  for (std::string_view line : lines) {
    std::string body(line);
    for (bool inside : {false, true}) {
      std::string text =
          "frz 1\nfunc @main(%a: index, %b: index, %c: index, %k: i32, %t: tensor<i32, [%a, 3]>, "
          "%buf: buffer<i32>) {\n";
      if (inside)
        text +=
            "%lo = const 0 : index\n%hi = const 3 : index\nparallel %i = %lo to %hi {\nstore %buf, "
            "%lo, %k : i32\n";
      text += body + (inside ? "\nyield\n}" : "") + "\nreturn\n}\n";
      Result<ir::Program> program = ir::ParseText(text);
      ASSERT_TRUE(program) << program.error().ToString() << "\n" << text;
      const int64_t sizes[] = {-2, -1, 0, 1, 2, 3, 5};
      int trapped = 0;
      int ended = 0;
      for (int64_t a : {0, 1, 2, 3}) {
        for (int64_t b : sizes) {
          for (int64_t c : sizes) {
            auto make = [&] {
              auto tensor = std::make_shared<Memory>(ir::types::I32, a * 3);
              for (int64_t i = 0; i < a * 3; ++i)
                tensor->Set(i, Value::Int(ir::types::I32, 10 + i).scalar_words());
              auto buffer = std::make_shared<Memory>(ir::types::I32, 6);
              return std::vector<Value>{
                  Value::Int(ir::types::Index, a), Value::Int(ir::types::Index, b),
                  Value::Int(ir::types::Index, c), Value::Int(ir::types::I32, 7),
                  Value::Tensor(tensor, {a, 3}),   Value::Buffer(buffer)};
            };
            Compared compared =
                ExpectSame(*program, make, {}, fmt::format("a {} b {} c {}", a, b, c));
            ASSERT_FALSE(testing::Test::HasFailure());
            ++(compared.trapped ? trapped : ended);
          }
        }
      }
      EXPECT_TRUE(trapped > 0 && ended > 0) << text;
    }
  }
}

TEST(Lowering, SizesThatDoNotFitTrapMemory) {
  ir::Program program = *ir::ParseText(R"(frz 1
func @main(%a: index, %b: index, %c: index) -> (index) {
  %t = iota {axis = 0} : tensor<u8, [%a, %b, %c]>
  %z = const 0 : index
  %x = extract %t, %z, %z, %z : u8
  %r = cast %x : index
  return %r
}
)");
  const int64_t sizes[] = {-1, 0, 1, 3, int64_t{1} << 31, int64_t{1} << 33, int64_t{1} << 62};
  for (int64_t a : sizes)
    for (int64_t b : sizes)
      for (int64_t c : sizes) {
        auto make = [&] {
          return std::vector<Value>{Value::Int(ir::types::Index, a),
                                    Value::Int(ir::types::Index, b),
                                    Value::Int(ir::types::Index, c)};
        };
        ExpectSame(program, make, {}, fmt::format("{} {} {}", a, b, c));
        ASSERT_FALSE(testing::Test::HasFailure());
      }
}

TEST(Lowering, RandomFills) {
  for (std::string_view type : {"f32", "f64"})
    ExpectSameText(fmt::format("frz 1\nfunc @main(%n: index, %s: u64, %d: u64) -> ({0}, {0}) {{\n"
                               "%u = tensor.uniform %s, %d : {0}\n%v = tensor.normal %s, %d : {0}\n"
                               "return %u, %v\n}}\n",
                               Tensor(type, "%n, 3")),
                   8);
}

TEST(Lowering, StructureAndCalls) {
  ExpectSameText(R"(frz 1
func @half(%n: index, %t: tensor<f32, [%n]>, %deep: i32) -> (i32, tensor<f32, [%n]>, tensor<f32, [%n]>) {
  %one = const 1 : i32
  %zero = const 0 : i32
  %more = gt %deep, %zero : i32
  %u = map (%a = %t) -> tensor<f32, [%n]> {
    %b = add %a, %a : f32
    yield %b
  }
  %r, %v = if %more -> (i32, tensor<f32, [%n]>) {
    %less = sub %deep, %one : i32
    %i, %p, %q = call @half(%n, %u, %less)
    yield %i, %q
  } else {
    yield %deep, %t
  }
  return %r, %v, %u
}
func @main(%c: bool, %n: index, %k: i8, %t: tensor<f32, [%n]>, %s: tensor<f32, [%n]>)
    -> (tensor<f32, [%n]>, i32, tensor<f32, [%n]>, tensor<f32, [%n]>, tensor<f32, [%n]>) {
  %three = const 3 : i32
  %kk = cast %k : i32
  %mask = const 7 : i32
  %count = and %kk, %mask : i32
  %lo = const 0 : i32
  %one = const 1 : i32
  %a, %b, %d, %turns = for %i = %lo to %count step 1 carry (%p = %t, %q = %s, %g = %t, %e = %lo) {
    %f = add %e, %one : i32
    %h = map (%x = %p, %y = %g) -> tensor<f32, [%n]> {
      %z = sub %x, %y : f32
      yield %z
    }
    yield %q, %p, %h, %f
  }
  %w, %x, %old = while (%g = %a, %h = %lo, %before = %b) {
    %more = lt %h, %count : i32
    %both = map (%v = %g, %v2 = %before) -> tensor<f32, [%n]> {
      %y = add %v, %v2 : f32
      yield %y
    }
    condition %more
  } do {
    %h2 = add %h, %one : i32
    yield %both, %h2, %g
  }
  %r, %z = if %c -> (tensor<f32, [%n]>, i32) {
    yield %w, %turns
  } else {
    yield %old, %x
  }
  %sw = switch %count -> (tensor<f32, [%n]>) {
  case 0 {
    yield %r
  }
  case 1 {
    yield %d
  }
  default {
    yield %t
  }
  }
  %i, %u1, %u2 = call @half(%n, %r, %three)
  return %r, %z, %sw, %u1, %u2
}
)",
                 60);
}

TEST(Lowering, TensorsInsideOfParallels) {
  // SplitBarriers alone cannot keep a tensor across a barrier; after LowerTensors it can.
  ir::Program program =
      *ir::ParseText(ir::Lanes("%n: index, %t: tensor<i32, [%n, 4]>, %out: buffer<i32>", R"(
    %r = map (%a = %t) -> tensor<i32, [%n, 4]> {
      %c = cast %i : i32
      %b = mul %a, %c : i32
      yield %b
    }
    %x = extract %r, %i, %zero : i32
    store %out, %i, %x : i32
    barrier
    %s = reduce %r {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<i32, [%n]>
    %y = extract %s, %i : i32
    barrier
    %z = load %out, %zero : i32
    %w = div.trunc %y, %z : i32
    store %out, %i, %w : i32
)"));
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto make = [&] { return RandomArguments(program, seed); };
    Seen source = RunSource(program, make, {});
    Seen lowered = RunLowered(program, *ir::LowerForTarget(program), make, {});
    EXPECT_EQ(Difference(source, lowered), "") << seed;
  }
}

}  // namespace
}  // namespace frazil::exec
