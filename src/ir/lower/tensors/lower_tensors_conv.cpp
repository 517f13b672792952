// Convolution as a plain nest: where there are zeros around the image it is copied into scratch that has them, so that the
// loops read without a question. A kernel of one element that visits every place is a product of matrices, and is written
// as `matmul` is. For a target that knows that product, so is any other: the windows of a few rows of the result become the
// columns of a matrix, as many as stay in a second-level cache, and are multiplied by the weights as they stand. The chains
// are the same, for the rows of that matrix are in the order of channel, row and column. Copying costs one element for as
// many steps of chains as there are outputs, which is why few of them are computed as they are.
#include <algorithm>

#include "ir/conv.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

bool IsProduct(const ConvSpec& spec, const IndexExprs& kernel) {
  return kernel[2].is(1) && kernel[3].is(1) && spec.groups == 1 && spec.stride[0] == 1 &&
         spec.stride[1] == 1 && !spec.HasZerosAround();
}

// Elements of the columns of a few rows of the result: half of a second-level cache in f32.
constexpr int64_t BlockElements = 1 << 17;
// With fewer outputs than this the copy costs more than the product gains.
constexpr int64_t FewestOutputs = 8;

}  // namespace

// What check_tensor_kernels.cpp could not decide.
void TensorLowering::AssertConvFits(const ConvSpec& spec, const IndexExprs& image,
                                    const IndexExprs& kernel, const IndexExprs& result) {
  const IndexExpr groups = IndexExpr::Known(spec.groups);
  const auto divides = [&](IndexExpr size) {
    const IndexExpr quotient = math_.FloorDiv(size, spec.groups);
    AssertEqual(math_.Mul(quotient, groups), size);
    return quotient;
  };
  if (spec.groups != 1) {
    AssertEqual(divides(image[1]), kernel[1]);
    divides(result[1]);
  }
  const auto below = [&](IndexExpr size) {
    if (!size.known()) Assert(math_.Compare(Op::Lt, size, IndexExpr::Known(ConvSpec::Limit)));
  };
  for (uint32_t i = 0; i < 2; ++i) {
    const IndexExpr size = image[2 + i], window = kernel[2 + i];
    if (size.known() && window.known() && result[2 + i].known()) continue;
    below(size);
    below(window);
    if (!window.known()) Assert(math_.Compare(Op::Gt, window, IndexExpr::Known(0)));
    const IndexExpr reach =
        math_.Mul(math_.Sub(window, IndexExpr::Known(1)), IndexExpr::Known(spec.dilation[i]));
    const IndexExpr room =
        math_.Sub(math_.Add(size, IndexExpr::Known(spec.before[i] + spec.after[i] - 1)), reach);
    const IndexExpr places = math_.Add(math_.FloorDiv(room, spec.stride[i]), IndexExpr::Known(1));
    if (places.known()) {
      AssertEqual(result[2 + i], IndexExpr::Known(std::max<int64_t>(places.constant, 0)));
      continue;
    }
    const ValueId none = math_.Compare(Op::Lt, room, IndexExpr::Known(0));
    const ValueId zero = math_.Value(IndexExpr::Known(0));
    AssertEqual(result[2 + i], IndexExpr::Of(builder_.Select(none, zero, math_.Value(places))));
  }
}

ValueId TensorLowering::ZerosAround(const ConvSpec& spec, ValueId image, Type element,
                                    IndexExprs& sizes) {
  const IndexExprs inner = sizes;
  for (uint32_t i = 0; i < 2; ++i)
    sizes[2 + i] = math_.Add(sizes[2 + i], IndexExpr::Known(spec.before[i] + spec.after[i]));
  const ValueId padded = Alloc(element, math_.CountOrNegative(sizes));
  const IndexExprs nest = {math_.Mul(inner[0], inner[1]), inner[2], inner[3]};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr row = math_.Add(math_.Mul(at[0], inner[2]), at[1]);
    const ValueId value = Load(image, math_.Add(math_.Mul(row, inner[3]), at[2]));
    // Row and column are the same, after so many zeros.
    const IndexExpr first = IndexExpr::Known(spec.before[1]);
    const IndexExpr above = math_.Mul(IndexExpr::Known(spec.before[0]), sizes[3]);
    const IndexExpr to = math_.Add(math_.Mul(at[0], sizes[2]), at[1]);
    const IndexExpr start = math_.Add(math_.Mul(to, sizes[3]), math_.Add(above, first));
    Store(padded, math_.Add(start, at[2]), value);
  });
  return padded;
}

