// Every builder checks that its op exists for its type and gives a checked program; a combination that does not exist is
// the caller's mistake, told in a sentence.
#include "runtime/builders.h"

#include <fmt/format.h>

#include "ir/check/check.h"

namespace frazil::runtime::builders {
namespace {

using ir::FunctionBuilder;
using ir::Op;
using ir::Program;
using ir::Type;
using ir::ValueId;
using ir::Values;
namespace types = ir::types;

Result<Program> Checked(Program program) {
  TRY_VOID(ir::Check(program));
  return program;
}

// "vector.add.f32"
std::string NameOf(std::string_view shape, std::string_view op, Type type) {
  return fmt::format("{}.{}.{}", shape, op, ir::ScalarName(type.scalar));
}

Result<void> CheckOp(Op op, Type type, int operands) {
  const ir::OpInfo& info = ir::Info(op);
  const std::string_view wanted = operands == 1 ? "T->T" : "T,T->T";
  if (info.signature != wanted)
    return Fail(Diag::BadKernel, fmt::format("'{}' is no operation of {} elements that gives one",
                                             info.mnemonic, operands == 1 ? "one" : "two"));
  if (!type.is_scalar() || !ir::Contains(info.types, type.scalar))
    return Fail(Diag::BadKernel, fmt::format("'{}' is not defined for {}", info.mnemonic,
                                             ir::ScalarName(type.scalar)));
  return {};
}

struct Param {
  Type type;
  std::string name;
};

// The builder of an entry function with named parameters.
struct Entry {
  Entry(Program& program, std::string name, std::span<const Param> params)
      : builder(program, std::move(name), std::initializer_list<Type>{}, {}) {
    for (const Param& param : params) {
      values.push_back(builder.AddParam(param.type));
      builder.Name(values.back(), param.name);
    }
  }
  ValueId Index(int64_t value) { return builder.ConstInt(types::Index, value); }
  ValueId AsIndex(ValueId value) {
    return builder.TypeOf(value) == types::Index ? value
                                                 : builder.Cast(Op::Cast, value, types::Index);
  }
  FunctionBuilder builder;
  Values values;
};

Type In(Type type) { return Type::Buffer(type, ir::Access::In); }

}  // namespace

Result<Program> Map(const MapShape& shape, const MapBody& body) {
  std::vector<Param> params;
  for (size_t i = 0; i < shape.inputs.size(); ++i)
    params.push_back({In(shape.inputs[i]), fmt::format("in{}", i)});
  for (size_t i = 0; i < shape.outputs.size(); ++i)
    params.push_back({Type::Buffer(shape.outputs[i]), fmt::format("out{}", i)});
  params.push_back({types::U32, "n"});
  for (size_t i = 0; i < shape.scalars.size(); ++i)
    params.push_back({shape.scalars[i], fmt::format("s{}", i)});
  for (const Param& param : params)
    if (param.type.is_tensor())
      return Fail(Diag::BadKernel, "an elementwise kernel has scalar elements");

  Program program;
  Entry entry(program, shape.name, params);
  FunctionBuilder& b = entry.builder;
  const size_t inputs = shape.inputs.size(), outputs = shape.outputs.size();
  const std::span<const ValueId> all = entry.values;
  bool fits = true;
  b.Parallel(entry.Index(0), entry.AsIndex(all[inputs + outputs]), [&](ValueId i) {
    Values elements;
    for (size_t k = 0; k < inputs; ++k) elements.push_back(b.Load(all[k], i));
    const Values results = body(b, elements, all.subspan(inputs + outputs + 1));
    fits = results.size() == outputs;
    for (size_t k = 0; fits && k < outputs; ++k) {
      fits = b.TypeOf(results[k]) == shape.outputs[k];
      if (fits) b.Store(all[inputs + k], i, results[k]);
    }
  });
  if (!fits)
    return Fail(Diag::BadKernel,
                "the body does not give one value of the right type for each output");
  b.Return({});
  b.Finish();
  return Checked(std::move(program));
}

Result<Program> ElementwiseUnary(Op op, Type type) {
  TRY_VOID(CheckOp(op, type, 1));
  return Map({NameOf("unary", ir::Info(op).mnemonic, type), {type}, {type}, {}},
             [&](FunctionBuilder& b, std::span<const ValueId> e, std::span<const ValueId>) {
               return Values{b.Unary(op, e[0])};
             });
}

Result<Program> ElementwiseBinary(Op op, Type type) {
  TRY_VOID(CheckOp(op, type, 2));
  return Map({NameOf("binary", ir::Info(op).mnemonic, type), {type, type}, {type}, {}},
             [&](FunctionBuilder& b, std::span<const ValueId> e, std::span<const ValueId>) {
               return Values{b.Binary(op, e[0], e[1])};
             });
}

Result<Program> ElementwiseScalar(Op op, Type type) {
  TRY_VOID(CheckOp(op, type, 2));
  return Map({NameOf("scalar", ir::Info(op).mnemonic, type), {type}, {type}, {type}},
             [&](FunctionBuilder& b, std::span<const ValueId> e, std::span<const ValueId> s) {
               return Values{b.Binary(op, e[0], s[0])};
             });
}

Result<Program> Reduction(ir::ReduceKind kind, Type type) {
  static constexpr std::string_view Words[] = {"sum",     "product", "min", "max", "minimum",
                                               "maximum", "and",     "or",  "xor"};
  if (!type.is_scalar() || !ir::Contains(ir::Info(Op::Reduce).types, type.scalar))
    return Fail(Diag::BadKernel,
                fmt::format("'reduce' is not defined for {}", ir::ScalarName(type.scalar)));
  const auto word = static_cast<uint64_t>(kind);
  Program program;
  const Param params[] = {{In(type), "a"}, {Type::Buffer(type), "result"}, {types::Index, "n"}};
  Entry entry(program, NameOf("reduce", Words[word], type), params);
  FunctionBuilder& b = entry.builder;
  const Type line = Type::Tensor(type, b.AddShape({ir::Dim::Symbol(2)}));
  const Type point = Type::Tensor(type, b.AddShape({}));
  const ValueId loaded = b.Emit1(Op::TensorLoad, line, {entry.values[0]}, line);
  const ValueId folded = b.Emit1(Op::Reduce, point, {loaded}, point, {word, 0, 64, 4096});
  b.Store(entry.values[1], entry.Index(0), b.Emit1(Op::Extract, type, {folded}, type));
  b.Return({});
  b.Finish();
  return Checked(std::move(program));
}

Result<Program> Matmul(Type type) {
  if (type != types::F32 && type != types::F64)
    return Fail(Diag::BadKernel,
                fmt::format("a chain of fma is not defined for {}", ir::ScalarName(type.scalar)));
  Program program;
  const Param params[] = {{In(type), "a"},   {In(type), "b"},   {Type::Buffer(type), "y"},
                          {types::U32, "m"}, {types::U32, "n"}, {types::U32, "k"}};
  Entry entry(program, NameOf("matrix", "matmul", type), params);
  FunctionBuilder& b = entry.builder;
  const ValueId zero = entry.Index(0);
  const ValueId m = entry.AsIndex(entry.values[3]), n = entry.AsIndex(entry.values[4]),
                k = entry.AsIndex(entry.values[5]);
  const ValueId start = b.ConstFloat(type, 0);
  const auto at = [&](ValueId row, ValueId width, ValueId column) {
    return b.Binary(Op::Add, b.Binary(Op::Mul, row, width), column);
  };
  b.Parallel(zero, m, [&](ValueId row) {
    b.Parallel(zero, n, [&](ValueId column) {
      const Values sum =
          b.For(zero, k, 1, std::span(&start, 1), [&](ValueId p, std::span<const ValueId> carried) {
            const ValueId left = b.Load(entry.values[0], at(row, k, p));
            const ValueId right = b.Load(entry.values[1], at(p, n, column));
            return Values{b.Emit1(Op::Fma, type, {left, right, carried[0]}, type)};
          });
      b.Store(entry.values[2], at(row, n, column), sum[0]);
    });
  });
  b.Return({});
  b.Finish();
  return Checked(std::move(program));
}

Result<Program> Matvec(Type type) {
  if (type != types::F32 && type != types::F64)
    return Fail(Diag::BadKernel,
                fmt::format("a chain of fma is not defined for {}", ir::ScalarName(type.scalar)));
  Program program;
  const Param params[] = {{In(type), "a"},
                          {In(type), "x"},
                          {Type::Buffer(type), "y"},
                          {types::U32, "m"},
                          {types::U32, "n"}};
  Entry entry(program, NameOf("matrix", "matvec", type), params);
  FunctionBuilder& b = entry.builder;
  const ValueId zero = entry.Index(0);
  const ValueId m = entry.AsIndex(entry.values[3]), n = entry.AsIndex(entry.values[4]);
  const ValueId start = b.ConstFloat(type, 0);
  b.Parallel(zero, m, [&](ValueId row) {
    const ValueId first = b.Binary(Op::Mul, row, n);
    const Values sum =
        b.For(zero, n, 1, std::span(&start, 1), [&](ValueId j, std::span<const ValueId> carried) {
          const ValueId left = b.Load(entry.values[0], b.Binary(Op::Add, first, j));
          return Values{
              b.Emit1(Op::Fma, type, {left, b.Load(entry.values[1], j), carried[0]}, type)};
        });
    b.Store(entry.values[2], row, sum[0]);
  });
  b.Return({});
  b.Finish();
  return Checked(std::move(program));
}

}  // namespace frazil::runtime::builders