void TensorLowering::ConvByColumns(const ConvSpec& spec, const Sized& image, const Sized& kernel,
                                   IndexExpr outputs, Type type, const Target& target) {
  const IndexExprs sizes = SizesOf(type);
  const IndexExpr rows = sizes[2], columns = sizes[3], channels = kernel.sizes[1];
  const IndexExpr window = math_.Mul(kernel.sizes[2], kernel.sizes[3]);
  const IndexExpr depth = math_.Mul(channels, window);
  const IndexExpr row_elements = math_.Mul(depth, columns);
  IndexExpr block;
  if (row_elements.known() && rows.known()) {
    const int64_t height = std::max<int64_t>(rows.constant, 1);
    const int64_t most =
        std::clamp<int64_t>(BlockElements / std::max<int64_t>(row_elements.constant, 1), 1, height);
    // Blocks of about equal height.
    const int64_t blocks = (height + most - 1) / most;
    block = IndexExpr::Known((height + blocks - 1) / blocks);
  } else {
    const ValueId one = math_.Value(IndexExpr::Known(1));
    const ValueId divisor = builder_.Binary(Op::Max, math_.Value(row_elements), one);
    const ValueId limit = math_.Value(IndexExpr::Known(BlockElements));
    const ValueId most = builder_.Binary(Op::DivFloor, limit, divisor);
    block = math_.Min(IndexExpr::Of(builder_.Binary(Op::Max, most, one)), rows);
  }
  const IndexExpr block_columns = math_.Mul(block, columns);
  const ValueId matrix = Alloc(type.element(), math_.Mul(depth, block_columns));
  const auto multiply = [&](IndexExpr number, IndexExpr group, IndexExpr first, IndexExpr count) {
    const IndexExpr width = math_.Mul(count, columns);
    const IndexExpr first_channel = math_.Mul(group, channels);
    const IndexExpr channel = math_.Add(math_.Mul(number, image.sizes[1]), first_channel);
    const IndexExprs window_nest = {channels, kernel.sizes[2], kernel.sizes[3], count, columns};
    math_.Nest(window_nest, Order::Independent, [&](std::span<const IndexExpr> at) {
      const IndexExpr of_row = math_.Add(math_.Mul(at[0], kernel.sizes[2]), at[1]);
      const IndexExpr k = math_.Add(math_.Mul(of_row, kernel.sizes[3]), at[2]);
      const IndexExpr place = math_.Add(math_.Mul(at[3], columns), at[4]);
      const IndexExpr stride = IndexExpr::Known(spec.stride[0]);
      const IndexExpr top = math_.Mul(math_.Add(first, at[3]), stride);
      const IndexExpr row = math_.Add(top, math_.Mul(at[1], IndexExpr::Known(spec.dilation[0])));
      const IndexExpr left = math_.Mul(at[4], IndexExpr::Known(spec.stride[1]));
      const IndexExpr column =
          math_.Add(left, math_.Mul(at[2], IndexExpr::Known(spec.dilation[1])));
      const IndexExpr plane = math_.Mul(math_.Add(channel, at[0]), image.sizes[2]);
      const IndexExpr from = math_.Add(math_.Mul(math_.Add(plane, row), image.sizes[3]), column);
      const ValueId value = Load(image.buffer, from);
      Store(matrix, math_.Add(math_.Mul(k, width), place), value);
    });
    const IndexExprs nest = {outputs, width};
    math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
      const IndexExpr output = math_.Add(math_.Mul(group, outputs), at[0]);
      const IndexExpr weights = math_.Mul(output, depth);
      const Chain chain(*this, type.element());
      const ValueId zero = chain.Zero();
      const ValueId sum = chain.Loop(depth, zero, [&](IndexExpr k, ValueId acc) {
        const ValueId weight = chain.Load(kernel.buffer, math_.Add(weights, k));
        const IndexExpr index = math_.Add(math_.Mul(k, width), at[1]);
        return chain.Step(weight, chain.Load(matrix, index), acc);
      });
      const IndexExpr plane = math_.Add(math_.Mul(number, sizes[1]), output);
      const IndexExpr line = math_.Add(math_.Mul(plane, rows), first);
      Store(target.buffer, math_.Add(math_.Mul(line, columns), at[1]), sum);
    });
  };
  const IndexExprs images = {sizes[0], IndexExpr::Known(spec.groups)};
  math_.Nest(images, Order::Sequential, [&](std::span<const IndexExpr> at) {
    if (!block.known()) {
      // At least one row where there is a result at all.
      const ValueId one = math_.Value(IndexExpr::Known(1));
      const ValueId divisor = builder_.Binary(Op::Max, block.value, one);
      const ValueId whole_and_rest =
          builder_.Binary(Op::Add, math_.Value(rows), builder_.Binary(Op::Sub, divisor, one));
      const IndexExpr blocks =
          IndexExpr::Of(builder_.Binary(Op::DivFloor, whole_and_rest, divisor));
      math_.Loop(blocks, Order::Sequential, [&](IndexExpr b) {
        const IndexExpr first = math_.Mul(b, block);
        const IndexExpr left = math_.Sub(rows, first);
        multiply(at[0], at[1], first, math_.Min(block, left));
      });
      return;
    }
    // What is known stays known: whole blocks, then the rest.
    const int64_t whole = rows.constant / block.constant;
    math_.Loop(IndexExpr::Known(whole), Order::Sequential,
               [&](IndexExpr b) { multiply(at[0], at[1], math_.Mul(b, block), block); });
    const int64_t rest = rows.constant - whole * block.constant;
    if (rest != 0)
      multiply(at[0], at[1], IndexExpr::Known(whole * block.constant), IndexExpr::Known(rest));
  });
}

void TensorLowering::LowerConv(const Inst& inst) {
  const ConvSpec spec = ConvSpec::Of(source_.words_of(inst));
  const ValueId old_image = source_.operand(inst, 0);
  const ValueId old_kernel = source_.operand(inst, 1);
  const Type element = inst.type.element();
  const IndexExprs sizes = SizesOf(inst.type);
  Sized image = {Get(old_image), SizesOf(old_image)};
  const Sized kernel = {Get(old_kernel), SizesOf(old_kernel)};
  AssertConvFits(spec, image.sizes, kernel.sizes, sizes);
  const Target target = Start(inst);
  if (target.count.is(0)) return;
  // Of no results the weights may be of any size, and what is made of them.
  WhereAny(target.count, [&] {
    if (spec.HasZerosAround()) image.buffer = ZerosAround(spec, image.buffer, element, image.sizes);
    const IndexExpr outputs = math_.FloorDiv(sizes[1], spec.groups);
    const bool is_few = outputs.known() && outputs.constant < FewestOutputs;
    if (IsProduct(spec, kernel.sizes))
      ConvAsProduct(image, kernel, inst.type, target);
    else if (folds_ == Folds::KeepRows && Contains(sets::Wide, element.scalar) && !is_few)
      ConvByColumns(spec, image, kernel, outputs, inst.type, target);
    else
      ConvNest(spec, image, kernel, outputs, inst.type, target);
  });
}

void TensorLowering::ConvAsProduct(const Sized& image, const Sized& kernel, Type type,
                                   const Target& target) {
  const IndexExprs sizes = SizesOf(type);
  const IndexExpr channels = kernel.sizes[1];
  const IndexExpr places = math_.Mul(sizes[2], sizes[3]);
  const IndexExprs nest = {sizes[0], sizes[1], places};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr weights = math_.Mul(at[1], channels);
    const IndexExpr image_size = math_.Mul(channels, places);
    const IndexExpr start = math_.Add(math_.Mul(at[0], image_size), at[2]);
    const Chain chain(*this, type.element());
    ValueId sum = chain.Zero();
    sum = chain.Loop(channels, sum, [&](IndexExpr c, ValueId acc) {
      const ValueId weight = chain.Load(kernel.buffer, math_.Add(weights, c));
      return chain.Step(weight, chain.Load(image.buffer, math_.Add(start, math_.Mul(c, places))),
                        acc);
    });
    const IndexExpr row = math_.Add(math_.Mul(at[0], sizes[1]), at[1]);
    const ValueId result = chain.Rounded(sum);
    Store(target.buffer, math_.Add(math_.Mul(row, places), at[2]), result);
  });
}

void TensorLowering::ConvNest(const ConvSpec& spec, const Sized& image, const Sized& kernel,
                              IndexExpr outputs, Type type, const Target& target) {
  const IndexExprs sizes = SizesOf(type);
  const IndexExpr channels = kernel.sizes[1];
  const IndexExprs nest = {sizes[0], IndexExpr::Known(spec.groups), outputs, sizes[2], sizes[3]};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr output = math_.Add(math_.Mul(at[1], outputs), at[2]);
    const IndexExpr group = math_.Mul(at[1], channels);
    const IndexExpr channel = math_.Add(math_.Mul(at[0], image.sizes[1]), group);
    const IndexExpr first_row = math_.Mul(at[3], IndexExpr::Known(spec.stride[0]));
    const IndexExpr first_column = math_.Mul(at[4], IndexExpr::Known(spec.stride[1]));
    const IndexExpr row = math_.Add(math_.Mul(channel, image.sizes[2]), first_row);
    const IndexExpr start = math_.Add(math_.Mul(row, image.sizes[3]), first_column);
    const IndexExpr plane = math_.Mul(image.sizes[2], image.sizes[3]);
    const IndexExpr down = math_.Mul(IndexExpr::Known(spec.dilation[0]), image.sizes[3]);
    const IndexExpr right = IndexExpr::Known(spec.dilation[1]);
    const IndexExpr window = math_.Mul(kernel.sizes[2], kernel.sizes[3]);
    const IndexExpr weight_count = math_.Mul(channels, window);
    const IndexExpr weights = math_.Mul(output, weight_count);
    const Chain chain(*this, type.element());
    const auto turns = [&](IndexExpr count, ValueId acc, const auto& body) {
      return count.is(1) ? body(IndexExpr::Known(0), acc) : chain.Loop(count, acc, body);
    };
    ValueId sum = chain.Zero();
    sum = turns(channels, sum, [&](IndexExpr c, ValueId by_channel) {
      const IndexExpr in_channel = math_.Add(start, math_.Mul(c, plane));
      const IndexExpr of_channel = math_.Add(weights, math_.Mul(c, window));
      return turns(kernel.sizes[2], by_channel, [&](IndexExpr ky, ValueId by_row) {
        const IndexExpr in_row = math_.Add(in_channel, math_.Mul(ky, down));
        const IndexExpr of_row = math_.Add(of_channel, math_.Mul(ky, kernel.sizes[3]));
        return turns(kernel.sizes[3], by_row, [&](IndexExpr kx, ValueId acc) {
          const ValueId weight = chain.Load(kernel.buffer, math_.Add(of_row, kx));
          return chain.Step(weight,
                            chain.Load(image.buffer, math_.Add(in_row, math_.Mul(kx, right))), acc);
        });
      });
    });
    const IndexExpr plane_number = math_.Add(math_.Mul(at[0], sizes[1]), output);
    const IndexExpr line = math_.Add(math_.Mul(plane_number, sizes[2]), at[3]);
    const ValueId result = chain.Rounded(sum);
    Store(target.buffer, math_.Add(math_.Mul(line, sizes[3]), at[4]), result);
  });
}

}  // namespace frazil::ir
